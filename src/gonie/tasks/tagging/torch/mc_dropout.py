"""MC dropout of taggers (``gonie.tasks.torch.mc_dropout``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gonie.tasks.members import Advance
from gonie.tasks.sections import EmbeddingConfig
from gonie.tasks.tagging.ensemble import EnsembleTagger, SentenceScores
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.torch.job import TORCH_BATCH
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.contextual import with_context
from gonie.tasks.torch.scorer import Running, TorchScorer
from gonie.text.types import Sentence


def dropout_passes(
    network: TaggingNetwork,
    config: EmbeddingConfig,
    tagger: Tagger,
    modes: Sequence[Running],
    advance: Advance | None = None,
) -> EnsembleTagger:
    """Return the ensemble of passes of a network in these modes, at the temperature of its ``tagger``.

    ``config`` is the model section of its recipe. Contextual vectors that do not depend on dropout are
    computed once.
    """
    members = [tagger.with_scorer(TorchScorer(network, running=mode), TORCH_BATCH) for mode in modes]

    def score(sentences: Sequence[Sentence]) -> Iterator[SentenceScores]:
        encoded = tagger.encode(sentences)
        corpus = with_context(network, encoded.corpus, config, lambda text: None)
        encoded = encoded._replace(corpus=corpus)
        return (member.encoded_emissions(encoded, range(len(sentences))) for member in members)

    return EnsembleTagger(
        first=tagger, decoders=[tagger.decoder] * len(members), score=score, advance=advance
    )
