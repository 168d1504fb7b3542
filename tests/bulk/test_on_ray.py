"""Tests the Ray engine: errors of actors, a missing Ray and an unreachable cluster."""

from __future__ import annotations

import json
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gonie.bulk.job import BulkJob
from gonie.bulk.pieces import FilePiece, Shard
from gonie.bulk.plan import InputFile
from gonie.bulk.worker import ShardResult, WorkOrder
from gonie.errors import GonieError, MissingExtraError

SHARD = Shard(4, (FilePiece(0, 0, 1, 2, 8),))


@pytest.fixture
def order(tagging: BulkJob, tmp_path: Path) -> WorkOrder:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    return WorkOrder(tagging, [InputFile("a.txt", "text", 8, 0)], tmp_path, tmp_path)


def test_an_actor_returns_results_and_errors_as_json(order: WorkOrder, tmp_path: Path) -> None:
    from gonie.bulk.on_ray import Actor

    actor = Actor(order)
    for _ in range(2):
        said = actor({"shard": [json.dumps(SHARD)]})
        assert ShardResult(*json.loads(said["done"][0])) == ShardResult(4, 2, 2, 0, 0, 8, {})
        assert said["refused"] == [""]
    (tmp_path / "a.txt").unlink()
    assert "file not found" in Actor(order)({"shard": [json.dumps(SHARD)]})["refused"][0]
    lost = order._replace(job=replace(order.job, model=tmp_path / "no model"))
    assert "no model" in Actor(lost)({"shard": [json.dumps(SHARD)]})["refused"][0]


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from gonie.bulk.on_ray import RayEngine

    monkeypatch.setitem(sys.modules, "ray.data", None)
    with pytest.raises(MissingExtraError, match=r"--engine ray needs ray.*gonie\[ray\]"):
        RayEngine(workers=1)


@pytest.mark.parametrize("address", ["localhost:{}", "ray://localhost:{}"])
def test_an_unreachable_cluster_is_refused_at_once(address: str) -> None:
    """Ray itself would retry for minutes."""
    from gonie.bulk.on_ray import check_reachable

    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        port = taken.getsockname()[1]
        with pytest.raises(GonieError, match=r"no Ray cluster at .*Check the address with: ray status"):
            check_reachable(address.format(port))
        taken.listen()
        check_reachable(address.format(port))
    check_reachable("auto")
