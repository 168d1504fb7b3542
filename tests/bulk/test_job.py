"""A job: what parts depend on is in its settings, and a model that does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gonie.bulk.job import BulkJob
from gonie.errors import BundleError, InputError


def test_settings_know_the_model_by_what_is_in_it(tagging: BulkJob, classifying: BulkJob) -> None:
    inside = replace(tagging, model=tagging.model / "bundle")
    assert inside.settings() == tagging.settings() == tagging.absolute().settings()
    assert replace(tagging, model=classifying.model).settings() != tagging.settings()
    changes = [{"bias": {"PER": 1.0}}, {"decode": "posterior"}, {"output": "parquet"}, {"column": "b"}]
    for change in (*changes, {"nbest": 2}):
        assert replace(tagging, **change).settings() != tagging.settings()  # type: ignore[arg-type]


def test_a_model_that_does_not_fit_is_refused(tagging: BulkJob, classifying: BulkJob, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="gonie tag"):
        replace(tagging, task="classify").cutting()
    with pytest.raises(BundleError, match="gonie classify"):
        replace(classifying, task="tag").cutting()
    with pytest.raises(InputError, match="LOC, PER"):
        replace(tagging, bias={"DOG": 1.0}).cutting()
    with pytest.raises(InputError, match="1 to 100 taggings"):
        replace(tagging, nbest=0).cutting()
    with pytest.raises(BundleError):
        replace(tagging, model=tmp_path).settings()
    with pytest.raises(BundleError):
        replace(tagging, model=tmp_path / "none").settings()


def test_how_a_model_cuts_is_known(tagging: BulkJob, classifying: BulkJob) -> None:
    assert tagging.cutting() == ("en", "word", False)
    assert classifying.cutting().language == "en"
