"""The few names a user imports, and nothing else by accident."""

from __future__ import annotations

import tomllib
from pathlib import Path

import gonie


def test_every_public_name_is_there() -> None:
    assert all(hasattr(gonie, name) for name in gonie.__all__)
    assert {"load", "Document", "Sentence", "Span", "Token", "GonieError"} <= set(gonie.__all__)


def test_the_version_is_the_package_s() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project.get("version", gonie.__version__) == gonie.__version__
