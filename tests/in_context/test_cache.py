"""Tests that answers are kept on disk, and that damaged ones are asked again."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import OutputError
from gonie.in_context.cache import AnswerCache, answer_key, user_cache
from gonie.in_context.chat import ChatReply

MESSAGES = [{"role": "user", "content": "안나"}]


def test_an_answer_comes_back_without_its_retries(tmp_path: Path) -> None:
    cache, reply = AnswerCache(tmp_path / "new"), ChatReply("한글", "stop", 3, 4, 0.5, retries=2)
    assert cache.get("ab12") is None
    cache.put("ab12", reply)
    assert cache.get("ab12") == ChatReply("한글", "stop", 3, 4, 0.5)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"content": 1}', '{"content": "x", "other": 1}'])
def test_a_damaged_answer_is_none(tmp_path: Path, content: str) -> None:
    cache = AnswerCache(tmp_path)
    cache.put("ab12", ChatReply("x"))
    (tmp_path / "ab" / "ab12.json").write_text(content, "utf-8")
    assert cache.get("ab12") is None


@given(st.sampled_from(["url", "model", "temperature"]), st.integers(1, 5))
def test_the_key_depends_on_model_settings_and_messages(name: str, value: int) -> None:
    identity = {"url": 0, "model": 0, "temperature": 0}
    key = answer_key(identity, MESSAGES)
    assert key == answer_key(dict(reversed(identity.items())), [dict(reversed(MESSAGES[0].items()))])
    assert key != answer_key({**identity, name: value}, MESSAGES)
    assert key != answer_key(identity, [*MESSAGES, *MESSAGES])


def test_messages_are_not_on_disk(tmp_path: Path) -> None:
    AnswerCache(tmp_path).put(answer_key({"model": "m"}, MESSAGES), ChatReply("answer"))
    assert "안나" not in "".join(file.read_text("utf-8") for file in tmp_path.rglob("*.json"))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--llm cache=off"):
        AnswerCache(tmp_path / "file").put("ab12", ChatReply("x"))


def test_the_folder_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "gonie" / "llm"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert user_cache() == Path.home() / ".cache" / "gonie" / "llm"
