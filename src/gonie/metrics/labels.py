"""Token scores, label confusion and boundary errors.

``LabelScores`` holds token accuracy and the precision, recall and F1 of each tag. ``Confusion`` counts which
label was predicted for which. For spans it also counts missed spans, spurious spans and wrong boundaries.
``Boundaries`` breaks down the wrong boundaries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gonie.metrics.counts import Counts, SentenceCounts, ratio
from gonie.metrics.spans import SpanScores, unit_spans
from gonie.text.schemes import TokenSpan


@dataclass(frozen=True)
class LabelScores:
    """Token accuracy (as in conlleval, over all tokens including O) and the counts of every tag."""

    labels: Mapping[str, Counts]

    @classmethod
    def from_tags(cls, gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]) -> LabelScores:
        """Compare tags token by token. Both sides have the same number of sentences, of the same lengths."""
        return cls(SpanScores.from_spans(map(unit_spans, gold), map(unit_spans, predicted)).types)

    @property
    def tokens(self) -> int:
        """The number of tokens compared."""
        return sum(counts.gold for counts in self.labels.values())

    @property
    def correct(self) -> int:
        """The number of tokens with the gold tag."""
        return sum(counts.correct for counts in self.labels.values())

    @property
    def accuracy(self) -> float:
        """correct / tokens."""
        return ratio(self.correct, self.tokens)


def token_counts(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> SentenceCounts:
    """Count per sentence the tokens with the gold tag and all tokens, (N, 2)."""

    def events() -> Iterator[tuple[int, int, int]]:
        for sentence, (truth, guess) in enumerate(zip(gold, predicted, strict=True)):
            yield sentence, 0, sum(a == b for a, b in zip(truth, guess, strict=True))
            yield sentence, 1, len(truth)

    return SentenceCounts.from_events(events(), sentences=len(gold), columns=2)


@dataclass
class Confusion:
    """A confusion matrix of span labels by exact boundaries. Every span is counted exactly once.

    - ``pairs[gold, predicted]``: both sides have a span with these boundaries (equal labels: correct).
    - ``gold_boundary[label]``: a gold span that some predicted span overlaps, but none has its boundaries.
    - ``missed[label]``: a gold span of which no token was predicted to be in any span.
    - ``predicted_boundary``, ``spurious``: the same two for predicted spans.

    The pairs, boundary errors and misses of a gold label sum to its gold count, and likewise for predictions.
    For plain tags only ``pairs`` is filled. If gold spans have the same boundaries, one of them is paired, if
    possible the one with the predicted label. The others are missed.
    """

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    gold_boundary: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    predicted_boundary: Counter[str] = field(default_factory=Counter)
    spurious: Counter[str] = field(default_factory=Counter)

    @classmethod
    def from_spans(
        cls, gold: Iterable[Iterable[TokenSpan]], predicted: Iterable[Iterable[TokenSpan]]
    ) -> Confusion:
        """Count sentence by sentence."""
        table = cls()
        for truth, guess in zip(gold, predicted, strict=True):
            spans, given = list(dict.fromkeys(truth)), _by_range(guess)
            wanted = _by_range(spans)
            if len(wanted) < len(spans):
                wanted |= {span[:2]: span[2] for span in spans if given.get(span[:2]) == span[2]}
                table.missed.update(span[2] for span in spans if wanted[span[:2]] != span[2])
            table._add(wanted, given)
        return table

    def _add(self, truth: dict[tuple[int, int], str], guess: dict[tuple[int, int], str]) -> None:
        self.pairs.update((label, guess[place]) for place, label in truth.items() if place in guess)
        _sort_out(truth, guess, overlapping=self.gold_boundary, alone=self.missed)
        _sort_out(guess, truth, overlapping=self.predicted_boundary, alone=self.spurious)

    @property
    def labels(self) -> list[str]:
        """Every label of either side, most frequent in gold first."""
        sizes: Counter[str] = Counter()
        for (gold, predicted), count in self.pairs.items():
            sizes[gold] += count
            sizes[predicted] += 0
        for part in (self.gold_boundary, self.missed):
            sizes.update(part)
        for part in (self.predicted_boundary, self.spurious):
            sizes.update(dict.fromkeys(part, 0))
        return sorted(sizes, key=lambda label: (-sizes[label], label))

    def to_json(self) -> dict[str, object]:
        """Return only the nonzero cells, largest first."""
        cells = sorted(self.pairs.items(), key=lambda cell: (-cell[1], cell[0]))
        return {
            "pairs": [{"gold": gold, "predicted": guess, "count": count} for (gold, guess), count in cells],
            "gold_boundary": dict(sorted(self.gold_boundary.items())),
            "missed": dict(sorted(self.missed.items())),
            "predicted_boundary": dict(sorted(self.predicted_boundary.items())),
            "spurious": dict(sorted(self.spurious.items())),
        }


@dataclass
class Boundaries:
    """Kinds of boundary errors, counted once per overlapping pair of spans, by whether the labels agree.

    ``too_short``: predicted inside gold. ``too_long``: gold inside predicted. ``crossing``: neither.
    """

    same_label: Counter[str] = field(default_factory=Counter)
    other_label: Counter[str] = field(default_factory=Counter)

    KINDS = ("too_short", "too_long", "crossing")

    @classmethod
    def from_spans(
        cls, gold: Iterable[Iterable[TokenSpan]], predicted: Iterable[Iterable[TokenSpan]]
    ) -> Boundaries:
        """Count sentence by sentence. Pairs with equal boundaries are not boundary errors."""
        table = cls()
        for truth, guess in zip(gold, predicted, strict=True):
            for one, other in _overlapping(truth, guess):
                side = table.same_label if one[2] == other[2] else table.other_label
                side[_kind(one, other)] += 1
        return table

    def to_json(self) -> dict[str, dict[str, int]]:
        """Return counts by kind, then by whether the label is correct."""
        return {
            kind: {"same_label": self.same_label[kind], "other_label": self.other_label[kind]}
            for kind in self.KINDS
        }


def _by_range(spans: Iterable[TokenSpan]) -> dict[tuple[int, int], str]:
    return {(start, end): label for start, end, label in spans}


def _sort_out(
    spans: dict[tuple[int, int], str],
    others: dict[tuple[int, int], str],
    *,
    overlapping: Counter[str],
    alone: Counter[str],
) -> None:
    """Count the spans without equal boundaries in ``others``, by whether any other span overlaps them."""
    unmatched = {place: label for place, label in spans.items() if place not in others}
    if not unmatched:
        return
    covered = {token for start, end in others for token in range(start, end)}
    for (start, end), label in unmatched.items():
        side = alone if covered.isdisjoint(range(start, end)) else overlapping
        side[label] += 1


def _overlapping(
    gold: Iterable[TokenSpan], predicted: Iterable[TokenSpan]
) -> Iterator[tuple[TokenSpan, TokenSpan]]:
    """Yield pairs (gold, predicted) that share a token but not both boundaries."""
    owners: dict[int, list[TokenSpan]] = defaultdict(list)
    for span in gold:
        for token in range(span[0], span[1]):
            owners[token].append(span)
    for guess in predicted:
        met = dict.fromkeys(span for token in range(*guess[:2]) for span in owners.get(token, ()))
        yield from ((truth, guess) for truth in met if truth[:2] != guess[:2])


def _kind(gold: TokenSpan, predicted: TokenSpan) -> str:
    if gold[0] <= predicted[0] and predicted[1] <= gold[1]:
        return "too_short"
    if predicted[0] <= gold[0] and gold[1] <= predicted[1]:
        return "too_long"
    return "crossing"
