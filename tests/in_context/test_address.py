"""Tests the addresses of language models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.in_context.address import ModelAddress


@pytest.mark.parametrize("given", ["llm:http://h:1/v1", "llm:http://h:1/v1/", Path("llm:http://h:1/v1")])
def test_a_url_has_no_final_slash_and_may_be_a_path(given: str | Path) -> None:
    assert ModelAddress.parse(given) == ModelAddress(url="http://h:1/v1")


def test_a_file_must_exist(tmp_path: Path) -> None:
    file = tmp_path / "small.GGUF"
    with pytest.raises(InputError, match="file not found"):
        ModelAddress.parse(f"llm:{file}")
    file.write_bytes(b"GGUF")
    assert ModelAddress.parse(f"llm:{file}") == ModelAddress(file=file)


@pytest.mark.parametrize("given", ["llm:", "llm:model", "llm:ftp://h/v1", "llm:http://h:port/v1"])
def test_other_addresses_are_refused(given: str) -> None:
    with pytest.raises(InputError, match=r"llm:FILE\.gguf"):
        ModelAddress.parse(given)


@pytest.mark.parametrize("given", ["llm:http://me:secret@h/v1", "llm:http://me:secret@h/v1?key=1"])
def test_a_password_in_a_url_is_refused_and_not_shown(given: str) -> None:
    with pytest.raises(InputError, match="GONIE_LLM_KEY") as error:
        ModelAddress.parse(given)
    assert "secret" not in str(error.value)
    assert "key=1" not in str(error.value)
