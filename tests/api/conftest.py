"""Models for the tests of the Python API, trained once per session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gonie

SENTENCES = [
    (["Anna", "Kim", "works", "in", "Seoul"], ["B-PER", "I-PER", "O", "O", "B-LOC"]),
    (["Paul", "lives", "in", "Rome"], ["B-PER", "O", "O", "B-LOC"]),
    (["It", "rains"], ["O", "O"]),
] * 10
TEXTS = [("a good film", "pos"), ("a bad film", "neg"), ("really good", "pos"), ("really bad", "neg")] * 6
PAIRS = [("a man runs", "a man moves", "yes"), ("a man runs", "a man sleeps", "no")] * 8


@pytest.fixture(scope="session")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("api") / "tag"
    settings = {"train.epochs": 12, "train.lr": 0.02, "model.encoder.hidden": 16, "model.words.width": 16}
    settings["model.elmo.bilm"] = "none"
    return gonie.train("ner", SENTENCES, SENTENCES, set=settings, out=out, progress=False)


@pytest.fixture(scope="session")
def classified(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("api") / "classify"
    settings = {"train.epochs": 6, "model.words.width": 16}
    return gonie.train("subjectivity", TEXTS, TEXTS, set=settings, out=out, progress=False)


@pytest.fixture(scope="session")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("api") / "pair"
    settings = {"train.epochs": 2, "model.words.width": 8, "model.encoder.hidden": 8}
    return gonie.train("pairs", PAIRS, PAIRS, set=settings, out=out, progress=False)


def bundle(run: Any) -> Path:
    return Path(run.folder) / "bundle"
