"""How a pretraining looks, on a terminal and off it."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import pytest
from rich.console import Console

from gonie.cli.views import pretrain_display as module
from gonie.cli.views.pretrain_display import Pace, PretrainScreen
from gonie.features.lm_text import TokenisingProgress
from gonie.tasks.language_model.torch.perplexity import Perplexity
from gonie.tasks.recipe import load_recipe
from gonie.training.loop import Step
from gonie.training.pretrain_loop import PretrainEpoch
from gonie.training.pretrain_run import PretrainingResult, PretrainSummary


class Clock:
    """A time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def screen(*, terminal: bool = False) -> tuple[PretrainScreen, io.StringIO]:
    shown = io.StringIO()
    return PretrainScreen(
        Console(file=shown, width=200, force_terminal=terminal, highlight=False, soft_wrap=True)
    ), shown


def summary(*, first: int = 1, complete: bool = False) -> PretrainSummary:
    return PretrainSummary(
        folder=Path("runs/my model"),
        device="cpu",
        words=1_000_000,
        heldout=5_000,
        unknown=0.0281,
        vocabulary=60_003,
        parameters=7_780_704,
        softmax_parameters=15_420_771,
        epochs=4,
        batches=100,
        first_epoch=first,
        complete=complete,
    )


def test_what_is_left_is_known_from_what_is_done(clock: Clock) -> None:
    pace = Pace()
    assert pace.left(0.0) == "?", "nothing is known yet"
    clock.now += 30
    pace.add(600)
    assert pace.speed == pytest.approx(20)
    assert pace.left(0.25) == "1m30s"


def test_off_a_terminal_a_line_is_said_now_and_then(clock: Clock) -> None:
    shown, out = screen()
    shown.begin(summary())
    for batch in range(1, 101):
        clock.now += 1
        shown.step(Step(1, batch, 100, 500, 0.001))
    lines = [line for line in out.getvalue().splitlines() if line.startswith("epoch 1/4")]
    assert 3 <= len(lines) <= 20, "neither silence nor a flood"
    assert "500 words/s" in lines[-1]


def test_a_resumed_run_counts_from_where_it_goes_on(clock: Clock) -> None:
    """Or half of the work would seem to be done at once, and the time left would be far too short."""
    shown, out = screen()
    shown.begin(summary(first=3))
    for batch in range(51, 101):  # in the middle of the third of four epochs
        clock.now += 1
        shown.step(Step(3, batch, 100, 500, 0.001))
    last = [line for line in out.getvalue().splitlines() if line.startswith("epoch 3/4")][-1]
    assert "going on in epoch 3" in out.getvalue()
    share = int(last.split(": ")[1].split("%")[0])
    assert 25 <= share <= 34, "some 50 of 150 steps"
    assert "left 1m" in last


def test_a_bar_moves_on_a_terminal_and_goes_away(clock: Clock) -> None:
    shown, out = screen(terminal=True)
    with shown:
        shown.advance(TokenisingProgress(Path("wiki [1].txt"), 10, 1, 4))
        shown.note("a note [with brackets]")
        shown.begin(summary())
        clock.now += 1
        shown.step(Step(1, 1, 100, 500, 0.001))
    assert "tokenising wiki [1].txt" in out.getvalue()
    assert "a note [with brackets]" in out.getvalue()


def test_an_epoch_shows_both_directions(clock: Clock) -> None:
    shown, out = screen()
    shown.epoch(PretrainEpoch(2, 4.5, Perplexity(1234.5, 99.25), True, 0.001, 50_000, 10.0, 2.0))
    assert "1,234.50 onward, 99.25 backward" in out.getvalue()
    assert "5,000 words/s" in out.getvalue()
    assert "best" in out.getvalue()


def finished(*, language: str = "en", unit: str = "word") -> PretrainingResult:
    return PretrainingResult(
        folder=Path("runs/my model"),
        perplexity=Perplexity(50.4, 50.1),
        alone=Perplexity(63.8, 63.4),
        best_epoch=7,
        vocabulary=60_003,
        seconds=75.0,
        size=7_900_000,
        language=language,
        unit=unit,
    )


@pytest.mark.parametrize(
    ("language", "unit"), [("en", "word"), ("ko", "morpheme"), ("ko", "syllable"), ("ko", "eojeol")]
)
def test_the_recipe_to_try_reads_the_words_that_the_model_knows(language: str, unit: str) -> None:
    """A Korean model beside English words would help nobody."""
    shown, out = screen()
    shown.finished(finished(language=language, unit=unit))
    (line,) = [line for line in out.getvalue().splitlines() if line.startswith("try:")]
    name, *changes = line.split("gonie train ")[1].split(" --set ")
    recipe = load_recipe(name, [change for change in changes if change.startswith("data.")])
    assert (recipe.data.language, recipe.data.token_unit) == (language, unit)


def test_what_it_says_to_type_can_be_typed(clock: Clock) -> None:
    """A folder may have a blank in its name."""
    shown, out = screen()
    shown.interrupted(Path("runs/my model"))
    shown.finished(finished())
    typed = [line[line.index("gonie") :] for line in out.getvalue().splitlines() if "gonie " in line]
    assert len(typed) == 3
    for line in typed:
        assert any("runs/my model" in part for part in shlex.split(line)), line
    assert "63.80 onward, 63.40 backward" in out.getvalue()
    assert "7.9 MB" in out.getvalue()


def test_a_run_that_is_complete_says_so(clock: Clock) -> None:
    shown, out = screen()
    shown.begin(summary(first=5, complete=True))
    assert "training is complete" in out.getvalue()
    assert "2.8% of held-out words" in out.getvalue()
