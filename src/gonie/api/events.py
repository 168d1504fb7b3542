"""Events of a training run, for callables that follow it: ``gonie.train(…, on_event=print)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from gonie.api.scores import ModelScores
from gonie.api.settings import in_python

if TYPE_CHECKING:
    from gonie.features.lm_text import TokenisingProgress
    from gonie.system.cost import RunCost
    from gonie.training.loop import Epoch, Step
    from gonie.training.run import RunDisplay, RunResult, Summary


@dataclass(frozen=True, kw_only=True)
class RunStarted:
    """Training begins in ``folder`` with epoch ``first_epoch``. ``about`` describes data and model."""

    folder: Path
    epochs: int
    first_epoch: int
    about: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class EpochScored:
    """An epoch, counted from 1, is trained and scored. ``metric`` names ``score``, which is on dev data.

    ``improved`` is set if the epoch is the best so far. ``rate`` is the learning rate.
    """

    epoch: int
    loss: float
    metric: str
    score: float
    improved: bool
    rate: float
    tokens: int
    seconds: float
    train_score: float | None = None


@dataclass(frozen=True, kw_only=True)
class RunNote:
    """A message about the data or the run."""

    text: str


@dataclass(frozen=True, kw_only=True)
class RunFinished:
    """The run is complete. ``scores`` are those of the best epoch: dev, and test if there is test data.

    ``cost`` is what it cost.
    """

    folder: Path
    scores: Mapping[str, ModelScores]
    best_epoch: int
    seconds: float
    cost: RunCost


RunEvent: TypeAlias = RunStarted | EpochScored | RunNote | RunFinished
OnEvent: TypeAlias = Callable[[RunEvent], object]


def run_scores(result: RunResult) -> dict[str, ModelScores]:
    """Return the scores of a finished run by split."""
    domains = result.output.domains
    return {
        split: ModelScores(
            found,
            domains={name: ModelScores(each) for name, each in domains[split].evaluations.items()},
            gap=domains[split].scores.gaps,
        )
        if split in domains
        else ModelScores(found)
        for split, found in result.evaluations.items()
    }


@dataclass(frozen=True)
class EventDisplay:
    """Collects the notes of a run, sends its events, and forwards everything to other displays."""

    displays: Sequence[RunDisplay] = ()
    on_event: OnEvent | None = None
    notes: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Collect and send a note."""
        text = in_python(text, recipe=True)
        self.notes.append(text)
        self._send(RunNote(text=text))
        self._forward("note", text)

    def advance(self, advance: TokenisingProgress) -> None:
        """Forward the progress of tokenising."""
        self._forward("advance", advance)

    def begin(self, summary: Summary) -> None:
        """Send the start of the run, or of a variant."""
        self._send(
            RunStarted(
                folder=summary.folder,
                epochs=summary.epochs,
                first_epoch=summary.first_epoch,
                about=dict(summary.rows),
            )
        )
        self._forward("begin", summary)

    def step(self, step: Step) -> None:
        """Forward a step."""
        self._forward("step", step)

    def epoch(self, epoch: Epoch) -> None:
        """Send an epoch."""
        names = EpochScored.__dataclass_fields__
        self._send(EpochScored(**{name: getattr(epoch, name) for name in names}))
        self._forward("epoch", epoch)

    def interrupted(self, folder: Path) -> None:
        """Forward nothing: ``gonie.train`` raises an exception that says how to resume."""

    def finished(self, result: RunResult) -> None:
        """Send the scores."""
        scores = run_scores(result)
        self._send(
            RunFinished(
                folder=result.folder,
                scores=scores,
                best_epoch=result.best_epoch,
                seconds=result.seconds,
                cost=result.cost,
            )
        )
        self._forward("finished", result)

    def _send(self, event: RunEvent) -> None:
        if self.on_event is not None:
            self.on_event(event)

    def _forward(self, call: str, *values: Any) -> None:
        for display in self.displays:
            getattr(display, call)(*values)
