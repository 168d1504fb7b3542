"""Tests the output folder of a bulk run: plan, lock, foreign files and finished parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.bulk import folder as module
from gonie.bulk.folder import PLAN, PartFolder, bad_name, part_name
from gonie.bulk.plan import BulkPlan, make_plan
from gonie.errors import InputError, OutputError, ResumeError


@pytest.fixture
def plan(tmp_path: Path) -> BulkPlan:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    return make_plan({"columns": ["text"]}, [tmp_path / "a.txt"], kinds=["text"], shard_size=3)


def test_a_plan_is_reused_and_a_different_one_is_refused(tmp_path: Path, plan: BulkPlan) -> None:
    place = PartFolder(tmp_path / "deep" / "out")
    with place.locked():
        made = place.settle(plan, lambda done, files: None)
        assert len(made.shards()) == 2
    with place.locked():
        assert place.settle(plan, _not_again) == made
        with pytest.raises(ResumeError, match="shard_size changed from 3 to 4"):
            place.settle(
                make_plan({"columns": ["text"]}, [tmp_path / "a.txt"], kinds=["text"], shard_size=4),
                _not_again,
            )


def _not_again(done: int, files: int) -> None:
    raise AssertionError("files are looked at once")


@pytest.mark.parametrize("strange", ["letter.txt", "part-000000.jsonl", "part-1.jsonl", PLAN + "x"])
def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path, strange: str) -> None:
    (tmp_path / strange).write_text("mine")
    with pytest.raises(OutputError, match=f"contains other files: {strange}"), PartFolder(tmp_path).locked():
        pass
    assert [path.name for path in tmp_path.iterdir()] == [strange]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(OutputError, match="is a file, not a folder"), PartFolder(tmp_path / "out").locked():
        pass


def test_two_runs_cannot_use_the_same_folder(tmp_path: Path) -> None:
    with (
        PartFolder(tmp_path).locked(),
        pytest.raises(OutputError, match="another process is using"),
        PartFolder(tmp_path).locked(),
    ):
        pass


def test_only_complete_parts_are_finished(tmp_path: Path) -> None:
    for name in (PLAN, part_name(3, "jsonl"), bad_name(4), ".gonie-abc.tmp"):
        (tmp_path / name).write_text('{"row": 1}\n{"row": 2}\n')
    place = PartFolder(tmp_path)
    with place.locked():
        assert place.finished("jsonl") == {3}
        assert place.finished("parquet") == set()
        assert place.count_bad() == 2
        assert not list(tmp_path.glob(".gonie-*"))


def test_too_many_parts_are_refused(tmp_path: Path, plan: BulkPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PARTS", 1)
    with pytest.raises(InputError, match="too many parts: 2, at most 1"):
        PartFolder(tmp_path).settle(plan, lambda done, files: None)
