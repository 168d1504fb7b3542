from __future__ import annotations

import io
import json
from datetime import datetime

from gonie.serve.logs import EventLog


def test_text() -> None:
    stream = io.StringIO()
    log = EventLog("text", stream)
    log("worker ended", pid=3, seconds=0.123456, error="two words", none="", line="a\nb")
    (line,) = stream.getvalue().splitlines()
    time, _, rest = line.partition(" ")
    assert datetime.fromisoformat(time).tzinfo is not None
    assert rest == 'worker ended pid=3 seconds=0.1235 error="two words" none="" line="a\\nb"'


def test_json() -> None:
    stream = io.StringIO()
    log = EventLog("json", stream)
    log("swapped", changed="안나", path=io, line="a\nb")
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line)
    assert (found["event"], found["changed"], found["line"]) == ("swapped", "안나", "a\nb")
    assert set(found) == {"time", "event", "changed", "path", "line"}
