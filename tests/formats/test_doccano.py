"""doccano: exports with spans are read, with or without relations, old or new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
from support.annotation_files import (
    ENTITIES,
    GEORGE,
    LABELS,
    essence,
    read_tagged,
    read_texts,
    rewritten,
    saved,
    shown,
)
from support.format_files import FILES

TEXT = "George lives in Seoul."
SPANS = [[0, 6, "PER"], [16, 21, "LOC"]]


@pytest.mark.parametrize(
    ("name", "skipped"),
    [
        ("doccano-entities.jsonl", {"comments": 1}),
        ("doccano-relations.jsonl", {"relations": 2, "comments": 1}),
    ],
)
def test_the_entities_of_an_export_are_read(name: str, skipped: dict[str, int]) -> None:
    found = identify(FILES / name)
    assert found is not None
    assert found.format.name == "doccano"
    sentences, report = read_tagged(FILES / name)
    assert report.choices["format"][0] == "doccano"
    assert shown(sentences) == ENTITIES
    assert report.skipped == skipped


def test_labels_of_texts_are_read_as_plain_jsonl() -> None:
    texts, report = read_texts(FILES / "doccano-labels.jsonl")
    assert texts == LABELS
    assert report.choices["format"][0] == "jsonl"
    with pytest.raises(InputError, match="gonie train classify"):
        read_tagged(FILES / "doccano-labels.jsonl")
    with pytest.raises(InputError, match="gonie train tag"):
        read_texts(FILES / "doccano-entities.jsonl")


@pytest.mark.parametrize(
    "record",
    [
        {"text": TEXT, "labels": SPANS},
        {"data": TEXT, "label": SPANS},
        {"text": TEXT, "entities": SPANS, "cats": ["news"], "Comments": []},
        {
            "text": TEXT,
            "label": [{"start_offset": s, "end_offset": e, "label": n, "id": 1} for s, e, n in SPANS],
        },
    ],
)
def test_exports_of_other_versions_are_read(record: dict[str, Any], tmp_path: Path) -> None:
    empty = {key: [] if isinstance(value, list) else value for key, value in record.items()}
    sentences, report = read_tagged(saved(tmp_path / "a.jsonl", empty, record))
    assert report.choices["format"][0] == "doccano"
    assert shown(sentences) == [(GEORGE[0], "O O O O O"), GEORGE]
    again, _ = read_tagged(saved(tmp_path / "a.json", [record]))
    assert shown(again) == [GEORGE]


def test_plain_jsonl_reads_spans_under_label() -> None:
    sentences, _ = read_tagged(FILES / "doccano-entities.jsonl", format="jsonl")
    assert shown(sentences) == ENTITIES


def test_entities_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FILES / "doccano-relations.jsonl")
    assert essence(rewritten(sentences, "doccano", tmp_path / "a.jsonl")) == essence(sentences)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": TEXT, "label": [[0, 99, "PER"]]}, "a.jsonl:2: invalid character offsets: 0 to 99"),
        ({"text": TEXT, "label": [[0, 6]]}, "a.jsonl:2: invalid span"),
        ({"text": TEXT, "label": ["news"]}, "a.jsonl:2: the labels of this record are not spans"),
        ({"label": SPANS}, "a.jsonl:2: no key 'text'"),
    ],
)
def test_damaged_records_are_refused(record: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_tagged(saved(tmp_path / "a.jsonl", {"text": TEXT, "label": SPANS}, record))


@pytest.mark.parametrize("place", [{"start_offset": 0, "end_offset": 6}, {}])
def test_labels_that_are_numbers_without_names_are_refused(place: dict[str, int], tmp_path: Path) -> None:
    """The JSONL of early versions, of spans or whole texts, would be read as texts without labels."""
    record = {"id": 1, "text": TEXT, "annotations": [{"label": 1, "user": 1, **place}], "meta": {}}
    path = saved(tmp_path / "a.jsonl", record | {"annotations": []}, record)
    for read in (read_tagged, read_texts):
        with pytest.raises(InputError, match=r"numbers without names.*\"JSONL \(text label\)\""):
            read(path)
