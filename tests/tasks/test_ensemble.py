"""Combining models: if these break, models that do not fit are combined, or the reason is not told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.errors import InputError
from gonie.runtime.bundle import write_bundle
from gonie.tasks.ensemble import combine
from gonie.tasks.loaded import load_model


@pytest.fixture
def classifier(text_bundle: Callable[..., Any], tmp_path: Path) -> Path:
    write_bundle(tmp_path / "texts", text_bundle())
    return tmp_path / "texts"


def test_several_folders_are_loaded_as_one_model(toy_run: Path, classifier: Path) -> None:
    tagger = gonie.load([toy_run, toy_run])
    assert tagger.members == 2
    assert tagger("Anna lives in Seoul .").spans[0].label == "PER"
    assert tagger.origin.path == toy_run
    assert gonie.load((classifier,), task="classify")("good film").label == "positive"
    with pytest.raises(gonie.BundleError, match="is a classifier"):
        gonie.load([classifier], task="tag")


def test_models_of_other_tasks_are_refused(toy_run: Path, classifier: Path) -> None:
    with pytest.raises(
        InputError, match=r"different tasks .*: .*toy is a tagger, .*texts a classifier\. Combine models of"
    ):
        gonie.load([toy_run, classifier])


def test_pair_models_are_not_combined(pair_runs: Path) -> None:
    with pytest.raises(InputError, match="ensembles of pair classifiers are not supported"):
        gonie.load([pair_runs / "labels"])
    with pytest.raises(InputError, match="MC dropout of pair classifiers is not supported"):
        load_model(pair_runs / "labels").with_passes(2)


def test_other_things_are_not_combined(toy_run: Path) -> None:
    with pytest.raises(InputError, match="only models on this machine can be combined: 'runs/x'"):
        combine([gonie.load(toy_run), "runs/x"])


def test_an_ensemble_is_no_member_of_another(toy_run: Path) -> None:
    ensemble = gonie.load([toy_run, toy_run])
    for options in ({"ensemble": [toy_run]}, {"mc_dropout": 2}):
        with pytest.raises(InputError, match=r"cannot be a member of another: <EnsembleTagger\(.*members=2"):
            gonie.evaluate(ensemble, toy_run / "unused.conll", **options)


def test_no_models_are_refused() -> None:
    with pytest.raises(InputError, match="no models to combine"):
        combine([])


def test_an_ensemble_is_not_explained(toy_run: Path) -> None:
    with pytest.raises(gonie.GonieError, match="an ensemble cannot be explained"):
        gonie.explain(gonie.load([toy_run, toy_run]), "Anna lives in Seoul .")
