"""Tests the metadata of a bundle, with and without the keys that were added later."""

from __future__ import annotations

from typing import Any

import pytest

from gonie.runtime.about import About

INDEX: dict[str, Any] = {"model": {"a": 1}, "scores": {}, "recipe": {"task": "tag"}, "gonie": "0.1.0"}


def test_an_older_description_has_no_layers() -> None:
    assert About.read(INDEX) == About(model={"a": 1}, recipe={"task": "tag"}, gonie="0.1.0")
    assert About.read(INDEX).layers == ()


def test_layers_are_read() -> None:
    layers = [{"place": "input", "shares": [1.0], "scale": 1.0, "normalized": False}]
    assert About.read({**INDEX, "layers": layers}).layers == layers


@pytest.mark.parametrize("name", [*INDEX, "layers"])
def test_a_value_of_the_wrong_type_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is 7"):
        About.read({**INDEX, name: 7})
