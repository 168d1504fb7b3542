"""The answers of teachers that label texts, as arrays, and texts with these answers as examples.

With N texts and K labels, the arrays besides ``confidences`` are

    chances   (N · K)   the probability of each label of the student (float16)
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features.text_corpus import TextCorpus
from gonie.system.array_folder import Array
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.members import name_of
from gonie.tasks.teacher import CONFIDENCES, MISSING, TOGETHER, Answers, AnswerSettings, check_labels
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import OUTSIDE
from gonie.text.types import Classification

CHANCES = "teacher.chances"
"""The array of a batch: (N, K)."""


@dataclass(frozen=True)
class LabelAnswer:
    """The probability of each label of the teacher: (K,).

    ``missing`` says that the teacher could not answer, so that nothing is learned.
    """

    chances: NDArray[np.floating]
    missing: bool = False


class TextTeacher(Protocol):
    """A teacher that labels texts (``gonie.tasks.teacher.Teacher``)."""

    @property
    def labels(self) -> Sequence[str]:
        """Its labels, in the order of the probabilities."""
        ...

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        ...

    def answers(self, examples: Sequence[LabelledText]) -> Iterator[LabelAnswer]:
        """Yield the answer to each text, in order."""
        ...


class LabelsTexts(Protocol):
    """A model that labels texts and gives no probabilities of other labels, such as an in-context model."""

    @property
    def labels(self) -> Sequence[str]:
        """Its labels."""
        ...

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        ...

    def pipe(self, texts: Iterable[LabelledText]) -> Iterable[Classification]:
        """Yield the classification of each text."""
        ...


class ClassifierTeacher:
    """One classifier, or an ensemble with the same labels, whose probabilities are averaged.

    They are those of the calibrated classifiers with all scores divided by another ``temperature``.
    """

    def __init__(self, members: Sequence[TextClassifier], settings: AnswerSettings) -> None:
        self._members = members
        self._temperature = settings.temperature
        self.labels = members[0].labels
        self.multi_label = members[0].multi_label
        self.name = " + ".join(name_of(each) for each in members)
        digests = [each.origin.digest if each.origin else "" for each in members]
        self.digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()

    def answers(self, examples: Sequence[LabelledText]) -> Iterator[LabelAnswer]:
        """Yield the answer to each text."""
        found = [each.chances(each.encode(examples)) for each in self._members]  # (N, K) each
        heated = [with_temperature(each, self._temperature, self.multi_label) for each in found]
        return map(LabelAnswer, np.mean(heated, axis=0))


class HardTextTeacher:
    """A model that gives only labels, such as an in-context model."""

    def __init__(self, model: LabelsTexts, *, name: str, digest: str, together: int = TOGETHER) -> None:
        self._model = model
        self._together = together
        self.labels = tuple(model.labels)
        self.multi_label = model.multi_label
        self.name = name
        self.digest = digest

    def answers(self, examples: Sequence[LabelledText]) -> Iterator[LabelAnswer]:
        """Yield the answer to each text. A few are asked for together."""
        for first in range(0, len(examples), self._together):
            for found in self._model.pipe(examples[first : first + self._together]):
                chances = np.array([float(label in found.labels) for label in self.labels])
                yield LabelAnswer(chances, missing=found.failed)


def with_temperature(
    chances: NDArray[np.float64], temperature: float, multi_label: bool
) -> NDArray[np.float64]:
    """Return the probabilities (N, K) that follow from scores divided by the temperature."""
    if temperature == 1:
        return chances
    heated: NDArray[np.float64] = chances ** (1 / temperature)
    others = (1 - chances) ** (1 / temperature)
    return heated / (heated + others if multi_label else heated.sum(axis=1, keepdims=True))


class LabelConversion:
    """From the labels of a teacher to those of a student. ``rules`` rename the labels of the teacher."""

    def __init__(
        self, teacher: TextTeacher, labels: Sequence[str], multi_label: bool, rules: Mapping[str, str]
    ) -> None:
        self.labels = tuple(labels)
        self.multi_label = multi_label
        if teacher.multi_label != multi_label:
            several, one = "several labels for a text", "one label for each text"
            own, other = (several, one) if teacher.multi_label else (one, several)
            raise InputError(
                f"the teacher has {own}, and the student {other}",
                fix=f"Set data.multi_label={str(teacher.multi_label).lower()}",
            )
        droppable = multi_label or OUTSIDE in labels
        check_labels(teacher.labels, labels, rules, droppable=droppable)
        if not droppable and OUTSIDE in rules.values():
            raise InputError(
                "a label cannot be dropped, because each text has exactly one label",
                fix="Rename it with --map OLD=NEW",
            )
        numbers = {label: number for number, label in enumerate(labels)}
        self._table = np.zeros((len(teacher.labels), len(labels)))
        for row, label in enumerate(teacher.labels):
            if (name := rules.get(label, label)) in numbers:
                self._table[row, numbers[name]] = 1.0

    def chances(self, answer: LabelAnswer) -> NDArray[np.float64]:
        """Return the probability of each label of the student: (K,)."""
        return np.minimum(answer.chances @ self._table, 1.0)


def pack(
    conversion: LabelConversion, texts: Sequence[LabelledText], answers: Sequence[LabelAnswer]
) -> dict[str, Array]:
    """Return the arrays of a block of answers."""
    chances = np.stack([conversion.chances(answer) for answer in answers])  # (N, K)
    sure = np.maximum(chances, 1 - chances).min(axis=1) if conversion.multi_label else chances.max(axis=1)
    sure[[answer.missing for answer in answers]] = MISSING
    return {CONFIDENCES: sure.astype(np.float32), "chances": chances.astype(np.float16).ravel()}


class AnsweredTexts:
    """Encoded texts with the answers of a teacher, as training examples (``features.corpus.Examples``).

    Text i of ``corpus`` is text i of the answers. Labels are numbered as in ``labels``.
    """

    def __init__(self, corpus: TextCorpus, answers: Answers, labels: Sequence[str]) -> None:
        self._corpus = corpus
        table = answers.arrays["chances"].reshape(len(answers), len(answers.labels))
        numbers = {label: number for number, label in enumerate(answers.labels)}
        self._table = table[:, [numbers[label] for label in labels]]
        self.lengths = corpus.lengths
        self.heights = corpus.heights
        self.sizes = corpus.sizes
        self.domains = None
        self.confidences = answers.confidences
        self.temperature = answers.settings.temperature

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return self._corpus.tokens

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Return the padded batch of the texts ``rows``, with the answers of the teacher."""
        return {**self._corpus.batch(rows), CHANCES: self._table[rows].astype(np.float32)}
