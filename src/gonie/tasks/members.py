"""The members of an ensemble: what they must have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from gonie.errors import InputError
from gonie.tasks.bundled import SHOWN, BundledModel

Answer = TypeVar("Answer")
Model = TypeVar("Model", bound=BundledModel)
Advance = Callable[[int, int], None]
"""Receives how many members have answered, and how many there are."""
Combine = Callable[[Sequence[Any], Advance | None], Any]
"""Returns the ensemble of models of one task, which reports its progress."""


def counted(answers: Iterable[Answer], members: int, advance: Advance | None) -> list[Answer]:
    """Return the answer of each member, and report each as it comes."""
    found = []
    for answer in answers:
        found.append(answer)
        if advance is not None:
            advance(len(found), members)
    return found


def check_same(models: Sequence[Model], what: str, values: Callable[[Model], Sequence[str]]) -> None:
    """Raise an error if the models differ in ``values``, which are called ``what``."""
    first, *others = models
    for model in others:
        if (own := tuple(values(model))) != (known := tuple(values(first))):
            different = sorted(set(own) ^ set(known)) or own
            more = ", …" if len(different) > SHOWN else ""
            raise InputError(
                f"models of an ensemble must have the same {what}: {name_of(first)} and {name_of(model)} "
                f"differ in {', '.join(different[:SHOWN])}{more}",
                fix="Leave one of them out",
            )


def refuse_ensemble(model: BundledModel) -> None:
    """Raise an error if a model is an ensemble itself."""
    if model.members is not None:
        raise InputError(
            f"an ensemble cannot be a member of another: {model!r}"[:200],
            fix="Combine all of its models at once",
        )


def refuse_twice(models: Sequence[BundledModel]) -> None:
    """Raise an error if two of the models have the same bundle. An ensemble needs different models."""
    seen: set[Path] = set()
    for origin in (model.origin for model in models if model.origin is not None):
        bundle = origin.bundle.resolve()
        if bundle in seen:
            raise InputError(
                f"a model is in the ensemble twice: {origin.path}",
                fix="Pass other models, such as runs with other seeds",
            )
        seen.add(bundle)


def name_of(model: BundledModel) -> str:
    """Return the folder of a model, for messages."""
    return "a model without a folder" if model.origin is None else str(model.origin.path)


def shown_settings(settings: Mapping[str, object]) -> list[str]:
    """Return settings as texts, to compare them."""
    return [f"{name} = {value}" for name, value in settings.items()]
