"""A Triton kernel that is bound once: launching it again costs a few microseconds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
import triton
from torch import Tensor


class Kernel:
    """Decorator: a kernel whose form depends on the types of its tensors and on its constants alone.

    Triton looks at every argument of every launch, to choose among forms made for aligned addresses or
    numbers that 16 divides; it takes longer than a short kernel runs. A kernel of one element a thread gains
    nothing by these forms, so here they are not made, and the one that fits is found by a look at the types.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        parameters = inspect.signature(function).parameters.values()
        varying = [p.name for p in parameters if "constexpr" not in str(p.annotation)]
        self._function: Any = triton.jit(do_not_specialize=varying)(function)
        self._forms: dict[tuple[Any, ...], Any] = {}

    def launch(
        self, programs: int, tensors: Sequence[Tensor], numbers: Sequence[int], *constants: Any, warps: int
    ) -> None:
        """Starts so many programs. The function takes tensors first, then numbers, then constants."""
        if programs == 0:
            return None
        device = tensors[0].get_device()
        if device >= 0 and device != torch.cuda.current_device():
            with torch.cuda.device(device):
                return self.launch(programs, tensors, numbers, *constants, warps=warps)
        kind = (device, warps, constants, *[tensor.dtype for tensor in tensors])
        form = self._forms.get(kind)
        if form is None:  # always so in the interpreter, which has no forms
            self._forms[kind] = self._function[programs,](*tensors, *numbers, *constants, num_warps=warps)
        else:
            form[programs, 1, 1](*tensors, *numbers, *constants)
        return None
