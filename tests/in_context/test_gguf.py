"""Tests GGUF files, with real weights where they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

import gonie
from gonie.errors import InputError
from gonie.in_context.chat import FailedRequestError
from gonie.in_context.endpoint import EndpointChat
from gonie.in_context.gguf import BLOCK, BLOCKS, GgufChat, digest
from gonie.in_context.settings import InContextSettings

ASK = [{"role": "user", "content": "Answer with the word yes alone."}]


def test_other_files_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    file = tmp_path / "m.gguf"
    file.write_bytes(b"PK..")
    with pytest.raises(InputError, match="not a GGUF file"):
        GgufChat(file, InContextSettings())
    file.write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(InputError, match="cannot be loaded"):
        GgufChat(file, InContextSettings()).ask(ASK)


def test_the_digest_depends_on_size_and_content(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    content = bytearray(b"GGUF" * (BLOCK * BLOCKS // 2))
    found = set()
    for at in (None, 0, len(content) // 2, len(content) - 1):
        changed = bytearray(content)
        if at is not None:
            changed[at] ^= 1
        file.write_bytes(changed)
        found.add(digest(file))
    file.write_bytes(content + b"\0")
    assert len(found | {digest(file)}) >= 4


def test_a_model_answers_and_says_when_a_prompt_is_too_long(gguf: Path) -> None:
    chat = GgufChat(gguf, InContextSettings(context=256, max_tokens=8, threads=2))
    first, second = chat.ask(ASK), chat.ask(ASK)
    assert first.content.strip().lower().startswith("yes")
    assert first.content == second.content
    assert first.prompt_tokens == second.prompt_tokens > 5
    with pytest.raises(FailedRequestError, match="context size"):
        chat.ask([{"role": "user", "content": "word " * 500}])
    chat.close()
    with pytest.raises(FailedRequestError, match="closed"):
        chat.ask(ASK)


def test_a_small_model_tags(gguf: Path, toy: Path, tmp_path: Path) -> None:
    settings = {"shots_from": toy / "train.conll", "shots": 3, "cache": str(tmp_path), "threads": 2}
    tagger = gonie.load(f"llm:{gguf}", **settings)
    document = tagger("Anna lives in Paris .")
    assert {(span.text, span.label) for span in document.spans} == {("Anna", "PER"), ("Paris", "LOC")}
    again = gonie.load(f"llm:{gguf}", **settings)
    assert again("Anna lives in Paris .") == document
    assert (again.usage.cached, again.usage.requests) == (1, 0)


def test_the_same_weights_at_an_endpoint_answer_alike(gguf: Path) -> None:
    settings = InContextSettings(
        max_tokens=8, threads=2, context=512, model="any", body={"cache_prompt": False}
    )
    chat = GgufChat(gguf, settings)
    reply = chat.ask(ASK)
    served = EndpointChat(f"{chat._server.listening_address}/v1", settings).ask(ASK)
    assert (served.content, served.prompt_tokens) == (reply.content, reply.prompt_tokens)
