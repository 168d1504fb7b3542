"""How uncertain a tagger is of a whole sentence, to find texts that are unlike its training data.

Three scores are from 0 (certain) to 1. With p the probability of the predicted tags of all n tokens together,
and p_t that of the tag of token t,

    lowest    1 − min_t p_t      the least certain tag; a long sentence is hardly punished
    sequence  1 − p              that some tag is wrong; long sentences are less certain
    average   1 − p^(1 / n)      the same per token

Three are entropies in nats, the highest of the tokens (``gonie.metrics.entropies``): ``total_entropy``,
``data_entropy`` and ``mutual_information``. The last one is 0 for a single model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.metrics.separation import Separation, measure_separation
from gonie.tasks.tagging.ensemble import combine_taggers
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.text_tagger import TextTagger
from gonie.text.entropies import Entropies
from gonie.text.types import Sentence

By = Literal["lowest", "sequence", "average", "total_entropy", "data_entropy", "mutual_information"]


def sentence_uncertainties(
    tagger: TextTagger, sentences: Sequence[Sentence], *, by: By = "lowest"
) -> NDArray[np.float64]:
    """Return the uncertainty of each sentence (N,). It is 0 for a sentence without words."""
    if by not in get_args(By):
        raise InputError(f"unknown score of uncertainty: {by!r}", fix=f"Use one of {', '.join(get_args(By))}")
    if by in ("sequence", "average"):
        if not isinstance(tagger, Tagger):
            raise InputError(f"an ensemble has no probability of a sequence: {by}", fix="Use lowest")
        return np.array([_doubt(tagger, scores, by) for scores in tagger.emissions(sentences)])
    if by == "lowest":
        taggings = tagger.tag_sentences(sentences)
        return np.array([1 - min(tagging.scores, default=1.0) for tagging in taggings])
    ensemble = combine_taggers([tagger]) if isinstance(tagger, Tagger) else tagger
    found = (tagging.entropies or Entropies() for tagging in ensemble.tag_sentences(sentences))
    return np.array([entropies._asdict()[by] for entropies in found])


def _doubt(tagger: Tagger, scores: NDArray[np.float32], by: By) -> float:
    """Return the uncertainty of the best sequence. Shape: (T, K)."""
    if not len(scores):
        return 0.0
    decoder, batch = tagger.decoder, (scores[None], [len(scores)])
    best = decoder.viterbi(*batch)[1] / decoder.temperature
    log = min(float((best - decoder.forward_backward(*batch).log_partition())[0]), 0.0)
    return float(-np.expm1(log / len(scores) if by == "average" else log))


def separate(
    tagger: TextTagger,
    inside: Sequence[Sentence],
    outside: Sequence[Sentence],
    *,
    by: By = "lowest",
    bootstrap: int = 1000,
    seed: int = 0,
) -> Separation:
    """Measure how well the uncertainty separates ``outside`` sentences from ``inside`` ones, as an AUROC.

    ``inside`` are like the training data. Sentences without words are left out.
    """
    sides = (
        sentence_uncertainties(tagger, [each for each in side if each.words], by=by)
        for side in (inside, outside)
    )
    return measure_separation(*sides, bootstrap=bootstrap, seed=seed)
