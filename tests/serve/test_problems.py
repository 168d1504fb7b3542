from __future__ import annotations

import json
import re
from pathlib import Path

from gonie.serve.problems import TITLES, ProblemError, problem

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "service.md"


def test_problem() -> None:
    reply = problem("queue-full", "안나 waits", retry_after=3)
    assert (reply.status, reply.media_type) == (429, b"application/problem+json")
    assert reply.headers == ((b"retry-after", b"3"),)
    assert json.loads(reply.body) == {
        "type": "urn:gonie:queue-full",
        "title": "The queue is full",
        "status": 429,
        "detail": "안나 waits",
    }
    assert ProblemError("deadline", "late").reply().status == 504


def test_all_problems_are_documented() -> None:
    """Clients are written from the table."""
    table = PAGE.read_text("utf-8").partition("## Errors")[2]
    documented: dict[str, set[int]] = {}
    for statuses, kinds in re.findall(r"^\| ([\d, ]+) \| ([^|]+) \|", table, re.MULTILINE):
        for kind in re.findall(r"`([a-z-]+)`", kinds):
            documented.setdefault(kind, set()).update(map(int, statuses.split(",")))
    assert documented.keys() == TITLES.keys()
    for kind, (status, _) in TITLES.items():
        assert status in documented[kind]
