"""Which methods `gonie explain` uses, and the model in torch that gradients need."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gonie.cli.threads import calm_threads
from gonie.errors import InputError, MissingExtraError
from gonie.explain.methods import GRADIENTS
from gonie.reports.explanation import Method

if TYPE_CHECKING:
    from torch import nn

NAMES: Mapping[str, Method] = {"attention": "attention", "gradients": GRADIENTS, "erasure": "erasure"}
"""What each method is called on the command line."""
NEEDED = {"torch": "train", "captum": "explain"}
"""What gradients need, and the extra that brings it."""


class Chosen(NamedTuple):
    """The methods, the model in torch if they need it, and what the user should know about the choice."""

    methods: tuple[Method, ...]
    model: nn.Module | None
    notes: tuple[str, ...] = ()


def choose(asked: Sequence[str], known: Collection[Method], folder: Path) -> Chosen:
    """Those asked for, or all that this kind of model knows.

    Gradients that were asked for and cannot be had are refused; else they are left out, and it is said.
    """
    allowed = {name: method for name, method in NAMES.items() if method in known}
    for name in asked:
        if name not in allowed:
            raise InputError(expected=f"--method {', '.join(allowed)} of such a model", got=repr(name))
    wanted = tuple(dict.fromkeys(allowed[name] for name in asked or allowed))
    if GRADIENTS not in wanted:
        return Chosen(wanted, None)
    try:
        return Chosen(wanted, _trained(folder))
    except (InputError, MissingExtraError) as error:
        if asked:
            raise
        left = tuple(method for method in wanted if method != GRADIENTS)
        return Chosen(left, None, (f"Without integrated gradients: {error}",))


def _trained(folder: Path) -> nn.Module:
    for package, extra in NEEDED.items():
        if find_spec(package) is None:
            raise MissingExtraError(package, extra=extra, purpose="integrated gradients")
    if not (folder / "best.safetensors").is_file():
        raise InputError(
            expected="the run folder, whose weights gradients are taken of",
            got=f"{folder}, a bundle alone",
        )
    calm_threads()
    from gonie.tasks.torch.trained import load_trained

    return load_trained(folder).model
