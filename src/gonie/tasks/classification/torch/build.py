"""Build classifiers from recipes: the network, its poolings and its head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.ngrams import NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.nn.batch_norm import BatchNorm
from gonie.nn.dropout import WordDropout
from gonie.nn.heads.support import SupportScores
from gonie.nn.heads.text_objectives import AnyNumber, OneOf
from gonie.nn.heads.text_scores import TextScores
from gonie.nn.poolings.joined import Joined
from gonie.nn.poolings.mean import Mean
from gonie.nn.poolings.normalized import Normalized
from gonie.nn.protocols import Encoder, Pooling, TextHead
from gonie.tasks.classification.recipe import ClassifierConfig, PoolingConfig, TextHeadConfig
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.contextual import LoadedSource
from gonie.tasks.parts import DISTANCES, ENCODERS, POOLINGS, TEXT_HEADS
from gonie.tasks.sections import DropoutConfig, EncoderConfig
from gonie.tasks.torch.build import DROPOUTS, WordTable, build_embedding, build_encoder, build_reader

NORMS: Mapping[str, Callable[[int], nn.Module]] = {
    "batch": lambda width: BatchNorm(width=width),
    "layer": nn.LayerNorm,
}


class TextHeadPlan(NamedTuple):
    """The arguments of a head's builder."""

    config: TextHeadConfig
    num_labels: int
    weights: Tensor | None
    """(K,) weights of the labels; None if all are equal."""
    scores: Callable[[int], TextScores]
    """Builds scores with a number of outputs, over the vectors of texts and their n-grams."""
    width: int
    """The width of the vectors of texts."""
    direct: bool
    """Whether there is a bag of n-grams with direct weights."""

    def support_scores(self, kind: Callable[..., SupportScores]) -> SupportScores:
        """Build scores by distances to support vectors."""
        if not self.width:
            raise RecipeError([f"model.encoder: {self.config.kind} needs an encoder or embeddings"])
        if self.direct:
            raise RecipeError([f"model.bag: {self.config.kind} uses only vectors of texts; remove the bag"])
        space = DISTANCES[self.config.distance].build(self.width)
        return kind(width=self.width, num_tags=self.num_labels, space=space)

    def one_label(self) -> OneOf:
        """Return the objective for one label per text."""
        return OneOf(weights=self.weights, smoothing=self.config.smoothing)

    def any_labels(self) -> AnyNumber:
        """Return the objective for any number of labels per text."""
        return AnyNumber(weights=self.weights, smoothing=self.config.smoothing)


def build_classifier(
    config: ClassifierConfig,
    encoding: TextEncoding,
    words: WordTable | None = None,
    counts: Counter[str] | None = None,
    *,
    sources: Mapping[str, LoadedSource] | None = None,
) -> ClassifyingNetwork:
    """Build an untrained classifier for ``encoding``, with the word vectors of ``words``.

    ``counts`` has the number of training texts of each label, for balanced weights.
    """
    embedding = build_embedding(config, encoding.words, words, sources or {})
    reader = build_reader(embedding, config.encoder, config.dropout, config.adapter)
    lower = build_level(reader, config.encoder, config.pooling, config.dropout)
    sentences = None
    if upper := config.sentences:
        above = build_encoder(upper.encoder, lower.width, config.dropout)
        sentences = build_level(above, upper.encoder, upper.pooling, config.dropout)
    top = sentences or lower
    return ClassifyingNetwork(
        embedding=embedding,
        words=lower,
        sentences=sentences,
        heads={LABEL: build_text_head(config, top.width, encoding, counts or Counter())},
        word_dropout=WordDropout(config.dropout.word),
        dropout=nn.Dropout(config.dropout.pooled),
    )


def build_level(
    encoder: Encoder, config: EncoderConfig, pooling: PoolingConfig, dropout: DropoutConfig
) -> Level:
    """Build a level: the encoder and the pooling of its states."""
    drop = DROPOUTS[dropout.kind]
    both_ways = ENCODERS[config.kind].recurrent and config.bidirectional
    return Level(
        encoder=encoder,
        pooling=build_pooling(pooling, encoder, both_ways=both_ways),
        input_dropout=drop(dropout.input),
        output_dropout=drop(dropout.output),
    )


def build_pooling(config: PoolingConfig, encoder: Encoder, *, both_ways: bool) -> Pooling:
    """Build the poolings that the recipe names, concatenated, and normalised if ``norm`` is set.

    A model of n-grams alone has empty states, and the mean of these is empty too.
    """
    if not encoder.width:
        return Mean(width=0)
    parts = [POOLINGS[kind].build(encoder.width, config, both_ways) for kind in config.kinds]
    pooling = parts[0] if len(parts) == 1 else Joined(parts)
    if config.norm == "none":
        return pooling
    return Normalized(pooling=pooling, norm=NORMS[config.norm](pooling.width))


def build_text_head(
    config: ClassifierConfig, width: int, encoding: TextEncoding, counts: Counter[str]
) -> TextHead:
    """Build the head that the recipe names, or the one that fits the labels."""
    direct = {NGrams.name: len(encoding.bag.vocabulary)} if encoding.bag else {}
    scale = config.bag.rate if config.bag else None
    weights = label_weights(config.head, encoding.labels, counts)
    head: TextHead = TEXT_HEADS[head_kind(config.head, encoding)].build(
        TextHeadPlan(
            config=config.head,
            num_labels=len(encoding.labels),
            weights=None if weights is None else torch.tensor(weights),
            scores=lambda outputs: TextScores(
                width=width, num_labels=outputs, direct=direct, direct_rate=scale
            ),
            width=width,
            direct=bool(direct),
        )
    )
    return head


def head_kind(config: TextHeadConfig, encoding: TextEncoding) -> str:
    """Return the type of the head, or raise an error if it does not fit the labels."""
    multi_label, number = encoding.multi_label, len(encoding.labels)
    if config.kind == "auto":
        return "labels" if multi_label else "sigmoid" if number == 2 else "softmax"
    problem = ""
    if multi_label != (config.kind == "labels"):
        problem = (
            "texts with several labels"
            if multi_label
            else "one label per text (data.label_separator is empty)"
        )
    elif config.kind == "sigmoid" and number != 2:
        problem = f"{number} labels (it needs two)"
    if problem:
        raise RecipeError([f"model.head.kind: {config.kind} does not support {problem}; use auto"])
    return config.kind


def label_weights(
    config: TextHeadConfig, labels: tuple[str, ...], counts: Counter[str]
) -> list[float] | None:
    """Return the weight of each label in the loss, or None if all are equal."""
    if config.weights == "balanced":
        total = sum(counts[label] for label in labels)
        return [total / (len(labels) * max(counts[label], 1)) for label in labels]
    if not config.weights:
        return None
    if unknown := [name for name in config.weights if name not in labels]:
        known = ", ".join(labels[:20])
        raise RecipeError(
            [f"model.head.weights.{name}: unknown label; use one of {known}" for name in unknown]
        )
    return [config.weights.get(label, 1.0) for label in labels]
