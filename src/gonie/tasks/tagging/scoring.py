"""Scoring a tagger on sentences with gold tags."""

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
    """The tagging of one sentence: a tag for every word, with probabilities."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the model's scheme."""

    @property
    def scores(self) -> tuple[float, ...]:
        """The probabilities of the tags."""

    @property
    def spans(self) -> Sequence[tuple[int, int, str, float]]:
        """The entities that the tags form, with their probabilities. Empty for plain tags."""


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
    """Score the taggings of ``tag``, in ``model_scheme``, for the sentences of ``source``.

    ``types`` are the types that the model learned, if not all. Gold entities of other types become O. Gold
    tags are not changed: ``mode`` determines how an invalid sequence is read, and it is counted. ``seen`` is
    the file of training mentions in a run folder. Without it, there is no recall by novelty.
    """
    found = survey(source)
    sentences = list(source)
    untagged = next((sentence for sentence in sentences if sentence.tags is None), None)
    if untagged is not None:
        raise InputError(
            "sentence without gold tags",
            path=untagged.path,
            line=untagged.line,
            fix="Set the tag column: --tag-column N",
        )
    bare = IO if model_scheme.kind == "IO" and not found.scheme.has_spans else found.scheme
    if bare.has_spans != model_scheme.has_spans:
        raise InputError(
            f"the model's tags are {model_scheme}, but those of the file are {found.scheme}: "
            f"{', '.join(list(found.labels)[:5])}",
            path=source.report.path,
            fix="Set the tag column: --tag-column N",
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
    """Evaluate the taggings of sentences, of a split in training or of a file.

    ``scheme`` is that of the gold tags. ``seen`` are the mentions in the training data, for recall by
    novelty.
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
    """Return the sentence with only the gold entities of these types."""
    tags = sentence.tags or ()
    spans = [span for span in to_spans(tags, scheme) if span[2] in types]
    return replace(sentence, tags=tuple(from_spans(spans, len(tags), scheme)))


def _read_seen(path: Path) -> SeenMentions:
    try:
        return SeenMentions.from_json(json.loads(path.read_bytes()))
    except (ValueError, TypeError, AttributeError, GonieError) as error:
        raise InputError(
            f"damaged file of training mentions: {error}",
            path=path,
            fix="Resume the run to write it again",
        ) from error
