"""Tests part files: JSONL and Parquet have the same answers, and the schema is fixed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.bulk import parts
from gonie.bulk.input_columns import InputColumns
from gonie.bulk.job import BulkJob
from gonie.bulk.parts import PartRow, Write, part_writer, write_bad
from gonie.bulk.rows import BadRow
from gonie.formats.text_rows import TextRow

TEXTS = ["Anna lives in Seoul .", "", "good film", "it rains ."]


def answers(job: BulkJob, rows: list[TextRow] | None = None) -> list[PartRow]:
    rows = rows or [
        TextRow("f", at, (text,), {"id": f"{at}"} if at % 2 else None) for at, text in enumerate(TEXTS)
    ]
    asked = job.answering()
    return [PartRow(found, asked.record(found)) for found in asked(rows, lambda row, error: None)]


def writer(job: BulkJob, inputs: InputColumns | None = None) -> Write:
    return part_writer(job, job.returned_fields(), inputs)


def without_nothing(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if value is not None}


@pytest.mark.parametrize("nbest", [None, 3])
def test_tags_are_the_same_in_jsonl_and_parquet(
    tagging: BulkJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nbest: int | None
) -> None:
    monkeypatch.setattr(parts, "BATCH_ROWS", 3)
    tagging = replace(tagging, options={"nbest": nbest})
    found = answers(tagging)
    writer(tagging)(tmp_path / "a.jsonl", found)
    writer(replace(tagging, output="parquet"))(tmp_path / "a.parquet", found)
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    for line, (answered, record) in zip(lines, found, strict=True):
        assert (
            line == answered.row.place | {n: json.loads(t) for n, t in answered.row.fields.items()} | record
        )
    table = pq.read_table(tmp_path / "a.parquet")
    for row, line in zip(table.to_pylist(), lines, strict=True):
        row["tokens"] = [without_nothing(token) for token in row["tokens"]]
        assert without_nothing(row) == line | ({"id": str(line["id"])} if "id" in line else {})


def test_labels_in_parquet_equal_the_records(classifying: BulkJob, tmp_path: Path) -> None:
    found = answers(classifying)
    writer(replace(classifying, output="parquet"))(tmp_path / "a.parquet", found)
    for row, answer in zip(pq.read_table(tmp_path / "a.parquet").to_pylist(), found, strict=True):
        assert (row["text"], row["label"]) == (answer.answered.found.text, answer.record["label"])
        assert {each["label"]: each["score"] for each in row["scores"]} == answer.record["scores"]
        assert row["labels"] == [row["label"]]


@pytest.mark.parametrize("task", ["tag", "classify", "pair"])
def test_a_part_without_rows_has_the_schema(tagging: BulkJob, tmp_path: Path, task: str) -> None:
    columns = ("text", "text_pair") if task == "pair" else ("text",)
    write = writer(replace(tagging, task=task, output="parquet", columns=columns))
    write(tmp_path / "empty.parquet", [])
    schema = pq.read_schema(tmp_path / "empty.parquet")
    assert schema.names[:4] == ["file", "row", "id", "text"]
    assert schema.field("row").type == pa.int64()


def test_an_id_of_any_type_is_written_as_text(tagging: BulkJob, tmp_path: Path) -> None:
    ids = ["x", 7, None, "half \ud800", [1]]
    rows = [TextRow("f", at, ("it",), {"id": json.dumps(id)}) for at, id in enumerate(ids)]
    job = replace(tagging, output="parquet")
    writer(job)(tmp_path / "a.parquet", answers(job, rows))
    found = pq.read_table(tmp_path / "a.parquet").column("id").to_pylist()
    assert found == ["x", "7", None, '"half \\ud800"', "[1]"]


@pytest.mark.parametrize("output", ["jsonl", "parquet"])
def test_an_interrupted_part_leaves_no_file(tagging: BulkJob, tmp_path: Path, output: str) -> None:
    def broken() -> Iterator[PartRow]:
        yield from answers(tagging)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writer(replace(tagging, output=output))(tmp_path / "part", broken())  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_bad_rows_of_an_earlier_run_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "_bad"
    write_bad(path, [BadRow("f", 3, "why", "나", {"id": "1.10", "file": '"b"'})])
    assert path.read_text("utf-8") == (
        '{"file": "f", "row": 3, "id": 1.10, "input_file": "b", "reason": "why", "content": "나"}\n'
    )
    write_bad(path, [])
    assert not path.exists()
