"""Fixtures for tests of bulk runs: small models on disk, jobs, and readers of output folders."""

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
    """Return a job for a tagger of the toy corpus."""
    return BulkJob(task="tag", model=toy_run)


@pytest.fixture(scope="session")
def opinions(text_bundle: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a classifier that looks up its words in a table, and return its folder."""
    folder = tmp_path_factory.mktemp("opinions") / "bundle"
    write_bundle(folder, text_bundle())
    return folder


@pytest.fixture(scope="session")
def classifying(opinions: Path) -> BulkJob:
    """Return a job for the classifier of ``opinions``."""
    return BulkJob(task="classify", model=opinions)


def read_parts(folder: Path, pattern: str = "part-*.jsonl") -> list[dict[str, Any]]:
    """Return the records of a folder's parts, sorted by file name."""
    return [
        json.loads(line)
        for path in sorted(folder.glob(pattern))
        for line in path.read_text("utf-8").splitlines()
    ]


@pytest.fixture(scope="session")
def parts() -> Callable[..., list[dict[str, Any]]]:
    """Return the function that reads the records of a folder."""
    return read_parts


class Quiet:
    """A display that records the progress of a run."""

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
    """Return a display that records the progress of a run."""
    return Quiet()
