"""Build the network of a pair model from its recipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from torch import nn

from gonie.nn.dropout import WordDropout
from gonie.nn.heads.text_objectives import OneOf
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.matching import Matching, PairDropout, Projection
from gonie.nn.protocols import Encoder, Pooling, TextHead
from gonie.tasks.classification.torch.build import build_pooling
from gonie.tasks.classification.torch.network import LABEL
from gonie.tasks.contextual import LoadedSource
from gonie.tasks.pairs.encoding import PairEncoding, ValueScale
from gonie.tasks.pairs.parts import MATCHINGS, PAIR_HEADS
from gonie.tasks.pairs.recipe import MatchingConfig, PairConfig, PairDropoutConfig
from gonie.tasks.pairs.torch.network import PairNetwork
from gonie.tasks.parts import ENCODERS
from gonie.tasks.sections import EncoderConfig
from gonie.tasks.torch.build import DROPOUTS, WordTable, build_embedding, build_encoder, build_reader


class MatchingPlan(NamedTuple):
    """What a matching is built from. A part is built when its method is called."""

    config: MatchingConfig
    encoder: Encoder
    """What reads each text."""
    both_ways: bool
    """Whether it reads in both directions."""
    rates: PairDropoutConfig

    def projection(self) -> Projection:
        """Build the projection of a token and its alignment."""
        return Projection(width=4 * self.encoder.width, hidden=self.config.projection)

    def composition(self) -> Encoder:
        """Build the encoder of the projected tokens."""
        return build_encoder(self.config.composition, self.config.projection, self.rates)

    def pooling(self, composition: Encoder | None = None) -> Pooling:
        """Build the pooling over the states of the composition, or else of the encoder."""
        config = self.config
        if composition is None:
            return build_pooling(config.pooling, self.encoder, both_ways=self.both_ways)
        return build_pooling(config.pooling, composition, both_ways=reads_both_ways(config.composition))

    def dropout(self) -> nn.Module:
        """Build the dropout on the input of the composition."""
        return DROPOUTS[self.rates.kind](self.rates.aligned)


class PairHeadPlan(NamedTuple):
    """What a head is built from."""

    width: int
    num_labels: int
    scale: ValueScale | None
    smoothing: float

    def scores(self, outputs: int) -> TextScores:
        """Build scores with ``outputs`` outputs."""
        return TextScores(width=self.width, num_labels=outputs, direct={})

    def one_label(self) -> OneOf:
        """Build the objective of one label for each pair."""
        return OneOf(smoothing=self.smoothing)


def build_pair_network(
    config: PairConfig,
    encoding: PairEncoding,
    words: WordTable | None = None,
    *,
    sources: Mapping[str, LoadedSource] | None = None,
) -> PairNetwork:
    """Build a fresh network for ``encoding``, with word vectors laid out as ``words`` says."""
    rates = config.dropout
    embedding = build_embedding(config, encoding.texts.words, words, sources or {})
    encoder = build_reader(embedding, config.encoder, rates, config.adapter)
    plan = MatchingPlan(config.matching, encoder, reads_both_ways(config.encoder), rates)
    matching: Matching = MATCHINGS[config.matching.kind].build(plan)
    hidden = Projection(width=matching.width, hidden=config.head.hidden) if config.head.hidden else None
    shared = PairDropout if rates.kind == "variational" else DROPOUTS[rates.kind]
    return PairNetwork(
        embedding=embedding,
        encoder=encoder,
        matching=matching,
        hidden=hidden,
        heads={LABEL: _head(config, matching.width if hidden is None else hidden.width, encoding)},
        word_dropout=WordDropout(rates.word),
        input_dropout=shared(rates.input),
        output_dropout=shared(rates.output),
        dropout=nn.Dropout(rates.pooled),
    )


def reads_both_ways(config: EncoderConfig) -> bool:
    """Return whether an encoder of this configuration has states of both directions."""
    return ENCODERS[config.kind].recurrent and config.bidirectional


def _head(config: PairConfig, width: int, encoding: PairEncoding) -> TextHead:
    kind = "label" if encoding.scale is None else "value"
    plan = PairHeadPlan(width, len(encoding.texts.labels), encoding.scale, config.head.smoothing)
    head: TextHead = PAIR_HEADS[kind].build(plan)
    return head
