"""Which methods are used: what was asked for or an error, else what there is and a word on what is not."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gonie.cli import explain_methods
from gonie.cli.explain_methods import choose
from gonie.errors import InputError, MissingExtraError
from gonie.reports.explanation import Method

KNOWN: tuple[Method, ...] = ("attention", "integrated gradients", "erasure")


def test_a_run_folder_has_them_all(toy_run: Path) -> None:
    chosen = choose([], KNOWN, toy_run)
    assert chosen.methods == KNOWN
    assert chosen.model is not None
    assert chosen.notes == ()


def test_torch_is_left_alone_where_gradients_are_not_wanted(toy_run: Path) -> None:
    chosen = choose(["erasure", "attention", "erasure"], KNOWN, toy_run)
    assert chosen == (("erasure", "attention"), None, ())


def test_a_bundle_goes_without_gradients_unless_they_were_asked_for(tmp_path: Path) -> None:
    chosen = choose([], KNOWN, tmp_path)
    assert chosen.methods == ("attention", "erasure")
    assert "Without integrated gradients" in chosen.notes[0]
    with pytest.raises(InputError, match="run folder"):
        choose(["gradients"], KNOWN, tmp_path)
    with pytest.raises(InputError, match="--method gradients, erasure"):
        choose(["attention"], KNOWN[1:], tmp_path)


def test_what_is_not_installed_is_named(toy_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object:
        return None if name == "captum" else importlib.util.find_spec(name)

    monkeypatch.setattr(explain_methods, "find_spec", find)
    assert "gonie[explain]" in choose([], KNOWN, toy_run).notes[0]
    with pytest.raises(MissingExtraError, match="captum"):
        choose(["gradients"], KNOWN, toy_run)
