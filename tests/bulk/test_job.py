"""Tests bulk jobs: the settings have everything that affects the output, and wrong models are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gonie.bulk.job import BulkJob
from gonie.errors import BundleError, InputError


def test_settings_depend_on_the_model_content_and_every_option(
    tagging: BulkJob, classifying: BulkJob
) -> None:
    inside = replace(tagging, model=tagging.model / "bundle")
    assert inside.settings() == tagging.settings() == tagging.absolute().settings()
    assert replace(tagging, model=classifying.model).settings() != tagging.settings()
    changes: list[dict[str, Any]] = [
        {"options": {"bias": {"PER": 1.0}}},
        {"options": {"nbest": 2}},
        {"output": "parquet"},
        {"columns": ("b",)},
    ]
    for change in changes:
        settings = replace(tagging, **change).settings()
        assert settings != tagging.settings()
        assert json.loads(json.dumps(settings)) == settings, "as a plan has them"


def test_a_wrong_model_task_or_option_is_refused(
    tagging: BulkJob, classifying: BulkJob, tmp_path: Path
) -> None:
    with pytest.raises(BundleError, match=r"is a tagger, not a classifier; use gonie tag"):
        replace(tagging, task="classify").answering()
    with pytest.raises(BundleError, match="gonie classify"):
        replace(classifying, task="tag").answering()
    with pytest.raises(InputError, match="tag, classify"):
        _ = replace(classifying, task="sing").records
    with pytest.raises(InputError, match="LOC, PER"):
        replace(tagging, options={"bias": {"DOG": 1.0}}).answering()
    with pytest.raises(InputError, match="from 1 to 100"):
        replace(tagging, options={"nbest": 0}).answering()
    with pytest.raises(BundleError):
        replace(tagging, model=tmp_path).settings()
    with pytest.raises(BundleError):
        replace(tagging, model=tmp_path / "none").settings()
