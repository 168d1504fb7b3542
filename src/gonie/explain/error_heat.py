"""What a wrong answer rests on, for reports: the text of an error with the weights of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from gonie.explain.methods import explain_items
from gonie.reports.explanation import Method
from gonie.reports.explanations.heat import strip
from gonie.reports.explanations.style import STYLE
from gonie.reports.html.markup import Markup
from gonie.tasks.explanation import ExplainedModel

LONGEST = 200
"""Tokens of a text from which on its words are not erased one by one: that would take minutes."""


class ExplainedError(Protocol):
    """An error as reports have it."""

    @property
    def predicted(self) -> str | None:
        """The label given, if any."""

    @property
    def file(self) -> str:
        """Where the text is from."""

    @property
    def line(self) -> int:
        """Its line there."""


class ErrorHeat:
    """Errors of a model on ``items``, explained by erasure; long ones by attention, where it has that.

    ``explained`` gives the model with the option ``label``, the answer to explain. Neither method needs
    torch. A label that was missed, with none given in its place, is not explained.
    """

    style = STYLE

    def __init__(
        self, explained: Callable[[Mapping[str, Any]], ExplainedModel], items: Iterable[Any]
    ) -> None:
        self._explained = explained
        self._items = {(item.path, item.line): item for item in items}

    def __call__(self, error: ExplainedError) -> Markup | None:
        """The text with what each word did for the label given."""
        item = self._items.get((error.file, error.line))
        if item is None or error.predicted is None:
            return None
        model = self._explained({"label": error.predicted})
        brief = model.size(item).tokens <= LONGEST or "attention" not in model.methods
        method: Method = "erasure" if brief else "attention"
        (found,) = explain_items(model, [item], methods=[method])
        return strip(model.rows(found.explanation), found.weights[0][0])
