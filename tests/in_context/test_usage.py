"""Tests the counts of answers and what they cost."""

from __future__ import annotations

from collections import Counter

from gonie.in_context.chat import ChatReply
from gonie.in_context.usage import Prices, ReadAnswer, Usage


def test_costs_and_shares() -> None:
    usage = Usage(name="m", prices=Prices(1.0, 10.0))
    assert usage.lines() == []
    usage.add_reply(
        ChatReply("x", prompt_tokens=1000, completion_tokens=100, seconds=2.0, retries=1), cached=False
    )
    usage.add_reply(ChatReply("x", prompt_tokens=1000, completion_tokens=100, seconds=4.0), cached=True)
    usage.add_failure("a.conll:7", "status 500: no", 3)
    usage.add_read(
        ReadAnswer(found=3, malformed=("empty",), dropped=Counter({"unknown label": 2}), widened=1)
    )
    usage.add_read(ReadAnswer(found=1, repaired=("in a code block",)))
    assert usage.cost() == 2 * usage.cost(new=True) == 0.004  # type: ignore[operator]
    assert (usage.malformed_share, usage.seconds_per_text) == (0.5, 3.0)
    record = usage.to_json()
    assert (record["retries"], record["malformed"], record["dropped"]) == (4, 0.5, {"unknown label": 2})
    assert record["failed"] == [{"place": "a.conll:7", "reason": "status 500: no"}]
    assert usage.lines() == [
        "m: 3 texts, 1 from the cache, 2 requests, retries: 4",
        "malformed answers: 1 of 2 (50.0%): empty 1",
        "dropped from answers: 2 of 4: unknown label 2",
        "widened to whole tokens: 1",
        "repaired answers: 1: in a code block 1",
        "tokens: 2,000 in prompts, 200 in answers; of this run 1,000 and 100; "
        "cost 0.0040, of this run 0.0020",
        "3.00 seconds per text",
        "warning: no answer for 1 text, scored as empty: a.conll:7 (status 500: no)",
    ]


def test_only_some_failed_texts_are_listed() -> None:
    usage = Usage(name="m")
    for number in range(7):
        usage.add_failure(f"f:{number}", "no", 0)
    assert usage.lines()[-1].endswith("f:4 (no); …")
    assert (usage.malformed_share, usage.cost()) == (0.0, None)
