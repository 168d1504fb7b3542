"""Tests the local engine: shards, error messages of workers and the environment."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gonie.bulk.job import BulkJob
from gonie.bulk.local import THREADS, LocalEngine
from gonie.bulk.pieces import FilePiece, Shard
from gonie.bulk.plan import InputFile
from gonie.bulk.worker import WorkOrder
from gonie.errors import GonieError

SHARDS = [Shard(number, (FilePiece(0, 0, 1, 2, 8),)) for number in range(5)]


@pytest.fixture
def order(tagging: BulkJob, tmp_path: Path) -> WorkOrder:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    return WorkOrder(tagging, [InputFile("a.txt", "text", 8, 0)], tmp_path, tmp_path)


def test_every_shard_is_done_once_and_the_environment_is_restored(
    order: WorkOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(THREADS[0], "7")
    monkeypatch.delenv(THREADS[1], raising=False)
    done = list(LocalEngine(workers=2)(order, SHARDS))
    assert sorted(each.shard for each in done) == list(range(5))
    assert {each.rows for each in done} == {2}
    assert os.environ[THREADS[0]] == "7"
    assert THREADS[1] not in os.environ


def test_errors_of_a_worker_are_reported(order: WorkOrder, tmp_path: Path) -> None:
    gone = order._replace(sources=[InputFile("gone.txt", "text", 8, 0)])
    with pytest.raises(GonieError, match=r"gone\.txt: file not found"):
        list(LocalEngine(workers=1)(gone, SHARDS))
    nowhere = order._replace(job=replace(order.job, model=tmp_path / "no model"))
    with pytest.raises(GonieError, match="no model"):
        list(LocalEngine(workers=1)(nowhere, SHARDS))


def test_no_shards_give_no_results(order: WorkOrder) -> None:
    assert list(LocalEngine(workers=2)(order, [])) == []
