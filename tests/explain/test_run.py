"""The course of an explanation: figures first, items in order, and nothing lost by who stops it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from gonie.explain.faithfulness_cache import FaithfulnessCache
from gonie.explain.run import ExplainSession
from gonie.reports.explanation import Faithfulness, Method
from gonie.tasks.explanation import HeldOutFile, ItemSize, Keep

STOP = -1


class Number(NamedTuple):
    """The answer about a number: what it is."""

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
    """Explains numbers by saying them; the items that were measured on are noted."""

    noun = "text"
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
    """Two numbers in a file, whose figures are kept."""
    monkeypatch.setattr(
        "gonie.explain.run.figures_cache", lambda held_out, folder: FaithfulnessCache(folder, "d")
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
    due = ("Beware.", "A note.", "held.tsv", "item 1 by erasure", "item 2", "and that is the model")
    places = [shown.index(words) for words in due]
    assert places == sorted(places)
    assert "item 7" not in shown


def test_without_held_out_items_those_shown_are_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Numbers()
    session(model).run([1, 2], None, folder=tmp_path, notes=[], html=None)
    assert model.measured == [1, 2]
    assert "on the texts below" in capsys.readouterr().out


def test_a_page_has_all_items_and_a_stop_leaves_those_that_were_done(
    tmp_path: Path, held_out: HeldOutFile
) -> None:
    page = tmp_path / "why.html"
    session(Numbers()).run([1, 2], held_out, folder=tmp_path, notes=[], html=page)
    assert page.read_text().splitlines()[:2] == ["item 1 by erasure", "item 2 by erasure"]
    with pytest.raises(KeyboardInterrupt):
        session(Numbers()).run([3, STOP, 4], held_out, folder=tmp_path, notes=[], html=page)
    assert page.read_text().splitlines()[0] == "item 3 by erasure"
    assert page.read_text().endswith("Stopped after 1 text.")
