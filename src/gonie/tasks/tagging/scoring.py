"""Scoring a tagger on sentences with gold tags."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from gonie.errors import GonieError, InputError
from gonie.features.external_vectors import VectorFile
from gonie.formats.format import Tokenize
from gonie.formats.spans import texts_of
from gonie.formats.tagged import Survey, TaggedSource, survey
from gonie.metrics.evaluation import Evaluation, RepairPolicy, evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.tasks.evaluation import by_score, entropy_scores, evenly
from gonie.tasks.tagging.noisy_sentences import noisy_sentences
from gonie.text.entropies import Entropies
from gonie.text.label_map import SHOWN, LabelMap, check_known, shipped_map
from gonie.text.noise_levels import NoiseLevel
from gonie.text.report import Report, count_of
from gonie.text.schemes import IO, OUTSIDE, PLAIN, Mode, Scheme, from_spans, keep_types, to_spans, type_names
from gonie.text.types import Sentence


class Tagged(Protocol):
    """The tagging of one sentence: a tag for every word, with probabilities if the model has them."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the model's scheme."""

    @property
    def scores(self) -> tuple[float, ...]:
        """The probabilities of the tags."""

    @property
    def spans(self) -> Sequence[tuple[int, int, str, float | None]]:
        """The entities that the tags form, with their probabilities. Empty for plain tags."""

    @property
    def entropies(self) -> Entropies | None:
        """The uncertainty of the sentence, if an ensemble has tagged it."""


Tag = Callable[[Sequence[Sentence]], Sequence[Tagged]]


