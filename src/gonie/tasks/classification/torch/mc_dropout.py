"""MC dropout of classifiers (``gonie.tasks.torch.mc_dropout``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.ensemble import EnsembleClassifier
from gonie.tasks.classification.torch.job import TORCH_BATCH
from gonie.tasks.classification.torch.network import ClassifyingNetwork
from gonie.tasks.members import Advance
from gonie.tasks.sections import EmbeddingConfig
from gonie.tasks.torch.contextual import with_context
from gonie.tasks.torch.scorer import Running, TorchTextScorer
from gonie.text.labelled_text import LabelledText


def dropout_passes(
    network: ClassifyingNetwork,
    config: EmbeddingConfig,
    classifier: TextClassifier,
    modes: Sequence[Running],
    advance: Advance | None = None,
) -> EnsembleClassifier:
    """Return the ensemble of passes of a network in these modes, at the temperature of its ``classifier``.

    ``config`` is the model section of its recipe. Contextual vectors that do not depend on dropout are
    computed once.
    """
    members = [classifier.with_scorer(TorchTextScorer(network, running=mode), TORCH_BATCH) for mode in modes]

    def chances(texts: Sequence[LabelledText]) -> Iterator[NDArray[np.float64]]:
        encoded = classifier.encode(texts)
        sentences = with_context(network, encoded.corpus.sentences, config, lambda text: None)
        encoded = encoded._replace(corpus=encoded.corpus.with_sentences(sentences))
        return (member.chances(encoded) for member in members)

    return EnsembleClassifier(first=classifier, members=len(members), chances=chances, advance=advance)
