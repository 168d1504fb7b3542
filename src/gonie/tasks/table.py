"""The table of tasks: what ``task`` in a recipe may be."""

from __future__ import annotations

from gonie.tasks.classification.task import CLASSIFICATION
from gonie.tasks.language_model.task import LANGUAGE_MODEL
from gonie.tasks.tagging.task import TAGGING
from gonie.tasks.task import Task

TASKS: dict[str, Task] = {task.name: task for task in (TAGGING, CLASSIFICATION, LANGUAGE_MODEL)}
"""By name. A new task is its folder and its place here."""
