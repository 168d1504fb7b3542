"""Tests bulk runs with real processes: a killed and resumed run writes the same parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.bulk import LocalEngine, run_bulk
from gonie.bulk.job import BulkJob
from gonie.errors import GonieError, ResumeError

Parts = Callable[..., list[dict[str, Any]]]
LINES = [f"Anna met Bert and Cleo Kim {number} times in Seoul ." for number in range(400)]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Write four files in different formats, with some bad rows; one file is empty."""
    (tmp_path / "a.txt").write_bytes("\n".join([*LINES[:150], "", "café"]).encode("latin-1"))
    (tmp_path / "empty.txt").write_bytes(b"")
    records = [{"id": f"n{at}", "text": line} for at, line in enumerate(LINES)]
    (tmp_path / "b.jsonl").write_text("\n".join([*map(json.dumps, records), "{"]), "utf-8")
    pq.write_table(pa.table({"text": [*LINES, None]}), tmp_path / "c.parquet", row_group_size=90)
    return [tmp_path / name for name in ("a.txt", "empty.txt", "b.jsonl", "c.parquet")]


def test_rows_have_the_order_of_the_input(
    tagging: BulkJob, files: list[Path], tmp_path: Path, parts: Parts, quiet: Any
) -> None:
    out = tmp_path / "out"
    ended = run_bulk(tagging, files, out, engine=LocalEngine(workers=2), display=quiet, shard_size=4000)
    places = [(row["file"], row["row"]) for row in parts(out)]
    a, _, b, c = map(str, files)
    wanted = [(a, n) for n in range(1, 152)] + [(path, n) for path in (b, c) for n in range(1, 401)]
    assert places == wanted
    assert [row["id"] for row in parts(out) if row["file"] == b] == [f"n{at}" for at in range(400)]
    bad = [(row["file"], row["row"]) for row in parts(out, "_bad-*.jsonl")]
    assert bad == [(a, 152), (b, 401), (c, 401)]
    assert (ended.rows, ended.bad) == (152 + 401 + 401, 3)
    assert ended.parts == len(list(out.glob("part-*"))) > 10
    assert sum(done.rows for done in quiet.told if hasattr(done, "tokens")) == len(wanted)


KILLED = """
import os, signal, sys
from pathlib import Path
from gonie.bulk import BulkJob, LocalEngine, run_bulk

class KilledAfterSome:
    def __init__(self): self.parts = 0
    def cutting(self, done, files): pass
    def begin(self, extent): pass
    def done(self, done):
        self.parts += 1
        if self.parts == 3: os.killpg(0, signal.SIGKILL)

if __name__ == "__main__":
    model, out, output, *files = sys.argv[1:]
    job = BulkJob(task="tag", model=Path(model), output=output)
    run_bulk(job, [*map(Path, files)], Path(out), engine=LocalEngine(workers=2), display=KilledAfterSome(),
             shard_size=4000)
"""


@pytest.mark.long
@pytest.mark.parametrize("output", ["jsonl", "parquet"])
def test_a_killed_and_resumed_run_writes_the_same_parts(
    tagging: BulkJob, files: list[Path], tmp_path: Path, quiet: Any, output: Any
) -> None:
    """SIGKILL ends all processes at once."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    out, whole = tmp_path / "out", tmp_path / "whole"
    command = [sys.executable, script, tagging.model, out, output, *files]
    ended = subprocess.run(command, start_new_session=True, check=False, timeout=120)
    assert ended.returncode == -signal.SIGKILL
    some = {name: (out / name).stat().st_mtime_ns for name in contents(out) if name.startswith("part-")}
    assert 3 <= len(some) < 20
    job = replace(tagging, output=output)
    for folder in (out, whole):
        run_bulk(job, files, folder, engine=LocalEngine(workers=2), display=quiet, shard_size=4000)
    assert contents(out) == contents(whole)
    kept = {name: (out / name).stat().st_mtime_ns for name in some}
    assert kept == some, "finished parts are not made again"


@pytest.mark.long
def test_a_killed_worker_is_reported_and_leaves_no_partial_file(
    tagging: BulkJob, files: list[Path], tmp_path: Path, quiet: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill_one(done: Any) -> None:
        listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        workers = [
            pid for pid in map(int, listed) if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        os.kill(workers[0], signal.SIGKILL)

    monkeypatch.setattr(quiet, "done", kill_one)
    with pytest.raises(GonieError, match=r"ended by signal 9.*Finished parts are kept"):
        run_bulk(
            tagging, files, tmp_path / "out", engine=LocalEngine(workers=2), display=quiet, shard_size=4000
        )
    assert not list((tmp_path / "out").glob(".gonie-*"))


def test_an_empty_input_gives_no_parts(tagging: BulkJob, tmp_path: Path, quiet: Any) -> None:
    (tmp_path / "a.txt").write_bytes(b"")
    engine = LocalEngine(workers=2)
    ended = run_bulk(tagging, [tmp_path / "a.txt"], tmp_path / "out", engine=engine, display=quiet)
    assert (ended.parts, ended.rows, ended.bad) == (0, 0, 0)
    assert list(contents(tmp_path / "out")) == ["_plan.json"]


def test_resuming_with_other_options_or_files_is_refused(
    tagging: BulkJob, files: list[Path], tmp_path: Path, quiet: Any
) -> None:
    out, engine = tmp_path / "out", LocalEngine(workers=1)
    run_bulk(tagging, files[:1], out, engine=engine, display=quiet)
    before = contents(out)
    for job, paths in ((replace(tagging, options={"bias": {"PER": 1.0}}), files[:1]), (tagging, files[:2])):
        with pytest.raises(ResumeError, match="cannot resume"):
            run_bulk(job, paths, out, engine=engine, display=quiet)
    time.sleep(0.01)
    files[0].write_text("changed")
    with pytest.raises(ResumeError, match=r"the size of .*a\.txt changed"):
        run_bulk(tagging, files[:1], out, engine=engine, display=quiet)
    assert contents(out) == before
