"""Evaluation of classifiers: ``evaluate_classes`` and the ``ClassEvaluation`` it returns.

Each label of a text is scored as a span over the whole text, so counts, averages, confusion and intervals are
shared with taggers. Calibration, AUC and other scores of probabilities exist only here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gonie.errors import InputError
from gonie.metrics.auc import Ranking
from gonie.metrics.bootstrap import Floats
from gonie.metrics.calibration import Calibration, Gold, decisions, measure_calibration
from gonie.metrics.class_errors import ClassError, Labelled, Labels, list_class_errors
from gonie.metrics.counts import Counts, SentenceCounts, ratio
from gonie.metrics.intervals import Interval, Intervals, bootstrap_intervals
from gonie.metrics.labels import Confusion
from gonie.metrics.lengths import LengthScore, length_scores
from gonie.metrics.relations import RelationScores, are_relations, relation_scores
from gonie.metrics.risk_coverage import RiskCoverage, risk_coverage
from gonie.metrics.spans import SpanScores, span_counts
from gonie.text.schemes import TokenSpan

NO_LABEL = ""
"""Stands for a prediction without a label."""
SLACK = 1e-4
"""How far a probability may lie outside 0..1 because of rounding."""


@dataclass(frozen=True)
class ClassEvaluation:
    """All measurements on the texts of one file.

    For single-label texts, micro precision, recall and F1 all equal accuracy. For multi-label texts
    (``multi_label``), accuracy is the share of texts with exactly the gold labels; ``confusion`` is None.
    ``auc`` is set for two labels, ``relations`` for labels of SemEval-2010 task 8, and ``lengths`` if the
    lengths of the texts were given. Without probabilities, ``calibration``, ``risk_coverage`` and ``auc`` are
    None. ``unknown_labels`` counts the gold labels that the model cannot predict.
    They count as missed and enter the macro average with 0.
    """

    multi_label: bool
    texts: int
    right: int
    scores: SpanScores
    confusion: Confusion | None
    calibration: Calibration | None
    risk_coverage: RiskCoverage | None
    auc: float | None
    relations: RelationScores | None
    lengths: tuple[LengthScore, ...]
    intervals: Intervals | None
    unknown_labels: Mapping[str, int]
    mistakes: tuple[ClassError, ...]

    @property
    def accuracy(self) -> float:
        """The share of texts with exactly their gold labels."""
        return ratio(self.right, self.texts)

    @property
    def headline(self) -> tuple[str, float]:
        """The main score: accuracy, F1 for multi-label texts, or the official macro F1 for relations."""
        if self.relations is not None:
            return "relation_f1", self.relations.f1
        return ("f1", self.scores.micro.f1) if self.multi_label else ("accuracy", self.accuracy)

    @property
    def by_type(self) -> list[tuple[str, Counts]]:
        """Labels (or relations, if they are scored) and their counts, most frequent first."""
        return (self.relations.relations if self.relations else self.scores).by_frequency

    @property
    def unknown(self) -> int:
        """The number of gold labels that the model cannot predict, and that the log loss leaves out."""
        return sum(self.unknown_labels.values())

    def interval(self, score: str) -> Interval | None:
        """Return the 95% interval of an overall score (``accuracy``, ``macro_f1``, ``auc`` …), or None."""
        return None if self.intervals is None else self.intervals.overall.get(score)

    def errors(self) -> list[ClassError]:
        """Return every error, the most confident first."""
        return list(self.mistakes)

    def to_json(self) -> dict[str, object]:
        """Return everything except the texts, as fractions (not percentages) and counts."""
        micro, macro = self.scores.micro, self.scores.macro
        return {
            "headline": self.headline[0],
            "f1": micro.f1,
            "precision": micro.precision,
            "recall": micro.recall,
            "accuracy": self.accuracy,
            "types": {label: counts.to_json() for label, counts in self.scores.types.items()},
            "macro": {"f1": macro.f1, "precision": macro.precision, "recall": macro.recall},
            "auc": self.auc,
            "relation_f1": None if self.relations is None else self.relations.f1,
            "relations": None if self.relations is None else self.relations.to_json(),
            "intervals": None if self.intervals is None else self.intervals.to_json(),
            "calibration": None
            if self.calibration is None
            else {**self.calibration.to_json(), "nll_left_out": self.unknown},
            "risk_coverage": None if self.risk_coverage is None else self.risk_coverage.to_json(),
            "lengths": [score.to_json() for score in self.lengths],
            "confusion": None if self.confusion is None else self.confusion.to_json(),
            "unknown_labels": dict(self.unknown_labels),
            "several_labels": self.multi_label,
            "texts": self.texts,
            "texts_with_errors": self.texts - self.right,
        }


def evaluate_classes(
    gold: Sequence[Labelled],
    predicted: Sequence[Labels],
    probabilities: npt.ArrayLike | None,
    labels: Sequence[str],
    *,
    multi_label: bool = False,
    lengths: Sequence[int] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> ClassEvaluation:
    """Score predicted labels of texts against their gold labels.

    ``probabilities`` (N, K) has one column per label in ``labels``, the labels of the model. It is None for a
    model that gives only labels. With ``multi_label``, a text may have any number of labels and each
    probability stands alone. Otherwise a text has one label and its probabilities sum to 1. A prediction
    without a label is an error of the model.
    ``lengths`` (tokens per text) is used for the scores by length. ``bootstrap`` is the number of resamples;
    0 computes no intervals, and neither does a single text.
    """
    chances = None if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    _check(gold, predicted, chances, labels, multi_label=multi_label)
    if lengths is not None and len(lengths) != len(gold):
        raise InputError(f"expected lengths of {len(gold)} texts, got lengths of {len(lengths)}")
    bootstrap = bootstrap if len(gold) > 1 else 0
    columns = {label: at for at, label in enumerate(labels)}
    truth, guess = [_spans(text.labels) for text in gold], [_spans(given) for given in predicted]
    scores, counts = SpanScores.from_spans(truth, guess), _counts(truth, guess)
    unknown = _unknown(gold, columns)
    targets = _indicators(gold, columns) if multi_label else _ids(gold, columns)
    ranking = None
    if chances is not None and len(labels) == 2 and not multi_label and not unknown:
        ranking = _ranking(chances, targets)
    relations = None
    if not multi_label and are_relations({*labels, *unknown}):
        sides = [text.labels[0] for text in gold], [given[0] if given else NO_LABEL for given in predicted]
        relations = relation_scores(*sides, resamples=bootstrap, seed=seed)
    return ClassEvaluation(
        multi_label=multi_label,
        texts=len(gold),
        right=int(_right(counts).sum()),
        scores=scores,
        confusion=None if multi_label else Confusion.from_spans(truth, guess),
        calibration=None if chances is None else measure_calibration(chances, targets),
        risk_coverage=None if chances is None else risk_coverage(*_answers(chances, targets)),
        auc=None if ranking is None else ranking.area,
        relations=relations,
        lengths=() if lengths is None else length_scores(lengths, counts, resamples=bootstrap, seed=seed),
        intervals=None
        if not bootstrap
        else _intervals(
            span_counts(truth, guess, list(scores.types)),
            _right(counts),
            list(scores.types),
            ranking=ranking,
            relations=relations,
            resamples=bootstrap,
            seed=seed,
        ),
        unknown_labels=unknown,
        mistakes=tuple(list_class_errors(gold, predicted, chances, columns)),
    )


def _check(
    gold: Sequence[Labelled],
    predicted: Sequence[Labels],
    probabilities: Floats | None,
    labels: Sequence[str],
    *,
    multi_label: bool,
) -> None:
    """Raise InputError if gold and predictions cannot be compared."""
    if not gold:
        raise InputError("no texts to score", fix="Check the file")
    if len(gold) != len(predicted):
        raise InputError(f"expected labels for {len(gold)} texts, got labels for {len(predicted)}")
    if len(set(labels)) != len(labels) or not labels:
        raise InputError(f"the model's labels must be distinct and not empty, got {list(labels)}")
    if probabilities is not None:
        _check_probabilities(probabilities, len(gold), len(labels))
    known = set(labels)
    for text, given in zip(gold, predicted, strict=True):
        path, line = text.path or None, text.line or None
        if not multi_label and len(text.labels) != 1:
            got = f"{len(text.labels)}: {', '.join(text.labels) or 'none'}"
            raise InputError(f"expected one gold label per text, got {got}", path=path, line=line)
        if not known.issuperset(given) or (not multi_label and len(given) > 1):
            what = "labels" if multi_label else "at most one label"
            message = f"the prediction must be {what} of the model, got {list(given)}"
            raise InputError(message, path=path, line=line)


def _check_probabilities(probabilities: Floats, texts: int, labels: int) -> None:
    if probabilities.shape != (texts, labels):
        shape = f"({texts} texts, {labels} labels)"
        raise InputError(f"expected probabilities of shape {shape}, got {probabilities.shape}")
    if not ((probabilities >= -SLACK) & (probabilities <= 1 + SLACK)).all():  # also false for nan
        raise InputError(
            "some probabilities are not between 0 and 1", fix="Pass probabilities, not raw scores"
        )


def _spans(labels: Labels) -> list[TokenSpan]:
    """Return each label as a span over the whole text."""
    return [(0, 1, label) for label in dict.fromkeys(labels)]


def _counts(gold: Sequence[list[TokenSpan]], predicted: Sequence[list[TokenSpan]]) -> Gold:
    """Return the number of gold, predicted and correct labels of each text, (N, 3)."""
    rows = (
        (len(due), len(given), len(set(due) & set(given))) for due, given in zip(gold, predicted, strict=True)
    )
    return np.array(list(rows), dtype=np.int64)


def _right(counts: Gold) -> npt.NDArray[np.bool_]:
    """Return which texts have exactly their gold labels, (N,)."""
    return np.asarray((counts == counts[:, 2:]).all(axis=1))


def _ids(gold: Sequence[Labelled], columns: Mapping[str, int]) -> Gold:
    """Return the label id of each text (N,), -1 if the model does not have the label."""
    return np.array([columns.get(text.labels[0], -1) for text in gold], dtype=np.int64)


def _indicators(gold: Sequence[Labelled], columns: Mapping[str, int]) -> Gold:
    """Return which labels each text has, (N, K) of 0 and 1."""
    table = np.zeros((len(gold), len(columns)), dtype=np.int64)
    for at, text in enumerate(gold):
        table[at, [columns[label] for label in text.labels if label in columns]] = 1
    return table


def _answers(probabilities: Floats, gold: Gold) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the probability of each answer (M,) and whether it is right (M,).

    If texts may have several labels, each label is an answer, yes or no.
    """
    if gold.ndim == 2:
        sure = np.maximum(probabilities, 1 - probabilities)
        return sure.ravel(), ((probabilities >= 0.5) == (gold > 0)).ravel()
    return decisions(probabilities, gold)


