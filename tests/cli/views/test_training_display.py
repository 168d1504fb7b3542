"""Tests the display of a training run, on a terminal and elsewhere."""

from __future__ import annotations

import io
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from gonie.cli.views import training_display as module
from gonie.cli.views.training_display import TrainingDisplay
from gonie.features.lm_text import TokenisingProgress
from gonie.messages import use_language
from gonie.system.cost import RunCost
from gonie.tasks.torch.job import RunOutput
from gonie.text.report import clock
from gonie.training.loop import Epoch, Step
from gonie.training.run import RunResult, Summary

ROWS = (("train", "1,234 sentences, 56,789 tokens"), ("labels", "B-[type0] 1,000"))
OUTPUT = RunOutput(
    results=[("dev F1", "100.00  (95% 98.00 to 100.00)"), ("report", "runs/[x]/report.html")],
    commands=['gonie tag runs/x "your text"', "gonie evaluate runs/x FILE"],
    evaluations={},
    baselines={"most frequent label of each word": "dev F1 44.52"},
)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def summary(folder: str = "runs/x", *, first: int = 1, complete: bool = False, epochs: int = 10) -> Summary:
    return Summary(folder=Path(folder), rows=ROWS, epochs=epochs, first_epoch=first, complete=complete)


def result(output: RunOutput = OUTPUT) -> RunResult:
    return RunResult(
        Path("runs/x"), output, 1, 65.0, RunCost(cpu_seconds=192.0, peak_memory_bytes=1_234_567_890)
    )


def epoch(number: int, *, improved: bool = True) -> Epoch:
    return Epoch(number, 1.25, 0.5, improved, 0.01, 5000, 2.0, 1.0, shown="dev F1  50.00")


def shown(terminal: bool, width: int = 120) -> tuple[TrainingDisplay, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, highlight=False, soft_wrap=True)
    return TrainingDisplay(console), file


