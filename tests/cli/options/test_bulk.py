"""Options of bulk runs: those that mean nothing together are refused before anything is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.cli.options.bulk import BulkOptions
from gonie.errors import InputError

FILES = [Path("a.txt")]


def test_without_a_folder_nothing_is_asked_for() -> None:
    assert BulkOptions().folder(["text"], []) is None
    assert BulkOptions().folder([], FILES) is None
    assert BulkOptions(out=Path("out"), workers=3).folder([], FILES) == Path("out")


@pytest.mark.parametrize(
    ("options", "texts", "files", "words"),
    [
        ({"engine": "ray"}, [], FILES, "expected --out DIR with --engine, got none"),
        ({"workers": 2, "shard_size": 5}, [], FILES, "--workers, --shard-size"),
        ({"out": Path("o")}, ["text"], [], "expected --out with --file FILE, got a TEXT"),
        ({"out": Path("o")}, [], [], "got no file"),
        ({"out": Path("o"), "address": "auto"}, [], FILES, "expected --engine ray with --address"),
    ],
)
def test_what_means_nothing_is_refused(
    options: dict[str, Any], texts: list[str], files: list[Path], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        BulkOptions(**options).folder(texts, files)
