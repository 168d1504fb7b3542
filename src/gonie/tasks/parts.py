"""The parts that recipes name, one table per role.

An entry has the name of a part, its description, and the function that builds it from its recipe section.
Recipe keys, their documentation and the builders read these tables. So a new part needs its module, its ONNX
graph and one entry here. torch is imported only when a part is built.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from gonie.tasks.contextual import ContextualSource
from gonie.tasks.elmo import ELMO
from gonie.tasks.external import EXTERNAL
from gonie.tasks.transformer import TRANSFORMER


@dataclass(frozen=True)
class Part:
    """One part: its description, and its builder, whose arguments are those of its table."""

    help: str
    build: Callable[..., Any]
    recurrent: bool = False
    """For encoders: whether it is a one-way recurrent layer, which can be stacked and made bidirectional."""
    fitted: bool = False
    """For heads: whether it is computed from the states of the training examples, without gradients."""


def _nn(module: str = "") -> Any:
    """Import ``gonie.nn``, or a module of it, when the first part is built."""
    return import_module(f"gonie.nn.{module}" if module else "gonie.nn")


CHARS: dict[str, Part] = {
    "cnn": Part(
        "convolution (Ma & Hovy 2016)",
        lambda size, c: _nn().CharCNN(
            size=size, width=c.width, filters=c.hidden, kernel=c.kernel, dropout=c.dropout
        ),
    ),
    "lstm": Part(
        "bidirectional LSTM (Lample et al. 2016)",
        lambda size, c: _nn().CharLSTM(size=size, width=c.width, hidden=c.hidden, dropout=c.dropout),
    ),
}
"""Word vectors from characters: (number of characters, section) -> embedding."""

ENCODERS: dict[str, Part] = {
    "lstm": Part(
        "LSTM",
        lambda width, c, dropout: _nn().LSTM(width=width, hidden=c.hidden, dropout=dropout),
        recurrent=True,
    ),
    "peephole": Part(
        "LSTM with peepholes",
        lambda width, c, dropout: _nn().PeepholeLSTM(width=width, hidden=c.hidden, dropout=dropout),
        recurrent=True,
    ),
    "rnn": Part(
        "Elman network",
        lambda width, c, dropout: _nn().Elman(
            width=width, hidden=c.hidden, activation=c.activation, dropout=dropout
        ),
        recurrent=True,
    ),
    "cnn": Part(
        "convolution",
        lambda width, c, dropout: _nn().Convolution(width=width, hidden=c.hidden, kernels=c.kernels),
    ),
    "window": Part(
        "window network (Collobert et al. 2011)",
        lambda width, c, dropout: _nn().Window(width=width, hidden=c.hidden, size=c.window, layers=c.layers),
    ),
    "none": Part("no encoder", lambda width, c, dropout: _nn().NoEncoder(width=width)),
}
"""Encoders: (width of the input, section, dropout on recurrent weights) -> encoder."""

ADAPTERS: dict[str, Part] = {
    "low-rank": Part(
        "low-rank changes of the encoder's matrices, W + B A, and of its biases (LoRA, Hu et al. 2021)",
        lambda encoder, c: _nn().LowRank(part=encoder, rank=c.rank, rate=c.rate),
    ),
    "bottleneck": Part(
        "small layers at the input and output of the encoder, x + U relu(D x + b) + c (Houlsby et al. 2019)",
        lambda encoder, c: _nn().Adapted(encoder=encoder, hidden=c.hidden, rate=c.rate),
    ),
    "both": Part(
        "low-rank and bottleneck",
        lambda encoder, c: _nn().Adapted(
            encoder=_nn().LowRank(part=encoder, rank=c.rank, rate=c.rate), hidden=c.hidden, rate=c.rate
        ),
    ),
}
"""Adapters of a trained encoder: (encoder, section) -> encoder."""

POOLINGS: dict[str, Part] = {
    "attention": Part(
        "additive attention (Yang et al. 2016)",
        lambda width, c, both_ways: _nn().AdditiveAttention(width=width, hidden=c.hidden, heads=c.heads),
    ),
    "dot": Part(
        "dot-product attention",
        lambda width, c, both_ways: _nn().DotAttention(width=width, heads=c.heads),
    ),
    "mean": Part("mean", lambda width, c, both_ways: _nn().Mean(width=width)),
    "max": Part("maximum of each feature", lambda width, c, both_ways: _nn().Max(width=width)),
    "last": Part(
        "last state of each direction",
        lambda width, c, both_ways: _nn().Last(width=width, both_ways=both_ways),
    ),
}
"""Poolings: (width of the states, section, whether the encoder is bidirectional) -> pooling."""

TAG_HEADS: dict[str, Part] = {
    "crf": Part(
        "CRF over the sentence",
        lambda plan: _nn().CRFHead(
            scores=plan.scores(plan.num_tags), crf=plan.crf(), objective=plan.objective
        ),
    ),
    "softmax": Part(
        "softmax for each token",
        lambda plan: _nn().SoftmaxHead(scores=plan.scores(plan.num_tags), objective=plan.objective),
    ),
    "parts": Part(
        "softmax for each token, for tags like NNG+JKB, whose parts share weights",
        lambda plan: _nn().SoftmaxHead(scores=plan.part_scores(), objective=plan.objective),
    ),
    "sigmoid": Part(
        "sigmoid for each token, for a single type",
        lambda plan: _nn().SigmoidHead(
            scores=plan.scores(1), outside=plan.outside(), objective=plan.objective
        ),
    ),
    "prototypes": Part(
        "distance to the mean state of each tag, for few examples (Snell et al. 2017)",
        lambda plan: _nn("heads").SupportHead(
            scores=plan.support_scores(_nn("heads").PrototypeScores), objective=plan.objective
        ),
        fitted=True,
    ),
    "nearest": Part(
        "distance to the nearest state of each tag, for few examples (Yang & Katiyar 2020)",
        lambda plan: _nn("heads").SupportHead(
            scores=plan.support_scores(_nn("heads").NearestScores), objective=plan.objective
        ),
        fitted=True,
    ),
}
"""Heads of taggers: (``gonie.tasks.tagging.torch.build.HeadPlan``) -> head."""

TEXT_HEADS: dict[str, Part] = {
    "softmax": Part(
        "one of several labels",
        lambda plan: _nn().TextSoftmaxHead(scores=plan.scores(plan.num_labels), objective=plan.one_label()),
    ),
    "sigmoid": Part(
        "one of two labels, with a single output",
        lambda plan: _nn().TextSigmoidHead(scores=plan.scores(1), objective=plan.one_label()),
    ),
    "labels": Part(
        "any number of labels",
        lambda plan: _nn().MultiLabelHead(scores=plan.scores(plan.num_labels), objective=plan.any_labels()),
    ),
    "prototypes": Part(
        "one of several labels by the distance to the mean of each, for few examples",
        lambda plan: _nn("heads").TextSupportHead(
            scores=plan.support_scores(_nn("heads").PrototypeScores), objective=plan.one_label()
        ),
        fitted=True,
    ),
    "nearest": Part(
        "one of several labels by the distance to the nearest text of each, for few examples",
        lambda plan: _nn("heads").TextSupportHead(
            scores=plan.support_scores(_nn("heads").NearestScores), objective=plan.one_label()
        ),
        fitted=True,
    ),
}
"""Heads of classifiers: (``gonie.tasks.classification.torch.build.TextHeadPlan``) -> head."""

DISTANCES: dict[str, Part] = {
    "mahalanobis": Part(
        "of the directions of states, scaled by their spread within tags",
        lambda width: _nn("heads").Mahalanobis(width=width),
    ),
    "cosine": Part("of the directions of states", lambda width: _nn("heads").Cosine()),
    "euclidean": Part("of the states as they are", lambda width: _nn("heads").Euclidean()),
}
"""Spaces of squared distances: (width of the states) -> space."""

CONTEXTUAL: dict[str, ContextualSource] = {
    "elmo": ELMO,
    "transformer": TRANSFORMER,
    "external": EXTERNAL,
}
"""Sources of contextual embeddings and of external vectors, by their key in ``model``."""


def choices(table: dict[str, Part]) -> str:
    """Return the names of a table with their descriptions, for the description of a key."""
    return "; ".join(f"{name}: {part.help}" for name, part in table.items())
