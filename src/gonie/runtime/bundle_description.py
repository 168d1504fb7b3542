"""Read ``bundle.json`` as JSON of bounded size and depth, and check the keys that every bundle has.

The keys of one task are checked by the task (``Contents.check``), the encoding by ``encoding_check``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gonie.runtime.validators import NAME, flag, list_of, mapping_of, number, record, text

VALUES = 1 << 23  # maximum in the file: an empty list takes three bytes there, and sixty-four in memory
_DEPTH = 100  # far more than gonie writes, and far less than Python's recursion limit
_FILES = 20


def parse_json(content: bytes) -> Any:
    """Parse JSON in UTF-8. Raise ``ValueError`` for invalid JSON, NaN, infinity and excessive nesting."""
    values = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    if values > VALUES:
        raise ValueError(f"too many values: {values:,}, at most {VALUES:,}")
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if _depth_beyond(found, _DEPTH):
        raise ValueError("nested too deep")
    return found


def check_about(index: Mapping[str, Any]) -> None:
    """Raise a ``ValueError`` that names the first invalid value of the keys that every bundle has."""
    _ABOUT(index, "")


def _no_number(constant: str) -> float:
    raise ValueError(f"invalid number {constant}")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"number out of range: {digits[:20]}")
    return value


def _depth_beyond(value: Any, most: int) -> bool:
    """Return whether lists and objects are nested more than ``most`` levels deep."""
    level = [[value]]
    for _ in range(most):
        inner = [list(each.values()) if isinstance(each, dict) else each for own in level for each in own]
        level = [own for own in inner if isinstance(own, list) and {dict, list} & set(map(type, own))]
        if not level:
            return False
    return True


def _files(value: Any, where: str) -> None:
    """Check the digest of each file. There is always a graph."""
    record({"model.onnx": text(64)})(value, where)
    mapping_of(text(64), _FILES, NAME)(value, where)


_LAYER = record({"place": text(NAME), "shares": list_of(number, 1000), "scale": number, "normalized": flag})
_ABOUT = record(
    {
        "gonie": text(NAME),
        "model": record({}),
        "scores": record({}),
        "recipe": record({}, {"data": record({})}),
        "files": _files,
    },
    {"layers": list_of(_LAYER, 100)},
)
