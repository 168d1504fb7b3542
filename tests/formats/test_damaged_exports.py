"""Whatever value stands in an export of an annotation tool, it is read or refused without a trace."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from support.annotation_files import read_pairs, read_tagged, read_texts
from support.format_files import FILES

ODD = [
    None,
    0,
    -1,
    3.5,
    True,
    "",
    "x",
    {},
    [],
    [1],
    [[]],
    [{}],
    [None],
    {"a": 1},
    ["a", {}],
    10**30,
    "\ud800",
]


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*at, key)
        yield from places(each, (*at, key))


def damaged(values: list[Any], chance: random.Random) -> list[Any]:
    """Replace or remove one value."""
    copy = json.loads(json.dumps(values))
    *outer, last = chance.choice(list(places(copy)))
    inside = copy
    for key in outer:
        inside = inside[key]
    if chance.random() < 0.25:
        del inside[last]
    else:
        inside[last] = chance.choice(ODD)
    return copy


@pytest.mark.parametrize("file", sorted(FILES.glob("*.json*")), ids=lambda file: file.name)
def test_odd_values_are_read_or_refused(file: Path, tmp_path: Path) -> None:
    text = file.read_text("utf-8")
    values = (
        [json.loads(line) for line in text.splitlines()] if file.suffix == ".jsonl" else [json.loads(text)]
    )
    name = {"spacy": "spacy-json"}.get(tool := file.stem.split("-")[0], tool)
    chance = random.Random(18)
    done = 0
    for _ in range(50):
        path = tmp_path / f"a{file.suffix}"
        path.write_text("\n".join(map(json.dumps, damaged(values, chance))) + "\n", "utf-8")
        for read in (read_tagged, read_texts, read_pairs):
            with suppress(InputError):
                identify(path)
            with suppress(InputError):
                read(path)
                done += 1
            with suppress(InputError):
                read(path, format=name)
    assert done or "tags" in text, "tags as numbers need their names"
