"""Evaluation of taggers: ``evaluate`` and the ``Evaluation`` it returns.

``evaluate`` takes gold sentences and predicted tags. ``gonie evaluate``, its JSON output and the HTML report
all show the resulting ``Evaluation``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Literal, get_args

from gonie.errors import InputError
from gonie.metrics.aligned import Aligned, align_spans
from gonie.metrics.calibration import Calibration
from gonie.metrics.counts import Counts
from gonie.metrics.errors import Error, list_errors
from gonie.metrics.intervals import Interval, Intervals, bootstrap_intervals
from gonie.metrics.labels import Boundaries, Confusion, LabelScores, token_counts
from gonie.metrics.mistakes import Mistake, find_mistake, worst
from gonie.metrics.novelty import Novelty, Recall, SeenMentions, novelty_counts, novelty_recall
from gonie.metrics.risk_coverage import RiskCoverage
from gonie.metrics.span_decisions import SpanDecisions
from gonie.metrics.spans import SpanScores, read_spans, span_counts
from gonie.text.schemes import Checker, Mode, Scheme, TokenSpan, from_spans, to_spans
from gonie.text.schemes import repair as repair_tags
from gonie.text.types import Sentence

Tags = Sequence[str]
Spans = list[TokenSpan]

RepairPolicy = Literal["none", "error", "begin", "outside"]
"""The policies of ``gonie.text.schemes.repair``. "none" leaves predictions as they are, read by the mode."""


@dataclass(frozen=True, slots=True)
class Repair:
    """Statistics on predicted sequences that violate their scheme.

    ``invalid`` is the number of such sentences, ``changed`` the number of tags that the policy rewrote.
    ``invalid_gold`` is the number of gold sentences that violate their scheme. They are read by the mode and
    never changed.
    """

    policy: str
    invalid: int
    changed: int
    invalid_gold: int

    def to_json(self) -> dict[str, str | int]:
        """Return the policy by name and the counts."""
        return {
            "policy": self.policy,
            "invalid": self.invalid,
            "count": self.changed,
            "invalid_gold": self.invalid_gold,
        }


@dataclass(frozen=True)
class Evaluation:
    """All measurements on one file.

    For a span scheme the score is micro F1 over spans. If the model predicts bare labels (IO), it is F1 over
    tokens that are not O. For a plain scheme (part of speech) every token is a span of length one. The score
    is then accuracy, which micro precision, recall and F1 equal, and ``types`` are the labels.
    ``unknown_labels`` counts the gold labels that the model cannot predict. They count as missed and enter
    the macro average with 0. ``unreachable`` counts the gold spans by label that the tokens cannot express:
    inside a token, across sentences or overlapping. They are part of the gold, and were missed.
    ``decisions`` are the predicted spans with their probabilities, None for plain tags and without
    probabilities.
    """

    scheme: Scheme
    mode: str
    repair: Repair
    spans: SpanScores
    tokens: LabelScores
    confusion: Confusion
    boundaries: Boundaries | None
    intervals: Intervals | None
    novelty: Mapping[Novelty, Recall] | None
    unknown_labels: Mapping[str, int]
    sentences: int
    mistakes: tuple[Mistake, ...]
    unreachable: Mapping[str, int] = field(default_factory=dict)
    decisions: SpanDecisions | None = field(default=None, repr=False, compare=False)

    @property
    def plain(self) -> bool:
        """Whether tags are plain labels that do not encode spans."""
        return not self.scheme.has_spans

    @property
    def headline(self) -> tuple[str, float]:
        """The main score: ("accuracy", …) for a plain scheme, ("f1", …) for spans."""
        return ("accuracy", self.tokens.accuracy) if self.plain else ("f1", self.spans.micro.f1)

    @cached_property
    def calibration(self) -> Calibration | None:
        """The calibration of the predicted spans, if there are any and their probabilities are known."""
        return None if self.decisions is None else self.decisions.calibration()

    @cached_property
    def risk_coverage(self) -> RiskCoverage | None:
        """The risk and coverage of the predicted spans, likewise."""
        return None if self.decisions is None else self.decisions.risk_coverage()

    def interval(self, score: str) -> Interval | None:
        """Return the 95% interval of an overall score (``f1``, ``accuracy``, ``macro_f1``), if computed."""
        return None if self.intervals is None else self.intervals.overall[score]

    def type_interval(self, label: str) -> Interval | None:
        """Return the 95% interval of the F1 of one type, if computed."""
        return None if self.intervals is None else self.intervals.types[label]["f1"]

    def novelty_interval(self, kind: Novelty) -> Interval | None:
        """Return the 95% interval of the recall of one novelty class, if computed."""
        return None if self.intervals is None else self.intervals.novelty[kind.value]

    @property
    def by_type(self) -> list[tuple[str, Counts]]:
        """The span types and their counts, most frequent first. Empty for plain tags, which are too many."""
        return [] if self.plain else self.by_frequency

    @property
    def by_frequency(self) -> list[tuple[str, Counts]]:
        """Types and their counts, most frequent in gold first."""
        return self.spans.by_frequency

    def worst_errors(self, count: int = 20) -> list[Mistake]:
        """Return the sentences with the most errors, weighted by confidence if confidences were given."""
        return worst(self.mistakes, count)

    def errors(self) -> list[Error]:
        """Return every error, the most confident first."""
        return list_errors(self.mistakes)

    def to_json(self) -> dict[str, object]:
        """Return everything except the sentences, as fractions (not percentages) and counts."""
        micro, macro = self.spans.micro, self.spans.macro
        return {
            "headline": self.headline[0],
            "f1": micro.f1,
            "precision": micro.precision,
            "recall": micro.recall,
            "accuracy": self.tokens.accuracy,
            "types": {label: counts.to_json() for label, counts in self.spans.types.items()},
            "macro": {"f1": macro.f1, "precision": macro.precision, "recall": macro.recall},
            "intervals": None if self.intervals is None else self.intervals.to_json(),
            "mode": self.mode,
            "scheme": self.scheme.kind,
            "repair": self.repair.to_json(),
            "novelty": _novelty_json(self.novelty),
            "calibration": None if self.calibration is None else self.calibration.to_json(),
            "risk_coverage": None if self.risk_coverage is None else self.risk_coverage.to_json(),
            "confusion": self.confusion.to_json(),
            "boundaries": None if self.boundaries is None else self.boundaries.to_json(),
            "unknown_labels": dict(self.unknown_labels),
            "unreachable": dict(self.unreachable),
            "sentences": self.sentences,
            "sentences_with_errors": len(self.mistakes),
            "tokens": self.tokens.tokens,
        }


def evaluate(
    gold: Sequence[Sentence],
    predicted_tags: Sequence[Tags],
    *,
    scheme: Scheme,
    predicted_scheme: Scheme | None = None,
    mode: Mode = "conlleval",
    seen: SeenMentions | None = None,
    repair: RepairPolicy = "none",
    known_tags: Collection[str] | None = None,
    confidences: Sequence[Sequence[float]] | None = None,
    chances: Sequence[Mapping[TokenSpan, float]] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Evaluation:
    """Score predicted tags against the gold tags of the same sentences.

    ``scheme`` is the scheme of the gold tags and ``predicted_scheme`` that of the predictions (None: the
    same). If they differ, predicted spans are converted to the gold scheme before tags are compared for
    accuracy. If exactly one of them is IO, gold spans are first converted to the model's scheme. Gold spans
    that tags cannot express (``Sentence.unreachable``) count, too, for all scores of spans. ``repair``
    names a policy of ``gonie.text.schemes.repair`` for predictions that violate their scheme. ``known_tags``
    are the tags of the model. Without them, the types in ``seen`` are taken as known. ``confidences`` has one
    value per token, ``chances`` the probabilities of the predicted spans. ``bootstrap`` is the number of
    resamples; 0 computes no intervals, and neither does a single sentence.
    """
    predicted_scheme = predicted_scheme or scheme
    gold_tags: Sequence[Tags] = _check(gold, predicted_tags)
    if (scheme.kind == "IO") != (predicted_scheme.kind == "IO") and predicted_scheme.has_spans:
        found = [to_spans(tags, scheme, mode) for tags in gold_tags]
        gold_tags, scheme = _rewrite(found, gold_tags, predicted_scheme), predicted_scheme
    predicted_tags, repaired = _repair(gold_tags, predicted_tags, scheme, predicted_scheme, repair)
    tagged = [read_spans(tags, scheme, mode) for tags in gold_tags]
    found = [read_spans(tags, predicted_scheme, mode) for tags in predicted_tags]
    if predicted_scheme != scheme:
        predicted_tags = _rewrite(found, gold_tags, scheme)
    has_boundaries = scheme.has_spans and scheme.kind != "IO"
    aligned = [*map(align_spans if scheme.has_spans else Aligned, gold, tagged, found)]
    truth, guess = [each.gold for each in aligned], [each.predicted for each in aligned]
    spans, tokens = SpanScores.from_spans(truth, guess), token_counts(gold_tags, predicted_tags)
    cut = [each.sentence for each in aligned]
    novelty = None if seen is None else novelty_counts(cut, truth, guess, seen)
    decisions = (
        SpanDecisions.of(aligned, found, confidences, chances)
        if scheme.has_spans and confidences is not None and chances is not None
        else None
    )
    labels = list(spans.types)
    return Evaluation(
        scheme=scheme,
        mode=mode if has_boundaries else "token",
        repair=repaired,
        spans=spans,
        tokens=LabelScores.from_tags(gold_tags, predicted_tags),
        confusion=Confusion.from_spans(truth, guess),
        boundaries=Boundaries.from_spans(truth, guess) if has_boundaries else None,
        intervals=None
        if not bootstrap or len(gold) < 2
        else bootstrap_intervals(
            spans=span_counts(truth, guess, labels),
            tokens=tokens,
            novelty=novelty,
            labels=labels,
            resamples=bootstrap,
            seed=seed,
        ),
        novelty=None if novelty is None else novelty_recall(novelty),
        unknown_labels=_unknown(truth, _known(known_tags, predicted_scheme, seen)),
        sentences=len(gold),
        mistakes=_mistakes(aligned, found, confidences, chances),
        unreachable=_count_labels(span for each in aligned for span in each.unreachable()),
        decisions=decisions,
    )


def _check(gold: Sequence[Sentence], predicted: Sequence[Tags]) -> list[tuple[str, ...]]:
    """Check that both sides have the same shape and return the gold tags."""
    if not gold:
        raise InputError("no sentences to score", fix="Check the file")
    if len(gold) != len(predicted):
        raise InputError(f"expected tags for {len(gold)} sentences, got tags for {len(predicted)}")
    tags: list[tuple[str, ...]] = []
    for sentence, guess in zip(gold, predicted, strict=True):
        path, line = sentence.path or None, sentence.line or None
        if sentence.tags is None:
            raise InputError("sentence without gold tags", path=path, line=line)
        if not len(sentence.words) == len(sentence.tags) == len(guess):
            got = (
                f"{len(sentence.words)} words, {len(sentence.tags)} gold tags and {len(guess)} predicted tags"
            )
            raise InputError(
                f"expected one gold and one predicted tag per word, got {got}", path=path, line=line
            )
        tags.append(sentence.tags)
    return tags


def _repair(
    gold: Sequence[Tags],
    predicted: Sequence[Tags],
    scheme: Scheme,
    predicted_scheme: Scheme,
    policy: RepairPolicy,
) -> tuple[Sequence[Tags], Repair]:
    """Apply the policy to the predictions. Return them with the repair statistics."""
    if policy not in get_args(RepairPolicy):
        raise InputError(
            f"unknown repair policy {policy!r}", fix=f"Choose one of {', '.join(get_args(RepairPolicy))}"
        )
    checker, gold_checker = Checker(scheme=predicted_scheme), Checker(scheme=scheme)
    invalid = [bool(checker.problems(tags)) for tags in predicted]
    invalid_gold = sum(bool(gold_checker.problems(tags)) for tags in gold)
    changed = 0
    if policy != "none":
        repaired = list(predicted)
        for at in (at for at, broken in enumerate(invalid) if broken):
            repaired[at], count = repair_tags(predicted[at], predicted_scheme, policy)
            changed += count
        predicted = repaired
    return predicted, Repair(policy=policy, invalid=sum(invalid), changed=changed, invalid_gold=invalid_gold)


def _rewrite(spans: Sequence[Spans], like: Sequence[Tags], scheme: Scheme) -> list[list[str]]:
    """Convert spans to tags of ``scheme``, so that tags can be compared one by one."""
    return [from_spans(found, len(tags), scheme) for found, tags in zip(spans, like, strict=True)]


def _known(
    known_tags: Collection[str] | None, scheme: Scheme, seen: SeenMentions | None
) -> Collection[str] | None:
    """Return the labels that the model can predict, or None if unknown."""
    if known_tags is None:
        return None if seen is None else seen.labels
    if not scheme.has_spans:
        return known_tags
    parts = (scheme.split(tag) for tag in known_tags)
    return {part[1] for part in parts if part is not None and part[1] is not None}


def _unknown(gold: Sequence[Sequence[TokenSpan]], known: Collection[str] | None) -> dict[str, int]:
    if known is None:
        return {}
    return _count_labels(span for spans in gold for span in spans if span[2] not in known)


def _count_labels(spans: Iterable[TokenSpan]) -> dict[str, int]:
    return dict(Counter(label for _, _, label in spans).most_common())


def _mistakes(
    aligned: Sequence[Aligned],
    guess: Sequence[Spans],
    confidences: Sequence[Sequence[float]] | None,
    chances: Sequence[Mapping[TokenSpan, float]] | None,
) -> tuple[Mistake, ...]:
    """Return the mistakes. ``guess`` has the predicted spans as ranges of tokens, as in ``chances``."""
    sure: Iterable[Sequence[float] | None] = repeat(None) if confidences is None else confidences
    likely: Iterable[Mapping[TokenSpan, float] | None] = repeat(None) if chances is None else chances
    found = (
        find_mistake(
            each.sentence,
            each.gold,
            each.predicted,
            each.values_of_words(confidence),
            each.values_of_spans(chance, spans),
        )
        for each, spans, confidence, chance in zip(aligned, guess, sure, likely, strict=False)
    )
    return tuple(mistake for mistake in found if mistake is not None)


def _novelty_json(novelty: Mapping[Novelty, Recall] | None) -> dict[str, object] | None:
    return None if novelty is None else {kind.value: recall.to_json() for kind, recall in novelty.items()}
