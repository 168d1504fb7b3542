"""The table of tasks: the values of ``task`` in a recipe."""

from __future__ import annotations

from gonie.tasks.classification.task import CLASSIFICATION
from gonie.tasks.language_model.task import LANGUAGE_MODEL
from gonie.tasks.pairs.task import PAIRS
from gonie.tasks.tagging.task import TAGGING
from gonie.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (TAGGING, CLASSIFICATION, PAIRS, LANGUAGE_MODEL)}
"""All tasks by name. A new task needs its folder and an entry here."""
