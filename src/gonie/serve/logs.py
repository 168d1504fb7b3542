"""The log of the service: one event per line on standard error, as text or as JSON.

Bodies of requests, their texts and API keys are never logged.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import Literal, TextIO

LogFormat = Literal["text", "json"]


class EventLog:
    """Writes events with their fields. An event is a short sentence that is the same each time."""

    def __init__(self, kind: LogFormat = "text", stream: TextIO | None = None) -> None:
        self._kind = kind
        self._stream = stream or sys.stderr

    def __call__(self, event: str, **fields: object) -> None:
        """Write one line."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self._kind == "json":
            line = json.dumps({"time": now, "event": event, **fields}, ensure_ascii=False, default=str)
        else:
            line = " ".join([now, event, *(f"{name}={_shown(value)}" for name, value in fields.items())])
        self._stream.write(line + "\n")
        self._stream.flush()


def _shown(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return json.dumps(text, ensure_ascii=False) if not text or any(map(str.isspace, text)) else text
