"""Services that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.running_service import FEATURES, LETTERS, TEXTS, RunningService


@pytest.fixture(scope="session")
def service() -> Iterator[RunningService]:
    """Run a service with two taggers and a classifier. Tests leave it as it is."""
    with RunningService(LETTERS, FEATURES, TEXTS) as running:
        yield running
        assert "Traceback" not in running.log
        assert running.stop() == 0
