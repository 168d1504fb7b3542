"""Word weights of wrong predictions, for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from gonie.explaining.methods import explain_items
from gonie.reports.explanation import Method
from gonie.reports.explanations.heat import strip
from gonie.reports.explanations.style import STYLE
from gonie.reports.html.markup import Markup
from gonie.tasks.explanation import ExplainedModel

LONGEST = 200
"""The longest text in tokens that is explained by erasure. Longer ones would take minutes."""


class ExplainedError(Protocol):
    """A wrong prediction in a report."""

    @property
    def predicted(self) -> str | None:
        """The predicted label, if any."""

    @property
    def file(self) -> str:
        """The file of the text."""

    @property
    def line(self) -> int:
        """The line in the file."""


class ErrorHeat:
    """Explains errors of a model on ``items`` by erasure, or long texts by attention if the model has it.

    ``explained`` returns the model for the option ``label``, the label to explain. Neither method needs
    torch. An error without a predicted label is not explained.
    """

    style = STYLE

    def __init__(
        self, explained: Callable[[Mapping[str, Any]], ExplainedModel], items: Iterable[Any]
    ) -> None:
        self._explained = explained
        self._items = {(item.path, item.line): item for item in items}

    def __call__(self, error: ExplainedError) -> Markup | None:
        """Return the text with the weight of each word for the predicted label, or None."""
        item = self._items.get((error.file, error.line))
        if item is None or error.predicted is None:
            return None
        model = self._explained({"label": error.predicted})
        short = model.size(item).tokens <= LONGEST or "attention" not in model.methods
        method: Method = "erasure" if short else "attention"
        (found,) = explain_items(model, [item], methods=[method])
        return strip(model.rows(found.explanation), found.weights[0][0])
