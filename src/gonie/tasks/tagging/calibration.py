"""Fits the temperature of a tagger, so that the probabilities of its spans say how often they are right.

The decisions are the predicted spans of held-out sentences, each right if gold has exactly this span. At the
temperature T, the probability of a span is its marginal under the chain with all scores divided by T:

    p_T(span) = Σ over tag sequences y with the tags of the span  exp(s(y) / T) / Z_T

Forward–backward computes it exactly. The best sequence is the same at any T, so predictions never change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.features.batching import sorted_batches
from gonie.metrics.decision_temperature import HIGHEST, fit_decision_temperature
from gonie.runtime.chain import Floats, Ints
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.labeller import Tagging
from gonie.tasks.tagging.tagger import EncodedSentences, Scored, Tagger
from gonie.text.schemes import to_spans

FEWEST = 20
"""Fewer predicted spans tell too little about a temperature."""
TOKENS, SENTENCES = 8000, 256
"""The maximum size of a batch."""
AT_LIMIT = 0.001
"""A temperature this near to the limit, relative to it, is at the limit."""


@dataclass(frozen=True)
class FittedTemperature:
    """A temperature, and the number of predicted spans that it was fitted to, or why it was not fitted."""

    temperature: float = 1.0
    spans: int = 0
    problem: str | None = None

    def note(self) -> str:
        """Return one line for the user."""
        if self.problem is not None:
            return f"probabilities are not calibrated: {self.problem}"
        if math.isclose(self.temperature, HIGHEST, rel_tol=AT_LIMIT):
            return (
                f"warning: calibrated on {self.spans:,} predicted dev spans, but the temperature is at its "
                f"upper limit, {HIGHEST:.2f}: probabilities are not reliable"
            )
        return f"calibrated on {self.spans:,} predicted dev spans: temperature {self.temperature:.2f}"


class SpanBatch(NamedTuple):
    """Sentences with predicted spans: their scores and tags, and the range of each span in its row."""

    emissions: NDArray[np.float32]
    """(B, T, K)"""
    lengths: Ints
    """(B,)"""
    tags: Ints
    """(B, T)"""
    rows: list[int]
    starts: list[int]
    ends: list[int]

    def chances(self, decoder: Decoder) -> Floats:
        """Return the probability of each span, (S,)."""
        lattice = decoder.forward_backward(self.emissions, self.lengths)
        return lattice.path_probabilities(self.rows, self.starts, self.ends, self.tags)


def fit_span_temperature(
    tagger: Tagger,
    encoded: EncodedSentences,
    scored: Callable[[list[Tagging]], list[Tagging]] = lambda taggings: taggings,
) -> FittedTemperature:
    """Fit the temperature to the spans that ``tagger`` predicts for sentences with gold tags.

    Gold tags are in the model's scheme. ``scored`` leaves out spans of types that gold does not have.
    """
    taggings = scored(tagger.tag_encoded(encoded))
    chosen = [at for at, tagging in enumerate(taggings) if tagging.spans]
    number = sum(len(taggings[at].spans) for at in chosen)
    if number < FEWEST:
        return FittedTemperature(
            spans=number, problem=f"{number} predicted dev spans, and at least {FEWEST} are needed"
        )
    emissions = tagger.encoded_emissions(encoded, chosen)
    scheme, batches, right = tagger.encoding.scheme, [], []
    for members in _batches([len(scores) for scores in emissions]):
        own = [taggings[chosen[at]] for at in members]
        batches.append(_batch([emissions[at] for at in members], own, tagger.encoding.label_ids))
        for at, tagging in zip(members, own, strict=True):
            gold = set(to_spans(encoded.sentences[chosen[at]].tags or (), scheme))
            right += [span[:3] in gold for span in tagging.spans]

    def chances(temperature: float) -> Floats:
        decoder = tagger.decoder.with_temperature(temperature)
        return np.concatenate([batch.chances(decoder) for batch in batches])

    return FittedTemperature(fit_decision_temperature(chances, np.array(right)), number)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    for members in sorted_batches(np.array(lengths, dtype=np.int64), tokens=TOKENS, sentences=SENTENCES):
        yield members.tolist()


def _batch(
    emissions: Sequence[NDArray[np.float32]], taggings: Sequence[Tagging], ids: dict[str, int]
) -> SpanBatch:
    scores, lengths = Scored.of(emissions)
    tags = np.zeros(scores.shape[:2], dtype=np.int64)  # (B, T)
    places = []
    for row, tagging in enumerate(taggings):
        tags[row, : len(tagging.tags)] = [ids[tag] for tag in tagging.tags]
        places += [(row, span.start, span.end) for span in tagging.spans]
    rows, starts, ends = (list(part) for part in zip(*places, strict=True))
    return SpanBatch(scores, lengths, tags, rows, starts, ends)
