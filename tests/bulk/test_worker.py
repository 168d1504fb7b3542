"""Tests a worker: a shard gives a part with its good rows and a file with its bad rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from gonie.bulk.input_columns import InputColumns
from gonie.bulk.job import BulkJob
from gonie.bulk.pieces import Shard, cut_file
from gonie.bulk.plan import InputFile
from gonie.bulk.worker import ShardResult, ShardWorker, WorkOrder


def test_every_row_is_in_the_part_or_set_aside(
    tagging: BulkJob, tmp_path: Path, parts: Callable[..., list[dict[str, Any]]]
) -> None:
    (tmp_path / "a.txt").write_bytes(b"Anna is far .\n\xff\nit rains .\n")
    (tmp_path / "b.jsonl").write_text('{"text": "Seoul", "row": [7]}\n\n{"id": 1e400, "reason": "?"}\n')
    (tmp_path / "out").mkdir()
    sources = [InputFile("a.txt", "text", 0, 0), InputFile("b.jsonl", "jsonl", 0, 0)]
    pieces = [
        piece
        for number, source in enumerate(sources)
        for piece in cut_file(
            number, tmp_path / source.path, kind=source.kind, columns=["text"], size=1 << 20
        )
    ]
    worker = ShardWorker(WorkOrder(tagging, sources, tmp_path, tmp_path / "out"))
    for number in (5, 6):
        done = worker(Shard(number, tuple(pieces)))
        assert done == ShardResult(number, 3, 8, 2, 0, sum(p.size for p in pieces), {"row": 1})
        found = parts(tmp_path / "out", f"part-00000{number}.jsonl")
        assert [(row["file"], row["row"]) for row in found] == [("a.txt", 1), ("a.txt", 3), ("b.jsonl", 1)]
        bad = parts(tmp_path / "out", f"_bad-00000{number}.jsonl")
        assert [(row["file"], row["row"]) for row in bad] == [("a.txt", 2), ("b.jsonl", 3)]
        assert [row.get("input_row") for row in found] == [None, None, [7]]
        assert (bad[1]["reason"].split(".")[0], bad[1]["input_reason"]) == ("no key 'text'", "?")
        assert '"id": 1e400' in (tmp_path / "out" / f"_bad-00000{number}.jsonl").read_text("utf-8")


def test_parquet_parts_are_the_same_bytes_in_any_order_of_shards(
    classifying: BulkJob, tmp_path: Path
) -> None:
    """The rows that are read together differ with the number of workers; the parts must not."""
    names = ["one", "two", "three", None]
    table = pa.table(
        {
            "text": [f"good film {number}" for number in range(90)],
            "kind": pa.array([names[number // 20 % 4] for number in range(90)]).dictionary_encode(),
            "deep": [[{"n": number}] for number in range(90)],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=40)
    job = replace(classifying, output="parquet")
    sources = [InputFile("a.parquet", "parquet", 0, 0)]
    pieces = cut_file(0, tmp_path / "a.parquet", kind="parquet", columns=["text"], size=200)
    shards = [Shard(number, (piece,)) for number, piece in enumerate(pieces)]
    assert len(shards) > 5
    fields = job.returned_fields()
    inputs = InputColumns.of(sources, root=tmp_path, columns=["text"], fields=fields)
    made = []
    for name, order in (("one", shards), ("two", shards[::-1]), ("three", shards[::2] + shards[1::2])):
        (tmp_path / name).mkdir()
        worker = ShardWorker(WorkOrder(job, sources, tmp_path, tmp_path / name, inputs))
        for shard in order:
            worker(shard)
        made.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert made[0] == made[1] == made[2]
    found = pq.read_table(tmp_path / "one")
    assert found.select(["text", "kind", "deep"]).to_pylist() == table.to_pylist()
