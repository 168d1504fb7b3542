"""From a recipe's words to parts: where a name becomes a class, one table per role.

Here are taggers, and what they share with classifiers, whose own parts are in ``build_text.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import PretrainedVectors
from gonie.nn.bilm.bilm import BiLM
from gonie.nn.crf.constraints import Constraints
from gonie.nn.crf.layer import CRF
from gonie.nn.dropout import VariationalDropout, WordDropout
from gonie.nn.embeddings.char_cnn import CharCNN
from gonie.nn.embeddings.char_lstm import CharLSTM
from gonie.nn.embeddings.elmo import ElmoEmbedding
from gonie.nn.embeddings.features import FeatureEmbedding
from gonie.nn.embeddings.none import NoEmbedding
from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.embeddings.stack import Stack
from gonie.nn.embeddings.words import WordEmbedding
from gonie.nn.encoders.bidirectional import Bidirectional
from gonie.nn.encoders.bypass import Bypass
from gonie.nn.encoders.convolution import Convolution
from gonie.nn.encoders.deep import Deep
from gonie.nn.encoders.elman import Elman
from gonie.nn.encoders.lstm import LSTM
from gonie.nn.encoders.none import NoEncoder
from gonie.nn.encoders.peephole import PeepholeLSTM
from gonie.nn.encoders.window import Window
from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.objectives import AnyOf, Exact, Objective, Weighted
from gonie.nn.heads.scores import Scores
from gonie.nn.heads.sigmoid import SigmoidHead
from gonie.nn.heads.softmax import SoftmaxHead
from gonie.nn.protocols import Embedding, Encoder, Head
from gonie.tasks.sections import (
    CharsConfig,
    DropoutConfig,
    ElmoConfig,
    EmbeddingConfig,
    EncoderConfig,
    WordsConfig,
)
from gonie.tasks.tagging.recipe import HeadConfig, TaggerConfig
from gonie.tasks.tagging.torch.network import TAGS, TaggingNetwork
from gonie.text.rules import allowed
from gonie.text.schemes import OUTSIDE, Scheme

CHARS: Mapping[str, Callable[[int, CharsConfig], Embedding]] = {
    "cnn": lambda size, c: CharCNN(
        size=size, width=c.width, filters=c.hidden, kernel=c.kernel, dropout=c.dropout
    ),
    "lstm": lambda size, c: CharLSTM(size=size, width=c.width, hidden=c.hidden, dropout=c.dropout),
}

LAYERS: Mapping[str, Callable[[int, EncoderConfig, float], Encoder]] = {
    "rnn": lambda width, c, dropout: Elman(
        width=width, hidden=c.hidden, activation=c.activation, dropout=dropout
    ),
    "lstm": lambda width, c, dropout: LSTM(width=width, hidden=c.hidden, dropout=dropout),
    "peephole": lambda width, c, dropout: PeepholeLSTM(width=width, hidden=c.hidden, dropout=dropout),
}

ENCODERS: Mapping[str, Callable[[int, EncoderConfig], Encoder]] = {
    "none": lambda width, c: NoEncoder(width=width),
    "cnn": lambda width, c: Convolution(width=width, hidden=c.hidden, kernels=c.kernels),
    "window": lambda width, c: Window(width=width, hidden=c.hidden, size=c.window, layers=c.layers),
}


class HeadPlan(NamedTuple):
    """What a head is made of."""

    config: HeadConfig
    scores: Callable[[int], Scores]
    encoding: Encoding
    objective: Objective


HEADS: Mapping[str, Callable[[HeadPlan], Head]] = {
    "softmax": lambda plan: SoftmaxHead(
        scores=plan.scores(len(plan.encoding.labels)), objective=plan.objective
    ),
    "sigmoid": lambda plan: SigmoidHead(
        scores=plan.scores(1), outside=find_outside(plan.encoding.labels), objective=plan.objective
    ),
    "crf": lambda plan: CRFHead(
        scores=plan.scores(len(plan.encoding.labels)), crf=build_crf(plan), objective=plan.objective
    ),
}

DROPOUTS: Mapping[str, Callable[[float], nn.Module]] = {
    "plain": nn.Dropout,
    "variational": VariationalDropout,
}


def build(
    config: TaggerConfig,
    encoding: Encoding,
    pretrained: PretrainedVectors | None = None,
    options: NDArray[np.bool_] | None = None,
    *,
    bilm: BiLM | None = None,
) -> TaggingNetwork:
    """A fresh tagger for ``encoding``; ``pretrained`` are vectors for its words, ``bilm`` its elmo's model.

    ``options`` (S, K), to learn from tags known in part, say which tags a number in ``tags`` stands for.
    """
    embedding = build_embedding(config, encoding, pretrained, bilm)
    encoder = build_reader(config, embedding, config.encoder, config.dropout)
    drop = DROPOUTS[config.dropout.kind]
    return TaggingNetwork(
        embedding=embedding,
        encoder=encoder,
        heads={TAGS: build_head(config.head, encoder.width, encoding, options)},
        word_dropout=WordDropout(config.dropout.word),
        input_dropout=drop(config.dropout.input),
        output_dropout=drop(config.dropout.output),
    )


def build_embedding(
    config: EmbeddingConfig,
    encoding: Encoding,
    pretrained: PretrainedVectors | None,
    bilm: BiLM | None = None,
) -> Embedding:
    """Words, characters, features and vectors in context side by side, those that the recipe names."""
    parts: list[Embedding] = []
    if config.words:
        parts.append(build_words(config.words, encoding, pretrained))
    if config.chars:
        parts.append(CHARS[config.chars.kind](len(encoding.chars), config.chars))
    if config.features:
        parts += [
            FeatureEmbedding(group=group, size=len(encoding.features[group]), width=config.features.width)
            for group in config.features.groups
        ]
    if config.elmo:
        parts.append(build_elmo(config.elmo, bilm))  # the last, since it may go past the encoder
    if not parts:
        return NoEmbedding()
    return parts[0] if len(parts) == 1 else Stack(parts)


def build_elmo(config: ElmoConfig, bilm: BiLM | None) -> ElmoEmbedding:
    """The layers of ``bilm`` with a mix for each place where they are used."""
    if bilm is None:
        raise RecipeError(["model.elmo: expected a language model, got none"])
    mixes = [
        ScalarMix(layers=bilm.layers, normalize=config.normalize)
        for _ in range(2 if config.at == "both" else 1)
    ]
    return ElmoEmbedding(
        bilm=deepcopy(bilm), mixes=mixes, tuned=config.tuned, dropout=config.dropout, penalty=config.l2
    )


def build_words(
    config: WordsConfig, encoding: Encoding, pretrained: PretrainedVectors | None
) -> WordEmbedding:
    """Word vectors, learned ones and fixed ones as the recipe says."""
    vocabulary = encoding.words
    singletons = torch.from_numpy(vocabulary.singletons())
    if pretrained is None:
        return WordEmbedding(
            size=len(vocabulary),
            width=config.width,
            tuned=config.tuned != "none",
            singletons=singletons,
            singleton_rate=config.singleton_rate,
        )
    learned = (
        ~pretrained.found if config.tuned == "missing" else np.arange(len(vocabulary)) < vocabulary.trained
    )
    rows = np.empty(len(vocabulary), dtype=np.int64)  # learned words first, padding and unknown at their head
    rows[np.concatenate([np.flatnonzero(learned), np.flatnonzero(~learned)])] = np.arange(len(vocabulary))
    words = WordEmbedding(
        size=int(learned.sum()),
        width=pretrained.matrix.shape[1],
        fixed=int((~learned).sum()),
        rows=torch.from_numpy(rows),
        tuned=config.tuned != "none",
        singletons=singletons,
        singleton_rate=config.singleton_rate,
    )
    words.assign(torch.from_numpy(pretrained.matrix))
    return words


def build_reader(
    config: EmbeddingConfig, embedding: Embedding, encoder: EncoderConfig, dropout: DropoutConfig
) -> Encoder:
    """The encoder of what an embedding gives, past which go vectors in context that the recipe wants so."""
    elmo = find_elmo(cast("nn.Module", embedding))
    if config.elmo is None or elmo is None or config.elmo.at == "input":
        return build_encoder(encoder, embedding.width, dropout)
    passed = elmo.bilm.width
    return Bypass(encoder=build_encoder(encoder, embedding.width - passed, dropout), passed=passed)


def find_elmo(model: nn.Module) -> ElmoEmbedding | None:
    """The vectors in context among the parts of a model, if it has any."""
    return next((part for part in model.modules() if isinstance(part, ElmoEmbedding)), None)


def elmo_rates(config: ElmoConfig | None, model: nn.Module) -> dict[str, float]:
    """How the parameters of a tuned language model are called, and their multiple of the learning rate."""
    elmo = find_elmo(model)
    if config is None or elmo is None or not config.tuned:
        return {}
    return {f"{name}.": config.rate for name, part in model.named_modules() if part is elmo.bilm}


def build_encoder(config: EncoderConfig, width: int, dropout: DropoutConfig) -> Encoder:
    """The recurrent layers, one or both ways, one on top of the other; or a single part of another kind."""
    if config.kind in ENCODERS:
        return ENCODERS[config.kind](width, config)
    layers: list[Encoder] = []
    for _ in range(config.layers):
        ways = [
            LAYERS[config.kind](width, config, dropout.recurrent) for _ in range(1 + config.bidirectional)
        ]
        layers.append(Bidirectional(ahead=ways[0], back=ways[1]) if config.bidirectional else ways[0])
        width = layers[-1].width
    if len(layers) == 1:
        return layers[0]
    return Deep(layers=layers, dropout=DROPOUTS[dropout.kind](dropout.between))


def build_head(
    config: HeadConfig, width: int, encoding: Encoding, options: NDArray[np.bool_] | None = None
) -> Head:
    """Scores with their direct features, under the head the recipe names."""
    direct: dict[str, int] = {group: len(encoding.features[group]) for group in config.direct}
    plan = HeadPlan(
        config=config,
        scores=lambda outputs: Scores(width=width, num_tags=outputs, direct=direct),
        encoding=encoding,
        objective=build_objective(config, encoding, options),
    )
    return HEADS[config.kind](plan)


def build_crf(plan: HeadPlan) -> CRF:
    """The chain over the head's scores, with what its sequences may be."""
    config, labels = plan.config, plan.encoding.labels
    possible = allowed(
        labels,
        plan.encoding.scheme,
        constrained=config.constrained or config.constrain_training,
        forbidden=config.forbidden,
    )
    rules = Constraints(*map(torch.from_numpy, possible))
    return CRF(len(labels), allowed=rules, constrain_training=config.constrain_training)


def build_objective(config: HeadConfig, encoding: Encoding, options: NDArray[np.bool_] | None) -> Objective:
    """What the head learns from: exact tags, tags known in part, or tags that count differently."""
    if options is not None and config.weights:
        raise RecipeError(["model.head.weights needs tags known in full; leave data.partial or it out"])
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
