"""Tests that bundles of every released format still give their original predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.runtime.bundle import FORMAT, INDEX
from gonie.text.types import Document

BUNDLES = Path(__file__).parent.parent / "bundles"
FOLDERS = sorted(path.parent for path in BUNDLES.glob(f"*/*/{INDEX}"))
NEAR = 1e-4


def test_every_format_has_its_bundles() -> None:
    """If you raise the format number, add bundles of that format."""
    assert [int(path.name) for path in sorted(BUNDLES.iterdir()) if path.is_dir()] == [*range(1, FORMAT + 1)]
    for folder in FOLDERS:
        assert json.loads((folder / INDEX).read_bytes())["format"] == int(folder.parent.name)
        assert sum(file.stat().st_size for file in folder.iterdir()) < 60_000


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: "/".join(path.parts[-2:]))
def test_predictions_equal_the_original_ones(folder: Path) -> None:
    model: Any = gonie.load(folder)
    asked = folder.with_name(f"{folder.name}.expected.jsonl").read_text("utf-8").splitlines()
    assert len(asked) > 1
    for line in map(json.loads, asked):
        found = model(line["text"])
        if isinstance(found, Document):
            _same_tags(found, line)
        else:
            assert found.label == line["label"]
            assert found.scores == pytest.approx(line["scores"], abs=NEAR)


def _same_tags(found: Document, then: dict[str, Any]) -> None:
    words, tags, scores = zip(*then["tokens"], strict=True)
    assert tuple(token.text for token in found.tokens) == words
    assert found.tags == tags
    assert [token.score for token in found.tokens] == pytest.approx(scores, abs=NEAR)
    assert [[span.start, span.end, span.label] for span in found.spans] == [s[:3] for s in then["spans"]]
    assert [span.score for span in found.spans] == pytest.approx([s[3] for s in then["spans"]], abs=NEAR)
