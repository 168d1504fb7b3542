from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.serve.keys import ApiKeys
from support.running_service import LETTERS, TEXTS, RunningService

Gonie = Callable[..., Any]


def test_new_key(gonie: Gonie, tmp_path: Path) -> None:
    """The key is the only thing on standard output, so that scripts can keep it."""
    path = tmp_path / "keys.txt"
    made = gonie("serve", "--new-key", "laptop", "--keys", path)
    assert made.code == 0
    assert len(made.out.split()) == 1
    assert "not shown again" in made.err
    assert ApiKeys.read(path).allow(b"Bearer " + made.out.strip().encode())
    assert gonie("serve", "--new-key", "laptop", "--keys", path).refused("already")
    assert gonie("serve", "--new-key", "laptop").refused("--keys")
    assert gonie("serve", "--new-key", "other", "--keys", tmp_path).refused()


def test_arguments_that_cannot_be_used(gonie: Gonie, tmp_path: Path) -> None:
    assert gonie("serve").refused("no models", "gonie serve runs/ner")
    assert gonie("serve", LETTERS, LETTERS).refused("2 models are named letters", "NAME=PATH")
    assert gonie("serve", LETTERS, "--keys", tmp_path / "none").refused("API keys")
    assert gonie("serve", LETTERS, "--port", "70000").refused("--port")
    assert gonie("serve", LETTERS, "--workers", "0").refused("--workers")
    assert gonie("serve", LETTERS, "--host", "not a host", "--port", "0").refused("cannot listen")
    assert gonie("serve", "=x").refused("NAME=PATH")
    assert gonie("serve", f"a={LETTERS}", f"a={TEXTS}").refused("2 models are named a", "different name")
    assert gonie("serve", f"a/b={LETTERS}").refused('no "/": a/b', f"b={LETTERS}")


@pytest.mark.parametrize("argument", ["http://127.0.0.1:9310/ner", "ner=https://example.org/ner"])
def test_an_address_in_place_of_a_model(gonie: Gonie, argument: str) -> None:
    """A service cannot be downloaded, nor served by another one."""
    refused = gonie("serve", argument)
    assert refused.refused(argument.removeprefix("ner="), "run folder or bundle")
    assert "curl" not in refused.err


@pytest.mark.parametrize(
    ("origin", "meant"),
    [
        ("app.example.org", "https://app.example.org"),
        ("localhost:3000", "https://localhost:3000"),
        ("https://app.example.org/", "https://app.example.org"),
        ("http://app.example.org:81/page", "http://app.example.org:81"),
        ("https://App.example.org", "https://app.example.org"),
        ("https://", "https://app.example.org"),
    ],
)
def test_an_origin_that_no_page_has(gonie: Gonie, origin: str, meant: str) -> None:
    assert gonie("serve", LETTERS, "--cors", origin).refused(f"--cors {origin}", f": {meant}\n")


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://app.example.org", "http://localhost:3000", "app://x"]
)
def test_origins_of_pages(gonie: Gonie, origin: str) -> None:
    """The next error shows that the origin was accepted."""
    assert gonie("serve", LETTERS, "--cors", origin, "--host", "300.1.1.1").refused("cannot listen")


def test_a_wrong_host(gonie: Gonie) -> None:
    refused = gonie("serve", LETTERS, "--host", "300.1.1.1")
    assert refused.refused("cannot listen on 300.1.1.1: no such host", "--host")
    assert "--port" not in refused.err


@pytest.mark.parametrize("address", ["127.0.0.1:9310/ner", "localhost:9310", "tagger.example.org:80/a"])
def test_an_address_without_its_scheme(gonie: Gonie, address: str) -> None:
    refused = gonie("tag", address, "x")
    assert refused.refused("folder not found", f"Did you mean http://{address}?")
    assert "gonie train" not in refused.err


@pytest.mark.parametrize("value", ["nan", "inf", "-1"])
@pytest.mark.parametrize("option", ["--timeout", "--watch"])
def test_numbers_that_are_none(gonie: Gonie, option: str, value: str) -> None:
    assert gonie("serve", LETTERS, f"{option}={value}").refused(option)


def test_a_missing_package(gonie: Gonie, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.cli.serve.find_spec", lambda name: None if name == "uvloop" else name)
    assert gonie("serve", LETTERS).refused("uvloop", "gonie[serve]")


def test_what_the_command_prints() -> None:
    with RunningService(LETTERS, f"b={TEXTS}") as running:
        assert running.stop() == 0
        first, second = running.out.splitlines()
        assert first == f"Serving letters, b on http://127.0.0.1:{running.port}"
        assert f"http://127.0.0.1:{running.port}/docs" in second


@pytest.mark.long
def test_options_of_a_running_service() -> None:
    options = ["--host=0.0.0.0", "--workers=2", "--log=json", "--max-texts=7", "--timeout=9"]
    with RunningService(f"안나={LETTERS}", f"b={TEXTS}", *options) as running:
        info = running.info
        assert list(info["models"]) == ["안나", "b"]
        assert (len(info["workers"]), info["limits"]["texts"], info["limits"]["seconds"]) == (2, 7, 9)
        answer = running.post("/v1/tag", {"texts": ["Anna"], "model": "안나"})
        assert answer.json()["model"] == "안나"
        assert "Require keys" in running.log, "an open service is announced"
        assert running.stop() == 0


@pytest.mark.long
def test_korean_messages() -> None:
    with RunningService(LETTERS, environment={"GONIE_LANG": "ko"}) as running:
        assert f"http://127.0.0.1:{running.port}" in running.out
        assert "Serving" not in running.out
        assert running.stop() == 0
