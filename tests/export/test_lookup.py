"""Tests the export tables: one entry makes a new part exportable, and a part without one is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gonie.errors import GonieError
from gonie.export import cells, embeddings, encoders, matching, poolings, scores, text_scores
from gonie.export.graph import Graph
from gonie.export.rows import Sentences
from gonie.nn import LSTM, Scores, TextScores


class New:
    """A part that no table lists."""


class OwnLSTM(LSTM):
    """A new layer type whose recurrence ONNX supports."""


def say(*_: Any) -> str:
    return "written"


ROLES: dict[str, tuple[dict[type, Any], Callable[[Graph, Any], Any]]] = {
    "embedding": (embeddings.EMBEDDINGS, embeddings.embedding),
    "encoder": (encoders.ENCODERS, lambda graph, part: encoders.encoder(graph, part, "x", Sentences(graph))),
    "pooling": (poolings.POOLINGS, lambda graph, part: poolings.pooling(graph, part, "x", Sentences(graph))),
    "head": (scores.HEADS, lambda graph, part: scores.head_scores(graph, part, "x")),
    "head of texts": (
        text_scores.TEXT_HEADS,
        lambda graph, part: text_scores.text_head_scores(graph, part, "x"),
    ),
    "matching": (
        matching.MATCHINGS,
        lambda graph, part: matching.matching(graph, part, "x", matching.Sides(graph)),
    ),
}


@pytest.mark.parametrize("role", ROLES)
def test_one_entry_makes_a_part_exportable(role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table, write = ROLES[role]
    noun, _, _ = role.partition(" ")
    with pytest.raises(GonieError, match=rf"cannot export the {noun} New\. Use one of "):
        write(Graph(), New())
    monkeypatch.setitem(table, New, say)
    assert write(Graph(), New()) == "written"


def test_a_new_cell_can_be_exported_as_an_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, graph = OwnLSTM(width=3, hidden=2), Graph()
    with pytest.raises(GonieError, match=r"the encoder OwnLSTM\. Use one of .*LSTM"):
        encoders.encoder(graph, layer, "x", Sentences(graph))
    monkeypatch.setitem(cells.CELLS, OwnLSTM, cells.CELLS[LSTM])
    assert encoders.encoder(graph, layer, "x", Sentences(graph)).startswith("Reshape")


def test_a_new_head_can_use_existing_score_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Head:
        scores: Any

    head = Head()
    monkeypatch.setitem(scores.HEADS, Head, scores.each_tag)
    head.scores = Scores(width=4, num_tags=3, direct={})
    assert scores.head_scores(Graph(), head, "x")[1] == 3
    monkeypatch.setitem(text_scores.TEXT_HEADS, Head, text_scores.each_label)
    head.scores = TextScores(width=4, num_labels=2, direct={})
    assert text_scores.text_head_scores(Graph(), head, "x")[1] == 2
