"""Lets schemathesis send lines of JSON, which it does not know."""

from __future__ import annotations

from typing import Any

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(context: Any, value: Any) -> bytes:
    """Return a body of lines: strings as they are."""
    return (value if isinstance(value, str) else str(value)).encode("utf-8", "surrogatepass")
