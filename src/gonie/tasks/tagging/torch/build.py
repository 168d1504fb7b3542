"""Taggers from recipes: the network, its head and what the head learns from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.nn.crf.chain import Constraints
from gonie.nn.crf.layer import CRF
from gonie.nn.dropout import WordDropout
from gonie.nn.heads.objectives import AnyOf, Exact, Objective, Weighted
from gonie.nn.heads.scores import Scores
from gonie.nn.protocols import Head
from gonie.tasks.contextual import LoadedSource
from gonie.tasks.parts import TAG_HEADS
from gonie.tasks.tagging.recipe import HeadConfig, TaggerConfig
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork
from gonie.tasks.torch.build import DROPOUTS, WordTable, build_embedding, build_reader
from gonie.text.rules import allowed
from gonie.text.schemes import OUTSIDE, Scheme


class HeadPlan(NamedTuple):
    """What a head is made of."""

    config: HeadConfig
    encoding: Encoding
    objective: Objective
    scores: Callable[[int], Scores]
    """Scores with so many outputs over the encoder's states and the direct features."""

    @property
    def num_tags(self) -> int:
        """K, the number of tags."""
        return len(self.encoding.labels)

    def crf(self) -> CRF:
        """The chain over the head's scores, with the sequences that are valid."""
        possible = allowed(
            self.encoding.labels,
            self.encoding.scheme,
            constrained=self.config.constrained or self.config.constrain_training,
            forbidden=self.config.forbidden,
        )
        rules = Constraints(*map(torch.from_numpy, possible))
        return CRF(self.num_tags, allowed=rules, constrain_training=self.config.constrain_training)

    def outside(self) -> int:
        """Which of two tags is O, for a head of one output."""
        return find_outside(self.encoding.labels)


def build_tagger(
    config: TaggerConfig,
    encoding: Encoding,
    words: WordTable | None = None,
    options: NDArray[np.bool_] | None = None,
    *,
    sources: Mapping[str, LoadedSource] | None = None,
) -> TaggingNetwork:
    """A fresh tagger for ``encoding``, with word vectors as ``words`` lays them out.

    ``options`` (S, K), for partial labels, say which tags a number in ``tags`` stands for.
    """
    embedding = build_embedding(config, encoding, words, sources or {})
    encoder = build_reader(embedding, config.encoder, config.dropout)
    drop = DROPOUTS[config.dropout.kind]
    return TaggingNetwork(
        embedding=embedding,
        encoder=encoder,
        heads={TAGS: build_head(config.head, encoder.width, encoding, options)},
        word_dropout=WordDropout(config.dropout.word),
        input_dropout=drop(config.dropout.input),
        output_dropout=drop(config.dropout.output),
    )


def build_head(
    config: HeadConfig, width: int, encoding: Encoding, options: NDArray[np.bool_] | None = None
) -> Head:
    """Scores with their direct features, under the head that the recipe names."""
    direct: dict[str, int] = {group: len(encoding.features[group]) for group in config.direct}
    head: Head = TAG_HEADS[config.kind].build(
        HeadPlan(
            config=config,
            encoding=encoding,
            objective=build_objective(config, encoding, options),
            scores=lambda outputs: Scores(width=width, num_tags=outputs, direct=direct),
        )
    )
    return head


def build_objective(config: HeadConfig, encoding: Encoding, options: NDArray[np.bool_] | None) -> Objective:
    """What the head learns from: exact tags, tags known in part, or tags that count differently."""
    if options is not None and config.weights:
        raise RecipeError(["model.head.weights cannot be combined with data.partial"])
    if options is not None:
        return AnyOf(torch.from_numpy(options))
    if config.weights:
        return Weighted(torch.tensor(weights_of(config.weights, encoding.labels, encoding.scheme)))
    return Exact()


def find_outside(labels: Sequence[str]) -> int:
    """Which of two labels is none of the one class there is: O."""
    if len(labels) != 2 or OUTSIDE not in labels:
        raise RecipeError(
            [
                f"model.head.kind: sigmoid is for one type and O, got the tags {', '.join(labels[:8])}; "
                'keep one type (--set data.types=["PER"] --set data.model_scheme=IO), or take softmax'
            ]
        )
    return labels.index(OUTSIDE)


def weights_of(weights: Mapping[str, float], labels: Sequence[str], scheme: Scheme) -> list[float]:
    """What each tag counts in training: its type's weight, or 1."""
    types = [_type_of(label, scheme) for label in labels]
    unknown = [name for name in weights if name not in types]
    if unknown:
        known = ", ".join(dict.fromkeys(types))
        raise RecipeError(
            [f"model.head.weights.{name}: expected one of {known}, got {name!r}" for name in unknown]
        )
    return [weights.get(name, 1.0) for name in types]


def _type_of(tag: str, scheme: Scheme) -> str:
    """The type of a tag; a plain tag, and the outside one, is its own."""
    mark = scheme.split(tag) if scheme.has_spans and tag != OUTSIDE else None
    return tag if mark is None else (mark[1] or tag)
