"""What an exported model computes with: one ONNX graph, or two."""

from __future__ import annotations

from typing import NamedTuple


class Graphs(NamedTuple):
    """The serialised graph of a model, and where it has one that of its forms.

    What a model knows of a word by its letters alone does not change from sentence to sentence. The graph of
    ``forms`` gives it for U distinct forms: from ``chars`` (U, C), ``char_lengths`` (U,) and ``bytes``
    (U, L), as far as it asks for them, to ``spelled`` (U, F). The main graph then asks for ``spelled``.
    """

    graph: bytes
    forms: bytes | None = None
