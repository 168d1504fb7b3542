"""What a wrong answer rests on, for reports: the text of an error with the weights of its words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from gonie.explain.reader import PassageReader
from gonie.explain.texts import explain_texts
from gonie.reports.explanation import Method
from gonie.reports.explanations.heat import strip
from gonie.reports.explanations.layout import lay_out
from gonie.reports.explanations.style import STYLE
from gonie.reports.html.markup import Markup
from gonie.text.labelled_text import LabelledText

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
    """Errors of a classifier on ``texts``, explained by erasure; long ones by attention.

    Neither needs torch. A label that was missed, with none given in its place, is not explained.
    """

    style = STYLE

    def __init__(self, classifier: PassageReader, texts: Iterable[LabelledText]) -> None:
        self._classifier = classifier
        self._texts = {(text.path, text.line): text for text in texts}

    def __call__(self, error: ExplainedError) -> Markup | None:
        """The text with what each word did for the label given."""
        text = self._texts.get((error.file, error.line))
        if text is None or error.predicted is None:
            return None
        tokens = sum(map(len, self._classifier.passage(text).sentences))
        method: Method = "erasure" if tokens <= LONGEST else "attention"
        (found,) = explain_texts(self._classifier, [text], methods=[method], label=error.predicted)
        return strip(lay_out(found.text, found.passage.sentences), found.weights[0])
