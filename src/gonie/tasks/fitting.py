"""Which recipes fit a data file: for messages about a file that was given in place of a recipe."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from gonie.errors import GonieError
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.tagged import TaggedSource

SAMPLE = 100
"""The number of first examples that are read."""


def fitting_recipes(path: Path) -> tuple[str, list[str]] | None:
    """Return what a data file contains, and the names of recipes that fit. None if it cannot be read."""
    for what, fitting in (
        ("pairs of texts", _for_pairs),
        ("sentences with tags", _for_tags),
        ("texts with labels", _for_texts),
    ):
        try:
            if recipes := fitting(path):
                return what, recipes
        except (GonieError, UnicodeDecodeError):
            continue
    return None


def _for_pairs(path: Path) -> list[str]:
    return ["pairs"] if any(True for _ in islice(PairSource(path), SAMPLE)) else []


def _for_tags(path: Path) -> list[str]:
    """Return the recipes for sentences of several words, each with a tag out of a small set."""
    sentences = list(islice(TaggedSource(path), SAMPLE))
    tags = [tag for sentence in sentences for tag in sentence.tags or ()]
    blanks = sum(" " in word for sentence in sentences for word in sentence.words)
    if len(tags) < 2 * len(sentences) or 10 * blanks > len(tags):
        return []
    if len(set(tags)) == len(tags):
        return []
    if not any(re.match("[BIES]-|.+-[BI]$", tag) for tag in tags):
        return ["pos", "tag"]
    return ["chunk", "tag"] if "B-NP" in tags else ["ner", "tag"]


def _for_texts(path: Path) -> list[str]:
    return ["classify"] if any(text.labels for text in islice(LabelledSource(path), SAMPLE)) else []
