"""The ONNX graph of a transformer: its layers at the sub-words of each token, and their learned mix.

It is written for the BERT family (Devlin et al. 2019, arXiv:1810.04805): learned positions, attention over
all sub-words, then a feed-forward layer, each followed by layer normalisation of its sum with its input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from torch import Tensor, nn

from gonie.errors import GonieError
from gonie.export.graph import Graph
from gonie.export.sums import scattered_sums
from gonie.nn.embeddings.transformer import TransformerEmbedding

MASKED = -1e9
"""Added to the scores of padding, so that attention gives it a weight of exactly 0."""


def transformer(graph: Graph, part: TransformerEmbedding) -> str:
    """Return [mix1(layers); mix2(layers); …] of the tokens: (B, T, H · mixes)."""
    states = _layers(part.encoder)(graph, part.encoder)  # (W, L, H) each
    chosen = [states[layer] for layer in part.chosen]
    mixed = [_mix(graph, chosen, mix.scale * mix.shares()) for mix in part.mixes.each()]
    joined = mixed[0] if len(mixed) == 1 else graph.add("Concat", *mixed, axis=2)
    return _at_tokens(graph, joined, part.width)


def _mix(graph: Graph, layers: Sequence[str], shares: Tensor) -> str:
    """Return the sum of layers with these shares (K,)."""
    parts = [graph.add("Mul", *both) for both in zip(layers, map(graph.weight, shares), strict=True)]
    return parts[0] if len(parts) == 1 else graph.add("Sum", *parts)


def bert_layers(graph: Graph, encoder: Any) -> list[str]:
    """Return the input and the output of every layer of BERT: (W, L, H) each."""
    x = _input(graph, encoder.embeddings, first=0)
    return _blocks(graph, encoder, x)


def roberta_layers(graph: Graph, encoder: Any) -> list[str]:
    """Return the input and the output of every layer of RoBERTa, whose positions begin after padding."""
    x = _input(graph, encoder.embeddings, first=int(encoder.embeddings.padding_idx) + 1)
    return _blocks(graph, encoder, x)


def electra_layers(graph: Graph, encoder: Any) -> list[str]:
    """Return the input and the output of every layer of ELECTRA, whose input may have another width."""
    x = _input(graph, encoder.embeddings, first=0)
    project = getattr(encoder, "embeddings_project", None)
    return _blocks(graph, encoder, x if project is None else graph.dense(x, project))


ENCODERS: Mapping[str, Callable[[Graph, Any], list[str]]] = {
    "BertModel": bert_layers,
    "CamembertModel": roberta_layers,
    "ElectraModel": electra_layers,
    "RobertaModel": roberta_layers,
    "XLMRobertaModel": roberta_layers,
}
"""The graph function of each encoder, by the name of its class in the library transformers."""
ACTIVATIONS = {"gelu": "Gelu", "relu": "Relu"}


def has_graph(encoder: nn.Module) -> bool:
    """Return whether an encoder can be exported."""
    config: Any = getattr(encoder, "config", None)
    return type(encoder).__name__ in ENCODERS and config.hidden_act in ACTIVATIONS


def _layers(encoder: nn.Module) -> Callable[[Graph, Any], list[str]]:
    kind = type(encoder).__name__
    if kind not in ENCODERS:
        raise GonieError(
            f"cannot export the transformer {kind}. Use one of {', '.join(ENCODERS)}, or train only, without "
            "a bundle"
        )
    return ENCODERS[kind]


def _input(graph: Graph, part: Any, *, first: int) -> str:
    """Return the normalised sum of the vectors of sub-words, positions and the first type: (W, L, H)."""
    ids = graph.input("pieces")
    words = graph.rows(part.word_embeddings.weight, ids)
    places = part.position_embeddings.weight[first:] + part.token_type_embeddings.weight[0]
    positions = graph.add("Gather", graph.weight(places), graph.positions(ids, 1), axis=0)  # (L, H)
    return _normalized(graph, graph.add("Add", words, positions), part.LayerNorm)


def _blocks(graph: Graph, encoder: Any, x: str) -> list[str]:
    config = encoder.config
    if config.hidden_act not in ACTIVATIONS:
        raise GonieError(
            f"cannot export the activation {config.hidden_act} of the transformer. Use one with "
            f"{' or '.join(ACTIVATIONS)}"
        )
    heads = int(config.num_attention_heads)
    mask = graph.add("Unsqueeze", graph.input("pieces_mask"), graph.weight([1, 2]))  # (W, 1, 1, L)
    zero, masked = (graph.weight(np.array(value, dtype=np.float32)) for value in (0.0, MASKED))
    bias = graph.add("Where", mask, zero, masked)
    states = [x]
    for block in encoder.encoder.layer:
        attended = _attention(graph, block.attention.self, states[-1], bias, heads)
        attended = _summed(graph, block.attention.output, attended, states[-1])
        inner = graph.dense(attended, block.intermediate.dense)
        inner = _activated(graph, ACTIVATIONS[config.hidden_act], inner)
        states.append(_summed(graph, block.output, inner, attended))
    return states


def _attention(graph: Graph, part: Any, x: str, bias: str, heads: int) -> str:
    """Return softmax(Q Kᵀ / √d + bias) V of all heads: (W, L, H)."""
    width = part.query.out_features
    split = graph.weight([0, 0, heads, width // heads])

    def in_heads(layer: nn.Linear, order: list[int]) -> str:
        return graph.add("Transpose", graph.add("Reshape", graph.dense(x, layer), split), perm=order)

    queries, keys = in_heads(part.query, [0, 2, 1, 3]), in_heads(part.key, [0, 2, 3, 1])
    scale = graph.weight(np.array(1 / sqrt(width // heads), dtype=np.float32))
    scores = graph.add("Mul", graph.add("MatMul", queries, keys), scale)  # (W, heads, L, L)
    weights = graph.add("Softmax", graph.add("Add", scores, bias), axis=3)
    mixed = graph.add("MatMul", weights, in_heads(part.value, [0, 2, 1, 3]))  # (W, heads, L, d)
    return graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), graph.weight([0, 0, width]))


def _summed(graph: Graph, part: Any, x: str, below: str) -> str:
    """Return the normalised sum of a linear layer's output and the vectors below it."""
    return _normalized(graph, graph.add("Add", graph.dense(x, part.dense), below), part.LayerNorm)


