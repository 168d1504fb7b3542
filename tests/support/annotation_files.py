"""Reading and rewriting the files of annotation tools, as users have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gonie.formats.format import ReadOptions
from gonie.formats.labelled import LabelledSource
from gonie.formats.pairs import PairSource
from gonie.formats.table import TEXT_FORMATS
from gonie.formats.tagged import TaggedSource, write
from gonie.formats.writing import write_examples
from gonie.text.labelled_text import LabelledPair, PairOptions, TextOptions
from gonie.text.report import Report
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

GEORGE = ("George lives in Seoul .", "B-PER O O B-LOC O")
KIM = ("김철수 씨가 😀 서울 역에 갔다 .", "B-PER O O B-LOC O O O")
NOTHING = ("Nothing to see here .", "O O O O O")
ENTITIES = [GEORGE, KIM, NOTHING]
"""The sentences of the files with entities: words and tags."""
LABELS = [
    ("what a film", ("positive",)),
    ("정말 지루하다 😴", ("negative",)),
    ("too long, but fun", ("positive",)),
]
"""The texts of the files with labels."""


def read_tagged(path: Path, **options: Any) -> tuple[list[Sentence], Report]:
    """Read tagged sentences, with English words unless the file has tokens."""
    source = TaggedSource(
        path, ReadOptions(**{"tokenizer": tokenizer(language="en", unit="word"), **options})
    )
    return list(source), source.report


def read_texts(path: Path, **options: Any) -> tuple[list[tuple[str, tuple[str, ...]]], Report]:
    """Read labelled texts."""
    source = LabelledSource(path, TextOptions(**options))
    return [(each.text, each.labels) for each in source], source.report


def read_pairs(path: Path, **options: Any) -> list[LabelledPair]:
    """Read text pairs."""
    return list(PairSource(path, PairOptions(**options)))


def shown(sentences: list[Sentence]) -> list[tuple[str, str | None]]:
    """Return the words and tags of sentences. Their offsets must match."""
    for sentence in sentences:
        assert [sentence.surface[start:end] for start, end in sentence.offsets()] == list(sentence.words)
    return [(" ".join(each.words), None if each.tags is None else " ".join(each.tags)) for each in sentences]


def rewritten(sentences: list[Sentence], format: str, path: Path) -> list[Sentence]:
    """Write sentences and read them again, from a file that is recognised by its content."""
    write(path, sentences, format)
    again, report = read_tagged(path)
    assert report.choices["format"][0] == format
    return again


def essence(sentences: list[Sentence]) -> list[tuple[Any, ...]]:
    """Return what must survive writing and reading."""
    return [(each.words, each.tags, each.text, each.starts, each.ends) for each in sentences]


def rewritten_texts(path: Path, format: str, out: Path) -> list[tuple[str, tuple[str, ...]]]:
    """Write the labelled texts of a file and read them again."""
    write_examples(out, TEXT_FORMATS[format], LabelledSource(path))
    again, report = read_texts(out)
    assert report.choices["format"][0] == format
    return again


def saved(path: Path, *values: Any) -> Path:
    """Write one JSON document, or several as JSONL."""
    path.write_text("\n".join(json.dumps(value, ensure_ascii=False) for value in values) + "\n", "utf-8")
    return path
