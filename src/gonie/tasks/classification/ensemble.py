"""Several classifiers as one, whose probabilities are the means of those of its members."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gonie.metrics.entropies import entropies
from gonie.runtime.groups import FIRST, grouped
from gonie.tasks.bundled import BundledModel
from gonie.tasks.classification.classifier import TextClassifier, token_count
from gonie.tasks.contexts import check_stream, with_contexts
from gonie.tasks.members import Advance, check_same, counted
from gonie.text.entropies import Entropies
from gonie.text.labelled_text import LabelledText
from gonie.text.plain_text import warn_of_path
from gonie.text.types import Classification

MemberChances = Callable[[Sequence[LabelledText]], Iterable[NDArray[np.float64]]]
"""Yields the probabilities of each member in turn, (N, K)."""


class EnsembleClassifier(BundledModel):
    """Labels texts by the mean probabilities of several members, each at its own temperature.

    ``first`` is the member whose recipe is used, and whose limits on the length of a text are noted.
    ``members`` is their number and ``chances`` their probabilities. ``advance`` receives how many members
    have answered.
    """

    task: ClassVar[str] = "classify"

    def __init__(
        self,
        *,
        first: TextClassifier,
        members: int,
        chances: MemberChances,
        advance: Advance | None = None,
    ) -> None:
        self.first = first
        self.origin = first.origin
        self.members = self._number = members
        self.recipe = first.recipe
        self.labels = first.labels
        self.multi_label = first.multi_label
        self._chances = chances
        self._advance = advance

    @property
    def vector_width(self) -> int:
        """The width of the external vector that every text must have; 0: it reads none."""
        return self.first.vector_width

    def predicts(self) -> str:
        """Say what the members predict."""
        return self.first.predicts()

    def __call__(self, text: str | LabelledText) -> Classification:
        """Classify one text."""
        warn_of_path(text)
        return next(self._classified([text], FIRST))

    def pipe(self, texts: Iterable[Any], *, first: int = FIRST, as_tuples: bool = False) -> Iterator[Any]:
        """Classify a stream of texts in order, as ``TextClassifier.pipe`` does."""
        check_stream(texts)
        if as_tuples:
            return with_contexts(lambda own: self._classified(own, first), texts)
        return self._classified(texts, first)

    def _classified(self, texts: Iterable[str | LabelledText], first: int) -> Iterator[Classification]:
        for cuts in grouped(map(self.first.cut, texts), token_count, first=first):
            found = self._chances([text for text, *_ in cuts])
            chances = np.stack(counted(found, self._number, self._advance))  # (M, N, K)
            for cut, row, own in zip(cuts, chances.mean(axis=0), self._entropies(chances), strict=True):
                yield replace(self.first.classification(cut, row), entropies=own)

    def _entropies(self, chances: NDArray[np.float64]) -> list[Entropies]:
        """Return the entropies of the label of each text, or the means of those of all labels.

        Shape: (M, N, K)
        """
        if not self.multi_label:
            return entropies(chances)
        M, N, K = chances.shape
        yes_or_no = np.stack([chances, 1 - chances], axis=-1).reshape(M, N * K, 2)
        means = np.array(entropies(yes_or_no)).reshape(N, K, -1).mean(axis=1)
        return [Entropies(*each) for each in means.tolist()]


def combine_classifiers(
    classifiers: Sequence[TextClassifier], advance: Advance | None = None
) -> EnsembleClassifier:
    """Return the ensemble of classifiers with the same labels. They may differ in everything else."""
    check_same(classifiers, "labels", lambda model: model.labels)
    check_same(
        classifiers, "number of labels per text", lambda model: ["several" if model.multi_label else "one"]
    )
    check_same(classifiers, "marks", lambda model: model.marks)
    return EnsembleClassifier(
        first=classifiers[0],
        members=len(classifiers),
        chances=lambda texts: (model.chances(model.encode(texts)) for model in classifiers),
        advance=advance,
    )
