"""Tests the plan of a bulk run: it is read back as written, and changed input is refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gonie.bulk.plan import BulkPlan, make_plan
from gonie.errors import InputError, ResumeError

KINDS = ("text", "jsonl", "parquet")
SETTINGS = {"model": "abc", "columns": ["text"], "bias": {}}


@pytest.fixture
def plan(tmp_path: Path) -> BulkPlan:
    for name in ("나.txt", "b.jsonl"):
        (tmp_path / name).write_text('{"text": "a"}\n' * 5)
    return make_plan(SETTINGS, [tmp_path / "나.txt", tmp_path / "b.jsonl"], kinds=KINDS, shard_size=30)


def test_a_written_plan_is_read_back(plan: BulkPlan, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    whole = plan.cut(lambda done, files: told.append((done, files)))
    assert told == [(0, 2), (1, 2)]
    (tmp_path / "plan").write_text(whole.dump(), "utf-8")
    again = BulkPlan.load(tmp_path / "plan")
    assert again == whole
    assert again.shards() == whole.shards()
    assert sum(shard.rows for shard in whole.shards()) == 10
    plan.check_same(again, tmp_path)


def test_a_changed_model_setting_or_file_is_named(plan: BulkPlan, tmp_path: Path) -> None:
    def refuses(other: BulkPlan, words: str) -> None:
        with pytest.raises(ResumeError, match=words):
            other.check_same(plan, tmp_path)

    refuses(replace(plan, settings={**plan.settings, "model": "xyz"}), "model changed from abc to xyz")
    refuses(replace(plan, gonie="9"), "gonie changed from .* to 9")
    refuses(replace(plan, sources=plan.sources[:1]), "the number of files changed from 2 to 1")
    refuses(replace(plan, sources=[*plan.sources[:1]] * 2), "a file changed from .*b.jsonl to ")
    path = tmp_path / "b.jsonl"
    os.utime(path, ns=(1, 1))
    later = make_plan(SETTINGS, [tmp_path / "나.txt", path], kinds=KINDS, shard_size=30)
    refuses(later, "the modification time of .*b.jsonl changed")


@pytest.mark.parametrize("content", ["", "[]", '{"format": 1}', '{"format": 2, "files": [{}]}', "\udcff"])
def test_a_damaged_plan_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ResumeError, match="invalid plan of a bulk run"):
        BulkPlan.load(tmp_path / "plan")


def test_streams_folders_and_missing_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="a stream"):
        make_plan(SETTINGS, [tmp_path / "pipe"], kinds=KINDS, shard_size=1)
    with pytest.raises(InputError, match="file not found"):
        make_plan(SETTINGS, [tmp_path / "no"], kinds=KINDS, shard_size=1)
    with pytest.raises(InputError, match="a folder"):
        make_plan(SETTINGS, [tmp_path], kinds=KINDS, shard_size=1)
    with pytest.raises(InputError, match="no input files"):
        make_plan(SETTINGS, [], kinds=KINDS, shard_size=1)
