"""Reading ``bundle.json`` and judging what every bundle says of itself: JSON of bounded size and depth.

What the bundles of one task say is judged by the task's own class (``Contents.check``), the encoding by
``encoding_check``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gonie.runtime.validators import NAME, by_name, flag, number, record, several, text

VALUES = 1 << 23  # in the whole file: an empty list takes three bytes there, and sixty-four in memory
_DEPTH = 100  # far beyond what is written, far below what Python can follow
_FILES = 20


def parsed(content: bytes) -> Any:
    """The value of JSON in UTF-8; a ``ValueError`` for NaN, infinity, nesting beyond reason and all else."""
    values = sum(content.count(sign) for sign in (b",", b"[", b"{"))
    if values > VALUES:
        raise ValueError(f"{values:,} values, more than {VALUES:,}")
    try:
        found = json.loads(content.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if _depth_beyond(found, _DEPTH):
        raise ValueError("nested too deep")
    return found


def check_about(index: Mapping[str, Any]) -> None:
    """Refuse, with a ``ValueError`` that names it, a value that no bundle says of itself."""
    _ABOUT(index, "")


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant}, which is no number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:20]}, which is beyond all numbers")
    return value


def _depth_beyond(value: Any, most: int) -> bool:
    """Are there lists in lists, or values by name in them, more than so many?"""
    level = [[value]]
    for _ in range(most):
        inner = [list(each.values()) if isinstance(each, dict) else each for own in level for each in own]
        level = [own for own in inner if isinstance(own, list) and {dict, list} & set(map(type, own))]
        if not level:
            return False
    return True


def _files(value: Any, where: str) -> None:
    """The digest of each file; there is always a graph."""
    record({"model.onnx": text(64)})(value, where)
    by_name(text(64), _FILES, NAME)(value, where)


_LAYER = record({"place": text(NAME), "shares": several(number, 1000), "scale": number, "normalized": flag})
_ABOUT = record(
    {
        "gonie": text(NAME),
        "model": record({}),
        "scores": record({}),
        "recipe": record({}, {"data": record({})}),
        "files": _files,
    },
    {"layers": several(_LAYER, 100)},
)