@dataclass(frozen=True, kw_only=True)
class PredictedSentences:
    """Sentences with their gold tags and their taggings, and how to compare them.

    ``scheme`` is that of the gold tags. ``tag`` tags further sentences in the same way, and ``tokenizer``
    cuts texts into them, if the model needs nothing but their words. ``unused`` are labels with a rule of the
    label map that the file does not have.
    """

    gold: Sequence[Sentence]
    taggings: Sequence[Tagged]
    scheme: Scheme
    model_scheme: Scheme
    known_tags: Collection[str]
    mode: Mode
    repair: RepairPolicy
    seen: SeenMentions | None
    tag: Tag
    tokenizer: Tokenize | None = None
    unused: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.gold)

    @property
    def metas(self) -> list[Mapping[str, str]]:
        """The named values of each sentence."""
        return [sentence.meta for sentence in self.gold]

    @property
    def texts(self) -> list[str]:
        """The text of each sentence."""
        return [sentence.surface for sentence in self.gold]

    def uncertainties(self) -> dict[str, list[float]]:
        """Return how uncertain the model is of each sentence with words, by the name of the score."""
        return by_score(
            {"lowest": 1 - min(tagging.scores), **entropy_scores(tagging.entropies)}
            for tagging in self.taggings
            if tagging.scores
        )

    def evaluate(self, *, bootstrap: int = 1000) -> Evaluation:
        """Score the sentences."""
        return score_taggings(
            self.gold,
            self.taggings,
            scheme=self.scheme,
            model_scheme=self.model_scheme,
            known_tags=self.known_tags,
            mode=self.mode,
            repair=self.repair,
            seen=self.seen,
            bootstrap=bootstrap,
        )

    def part(self, places: Sequence[int]) -> PredictedSentences:
        """Return the sentences with these numbers."""
        gold = [self.gold[at] for at in places]
        return replace(self, gold=gold, taggings=[self.taggings[at] for at in places])

    def sample(self, most: int) -> PredictedSentences:
        """Return at most this number of sentences, spread evenly over the file. Texts are kept whole."""
        ends = accumulate(len(group) for group in texts_of(self.gold))
        texts = [range(first, end) for first, end in pairwise([0, *ends])]
        chosen = evenly(texts, max(1, len(texts) * most // len(self.gold)))
        return self.part([at for text in chosen for at in text])

    def joined(self, others: Sequence[PredictedSentences]) -> PredictedSentences:
        """Return these sentences and those of other files, all with gold tags in one scheme."""
        parts = [self, *others]
        gold = [_in_scheme(each, part, self.scheme) for part in parts for each in part.gold]
        return replace(self, gold=gold, taggings=[each for part in parts for each in part.taggings])

    def changed(self, level: NoiseLevel, seed: int) -> PredictedSentences:
        """Return the sentences with noise, tagged again."""
        generator = np.random.default_rng(seed)
        gold = noisy_sentences(
            self.gold, level, scheme=self.scheme, tokenizer=self.tokenizer, generator=generator
        )
        return replace(self, gold=gold, taggings=self.tag(gold))


def _in_scheme(sentence: Sentence, part: PredictedSentences, scheme: Scheme) -> Sentence:
    if part.scheme == scheme:
        return sentence
    tags = sentence.tags or ()
    return replace(
        sentence, tags=tuple(from_spans(to_spans(tags, part.scheme, part.mode), len(tags), scheme))
    )


def score_source(source: TaggedSource, tag: Tag, **settings: Any) -> Evaluation:
    """Score the taggings of ``tag`` for a file. The settings are those of ``scored_source``."""
    return scored_source(source, tag, **settings).evaluate()


def scored_source(
    source: TaggedSource,
    tag: Tag,
    *,
    model_scheme: Scheme,
    known_tags: Collection[str],
    mode: Mode,
    repair: RepairPolicy,
    seen: Path,
    types: Collection[str] = (),
    labels: LabelMap | None = None,
    all_rules: bool = True,
    tokenizer: Tokenize | None = None,
    vectors: VectorFile | None = None,
) -> PredictedSentences:
    """Return the sentences of ``source`` with the taggings of ``tag``, in ``model_scheme``.

    ``types`` are the types that the model learned, if not all. Gold entities of other types become O.
    ``labels`` renames the gold labels first. Then only the types of the file or the map that the model has
    are scored. Predictions of other types are left out and counted in the report of ``source``. Otherwise
    gold tags are not changed: ``mode`` determines how an invalid sequence is read, and it is counted.
    ``seen`` is the file of training mentions in a run folder. Without it, there is no recall by novelty.
    With ``all_rules``, a rule of ``labels`` for a label that the file does not have is an error.
    ``tokenizer`` cuts texts with noise, if the model needs nothing but words. ``vectors`` are the external
    vectors of the file.
    """
    found = survey(source)
    bare = IO if model_scheme.kind == "IO" and not found.scheme.has_spans else found.scheme
    if bare.has_spans != model_scheme.has_spans and found.labels:
        raise _other_scheme(found, model_scheme)
    view = source.with_tag_scheme(found.scheme)
    sentences = list(view if vectors is None else vectors.attach(view))
    source.report = view.report
    untagged = next((sentence for sentence in sentences if sentence.tags is None), None)
    if untagged is not None:
        raise InputError(
            "sentence without gold tags",
            path=untagged.path,
            line=untagged.line,
            fix="Set the tag column: --tag-column N",
        )
    known_types = type_names(known_tags, model_scheme)
    unused: tuple[str, ...] = ()
    if labels and not model_scheme.has_spans:
        sentences, labels = _renamed_tags(sentences, labels, known_types), None
    if labels:
        before = _count_labels(sentences, bare)
        unused = tuple(old for old in labels.own if old not in before)
        if unused and all_rules:
            raise unused_rules(unused, before, source.report.path)
        sentences, types = _renamed(sentences, bare, labels, known_types, source.report)
    else:
        gold = chain.from_iterable(sentence.tags or () for sentence in sentences)
        named = dict.fromkeys(type_names(dict.fromkeys(gold), bare)) | _unreachable_labels(sentences)
        check_known(list(named), known_types, source.report.path)
        _notice_map(_count_labels(sentences, bare), known_types, source.report)
    taggings = tag(sentences)
    if not labels and model_scheme.has_spans:
        _notice_other_types(_count_labels(sentences, bare), known_types, taggings, source.report)
    if labels:
        _tell_types(types, taggings, source.report)
        taggings = [_of_shared_types(tagging, model_scheme, types) for tagging in taggings]

    def tag_again(sentences: Sequence[Sentence]) -> Sequence[Tagged]:
        found = tag(sentences)
        return [_of_shared_types(each, model_scheme, types) for each in found] if labels else found

    return PredictedSentences(
        gold=[_of_types(sentence, bare, types) for sentence in sentences] if types else sentences,
        taggings=taggings,
        scheme=bare,
        model_scheme=model_scheme,
        known_tags=known_tags,
        mode=mode,
        repair=repair,
        seen=_read_seen(seen) if seen.is_file() else None,
        tag=tag_again,
        tokenizer=tokenizer,
        unused=unused,
    )


def _other_scheme(found: Survey, model_scheme: Scheme) -> InputError:
    """Return the error for a file whose tags are entities if the model's are not, or the other way round."""
    fix = (
        "If the file has entities in another column, choose it with --tag-column N. Otherwise evaluate a "
        "model of such tags"
    )
    if found.scheme.has_spans:
        fix = (
            "If the file has such tags in another column, choose it with --tag-column N. Otherwise evaluate "
            "a model of entities"
        )
    return InputError(
        f"the model's tags are {model_scheme}, but those of the file are {found.scheme}: "
        f"{', '.join(list(found.labels)[:5])}",
        path=found.report.path,
        fix=fix,
    )


def _notice_map(labels: Mapping[str, int], known: Collection[str], report: Report) -> None:
    """Note a shipped map for a file some of whose labels the model does not have."""
    unknown = sum(number for label, number in labels.items() if label not in known)
    name = shipped_map(labels, known) if unknown else None
    if name is not None:
        report.noticed[f"gold entities of types that the model does not have (drop them: --map {name})"] += (
            unknown
        )


def score_taggings(
    gold: Sequence[Sentence],
    taggings: Sequence[Tagged],
    *,
    scheme: Scheme,
    model_scheme: Scheme,
    known_tags: Collection[str],
    mode: Mode = "conlleval",
    repair: RepairPolicy = "none",
    seen: SeenMentions | None,
    bootstrap: int = 1000,
) -> Evaluation:
    """Evaluate the taggings of sentences, of a split in training or of a file.

    ``scheme`` is that of the gold tags. ``seen`` are the mentions in the training data, for recall by
    novelty. ``bootstrap`` is the number of resamples; 0: no intervals. Taggings without probabilities are
    scored without calibration.
    """
    known = all(len(tagging.scores) == len(tagging.tags) for tagging in taggings)
    return evaluate(
        gold,
        [tagging.tags for tagging in taggings],
        scheme=scheme,
        predicted_scheme=model_scheme,
        mode=mode,
        repair=repair,
        seen=seen,
        known_tags=known_tags,
        confidences=[tagging.scores for tagging in taggings] if known else None,
        chances=[_chances(tagging) for tagging in taggings] if known else None,
        bootstrap=bootstrap,
    )


def _chances(tagging: Tagged) -> dict[tuple[int, int, str], float]:
    """Return the probability of each span."""
    return {(start, end, label): chance for start, end, label, chance in tagging.spans if chance is not None}


def unused_rules(rules: Sequence[str], labels: Collection[str], path: str | None = None) -> InputError:
    """Return the error for a label map with rules for labels that the data does not have."""
    return InputError(
        f"the label map has a rule for {', '.join(rules)}, but the file's labels are "
        f"{', '.join(labels) or 'only O'}",
        path=path,
        fix="Remove or correct the rule",
    )


def _renamed(
    sentences: Sequence[Sentence], scheme: Scheme, labels: LabelMap, known: Sequence[str], report: Report
) -> tuple[list[Sentence], list[str]]:
    """Return the sentences with mapped labels, and the types that the file and the model share."""
    before = _count_labels(sentences, scheme)
    given, labels = labels, labels.to_labels(known)
    named = [label for label in before if labels[label] not in (OUTSIDE, label, given[label])]
    if other := [f"{label} → {labels[label]}" for label in named]:
        report.choose("label map", ", ".join(other), "the names that the model has")
    for label, number in before.items():
        if labels[label] == OUTSIDE:
            report.skipped[f"gold entities of the type {label}, which the map drops"] += number
    renamed = [
        replace(
            each,
            tags=tuple(labels.rename(each.tags or (), scheme)),
            unreachable=labels.rename_spans(each.unreachable),
        )
        for each in sentences
    ]
    mentions = _count_labels(renamed, scheme)
    for label, number in mentions.items():
        if label not in known:
            report.skipped[f"gold entities of the type {label}, which the model does not have"] += number
    if before and not mentions.keys() & set(known):
        raise _nothing_shared(list(before), known, report.path)
    return renamed, [label for label in known if label in mentions or label in labels.rules.values()]


def _nothing_shared(labels: Sequence[str], known: Sequence[str], path: str) -> InputError:
    """Return the error for a label map that leaves no label of the model."""
    shipped = shipped_map(labels, known)
    rest = ", …" if len(labels) > SHOWN else ""
    return InputError(
        "the file and the model share no type after the label map: the file has "
        f"{', '.join(labels[:SHOWN])}{rest}",
        path=path,
        fix=f"Use the map of these labels: --map {shipped}"
        if shipped
        else f"Map a label to one of {', '.join(known)}: --map OLD=NEW",
    )


def _notice_other_types(
    gold: Mapping[str, int], known: Collection[str], taggings: Iterable[Tagged], report: Report
) -> None:
    """Note predictions of types that the file does not have, which may not be annotated in it."""
    others = Counter(span[2] for tagging in taggings for span in tagging.spans if span[2] not in gold)
    shared = next((label for label in gold if label in known), None)
    if others and shared is not None:
        report.noticed[
            f"predictions of types that the file does not have: {', '.join(sorted(others))}. They count as "
            "errors. If the file is not annotated for these types, pass any label map, with which only types "
            f"of both are scored: --map {shared}={shared}"
        ] += others.total()


def _tell_types(types: Collection[str], taggings: Iterable[Tagged], report: Report) -> None:
    """Report the types that are scored, and how many predictions of other types are left out."""
    others = sum(span[2] not in types for tagging in taggings for span in tagging.spans)
    reason = "of the model, and of the file or its label map"
    if others:
        reason = f"{reason}; left out of the score: {count_of(others, 'predictions of other types')}"
    report.choose("types", ", ".join(types), reason)


def _count_labels(sentences: Iterable[Sentence], scheme: Scheme) -> Counter[str]:
    """Count the gold spans of each type."""
    return Counter(
        span[2] for each in sentences for span in (*to_spans(each.tags or (), scheme), *each.unreachable)
    )


def _unreachable_labels(sentences: Iterable[Sentence]) -> dict[str, None]:
    return {span[2]: None for each in sentences for span in each.unreachable}


def _renamed_tags(sentences: Sequence[Sentence], labels: LabelMap, known: Sequence[str]) -> list[Sentence]:
    """Return the sentences with mapped plain tags. Every word has one, so none can be dropped."""
    labels = labels.to_labels(known)
    dropped = [old for old, new in labels.rules.items() if new == OUTSIDE and OUTSIDE not in known]
    if dropped:
        raise InputError(
            f"a label map cannot drop plain tags: {', '.join(f'{old}={OUTSIDE}' for old in dropped)}",
            fix=f"Map each to one of {', '.join(known)}",
        )
    return [replace(each, tags=tuple(labels.rename(each.tags or (), PLAIN))) for each in sentences]


class _SharedTags(NamedTuple):
    """A tagging with entities of some types only."""

    tags: tuple[str, ...]
    scores: tuple[float, ...]
    spans: Sequence[tuple[int, int, str, float | None]]
    entropies: Entropies | None


def _of_shared_types(tagging: Tagged, scheme: Scheme, types: Collection[str]) -> _SharedTags:
    """Return the tagging with only the predicted entities of these types."""
    spans = [span for span in tagging.spans if span[2] in types]
    tags = tuple(keep_types(tagging.tags, scheme, types))
    return _SharedTags(tags, tagging.scores, spans, tagging.entropies)


def _of_types(sentence: Sentence, scheme: Scheme, types: Collection[str]) -> Sentence:
    """Return the sentence with only the gold entities of these types."""
    tags = sentence.tags or ()
    spans = [span for span in to_spans(tags, scheme) if span[2] in types]
    others = tuple(span for span in sentence.unreachable if span[2] in types)
    return replace(sentence, tags=tuple(from_spans(spans, len(tags), scheme)), unreachable=others)


def _read_seen(path: Path) -> SeenMentions:
    try:
        return SeenMentions.from_json(json.loads(path.read_bytes()))
    except (ValueError, TypeError, AttributeError, GonieError) as error:
        raise InputError(
            f"damaged file of training mentions: {error}",
            path=path,
            fix="Resume the run to write it again",
        ) from error
