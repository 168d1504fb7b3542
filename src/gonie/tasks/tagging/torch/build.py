"""Build taggers from recipes: the network, its head and its objective."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import InputError, RecipeError
from gonie.features.encoding import Encoding
from gonie.nn.crf.chain import Constraints
from gonie.nn.crf.layer import CRF
from gonie.nn.dropout import WordDropout
from gonie.nn.heads.objectives import AnyOf, Exact, Objective, Weighted
from gonie.nn.heads.part_scores import PartScores
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.support import SupportScores
from gonie.nn.protocols import Encoder, Head
from gonie.tasks.contextual import LoadedSource
from gonie.tasks.parts import DISTANCES, TAG_HEADS
from gonie.tasks.tagging.recipe import HeadConfig, TaggerConfig
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork
from gonie.tasks.torch.build import DROPOUTS, WordTable, build_embedding, build_reader
from gonie.tasks.torch.layers import lower_encoder
from gonie.text.rules import allowed
from gonie.text.schemes import OUTSIDE, Scheme

JOINER = "+"
"""Joins the parts of a tag."""


class HeadPlan(NamedTuple):
    """The arguments of a head's builder."""

    config: HeadConfig
    encoding: Encoding
    objective: Objective
    scores: Callable[[int], Scores]
    """Builds scores with a number of outputs, over the encoder's states and the direct features."""
    shared: Callable[[Sequence[Sequence[int]]], PartScores]
    """Builds scores of tags with the numbers of their parts, likewise."""
    width: int
    """The width of the encoder's states."""

    @property
    def num_tags(self) -> int:
        """K, the number of tags."""
        return len(self.encoding.labels)

    def part_scores(self) -> PartScores:
        """Build scores of tags whose parts share weights."""
        return self.shared(tag_parts(self.encoding.labels))

    def crf(self) -> CRF:
        """Build the CRF layer with its constraints."""
        possible = allowed(
            self.encoding.labels,
            self.encoding.scheme,
            constrained=self.config.constrained or self.config.constrain_training,
            forbidden=self.config.forbidden,
        )
        rules = Constraints(*map(torch.from_numpy, possible))
        return CRF(self.num_tags, allowed=rules, constrain_training=self.config.constrain_training)

    def support_scores(self, kind: Callable[..., SupportScores]) -> SupportScores:
        """Build scores by distances to support states."""
        if self.config.direct:
            raise RecipeError([f"model.head.direct: {self.config.kind} uses only states; set it to []"])
        if isinstance(self.objective, AnyOf):
            raise RecipeError(
                [
                    f"model.head.kind = {self.config.kind}: cannot be combined with data.partial or "
                    "train.keep_labels, because the head needs the tag of every token; use another head"
                ]
            )
        if not self.width:
            raise RecipeError([f"model.encoder: {self.config.kind} needs an encoder or embeddings"])
        space = DISTANCES[self.config.distance].build(self.width)
        return kind(width=self.width, num_tags=self.num_tags, space=space)

    def outside(self) -> int:
        """Return the index of O among two tags, for a head with one output."""
        return find_outside(self.encoding.labels)


class AuxiliaryHead(NamedTuple):
    """A head to build besides the main one."""

    config: TaggerConfig
    """The recipe section of its tagger (``gonie.tasks.tagging.heads.head_recipe``)."""
    encoding: Encoding
    """The encoding with its labels."""
    layer: int | None
    """The layer of the encoder that it reads, from 1; None: the top one."""


def build_tagger(
    config: TaggerConfig,
    encoding: Encoding,
    words: WordTable | None = None,
    options: NDArray[np.bool_] | None = None,
    *,
    sources: Mapping[str, LoadedSource] | None = None,
    auxiliary: Mapping[str, AuxiliaryHead] | None = None,
) -> TaggingNetwork:
    """Build an untrained tagger for ``encoding``, with the word vectors of ``words``.

    ``options`` (S, K), for partial tags and open O, are the tags that each id in ``tags`` stands for.
    ``auxiliary`` are other heads by name. They do not change the initial weights of the rest.
    """
    embedding = build_embedding(config, encoding, words, sources or {})
    encoder = build_reader(embedding, config.encoder, config.dropout, config.adapter)
    drop = DROPOUTS[config.dropout.kind]
    main = build_head(config, encoder.width, encoding, options)
    others = auxiliary or {}
    return TaggingNetwork(
        embedding=embedding,
        encoder=encoder,
        heads={TAGS: main} | {name: build_auxiliary(name, each, encoder) for name, each in others.items()},
        layers={name: each.layer for name, each in others.items() if each.layer is not None},
        word_dropout=WordDropout(config.dropout.word),
        input_dropout=drop(config.dropout.input),
        output_dropout=drop(config.dropout.output),
    )


