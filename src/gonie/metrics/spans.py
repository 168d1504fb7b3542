"""Exact-match span scores, the measure of CoNLL-2000 and CoNLL-2003 (Tjong Kim Sang & Buchholz 2000).

A predicted span is correct if a gold span of the same sentence has the same start, end and label. What counts
as a span is decided when tags are read. With ``to_spans(mode="conlleval")`` the scores equal those of the
``conlleval`` script, with ``mode="strict"`` those of strict IOB2 or BIOES. Scores are fractions; conlleval
prints percentages. As in conlleval, a score with denominator 0 is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gonie.metrics.counts import Counts, SentenceCounts
from gonie.text.schemes import OUTSIDE, Mode, Scheme, TokenSpan, to_spans


@dataclass(frozen=True, slots=True)
class Average:
    """The unweighted mean of each score over types."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class SpanScores:
    """Counts per type, sorted by label, with their micro and macro averages."""

    types: Mapping[str, Counts]

    @classmethod
    def from_spans(
        cls, gold: Iterable[Iterable[TokenSpan]], predicted: Iterable[Iterable[TokenSpan]]
    ) -> SpanScores:
        """Score sentence by sentence. Both sides have the same number of sentences."""
        wanted: Counter[str] = Counter()
        given: Counter[str] = Counter()
        right: Counter[str] = Counter()
        for truth, guess in zip(map(set, gold), map(set, predicted), strict=True):
            wanted.update(label for _, _, label in truth)
            given.update(label for _, _, label in guess)
            right.update(label for _, _, label in truth & guess)
        labels = sorted(wanted.keys() | given.keys())
        return cls({label: Counts(wanted[label], given[label], right[label]) for label in labels})

    @property
    def by_frequency(self) -> list[tuple[str, Counts]]:
        """Types and their counts, most frequent in gold first."""
        return sorted(self.types.items(), key=lambda item: (-item[1].gold, item[0]))

    @property
    def micro(self) -> Counts:
        """The counts of all types together: conlleval's overall line."""
        return sum(self.types.values(), Counts())

    @property
    def macro(self) -> Average:
        """The mean over every type in gold or in the predictions (the macro of seqeval and scikit-learn)."""
        size = max(1, len(self.types))
        return Average(
            precision=sum(counts.precision for counts in self.types.values()) / size,
            recall=sum(counts.recall for counts in self.types.values()) / size,
            f1=sum(counts.f1 for counts in self.types.values()) / size,
        )


def unit_spans(tags: Sequence[str]) -> list[TokenSpan]:
    """Return one span per token, to represent plain (part-of-speech) tags as spans."""
    return [(at, at + 1, tag) for at, tag in enumerate(tags)]


def read_spans(tags: Sequence[str], scheme: Scheme, mode: Mode = "conlleval") -> list[TokenSpan]:
    """Return the spans that tags encode.

    In a plain scheme every token is a span. In IO every token that is not O is a span.
    """
    if scheme.kind == "IO":  # IO entities have no boundaries
        return [span for span in unit_spans(tags) if span[2] != OUTSIDE]
    return to_spans(tags, scheme, mode) if scheme.has_spans else unit_spans(tags)


def overlap(one: TokenSpan, other: TokenSpan) -> bool:
    """Return whether two spans share a token."""
    return one[0] < other[1] and other[0] < one[1]


def span_counts(
    gold: Sequence[Iterable[TokenSpan]], predicted: Sequence[Iterable[TokenSpan]], labels: Sequence[str]
) -> SentenceCounts:
    """Count per sentence gold, predicted and correct spans: three columns per label, (N, 3 · labels)."""
    column = {label: 3 * at for at, label in enumerate(labels)}

    def events() -> Iterator[tuple[int, int, int]]:
        for sentence, (truth, guess) in enumerate(zip(map(set, gold), map(set, predicted), strict=True)):
            for kind, spans in enumerate((truth, guess, truth & guess)):
                for _, _, label in spans:
                    yield sentence, column[label] + kind, 1

    return SentenceCounts.from_events(events(), sentences=len(gold), columns=3 * len(labels))
