"""Scoring a tagger: what it says of sentences, compared with their gold tags."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from gonie.errors import GonieError, InputError
from gonie.formats.tagged import TaggedSource, survey
from gonie.metrics.evaluation import Evaluation, RepairPolicy, evaluate
from gonie.metrics.novelty import SeenMentions
from gonie.text.schemes import IO, Mode, Scheme, from_spans, to_spans
from gonie.text.types import Sentence


class Tagged(Protocol):
    """What a tagger says of one sentence: a tag for every word, and how sure it is of each."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags, in the model's scheme."""

    @property
    def scores(self) -> tuple[float, ...]:
        """Their probabilities."""

    @property
    def spans(self) -> Sequence[tuple[int, int, str, float]]:
        """The entities that the tags form, with their probabilities; none of plain tags."""


Tag = Callable[[Sequence[Sentence]], Sequence[Tagged]]


def score_source(
    source: TaggedSource,
    tag: Tag,
    *,
    model_scheme: Scheme,
    known_tags: Collection[str],
    mode: Mode,
    repair: RepairPolicy,
    seen: Path,
    types: Collection[str] = (),
) -> Evaluation:
    """Score what ``tag`` gives for the sentences of ``source`` (in ``model_scheme``).

    ``types`` are those the model was to learn, if not all: gold entities of other types are O to it.
    Gold tags are taken as they stand: an invalid sequence is read as ``mode`` reads it, and counted. ``seen``
    is the file of training mentions that a run folder has; without one there is no split by novelty.
    """
    found = survey(source)
    sentences = list(source)
    untagged = next((sentence for sentence in sentences if sentence.tags is None), None)
    if untagged is not None:
        raise InputError(
            "expected a gold tag for every word, got a sentence without tags",
            path=untagged.path,
            line=untagged.line,
            fix="Name the tag's column: --tag-column N",
        )
    bare = IO if model_scheme.kind == "IO" and not found.scheme.has_spans else found.scheme
    if bare.has_spans != model_scheme.has_spans:
        raise InputError(
            f"expected tags of the kind the model gives ({model_scheme}), got {found.scheme} tags "
            f"such as {', '.join(list(found.labels)[:5])}",
            path=source.report.path,
            fix="Name the tag's column: --tag-column N",
        )
    return score_taggings(
        [_of_types(sentence, bare, types) for sentence in sentences] if types else sentences,
        tag(sentences),
        scheme=bare,
        model_scheme=model_scheme,
        known_tags=known_tags,
        mode=mode,
        repair=repair,
        seen=_read_seen(seen) if seen.is_file() else None,
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
) -> Evaluation:
    """Measure what a tagger said of sentences from every side: of a split in training, or of a file.

    ``scheme`` is that of the gold tags. ``seen`` are the mentions of training, by which recall is split.
    """
    return evaluate(
        gold,
        [tagging.tags for tagging in taggings],
        scheme=scheme,
        predicted_scheme=model_scheme,
        mode=mode,
        repair=repair,
        seen=seen,
        known_tags=known_tags,
        confidences=[tagging.scores for tagging in taggings],
        chances=[
            {(start, end, label): chance for start, end, label, chance in tagging.spans}
            for tagging in taggings
        ],
    )


def _of_types(sentence: Sentence, scheme: Scheme, types: Collection[str]) -> Sentence:
    """The sentence with gold entities of these types alone."""
    tags = sentence.tags or ()
    spans = [span for span in to_spans(tags, scheme) if span[2] in types]
    return replace(sentence, tags=tuple(from_spans(spans, len(tags), scheme)))


def _read_seen(path: Path) -> SeenMentions:
    try:
        return SeenMentions.from_json(json.loads(path.read_bytes()))
    except (ValueError, TypeError, AttributeError, GonieError) as error:
        raise InputError(
            f"expected the mentions met in training, got a damaged file ({error})",
            path=path,
            fix="Resume the run, which writes it again",
        ) from error
