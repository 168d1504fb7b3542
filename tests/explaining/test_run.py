"""Tests a session of `gonie explain`: the order of its output, and that an interrupt keeps the results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gonie.errors import BundleError
from gonie.explaining.faithfulness_cache import FaithfulnessCache
from gonie.explaining.run import ExplainSession, layer_shares
from gonie.reports.explanation import Faithfulness, LayerShares, Method
from gonie.runtime.bundle import write_bundle
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep

STOP = -1


class Number(NamedTuple):
    """An answer about a number."""

    item: int
    label: str = "number"
    lengths: tuple[int, ...] = (3,)
    tokens: int = 3

    @property
    def answers(self) -> tuple[Number, ...]:
        return (self,)

    def explanation(self, weights: Sequence[Any]) -> str:
        methods = ", ".join(each.method for each in weights[0])
        return f"item {self.item} by {methods}"


class Numbers:
    """A model of numbers that records the items on which faithfulness is measured."""

    noun = "text"
    quantity = "the probability"
    warning = "Beware."
    methods: tuple[Method, ...] = ("erasure",)

    def __init__(self) -> None:
        self.measured: list[int] = []

    def size(self, item: int) -> ItemSize:
        return ItemSize(3)

    def ask(self, item: int) -> Number:
        if item == STOP:
            raise KeyboardInterrupt
        return Number(item)

    def log_odds(self, questions: Iterable[tuple[Number, Keep]]) -> Any:
        asked = list(questions)
        if len({answer.item for answer, _ in asked}) == 1 and len(asked) == 4:
            return np.array([keep.sum() for _, keep in asked], dtype=np.float64)  # erasure of one item
        self.measured += list(dict.fromkeys(answer.item for answer, _ in asked))
        return np.array([keep.sum() for _, keep in asked], dtype=np.float64)

    def show(self, explanation: str, screen: Any) -> None:
        print(explanation)

    def show_model(self, screen: Any) -> None:
        print("and that is the model")

    def page(self, explanations: Sequence[str], figures: Sequence[Faithfulness], **more: Any) -> str:
        return "\n".join([*explanations, *more["notes"]])


@contextmanager
def progress(step: str, total: int | None = None) -> Iterator[Any]:
    class Quiet:
        def update(self, done: int) -> None:
            pass

    yield Quiet()


def session(model: Any) -> ExplainSession:
    return ExplainSession(model=model, methods=["erasure"], title="why", progress=progress)


@pytest.fixture
def held_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HeldOutFile:
    """Return a file of two items whose figures are cached."""
    monkeypatch.setattr(
        "gonie.explaining.run.figures_cache", lambda held_out, folder: FaithfulnessCache(folder, "d")
    )
    return HeldOutFile([7, 8], tmp_path / "held.tsv", "numbers")


def test_held_out_items_are_measured_once_and_not_shown(
    tmp_path: Path, held_out: HeldOutFile, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Numbers()
    for _ in range(2):
        session(model).run([1, 2], held_out, folder=tmp_path, notes=["A note."], html=None)
    assert model.measured == [7, 8]
    shown = capsys.readouterr().out
    due = ("item 1 by erasure", "item 2", "and that is the model", "Beware.", "A note.", "held.tsv")
    places = [shown.index(words) for words in due]
    assert places == sorted(places)
    assert "item 7" not in shown


def test_without_held_out_items_the_shown_items_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Numbers()
    session(model).run([1, 2], None, folder=tmp_path, notes=[], html=None)
    assert model.measured == [1, 2]
    assert "on these texts" in capsys.readouterr().out


def test_a_page_has_all_items_or_those_before_an_interrupt(tmp_path: Path, held_out: HeldOutFile) -> None:
    page = tmp_path / "why.html"
    session(Numbers()).run([1, 2], held_out, folder=tmp_path, notes=[], html=page)
    assert page.read_text().splitlines()[:2] == ["item 1 by erasure", "item 2 by erasure"]
    with pytest.raises(KeyboardInterrupt):
        session(Numbers()).run([3, STOP, 4], held_out, folder=tmp_path, notes=[], html=page)
    assert page.read_text().splitlines()[0] == "item 3 by erasure"
    assert page.read_text().endswith("Stopped after 1 text.")


LAYER = {"place": "output", "shares": [0.25, 0.75], "scale": 1.5, "normalized": True}


@pytest.fixture
def write_layers(tmp_path: Path, text_bundle: Callable[..., Any]) -> Callable[[Any], Path]:
    """Writes a bundle with these layer weights."""

    def write(layers: Any) -> Path:
        folder = tmp_path / "run" / "bundle"
        write_bundle(folder, text_bundle())
        index = json.loads((folder / "bundle.json").read_text("utf-8"))
        assert "layers" not in index, "a model without contextual embeddings has no such key"
        (folder / "bundle.json").write_text(json.dumps({**index, "layers": layers}), "utf-8")
        return folder

    return write


def test_layer_weights_come_from_the_bundle_or_its_run(write_layers: Callable[[Any], Path]) -> None:
    folder = write_layers([LAYER])
    wanted = LayerShares(place="output", shares=(0.25, 0.75), scale=1.5, normalized=True)
    assert layer_shares(folder) == layer_shares(folder.parent) == (wanted,)


def test_a_model_without_layers_has_no_layer_weights(toy_run: Path) -> None:
    assert layer_shares(toy_run) == ()


@pytest.mark.parametrize(
    "damaged", [{}, 3, [3], [{"place": "input"}], [{**LAYER, "shares": 1}], [{**LAYER, "scale": "much"}]]
)
def test_damaged_layer_weights_are_refused(write_layers: Callable[[Any], Path], damaged: Any) -> None:
    with pytest.raises(BundleError, match=r"bundle\.json: "):
        layer_shares(write_layers(damaged))


def test_progress_counts_the_items_of_files(tmp_path: Path, held_out: HeldOutFile) -> None:
    """With many items and redirected output, nothing else shows how long it takes."""
    told: list[Any] = []

    @contextmanager
    def progress(step: str, total: int | None = None) -> Iterator[Any]:
        class Recorder:
            def update(self, done: int) -> None:
                told.append((step, done, total))

        yield Recorder()

    own = ExplainSession(
        model=Numbers(), methods=["erasure"], title="why", progress=progress, examples="pairs"
    )
    own.run([1, 2], held_out, folder=tmp_path, notes=[], html=None)
    assert told[-2:] == [("explaining pairs", 1, 2), ("explaining pairs", 2, 2)]
    assert ("explaining held-out pairs", 2, 2) in told
    own.run([1, 2], None, folder=tmp_path, notes=[], html=None)
    assert ("explaining pairs", 2, 2) in told[-4:]
