"""Writers that send the epochs and scores of a run to other tools: ``gonie.train(…, on_event=writer)``."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from gonie.api.events import EpochScored, RunEvent, RunFinished, RunStarted
from gonie.errors import MissingExtraError


class TensorBoardWriter:
    """Writes the loss, the scores and the learning rate of each epoch to ``folder`` for TensorBoard."""

    def __init__(self, folder: str | PathLike[str]) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise MissingExtraError("tensorboard", extra="tracking", purpose="TensorBoardWriter") from error
        self._writer: Any = SummaryWriter(fspath(folder))

    def __call__(self, event: RunEvent) -> None:
        """Write an event."""
        if isinstance(event, EpochScored):
            for name, value in _measured(event).items():
                self._writer.add_scalar(name, value, event.epoch)
        elif isinstance(event, RunFinished):
            for name, value in _final(event).items():
                self._writer.add_scalar(name, value, event.best_epoch)
            self._writer.close()


class MLflowWriter:
    """Logs the loss, the scores and the learning rate of each epoch to the active MLflow run, or a new one.

    A run that the writer starts also ends with the training.
    """

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError as error:
            raise MissingExtraError("mlflow", extra="tracking", purpose="MLflowWriter") from error
        self._mlflow: Any = mlflow
        self._own = False

    def __call__(self, event: RunEvent) -> None:
        """Log an event."""
        if isinstance(event, RunStarted):
            if self._mlflow.active_run() is None:
                self._mlflow.start_run(run_name=event.folder.name)
                self._own = True
            self._mlflow.log_params({"folder": str(event.folder), "epochs": event.epochs})
        elif isinstance(event, EpochScored):
            self._mlflow.log_metrics(_measured(event), step=event.epoch)
        elif isinstance(event, RunFinished):
            self._mlflow.log_metrics(_final(event))
            if self._own:
                self._mlflow.end_run()


def _measured(event: EpochScored) -> dict[str, float]:
    """Return the numbers of an epoch by name."""
    name = f"dev_{event.metric.replace(' ', '_')}"
    train = {} if event.train_score is None else {f"train_{name.removeprefix('dev_')}": event.train_score}
    return {"loss": event.loss, name: event.score, **train, "rate": event.rate, "seconds": event.seconds}


def _final(event: RunFinished) -> dict[str, float]:
    """Return the final scores by name, such as ``test_f1``."""
    return {f"final_{split}_{scores.headline}": scores.value for split, scores in event.scores.items()}