def _normalized(graph: Graph, x: str, part: nn.LayerNorm) -> str:
    weights = graph.weight(part.weight), graph.weight(part.bias)
    return graph.add("LayerNormalization", x, *weights, axis=-1, epsilon=part.eps)


def _activated(graph: Graph, op: str, x: str) -> str:
    if op != "Gelu":
        return graph.add(op, x)
    half, one, root = (graph.weight(np.array(value, dtype=np.float32)) for value in (0.5, 1.0, sqrt(2)))
    error = graph.add("Erf", graph.add("Div", x, root))
    return graph.add("Mul", graph.add("Mul", x, graph.add("Add", error, one)), half)


def _at_tokens(graph: Graph, states: str, width: int) -> str:
    """Return the mean of the states (W, L, D) of the sub-words of each token, 0 without any: (B, T, D)."""
    table = graph.add("Reshape", states, graph.weight([-1, width]))  # (W · L, D)
    ids, rows = graph.features("pieces")  # (Q,), (Q,)
    mask = graph.input("mask")
    cells = graph.add("Unsqueeze", graph.add("Size", mask), graph.weight([0]))  # [B · T]
    ones = graph.add("Expand", graph.weight(np.ones(1, dtype=np.float32)), graph.add("Shape", rows))
    none = graph.add("ConstantOfShape", cells)
    counts = graph.add("ScatterElements", none, rows, ones, axis=0, reduction="add")  # (B · T,)
    least = graph.add("Max", counts, graph.weight(np.ones(1, dtype=np.float32)))
    sums = scattered_sums(graph, graph.add("Gather", table, ids, axis=0), rows, cells, width)  # (B · T, D)
    means = graph.add("Div", sums, graph.add("Unsqueeze", least, graph.weight([1])))
    return graph.add(
        "Reshape", means, graph.add("Concat", graph.add("Shape", mask), graph.weight([width]), axis=0)
    )
