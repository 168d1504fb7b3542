"""The settings of a process that trains."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gonie.errors import MissingExtraError


@contextmanager
def training_process() -> Iterator[None]:
    """Apply the thread and memory settings of the commands, and explain a missing PyTorch."""
    from gonie.cli.process_settings import training_settings

    try:
        with training_settings():
            yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ("torch", "onnx", "psutil", "tomli_w"):
            raise
        raise MissingExtraError(package, extra="train", purpose="training") from error
