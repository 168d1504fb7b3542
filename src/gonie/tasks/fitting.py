"""Which recipes fit a data file: for messages about a file that was given in place of a recipe."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from gonie.errors import GonieError
from gonie.formats.content import open_content
from gonie.formats.detect import identify
from gonie.formats.format import LabelledFormat, PairFormat, ReadOptions
from gonie.formats.inspect import raw_text_tokenizer
from gonie.formats.tagged import TaggedSource
from gonie.text.schemes import looks_tagged

SAMPLE = 100
"""The number of first sentences whose tags are read."""


def fitting_recipes(path: Path) -> tuple[str, list[str]] | None:
    """Return what a data file contains, and the names of recipes that fit. None if it is not recognised."""
    try:
        found = identify(path)
        if found is None:
            return None
        kind, korean = found.format.kind, open_content(path).head.is_korean
        recipes = {
            LabelledFormat.kind: ["classify-ko" if korean else "classify"],
            PairFormat.kind: ["pairs"],
        }
        return kind, recipes.get(kind) or _for_tags(path, korean=korean)
    except GonieError:
        return None


def _for_tags(path: Path, *, korean: bool) -> list[str]:
    """Return the recipes for sentences with such tags."""
    source = TaggedSource(path, ReadOptions(tokenizer=raw_text_tokenizer()))
    tags = {tag for sentence in islice(source, SAMPLE) for tag in sentence.tags or ()}
    if not looks_tagged(dict.fromkeys(tags, 1)):
        return ["pos-ko" if korean else "pos", "tag"]
    if korean:
        return ["ner-ko", "ner-ko-elmo"]
    return ["chunk", "tag"] if "B-NP" in tags else ["ner", "tag"]
