"""Tests asking about many texts: order, requests at once, failures, the cache, interruption."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from gonie.errors import ServiceError
from gonie.in_context.answerer import GIVE_UP, Answerer, Question, ordered_map
from gonie.in_context.cache import AnswerCache
from gonie.in_context.chat import ChatReply, FailedRequestError, Message
from gonie.in_context.prompt import Prompt
from gonie.in_context.usage import Usage

PROMPT = Prompt(task="tag", labels=("PER",), format="json", language="en")


class Echo:
    """Answers with the text, or fails for texts that begin with "bad"."""

    name = "echo"
    identity: Mapping[str, Any] = {"model": "echo"}

    def __init__(self, *, at_once: int = 1, fatal: bool = False) -> None:
        self.at_once = at_once
        self.fatal = fatal
        self.asked: list[str] = []
        self.closed = False

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        text = messages[-1]["content"]
        self.asked.append(text)
        if text.startswith("bad"):
            raise FailedRequestError("no luck", retries=2, fatal=self.fatal)
        return ChatReply(text, "length" if text == "long" else "stop", 10, 2, 0.5, retries=1)

    def close(self) -> None:
        self.closed = True


def answerer(chat: Echo, cache: Path | None = None, **settings: Any) -> Answerer:
    kept = None if cache is None else AnswerCache(cache)
    return Answerer(chat=chat, prompt=PROMPT, usage=Usage(name="echo"), cache=kept, **settings)


def questions(*texts: str) -> list[Question]:
    return [Question(text, f"file:{number}") for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("at_once", [1, 3])
def test_answers_are_in_order_and_failures_are_named(at_once: int) -> None:
    told: list[tuple[int, int]] = []
    asking = answerer(Echo(at_once=at_once), advance=lambda *done: told.append(done))
    found = list(asking.answers(questions("a", "bad", "long", "b")))
    assert [answer.content for answer in found] == ["a", "", "long", "b"]
    assert [answer.failure for answer in found] == ["", "no luck", "", ""]
    assert [bool(answer.malformed) for answer in found] == [False, False, True, False]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    usage = asking.usage
    assert usage.failed == [("file:2", "no luck")]
    assert (usage.texts, usage.answered, usage.requests, usage.retries) == (4, 3, 4, 5)
    assert usage.tokens == usage.new_tokens == [30, 6]


def test_a_second_run_is_answered_from_the_cache(tmp_path: Path) -> None:
    for asked in (["a", "bad", "b"], ["bad"]):
        chat = Echo()
        asking = answerer(chat, tmp_path)
        found = list(asking.answers(questions("a", "bad", "b")))
        assert [answer.content for answer in found] == ["a", "", "b"]
        assert chat.asked == asked
    usage = asking.usage
    assert (usage.cached, usage.requests, usage.tokens, usage.new_tokens) == (2, 1, [20, 4], [0, 0])
    assert usage.seconds_per_text == 0.5


def test_a_fatal_failure_stops_at_once() -> None:
    chat = Echo(fatal=True)
    with pytest.raises(ServiceError, match="echo: no luck"):
        list(answerer(chat).answers(questions("bad", "a")))
    assert chat.asked == ["bad"]


def test_many_failures_in_a_row_stop_the_run(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=f"{GIVE_UP} requests in a row.*Run the same command again"):
        list(answerer(Echo(), tmp_path).answers(questions(*["bad"] * (GIVE_UP + 1))))
    with pytest.raises(ServiceError, match=r"no luck\. Resume$"):
        list(answerer(Echo(fatal=True), again="Resume").answers(questions("bad")))
    mixed = (["bad"] * (GIVE_UP - 1) + ["good"]) * 2
    assert len(list(answerer(Echo()).answers(questions(*mixed)))) == len(mixed)


def test_an_interrupted_run_keeps_its_answers(tmp_path: Path) -> None:
    class Interrupted(Echo):
        def ask(self, messages: Sequence[Message]) -> ChatReply:
            if len(self.asked) == 2:
                raise KeyboardInterrupt
            return super().ask(messages)

    chat = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        list(answerer(chat, tmp_path).answers(questions("a", "b", "c")))
    assert chat.closed
    again = Echo()
    list(answerer(again, tmp_path).answers(questions("a", "b", "c")))
    assert again.asked == ["c"]


def test_the_map_runs_some_at_once_and_reads_little_ahead() -> None:
    started: list[int] = []
    both = Event()

    def work(item: int) -> int:
        started.append(item)
        if len(started) == 2:
            both.set()
        assert both.wait(20)  # never set unless two run at once
        return -item

    found = ordered_map(work, range(100), at_once=2)
    assert next(found) == 0
    found.close()  # type: ignore[attr-defined]
    time.sleep(0.05)
    assert len(started) <= 6
    assert list(ordered_map(lambda item: item, range(9), at_once=4)) == list(range(9))
    assert list(ordered_map(lambda item: item, [], at_once=4)) == []
