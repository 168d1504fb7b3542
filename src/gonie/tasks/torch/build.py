"""Build networks from recipes: the code that all tasks share.

``gonie.tasks.parts`` has the tables of parts. Here their recipe sections and the encoding become arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import PretrainedVectors
from gonie.nn.dropout import VariationalDropout
from gonie.nn.embeddings.features import FeatureEmbedding
from gonie.nn.embeddings.none import NoEmbedding
from gonie.nn.embeddings.stack import Stack
from gonie.nn.embeddings.words import WordEmbedding
from gonie.nn.encoders.bidirectional import Bidirectional
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.encoders.deep import Deep
from gonie.nn.low_rank import LowRank
from gonie.nn.protocols import ContextualEmbedding, Embedding, Encoder
from gonie.tasks.contextual import LoadedSource
from gonie.tasks.parts import ADAPTERS, CHARS, ENCODERS
from gonie.tasks.sections import (
    AdapterConfig,
    CharsConfig,
    DropoutConfig,
    EmbeddingConfig,
    EncoderConfig,
    WordsConfig,
)

EMBEDDING_RANK, WORDS_SHARE = 24, 0.027
"""Adapters with ``embedding = "auto"``: the rank, and the largest share of the change of word vectors."""

DROPOUTS: Mapping[str, Callable[[float], nn.Module]] = {
    "plain": nn.Dropout,
    "variational": VariationalDropout,
}


@dataclass(frozen=True)
class WordTable:
    """The layout of word vectors: ``size`` learned rows and ``fixed`` other rows, each of ``width`` numbers.

    ``rows`` (V,) maps each word id to its row. ``vectors`` (V, width) are the initial vectors. Both are None
    if all vectors are random and learned. The sizes are saved with a run, so that its network can be built
    again without the file of vectors.
    """

    size: int
    fixed: int
    width: int
    rows: NDArray[np.int64] | None = None
    vectors: NDArray[np.float32] | None = None

    @classmethod
    def plan(
        cls, config: WordsConfig, encoding: Encoding, pretrained: PretrainedVectors | None = None
    ) -> WordTable:
        """Plan the table for the words of ``encoding``, with ``pretrained`` vectors if given."""
        vocabulary = encoding.words
        if pretrained is None:
            return cls(len(vocabulary), 0, config.width)
        trained = np.arange(len(vocabulary)) < vocabulary.trained
        learned = ~pretrained.found if config.tuned == "missing" else trained  # (V,)
        order = np.concatenate([np.flatnonzero(learned), np.flatnonzero(~learned)])  # padding, unknown first
        rows = np.empty(len(vocabulary), dtype=np.int64)
        rows[order] = np.arange(len(vocabulary))
        width = pretrained.matrix.shape[1]
        if learned.all():
            return cls(len(vocabulary), 0, width, None, pretrained.matrix)
        return cls(int(learned.sum()), int((~learned).sum()), width, rows, pretrained.matrix)

    def to_json(self) -> dict[str, Any]:
        """Return the sizes, and whether rows are in another order than word ids."""
        return {
            "size": self.size,
            "fixed": self.fixed,
            "width": self.width,
            "reordered": self.rows is not None,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> WordTable:
        """Return the table of a run. The rows of the words are loaded with the weights."""
        size, fixed, width = (int(saved[name]) for name in ("size", "fixed", "width"))
        rows = np.zeros(size + fixed, dtype=np.int64) if saved["reordered"] else None
        return cls(size, fixed, width, rows)


def plan_words(
    config: EmbeddingConfig, encoding: Encoding, pretrained: PretrainedVectors | None
) -> WordTable | None:
    """Plan the table of word vectors, if the model has word embeddings."""
    words = config.words
    if (
        words and config.adapter and words.tuned == "all"
    ):  # only words of the training file, as the start says
        words = words.model_copy(update={"tuned": "missing"})
    return WordTable.plan(words, encoding, pretrained) if words else None


def build_embedding(
    config: EmbeddingConfig,
    encoding: Encoding,
    words: WordTable | None,
    sources: Mapping[str, LoadedSource],
) -> Embedding:
    """Build the embeddings that the recipe names: words, characters, features and contextual vectors.

    Without ``words``, the table is planned here. Contextual vectors are last, because they may bypass the
    encoder.
    """
    parts: list[Embedding] = []
    if config.words:
        table = words or WordTable.plan(config.words, encoding)
        parts.append(build_words(config.words, encoding, table, config.adapter))
    if config.chars:
        parts.append(build_chars(config.chars, encoding, config.adapter))
    if config.features:
        parts += [
            FeatureEmbedding(group=group, size=len(encoding.features[group]), width=config.features.width)
            for group in config.features.groups
        ]
    parts += build_contextual(config, sources)
    if not parts:
        return NoEmbedding()
    return parts[0] if len(parts) == 1 else Stack(parts)


def build_contextual(
    config: EmbeddingConfig, sources: Mapping[str, LoadedSource]
) -> list[ContextualEmbedding]:
    """Build the embeddings of the recipe's contextual sources. One that bypasses the encoder is last."""
    sections = config.contextual
    named = sorted(sections, key=lambda name: sections[name].at != "input")
    past = [f"model.{name}.at" for name in named if sections[name].at != "input"]
    if len(past) > 1:
        raise RecipeError([f"{' and '.join(past)}: only one contextual source can be at output or both"])
    return [sources[name].build(sections[name]) for name in named]


