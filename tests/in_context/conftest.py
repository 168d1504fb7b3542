"""Fixtures: a scripted endpoint, and real weights if they are there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.language_model import ScriptedModel
from support.scripted_service import running


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep keys and answers of the user out of the tests."""
    for name in ("GONIE_LLM_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user-cache"))
    monkeypatch.setattr("gonie.in_context.endpoint.FIRST_DELAY", 0.01)


@pytest.fixture
def endpoint() -> Iterator[ScriptedModel]:
    """Run an endpoint that finds capitalised words."""
    with running(ScriptedModel()) as model:  # type: ignore[arg-type]
        yield model


@pytest.fixture(scope="session")
def gguf() -> Path:
    """Return a small instruction-tuned model, GONIE_GGUF; skip the test if it is missing."""
    given = os.environ.get("GONIE_GGUF")
    if not given or not Path(given).is_file():
        pytest.skip("no GGUF model; set GONIE_GGUF to the file that shared/tools/encoders.py qwen makes")
    pytest.importorskip("xllamacpp")
    return Path(given)