def _unknown(gold: Sequence[Labelled], columns: Mapping[str, int]) -> dict[str, int]:
    counts = Counter(label for text in gold for label in set(text.labels) if label not in columns)
    return dict(counts.most_common())


def _ranking(probabilities: Floats, gold: Gold) -> Ranking | None:
    """Return the texts ranked by the probability of the second label, or None if a label never occurs."""
    ranking = Ranking(scores=probabilities[:, 1], positive=gold == 1)
    return None if ranking.area is None else ranking


def _intervals(
    spans: SentenceCounts,
    right: npt.NDArray[np.bool_],
    labels: Sequence[str],
    *,
    ranking: Ranking | None,
    relations: RelationScores | None,
    resamples: int,
    seed: int,
) -> Intervals:
    """Return the intervals that taggers also have, and those of the scores that only classifiers have."""
    whole = np.stack([right, np.ones_like(right)], axis=1).astype(np.int64)  # (N, 2), as token counts
    shared = bootstrap_intervals(
        spans=spans,
        tokens=SentenceCounts.from_table(whole),
        novelty=None,
        labels=labels,
        resamples=resamples,
        seed=seed,
    )
    own: dict[str, Interval] = {}
    if ranking is not None:
        own["auc"] = ranking.interval(resamples=resamples, seed=seed)
    if relations is not None and relations.interval is not None:
        own["relation_f1"] = relations.interval
    return replace(shared, overall={**shared.overall, **own})
