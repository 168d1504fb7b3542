"""The ONNX graph of contextual embeddings (ELMo): the layers of a language model and their learned mix."""

from __future__ import annotations

import numpy as np

from gonie.errors import GonieError
from gonie.export.bilm import bilm_layers
from gonie.export.graph import Graph
from gonie.export.spelled_words import spelled_words
from gonie.nn.embeddings.elmo import ElmoEmbedding
from gonie.nn.embeddings.scalar_mix import ScalarMix


def elmo(graph: Graph, part: ElmoEmbedding) -> str:
    """Return [mix1(layers); mix2(layers); …] of the tokens: (B, T, 2P · mixes)."""
    if not graph.longest:
        raise GonieError(
            "the encoding does not spell words, which the model's biLM needs. "
            "Export the model with the encoding it was trained with."
        )
    spelled = spelled_words(graph.forms, part.bilm.words, graph.forms.input("bytes"))  # (U, P)
    words = graph.per_form(spelled, part.bilm.words.width)
    forms = graph.add("Transpose", graph.input("forms"), perm=[1, 0])  # (T, B)
    layers = bilm_layers(graph, part.bilm, words, forms, graph.input("lengths"))  # (T, B, 2P) each
    mixed = [_mix(graph, mix, layers, part.bilm.width) for mix in part.mixes]  # type: ignore[arg-type]
    vectors = graph.add("Concat", *mixed, axis=2)
    return graph.add("Transpose", vectors, perm=[1, 0, 2])


def _mix(graph: Graph, part: ScalarMix, layers: list[str], width: int) -> str:
    """Return γ Σ_k softmax(w)_k h[k], of normalised vectors if the mix has ``normalize``: (T, B, 2P)."""
    if part.normalize:
        ones = graph.weight(np.ones(width, dtype=np.float32))
        layers = [graph.add("LayerNormalization", layer, ones) for layer in layers]
    shares = part.scale * part.shares()  # (L,)
    return graph.add(
        "Sum",
        *(graph.add("Mul", layer, graph.weight(share)) for layer, share in zip(layers, shares, strict=True)),
    )
