"""How a run looks, on a terminal and off it."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from gonie.cli.views import training_display as module
from gonie.cli.views.training_display import TrainingDisplay, clock
from gonie.metrics.evaluation import evaluate
from gonie.text.schemes import IOB2
from gonie.text.types import Sentence
from gonie.training.loop import Epoch, Step
from gonie.training.run import RunResult, Summary


def summary(folder: str = "runs/x", *, first: int = 1, complete: bool = False, labels: int = 3) -> Summary:
    return Summary(
        folder=Path(folder),
        device="cpu",
        noun="sentences",
        examples=1234,
        tokens=56789,
        dev_examples=100,
        parameters=2_000_000,
        labels={f"B-[type{i}]": 1000 - i for i in range(labels)},
        epochs=10,
        first_epoch=first,
        complete=complete,
        metric="F1",
    )


def epoch(number: int, *, improved: bool = True) -> Epoch:
    return Epoch(number, 1.25, 0.5, improved, 0.01, 5000, 2.0, 1.0)


def shown(terminal: bool, width: int = 120) -> tuple[TrainingDisplay, io.StringIO]:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, highlight=False, soft_wrap=True)
    return TrainingDisplay(console), file


def plain(file: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", file.getvalue())


@pytest.mark.parametrize("terminal", [True, False])
def test_a_run_from_its_beginning_to_its_end(terminal: bool) -> None:
    display, file = shown(terminal)
    gold = [Sentence(("a", "b"), ("B-PER", "O"))]
    result = evaluate(gold, [("B-PER", "O")], scheme=IOB2)
    with display:
        display.note("train.conll\n  12 sentences [sic]")
        display.begin(summary())
        for batch in range(1, 5):
            display.step(Step(1, batch, 4, 100, 0.01))
        display.epoch(epoch(1))
        display.epoch(epoch(2, improved=False))
        display.finished(RunResult(Path("runs/x"), {"dev": result}, 1, 65.0))
    text = plain(file)
    for words in (
        "12 sentences [sic]",
        "1,234 sentences, 56,789 tokens",
        "2,000,000 parameters, on cpu",
        "B-[type0] 1,000",
        "MiB used",
        "epoch   1  loss   1.2500  dev F1  50.00  2,500 tokens/s  3s  left at most 27s best",
        "dev F1 100.00",
        "best epoch 1, 1m05s in all; report: runs/x/report.html",
        'gonie tag runs/x "your text"',
    ):
        assert words in text, words
    assert "left at most 24s best" not in text
    assert ("\x1b[" in file.getvalue()) == terminal


def test_on_a_terminal_a_bar_moves_and_the_cursor_comes_back() -> None:
    display, file = shown(terminal=True)
    with display:
        display.begin(summary())
        display.step(Step(1, 1, 2, 100, 0.01))
        display._progress.refresh()
        assert "epoch 1/10" in plain(file)
        assert "50%" in plain(file)
    hidden, restored = "\x1b[?25l", "\x1b[?25h"
    assert file.getvalue().rfind(restored) > file.getvalue().rfind(hidden) > -1


def test_off_a_terminal_a_long_epoch_speaks_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of a run on a server must show that it lives, and not a line a step."""
    now = iter(range(0, 10_000, 3))
    monkeypatch.setattr(module.time, "monotonic", lambda: float(next(now)))
    display, file = shown(terminal=False)
    display.begin(summary())
    for batch in range(1, 41):
        display.step(Step(1, batch, 40, 100, 0.01))
    lines = [line for line in plain(file).splitlines() if line.startswith("epoch 1: ")]
    assert 8 <= len(lines) <= 12
    assert re.fullmatch(r"epoch 1: \d+%, [\d,]+ tokens/s", lines[0])


def test_a_resumed_run_says_where_it_goes_on() -> None:
    display, file = shown(terminal=False)
    display.begin(summary(first=4))
    assert "going on in epoch 4" in plain(file)
    display, file = shown(terminal=False)
    display.begin(summary(first=10, complete=True))
    assert "training is complete" in plain(file)


def test_many_labels_are_cut_and_counted() -> None:
    display, file = shown(terminal=False)
    display.begin(summary(labels=50))
    assert "and 38 more" in plain(file)
    assert "type20" not in plain(file)


def test_the_command_to_go_on_with_can_be_pasted() -> None:
    """Also for a folder whose name has blanks or brackets."""
    display, file = shown(terminal=False)
    display.begin(summary("my runs/[a]"))
    display.interrupted(Path("my runs/[a]"))
    assert "gonie train 'my runs/[a]/recipe.toml' --out 'my runs/[a]' --resume" in plain(file)


def test_a_display_without_closing_leaves_the_end_to_others() -> None:
    file = io.StringIO()
    display = TrainingDisplay(Console(file=file), closing=False)
    display.begin(summary())
    before = file.getvalue()
    display.finished(RunResult(Path("runs/x"), {}, 1, 65.0))
    assert file.getvalue() == before


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0s"), (59.4, "59s"), (59.6, "1m00s"), (125, "2m05s"), (3599.7, "1h00m"), (4020, "1h07m")],
)
def test_times_are_short(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_examples_are_called_by_their_name() -> None:
    display, file = shown(False)
    display.begin(replace(summary(), noun="texts", metric="accuracy"))
    display.epoch(epoch(1))
    text = plain(file)
    assert "1,234 texts, 56,789 tokens" in text
    assert "100 texts" in text
    assert "dev accuracy" in text
    assert "sentences" not in text


def test_the_score_on_training_sentences_is_shown_where_there_is_one() -> None:
    display, file = shown(False)
    with display:
        display.begin(summary())
        display.epoch(epoch(1))
        display.epoch(replace(epoch(2), train_score=0.875))
    first, second = (line for line in plain(file).splitlines() if line.startswith("epoch"))
    assert "train" not in first
    assert "dev F1  50.00  train  87.50" in second
