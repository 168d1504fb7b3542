"""The torch half of a task over labelled examples, by the name of the task."""

from __future__ import annotations

from gonie.errors import GonieError
from gonie.tasks.table import TASKS
from gonie.tasks.torch.task import ExampleTask


def example_task(name: str) -> ExampleTask:
    """Return the torch half of a task over labelled examples. Any other task raises an error."""
    half = TASKS[name].torch()
    if not isinstance(half, ExampleTask):
        raise GonieError(f"a {TASKS[name].model} does not learn from labelled examples")
    return half
