"""A scripted service for the tests of clients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.scripted_service import ScriptedService, running


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedService]:
    """Run a service with a tagger. Tests may change its models and its script."""
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "GONIE_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    with running(ScriptedService()) as found:
        yield found