def build_words(
    config: WordsConfig, encoding: Encoding, table: WordTable, adapter: AdapterConfig | None = None
) -> WordEmbedding:
    """Build the word embeddings with the layout of the table, and the change of their vectors if adapted."""
    words = WordEmbedding(
        size=table.size,
        width=table.width,
        fixed=table.fixed,
        rows=None if table.rows is None else torch.from_numpy(table.rows),
        tuned=config.tuned != "none",
        singletons=torch.from_numpy(encoding.words.singletons()),
        singleton_rate=config.singleton_rate,
        rank=words_rank(adapter, table) if adapter and config.tuned != "none" else 0,
        rate=adapter.rate if adapter else 1.0,
    )
    if table.vectors is not None:
        words.assign(torch.from_numpy(table.vectors))
    return words


def build_chars(config: CharsConfig, encoding: Encoding, adapter: AdapterConfig | None = None) -> Embedding:
    """Build the character network, and the changes of its weights if adapted."""
    chars: Embedding = CHARS[config.kind].build(len(encoding.chars), config)
    if adapter is None or adapter.embedding == 0:
        return chars
    rank = EMBEDDING_RANK if adapter.embedding == "auto" else adapter.embedding
    return LowRank(part=chars, rank=rank, rate=adapter.rate)


def words_rank(adapter: AdapterConfig, table: WordTable) -> int:
    """Return the rank of the change of the learned word vectors, 0 for no change."""
    if adapter.embedding != "auto":
        return adapter.embedding
    most = WORDS_SHARE * (table.size + table.fixed) * table.width / table.size
    return max(1, min(EMBEDDING_RANK, int(most)))


def build_reader(
    embedding: Embedding,
    encoder: EncoderConfig,
    dropout: DropoutConfig,
    adapter: AdapterConfig | None = None,
) -> Encoder:
    """Build the encoder over an embedding, with a bypass for contextual vectors at its output."""
    past = sum(part.place_width for part in contextual_parts(embedding) if "output" in part.places)
    inner = build_encoder(encoder, embedding.width - past, dropout)
    if adapter is not None:
        inner = ADAPTERS[adapter.kind].build(inner, adapter)
    return Bypass(encoder=inner, passed=past) if past else inner


def build_encoder(config: EncoderConfig, width: int, dropout: DropoutConfig) -> Encoder:
    """Build stacked recurrent layers in one or both directions, or a single encoder of another type."""
    part = ENCODERS[config.kind]
    if not part.recurrent:
        single: Encoder = part.build(width, config, dropout.recurrent)
        return single
    layers: list[Encoder] = []
    for _ in range(config.layers):
        ways = [part.build(width, config, dropout.recurrent) for _ in range(1 + config.bidirectional)]
        layers.append(Bidirectional(ahead=ways[0], back=ways[1]) if config.bidirectional else ways[0])
        width = layers[-1].width
    if len(layers) == 1:
        return layers[0]
    return Deep(layers=layers, dropout=DROPOUTS[dropout.kind](dropout.between))


def contextual_parts(model: object) -> list[ContextualEmbedding]:
    """Return the contextual embeddings among the parts of a model."""
    modules = model.modules() if isinstance(model, nn.Module) else ()
    return [part for part in modules if isinstance(part, ContextualEmbedding)]
