"""The role of a classifier that is explained: it reads passages, whatever was done to them before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from gonie.features.text_encoding import TextEncoding
from gonie.tasks.classification.reading import Reading
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import Passage


class PassageReader(Protocol):
    """A trained classifier, as ``gonie.load`` gives it, or anything that reads as one does."""

    @property
    def encoding(self) -> TextEncoding:
        """How it turns passages into numbers, and its labels."""

    @property
    def temperature(self) -> float:
        """What its scores are divided by before they are probabilities."""

    def text(self, text: str | LabelledText) -> LabelledText:
        """A text as it is read, the marks of a string cut out."""

    def passage(self, text: str | LabelledText) -> Passage:
        """What of a text is read."""

    def read(self, passages: Sequence[Passage]) -> list[Reading]:
        """What it makes of each passage, in the order asked, whatever their company."""

    def probabilities(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Calibrated probabilities of the labels from scores: (N, K) -> (N, K)."""

    def given(self, chances: NDArray[Any]) -> tuple[str, ...]:
        """The labels that a text gets for its probabilities (K,)."""
