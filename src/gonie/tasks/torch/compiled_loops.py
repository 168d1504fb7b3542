"""Check whether the loops of a model are compiled already, because compiling takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from gonie.nn.available import has_numba
from gonie.nn.crf.layer import CRF
from gonie.nn.encoders import LSTM


def must_compile(model: nn.Module, *, per_window: bool = False) -> bool:
    """Return whether loops of this model must still be compiled on this machine."""
    if not has_numba() or not next(model.parameters()).is_cpu:
        return False
    from gonie.nn.compiled import is_on_disk
    from gonie.nn.crf.loops import run_ahead
    from gonie.nn.encoders.lstm_cpu import run_back
    from gonie.nn.window.loops import run

    parts = {type(part) for part in model.modules()}
    uses: list[tuple[bool, Callable[..., Any]]] = [
        (CRF in parts, run_ahead),
        (LSTM in parts, run_back),
        (per_window, run),
    ]
    return not all(is_on_disk(loop) for used, loop in uses if used)
