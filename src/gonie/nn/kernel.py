"""Triton kernel with cached compiled variants, so that a launch takes only a few microseconds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
import triton
from torch import Tensor


class Kernel:
    """Decorator: a kernel specialised only by the types of its tensors and by its constants.

    Triton inspects every argument of every launch, to choose among variants for aligned addresses or for
    numbers divisible by 16. That takes longer than a short kernel runs. A kernel with one element per thread
    gains nothing from these variants. So they are disabled here, and a compiled kernel is found by the types
    alone.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        parameters = inspect.signature(function).parameters.values()
        varying = [p.name for p in parameters if "constexpr" not in str(p.annotation)]
        self._function: Any = triton.jit(do_not_specialize=varying)(function)
        self._compiled: dict[tuple[Any, ...], Any] = {}

    def launch(
        self, programs: int, tensors: Sequence[Tensor], numbers: Sequence[int], *constants: Any, warps: int
    ) -> None:
        """Launch ``programs`` programs. The function takes tensors first, then numbers, then constants."""
        if programs == 0:
            return None
        device = tensors[0].get_device()
        if device >= 0 and device != torch.cuda.current_device():
            with torch.cuda.device(device):
                return self.launch(programs, tensors, numbers, *constants, warps=warps)
        kind = (device, warps, constants, *[tensor.dtype for tensor in tensors])
        compiled = self._compiled.get(kind)
        if compiled is None:  # always the case in the interpreter, which compiles nothing
            self._compiled[kind] = self._function[programs,](*tensors, *numbers, *constants, num_warps=warps)
        else:
            compiled[programs, 1, 1](*tensors, *numbers, *constants)
        return None