def plain(file: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_is_displayed_from_start_to_end(terminal: bool) -> None:
    display, file = shown(terminal)
    with display:
        display.note("train.conll\n  12 sentences [sic]")
        display.begin(summary())
        for batch in range(1, 5):
            display.step(Step(1, batch, 4, 100, 0.01))
        display.epoch(epoch(1))
        display.epoch(epoch(2, improved=False))
        display.finished(result())
    text = plain(file)
    for words in (
        "12 sentences [sic]",
        "1,234 sentences, 56,789 tokens",
        "B-[type0] 1,000",
        "MiB used",
        "epoch   1  loss   1.2500  dev F1  50.00  2,500 tokens/s  3 s  ETA 27 s best",
        "dev F1 100.00  (95% 98.00 to 100.00)",
        "report runs/[x]/report.html",
        "compared with most frequent label of each word: dev F1 44.52",
        "best epoch 1, 1 min 05 s in total",
        "cost: 3 min 12 s of CPU time, peak memory 1.2 GB",
        'Try:  gonie tag runs/x "your text"',
        "      gonie evaluate runs/x FILE",
    ):
        assert words in text, words
    assert "ETA 24 s best" not in text
    assert ("\x1b[" in file.getvalue()) == terminal


def test_korean_commands_stand_below_each_other() -> None:
    display, file = shown(terminal=False)
    with use_language("ko"), display:
        display.finished(result())
    lines = [line for line in plain(file).splitlines() if "gonie " in line]
    assert len({cell_len(line[: line.index("gonie ")]) for line in lines}) == 1, lines
    assert len(lines) > 1


def test_on_a_terminal_a_bar_moves_and_the_cursor_is_restored() -> None:
    display, file = shown(terminal=True)
    with display:
        display.begin(summary())
        display.step(Step(1, 1, 2, 100, 0.01))
        display._progress.refresh()
        assert "epoch 1/10" in plain(file)
        assert "50%" in plain(file)
    hidden, restored = "\x1b[?25l", "\x1b[?25h"
    assert file.getvalue().rfind(restored) > file.getvalue().rfind(hidden) > -1


def test_off_a_terminal_a_long_epoch_prints_progress_occasionally(time: Clock) -> None:
    """A log on a server must show that the run is alive, but not print a line per step."""
    display, file = shown(terminal=False)
    display.begin(summary())
    for batch in range(1, 41):
        time.now += 3
        display.step(Step(1, batch, 40, 100, 0.01))
    lines = [line for line in plain(file).splitlines() if line.startswith("epoch 1/10: ")]
    assert 8 <= len(lines) <= 12
    assert lines[0] == "epoch 1/10: 10%, 33 tokens/s, ETA 19 min 48 s"


def test_a_slow_first_step_gives_no_eta(time: Clock) -> None:
    """It loads kernels and compiles. An ETA of hours would make the user stop a run of minutes."""
    display, file = shown(terminal=False)
    display.begin(summary())
    for batch, seconds in enumerate([30, 11, 11], start=1):
        time.now += seconds
        display.step(Step(1, batch, 100, 100, 0.01))
    etas = [line.rpartition("ETA ")[2] for line in plain(file).splitlines() if "ETA" in line]
    assert etas == ["?", "3 h 02 min", "3 h 02 min"]


def test_the_eta_of_a_resumed_run_ignores_earlier_steps(time: Clock) -> None:
    """Otherwise the finished part would count as instant work, and the ETA would be far too short."""
    display, file = shown(terminal=False)
    display.begin(summary(first=3, epochs=4))
    for batch in range(51, 101):  # in the middle of the third of four epochs
        time.now += 1
        display.step(Step(3, batch, 100, 500, 0.001))
    last = [line for line in plain(file).splitlines() if line.startswith("epoch 3/4: ")][-1]
    share = int(re.findall(r"(\d+)%", last)[0])
    left = 100 - share + 100
    assert last.endswith(f"500 tokens/s, ETA {clock(left)}")
    time.now += 9
    display.epoch(replace(epoch(3), seconds=100.0, dev_seconds=9.0))
    assert "ETA 1 min 49 s" in plain(file).splitlines()[-1]


@pytest.mark.parametrize("terminal", [True, False])
def test_tokenising_shows_its_progress(time: Clock, terminal: bool) -> None:
    display, file = shown(terminal)
    with display:
        time.now += 30
        display.advance(TokenisingProgress(Path("wiki [1].txt"), 600, 1, 4))
        display.note("a note [with brackets]")
        display.begin(summary())
        time.now += 1
        display.step(Step(1, 1, 100, 500, 0.001))
    text = plain(file)
    assert "tokenising wiki [1].txt" in text
    assert "20 words/s" in text
    assert "ETA 1 min 30 s" in text
    assert "a note [with brackets]" in text


def test_a_resumed_run_prints_its_epoch() -> None:
    display, file = shown(terminal=False)
    display.begin(summary(first=4))
    assert "resuming at epoch 4" in plain(file)
    display, file = shown(terminal=False)
    display.begin(summary(first=10, complete=True))
    assert "training is complete" in plain(file)


def test_the_resume_command_can_be_pasted() -> None:
    """This includes folders with spaces or brackets in their names."""
    display, file = shown(terminal=False)
    display.begin(summary("my runs/[a]"))
    display.interrupted(Path("my runs/[a]"))
    assert "Stopped; progress saved. Resume with:" in plain(file)
    assert "gonie train 'my runs/[a]/recipe.toml' --out 'my runs/[a]' --resume" in plain(file)
    file = io.StringIO()
    TrainingDisplay(Console(file=file, width=120), command="pretrain").interrupted(Path("my run"))
    assert shlex.split(file.getvalue().splitlines()[-1])[:3] == ["gonie", "pretrain", "my run/recipe.toml"]


def test_a_display_without_closing_prints_no_results() -> None:
    file = io.StringIO()
    display = TrainingDisplay(Console(file=file), closing=False)
    display.begin(summary())
    before = file.getvalue()
    display.finished(result())
    assert file.getvalue() == before


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (125, "2 min 05 s"),
        (3599.7, "1 h 00 min"),
        (4020, "1 h 07 min"),
    ],
)
def test_durations_are_formatted_briefly(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_the_training_score_is_shown_if_there_is_one() -> None:
    display, file = shown(False)
    with display:
        display.begin(summary())
        display.epoch(epoch(1))
        display.epoch(replace(epoch(2), train_score=0.875))
    first, second = (line for line in plain(file).splitlines() if line.startswith("epoch"))
    assert "train" not in first
    assert "dev F1  50.00  train  87.50" in second
