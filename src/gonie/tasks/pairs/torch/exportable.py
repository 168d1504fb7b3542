"""A trained pair model to export, with labelled pairs to compare the export on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.export.exportable import Arrays, ScoredAnswers, Standalone
from gonie.export.graph import Graph
from gonie.nn.poolings import Max
from gonie.runtime.bundle import Graphs
from gonie.runtime.scorer import Batch
from gonie.tasks.classification.torch.exportable import SHARES, text_arrays, text_batches
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.load import load_pair_bundle
from gonie.tasks.pairs.scoring import score_pairs
from gonie.tasks.pairs.torch.graph import pair_graph, standalone_pairs
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledPair

SAME = 0.02
"""The share of the scale within which the values of two bundles count as the same."""


class PairExportable:
    """``bundle`` has the contents of the bundle, ``examples`` are held-out pairs."""

    def __init__(self, model: PairNetwork, bundle: PairBundle, examples: Sequence[LabelledPair]) -> None:
        self.model = model
        self.bundle = bundle
        self.examples = examples

    @property
    def longest(self) -> int:
        """Bytes of a word that a language model sees."""
        return self.bundle.encoding.texts.words.longest

    @property
    def discontinuous(self) -> Collection[str]:
        """The names of the shares if a maximum makes them discontinuous, else nothing."""
        return SHARES if any(isinstance(part, Max) for part in self.model.modules()) else ()

    def write(self, graph: Graph) -> Graphs:
        """Write the network into an empty graph."""
        return pair_graph(self.model, graph=graph)

    def batches(self, samples: int) -> Iterator[Batch]:
        """Yield ``count`` of the pairs, in batches of similar length."""
        return text_batches(self.bundle.encoding.encode(self.examples[:samples]))

    def trained(self, batch: Batch) -> Arrays:
        """Return the network's scores, and the shares of the real tokens and texts."""
        return text_arrays(TorchTextScorer(self.model), batch)

    def shipped(self, bundle: PairBundle) -> Callable[[Batch], Arrays]:
        """Return a bundle's scores and shares."""
        scorer = load_pair_bundle(bundle).scorer
        return lambda batch: text_arrays(scorer, batch)

    def score_answers(self, bundle: PairBundle) -> ScoredAnswers:
        """Score the answers of a bundle to all pairs."""
        own = load_pair_bundle(bundle)
        answers = list(own.pipe(self.examples))
        found = score_pairs(self.examples, answers, labels=own.labels, values=own.gives_values, bootstrap=0)
        scale = own.pair_encoding.scale
        if scale is None:
            return ScoredAnswers([answer.labels for answer in answers], *found.headline)
        values = [answer.value for answer in answers]
        return ScoredAnswers(values, *found.headline, tolerance=SAME * (scale.high - scale.low))

    def standalone(self, bundle: PairBundle) -> Standalone:
        """Return one graph from ids to calibrated probabilities, or to values."""
        own, texts = load_pair_bundle(bundle), bundle.encoding.texts
        values = bundle.encoding.scale is not None
        graph = standalone_pairs(
            self.model,
            temperature=None if values else bundle.temperature,
            longest=self.longest,
            facts={"labels": json.dumps(texts.labels, ensure_ascii=False)},
        )

        def answers(batch: Batch) -> NDArray[np.float64]:
            scores = own.scorer.score_texts(batch).scores
            return scores.astype(np.float64) if values else own.probabilities(scores)

        return Standalone(graph, "scores" if values else "probabilities", answers)
