"""Several taggers as one, whose probabilities are the means of those of its members.

The probability of a tag or span is the mean over the members, each at its own temperature. The tags are the
best sequence of ``runtime.mixture``, and valid in the tag scheme as those of a single tagger. The ensemble of
one tagger predicts what this tagger predicts. The entropies of a sentence are the highest of its tokens: one
strange word is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gonie.features.batching import sorted_batches
from gonie.features.encoding import Encoding
from gonie.metrics.entropies import entropies
from gonie.runtime.decoder import Decoder
from gonie.runtime.groups import MOST, grouped
from gonie.runtime.mixture import Mixture
from gonie.tasks.members import Advance, check_same, counted, shown_settings
from gonie.tasks.tagging.chunks import tag_in_chunks
from gonie.tasks.tagging.decoding import By, Decoding
from gonie.tasks.tagging.labeller import Tagging, to_taggings
from gonie.tasks.tagging.tagger import CHUNK_OVERLAP, Scored, Tagger, chunk_width, count_windows
from gonie.tasks.tagging.text_tagger import TextTagger
from gonie.text.entropies import Entropies, highest
from gonie.text.types import Sentence

TOKENS, SENTENCES = 4096, 64
"""The maximum size of a batch that is decoded at once."""

Result = TypeVar("Result")
SentenceScores = Sequence[NDArray[np.float32]]
"""The scores of each sentence before decoding, (tokens, K)."""
ScoreMembers = Callable[[Sequence[Sentence]], Iterable[SentenceScores]]
"""Yields the scores of sentences by each member in turn."""


class EnsembleTagger(TextTagger):
    """Tags with the mean probabilities of several members.

    ``first`` is the member whose tokenizer, recipe and tag scheme are used. ``decoders`` are those of the
    members, and ``score`` their scores. ``advance`` receives how many members have scored the sentences.
    """

    encoding: Encoding

    def __init__(
        self,
        *,
        first: Tagger,
        decoders: Sequence[Decoder],
        score: ScoreMembers,
        decoding: Decoding | None = None,
        advance: Advance | None = None,
    ) -> None:
        super().__init__(
            encoding=first.encoding,
            tokenizer=first.tokenizer,
            recipe=first.recipe,
            decoding=decoding,
            given_scheme=first.given_scheme,
        )
        self.first = first
        self.origin = first.origin
        self.members = len(decoders)
        self.decoders = tuple(decoders)
        self._score = score
        self._advance = advance
        self._biases = self.decoding.tag_biases(self.labels, self.encoding.scheme)  # (K,)

    @property
    def vector_width(self) -> int:
        """The width of the external vectors that every text must have; 0: it reads none."""
        return self.encoding.external

    def with_decoding(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> EnsembleTagger:
        """Return the ensemble with other decoding settings. A bias is added to the scores of each member."""
        return EnsembleTagger(
            first=self.first,
            decoders=self.decoders,
            score=self._score,
            decoding=Decoding(by, bias or {}),
            advance=self._advance,
        )

    def _map_taggings(
        self, sentences: Sequence[Sentence], make: Callable[[Sentence, Tagging], Result]
    ) -> list[Result]:
        found = [Tagging(entropies=Entropies())] * len(sentences)
        with_words = [i for i, sentence in enumerate(sentences) if sentence.words]
        for group in grouped(with_words, lambda i: len(sentences[i]), first=MOST):
            own = [sentences[i] for i in group]
            scores = counted(self._score(own), len(self.decoders), self._advance)
            for at, tagging in self._taggings(scores):
                found[group[at]] = tagging._replace(windows=count_windows(own[at]))
        return list(map(make, sentences, found))

    def _taggings(self, scores: Sequence[SentenceScores]) -> Iterator[tuple[int, Tagging]]:
        """Yield the index of each sentence and its tagging, ordered by batches."""
        lengths = np.array([len(own) for own in scores[0]], dtype=np.int64)
        width = chunk_width(len(self.labels))
        for batch in sorted_batches(lengths, tokens=TOKENS, sentences=SENTENCES):
            places = batch.tolist()
            if lengths[places[0]] > width:  # the longest of the batch
                yield from ((at, self._tag_long([own[at] for own in scores], width)) for at in places)
            else:
                batches = [Scored.of([own[at] for at in places]) for own in scores]
                yield from zip(places, self._tag_batch(batches), strict=True)

    def _tag_long(self, scores: SentenceScores, width: int) -> Tagging:
        """Tag a sentence in chunks. ``scores`` (tokens, K) are those of each member."""

        def tag(start: int, end: int) -> Tagging:
            (tagging,) = self._tag_batch([Scored.of([own[start:end]]) for own in scores])
            return tagging

        return tag_in_chunks(tag, len(scores[0]), width=width, shared=CHUNK_OVERLAP)

    def _tag_batch(self, scored: Sequence[Scored]) -> list[Tagging]:
        """Return the taggings of a batch, which each member has scored."""
        mixture = self._mixture(scored)
        deciding = mixture
        if self._biases.any():
            deciding = self._mixture([own._replace(emissions=own.emissions + self._biases) for own in scored])
        tags = deciding.best_tags() if self.decoding.by == "viterbi" else deciding.posterior()
        taggings = to_taggings(mixture, tags, self.labels, self.encoding.scheme)
        return [
            tagging._replace(
                entropies=highest(entropies(mixture.member_marginals[:, row, : len(tagging.tags)]))
            )
            for row, tagging in enumerate(taggings)
        ]

    def _mixture(self, scored: Sequence[Scored]) -> Mixture:
        return Mixture(
            [decoder.forward_backward(*own) for decoder, own in zip(self.decoders, scored, strict=True)]
        )


def combine_taggers(taggers: Sequence[Tagger], advance: Advance | None = None) -> EnsembleTagger:
    """Return the ensemble of taggers with the same tags. They may differ in everything else."""
    check_same(taggers, "tags", lambda tagger: tagger.labels)
    check_same(taggers, "tag scheme", lambda tagger: (str(tagger.encoding.scheme),))
    check_same(taggers, "tokenizer", lambda tagger: shown_settings(tagger.tokenizer.to_json()))
    return EnsembleTagger(
        first=taggers[0],
        decoders=[tagger.decoder for tagger in taggers],
        score=lambda sentences: (tagger.emissions(sentences) for tagger in taggers),
        advance=advance,
    )
