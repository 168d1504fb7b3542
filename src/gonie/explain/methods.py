"""Which methods were asked for, checked before any text is read."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from gonie.errors import InputError
from gonie.reports.explanation import Method

GRADIENTS: Method = "integrated gradients"


def checked_methods(
    methods: Sequence[Method], *, known: Collection[Method], torch: bool
) -> tuple[Method, ...]:
    """The methods, each once; ``torch`` says whether there are weights to take gradients of."""
    for method in methods:
        if method not in known:
            raise InputError(expected=f"methods among {', '.join(known)}", got=repr(method))
    if GRADIENTS in methods and not torch:
        raise InputError(
            expected="the weights of a training run, which gradients are taken of",
            got="an exported bundle alone",
            fix="Explain the run's folder, or leave integrated gradients out",
        )
    return tuple(dict.fromkeys(methods))
