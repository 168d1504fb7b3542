"""Services that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gonie.serve.model_path import ModelPath
from gonie.serve.served_model import ServedModel
from gonie.serve.stopwatch import Stopwatch
from support.running_service import FEATURES, LETTERS, TEXTS, RunningService
from support.worker_answers import Ask, asking


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    """Run a service with two taggers and a classifier. Tests leave it as it is."""
    with RunningService(LETTERS, FEATURES, TEXTS) as running:
        yield running
        assert "Traceback" not in running.log
        assert running.stop() == 0


@pytest.fixture(scope="session")
def models() -> dict[str, ServedModel]:
    """Load the models of the service in this process, as a worker does."""
    paths = (ModelPath.parse(str(path)) for path in (LETTERS, FEATURES, TEXTS))
    return {path.name: ServedModel(path, threads=1, watch=Stopwatch()) for path in paths}


@pytest.fixture(scope="session")
def ask(models: dict[str, ServedModel]) -> Ask:
    """Return a function that answers requests together."""
    return asking(models)
