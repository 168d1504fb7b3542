"""What tests of bulk runs share: small models on disk, input of every kind, and the rows of a folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.bulk.job import BulkJob
from gonie.runtime.bundle import write_bundle


@pytest.fixture(scope="session")
def tagging(toy_run: Path) -> BulkJob:
    """A job for a tagger of the toy language."""
    return BulkJob(task="tag", model=toy_run)


@pytest.fixture(scope="session")
def opinions(text_bundle: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a classifier that looks its words up."""
    folder = tmp_path_factory.mktemp("opinions") / "bundle"
    write_bundle(folder, text_bundle())
    return folder


@pytest.fixture(scope="session")
def classifying(opinions: Path) -> BulkJob:
    """A job for that classifier."""
    return BulkJob(task="classify", model=opinions)


def read_parts(folder: Path, pattern: str = "part-*.jsonl") -> list[dict[str, Any]]:
    """The records of a folder's parts in the order of their names."""
    return [
        json.loads(line)
        for path in sorted(folder.glob(pattern))
        for line in path.read_text("utf-8").splitlines()
    ]


@pytest.fixture(scope="session")
def parts() -> Callable[..., list[dict[str, Any]]]:
    """Reads the records of a folder."""
    return read_parts


class Quiet:
    """Is told how far a run is, and keeps it."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def cutting(self, done: int, files: int) -> None:
        self.told.append((done, files))

    def begin(self, extent: Any) -> None:
        self.told.append(extent)

    def done(self, done: Any) -> None:
        self.told.append(done)


@pytest.fixture
def quiet() -> Quiet:
    """Whoever is told how far a run is."""
    return Quiet()
