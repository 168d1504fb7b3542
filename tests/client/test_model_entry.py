"""Tests the descriptions of served models."""

from __future__ import annotations

import pytest

from gonie.client.model_entry import NAMES, ModelEntry
from gonie.errors import InputError, ServiceError
from gonie.tasks.table import TASKS
from support.scripted_service import CLASSIFIER, PAIRS, TAGGER


def test_models_have_the_names_of_their_tasks() -> None:
    assert {task.name: task.model for task in TASKS.values() if task.records} == NAMES


def test_models_say_what_they_predict() -> None:
    said = [ModelEntry.of(fields, url="").predicts() for fields in (TAGGER, CLASSIFIER)]
    assert said == ["1 type: PER", "2 labels: a, b"]
    assert (
        ModelEntry.of({**PAIRS, "predicts": "values from 0 to 5"}, url="").predicts() == "values from 0 to 5"
    )


def test_unknown_tasks_are_refused() -> None:
    with pytest.raises(InputError, match="ner is a model of the task 'rate', which this client cannot call"):
        ModelEntry.of({**TAGGER, "task": "rate"}, url="").sent("x")
    with pytest.raises(ServiceError, match="cannot be read"):
        ModelEntry.of({"name": "ner"}, url="http://x")