def build_auxiliary(name: str, head: AuxiliaryHead, encoder: Encoder) -> Head:
    """Build an auxiliary head over a layer of the encoder."""
    if hasattr(nn.ModuleDict, name):
        raise RecipeError([f"heads.{name}: PyTorch reserves this name; choose another"])
    try:
        width = lower_encoder(encoder, head.layer).width
    except InputError as error:
        raise RecipeError([f"heads.{name}.layer: {error}"]) from error
    return build_head(head.config, width, head.encoding)


def build_head(
    config: TaggerConfig, width: int, encoding: Encoding, options: NDArray[np.bool_] | None = None
) -> Head:
    """Build the head that the recipe names."""
    direct: dict[str, int] = {group: len(encoding.features[group]) for group in config.head.direct}
    dropout = config.dropout.direct
    head: Head = TAG_HEADS[config.head.kind].build(
        HeadPlan(
            config=config.head,
            encoding=encoding,
            objective=build_objective(config.head, encoding, options),
            scores=lambda outputs: Scores(width=width, num_tags=outputs, direct=direct, dropout=dropout),
            shared=lambda parts: PartScores(width=width, parts=parts, direct=direct, dropout=dropout),
            width=width,
        )
    )
    return head


def build_objective(config: HeadConfig, encoding: Encoding, options: NDArray[np.bool_] | None) -> Objective:
    """Build the objective for exact tags, partial tags, or weighted tags."""
    if options is not None and config.weights:
        raise RecipeError(
            ["model.head.weights: cannot be combined with data.partial or kept types (train.keep_labels)"]
        )
    if options is not None:
        return AnyOf(torch.from_numpy(options))
    if config.weights:
        return Weighted(torch.tensor(weights_of(config.weights, encoding.labels, encoding.scheme)))
    return Exact()


def tag_parts(labels: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the parts of each tag: each part anywhere, the first and the last one.

    NNG+JKB has NNG, JKB, NNG as the first part and JKB as the last.
    """
    names = [
        [*parts, f"{parts[0]}{JOINER}", f"{JOINER}{parts[-1]}"]
        for parts in (label.split(JOINER) for label in labels)
    ]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(chain.from_iterable(names)))}
    return [[numbers[name] for name in own] for own in names]


def find_outside(labels: Sequence[str]) -> int:
    """Return the index of O among two labels, or raise an error for other labels."""
    if len(labels) != 2 or OUTSIDE not in labels:
        raise RecipeError(
            [
                f"model.head.kind: sigmoid supports only one type and O, not {', '.join(labels[:8])}; "
                'use one type (--set data.types=["PER"] --set data.model_scheme=IO), or softmax'
            ]
        )
    return labels.index(OUTSIDE)


def weights_of(weights: Mapping[str, float], labels: Sequence[str], scheme: Scheme) -> list[float]:
    """Return the weight of each tag in the loss: that of its type, or 1."""
    types = [_type_of(label, scheme) for label in labels]
    unknown = [name for name in weights if name not in types]
    if unknown:
        known = ", ".join(dict.fromkeys(types))
        raise RecipeError(
            [f"model.head.weights.{name}: unknown type; use one of {known}" for name in unknown]
        )
    return [weights.get(name, 1.0) for name in types]


def _type_of(tag: str, scheme: Scheme) -> str:
    """Return the type of a tag. Plain tags and O are their own types."""
    mark = scheme.split(tag) if scheme.has_spans and tag != OUTSIDE else None
    return tag if mark is None else (mark[1] or tag)
