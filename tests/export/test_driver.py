"""Tests the export driver: a bundle is written, verified and compared, and kept only if all checks pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from onnx import TensorProto
from torch import nn

from gonie.errors import GonieError
from gonie.export.driver import Exported, export_model
from gonie.export.exportable import ScoredAnswers, Standalone
from gonie.export.graph import Graph, GraphOutput
from gonie.runtime.about import About
from gonie.runtime.bundle import Graphs, read_bundle
from gonie.runtime.session import OnnxScorer

TABLE = np.array([[0.0], [1.0], [-2.0]], dtype=np.float32)  # the score of each word
BATCH = {"words": np.array([[1, 2], [2, 0]]), "mask": np.array([[True, True], [True, False]])}


class NoWords:
    """An encoding without data."""

    def to_json(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Moods:
    """The bundle of a task that gonie does not have."""

    task: ClassVar[str] = "mood"
    further: ClassVar[Mapping[str, int]] = {}

    graph: bytes = b""
    forms: bytes | None = None
    about: About = field(default_factory=About)
    encoding: NoWords = field(default_factory=NoWords)

    def describe(self) -> dict[str, Any]:
        return {}

    def files(self) -> dict[str, bytes]:
        return {}

    @classmethod
    def check(cls, index: Mapping[str, Any]) -> None:
        pass

    @classmethod
    def read(cls, index: Mapping[str, Any], graphs: Graphs, files: Mapping[str, bytes]) -> Moods:
        return cls(*graphs)


class Toy:
    """A model that looks up a number for each word. ``off`` is the error of its graph."""

    model = nn.Identity()
    bundle = Moods()
    examples = ("good", "bad")
    longest = 0
    discontinuous = ()

    def __init__(self, off: float = 0.0, standalone_off: int = 0) -> None:
        self._off, self._standalone_off = off, standalone_off

    def write(self, graph: Graph) -> Graphs:
        table = graph.weight(TABLE + np.float32(self._off))
        scores = graph.add("Gather", table, graph.input("words"), axis=0)
        return Graphs(graph.serialize("moods", {"scores": GraphOutput(scores, ("B", "T", 1))}))

    def batches(self, samples: int) -> Iterator[Any]:
        yield BATCH

    def trained(self, batch: Any) -> dict[str, np.ndarray]:
        return {"scores": TABLE[batch["words"]][batch["mask"]]}

    def shipped(self, bundle: Moods) -> Callable[[Any], dict[str, np.ndarray]]:
        scorer = OnnxScorer(bundle.graph, bundle.forms)
        return lambda batch: {"scores": scorer.scores(batch)[batch["mask"]]}

    def score_answers(self, bundle: Moods) -> ScoredAnswers:
        return ScoredAnswers(
            OnnxScorer(bundle.graph).scores(BATCH).argmax(-1).ravel().tolist(), "accuracy", 0.5
        )

    def standalone(self, bundle: Moods) -> Standalone:
        graph = Graph()
        ids = graph.add("Add", graph.input("words"), graph.weight([self._standalone_off]))
        content = graph.serialize("moods", {"moods": GraphOutput(ids, ("B", "T"), TensorProto.INT64)})
        return Standalone(content, "moods", lambda batch: batch["words"])


def exported(toy: Toy, folder: Path, **how: Any) -> Exported:
    return export_model(toy, folder, **how)


def test_a_model_of_any_task_becomes_a_bundle(tmp_path: Path) -> None:
    found = exported(Toy(), tmp_path / "b")
    again = read_bundle(tmp_path / "b", {"mood": Moods})
    np.testing.assert_array_equal(OnnxScorer(again.graph).scores(BATCH), TABLE[BATCH["words"]])
    assert (found.task, found.int8, found.difference.tokens) == ("mood", None, 3)
    assert found.size == sum(path.stat().st_size for path in (tmp_path / "b").iterdir())


def test_int8_and_the_standalone_graph_are_written_on_request(tmp_path: Path) -> None:
    notes: list[str] = []
    found = exported(Toy(), tmp_path / "b", int8=True, onnx=tmp_path / "whole.onnx", note=notes.append)
    assert found.int8 is not None
    assert (found.int8.answers, found.int8.changed) == (4, 0)
    assert (tmp_path / "whole.onnx").stat().st_size > 0
    assert len(notes) == 2


@pytest.mark.parametrize(
    ("toy", "how"),
    [
        (Toy(off=0.01), {}),
        (Toy(off=0.01), {"int8": True}),
        (Toy(standalone_off=1), {"onnx": "whole.onnx"}),
        (Toy(), {"onnx": "whole.onnx", "int8": True}),
    ],
)
def test_a_model_that_fails_a_check_is_not_written(
    tmp_path: Path, toy: Toy, how: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gonie.export.int8.UNCHANGED", 1.01)
    if "onnx" in how:
        how = {**how, "onnx": tmp_path / how["onnx"]}
    with pytest.raises(GonieError):
        exported(toy, tmp_path / "b", **how)
    assert list(tmp_path.iterdir()) == []
