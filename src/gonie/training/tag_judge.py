"""The score of a tagger in training, on dev or on other sentences: encoded once, decoded as at run time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.data.batching import sorted_batches
from gonie.data.corpus import collate
from gonie.data.encoding import Encoding
from gonie.data.rules import allowed
from gonie.data.types import Sentence
from gonie.metrics.evaluation import evaluate
from gonie.metrics.significance import Tally
from gonie.models.elmo_cache import Note, with_layers
from gonie.models.scorer import TorchScorer
from gonie.models.tag_config import TaggerConfig
from gonie.models.tagger import Tagger
from gonie.runtime.decoder import Decoder

BATCH_TOKENS = 8000
METRICS = {"plain": "accuracy", "IO": "token F1"}
"""What the score of a kind of scheme is called, if not F1, which is over spans."""


def build_decoder(model: Tagger, config: TaggerConfig, encoding: Encoding) -> Decoder:
    """The runtime's decoder over the model's transitions, held to the tag scheme if the recipe says so."""
    transitions, start, end = (t.detach().cpu().numpy() for t in model.head().chain())
    head = config.head
    rules = allowed(encoding.labels, encoding.scheme, constrained=head.constrained, forbidden=head.forbidden)
    return Decoder(transitions=transitions, start=start, end=end, allowed=rules)


class TagJudge:
    """The score on the dev sentences (or any others with tags): F1, or what METRICS says."""

    def __init__(
        self,
        model: Tagger,
        config: TaggerConfig,
        encoding: Encoding,
        sentences: Sequence[Sentence],
        *,
        note: Note | None = None,
    ) -> None:
        self._model = model
        self._config = config
        self._encoding = encoding
        self._sentences = sentences
        folder = config.elmo.cache if config.elmo else None
        self._corpus = with_layers(model, encoding.encode(sentences), folder, note)
        self.metric = METRICS.get(encoding.scheme.kind, "F1")

    def score(self) -> float:
        """Score the model as it is now."""
        return evaluate(self._sentences, self.tags(), scheme=self._encoding.scheme, bootstrap=0).headline[1]

    def tally(self) -> Tally:
        """The spans of each sentence, gold and given."""
        return Tally.from_tags(self._sentences, self.tags(), self._encoding.scheme)

    def tags(self) -> list[tuple[str, ...]]:
        """What the model as it is now says of each sentence."""
        labels = np.array(self._encoding.labels)
        return [tuple(labels[row].tolist()) for row in self._decode()]

    def _decode(self) -> list[NDArray[np.int64]]:
        scorer, decoder = TorchScorer(self._model), build_decoder(self._model, self._config, self._encoding)
        lengths = self._corpus.lengths
        rows: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * len(lengths)
        for chosen in sorted_batches(lengths, tokens=BATCH_TOKENS, sentences=256):
            batch = collate(self._corpus, chosen)
            tags, _ = decoder.viterbi(scorer.scores(batch), batch["lengths"])
            for row, best in zip(chosen, tags, strict=True):
                rows[row] = best[: lengths[row]]
        return rows
