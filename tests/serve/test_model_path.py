from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import BundleError, InputError
from gonie.serve.model_path import ModelPath


@pytest.mark.parametrize(
    ("argument", "name", "path"),
    [
        ("runs/ner", "ner", "runs/ner"),
        ("runs/ner/", "ner", "runs/ner/"),
        ("runs/ner/bundle", "ner", "runs/ner/bundle"),
        ("a=runs/ner", "a", "runs/ner"),
        ("a=b=c", "a", "b=c"),
        ("runs/x=y", "x=y", "runs/x=y"),
        ("안나=runs/ner", "안나", "runs/ner"),
    ],
)
def test_names(argument: str, name: str, path: str) -> None:
    assert ModelPath.parse(argument) == (name, path)


def test_a_folder_with_an_equals_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that exists is meant as it is."""
    (tmp_path / "lr=0.1").mkdir()
    monkeypatch.chdir(tmp_path)
    assert ModelPath.parse("lr=0.1") == ("lr=0.1", "lr=0.1")


def test_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ner").mkdir()
    monkeypatch.chdir(tmp_path / "ner")
    assert ModelPath.parse(".").name == "ner"


@pytest.mark.parametrize("argument", ["=runs/ner", "a="])
def test_empty_names_and_paths(argument: str) -> None:
    with pytest.raises(InputError, match="NAME=PATH"):
        ModelPath.parse(argument)


@pytest.mark.parametrize("argument", ["llm:model.gguf", "a=llm:http://127.0.0.1:9/v1"])
def test_a_language_model_is_not_served(argument: str) -> None:
    """Its address is no folder, and must not be named as one that is missing."""
    with pytest.raises(BundleError, match="is an in-context model, but this needs a trained one"):
        ModelPath.parse(argument)
