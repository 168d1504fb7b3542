"""Tests `gonie tag` and `gonie classify` with --out: part files, refusals, Ctrl-C and full disks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.runtime.bundle import write_bundle

Command = Callable[..., Any]
"""Calls the command line and returns the ``Outcome`` of conftest.py."""

TEXTS = ["good film", "the bad film", ""]


@pytest.fixture(scope="module")
def opinions(text_bundle: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opinions")
    write_bundle(folder, text_bundle(recipe={"data": {"text_column": "body"}}))
    return folder


@pytest.fixture
def reviews(tmp_path: Path) -> list[Path]:
    """Write the same texts in three file formats."""
    rows = [{"body": text, "id": at, "stars": 5} for at, text in enumerate(TEXTS)]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    (tmp_path / "a.txt").write_text("".join(f"{text}\n" for text in TEXTS), "utf-8")
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    return [tmp_path / name for name in ("a.jsonl", "a.txt", "a.parquet")]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_rows_equal_streamed_rows_plus_file_and_row_number(
    gonie: Command, opinions: Path, reviews: list[Path], tmp_path: Path
) -> None:
    """A user who moves from a pipe to --out must find the same keys."""
    for file in reviews:
        out = tmp_path / f"of {file.name}"
        ended = gonie("classify", opinions, "--file", file, "--out", out, "--workers", 1)
        assert ended.code == 0, ended.err
        assert ended.out == ""
        assert "3 rows in 1 part" in ended.err
        found = lines((out / "part-000000.jsonl").read_text("utf-8"))
        streamed = lines(gonie("classify", opinions, "--file", file, "--output", "jsonl").out)
        for number, (row, wanted) in enumerate(zip(found, streamed, strict=True), 1):
            assert (row["file"], row["row"]) == (str(file), number)
            for name in ("label", "score", "scores"):
                assert row[name] == wanted[name]
            assert wanted.items() <= row.items()


def test_tags_are_written_as_parquet(gonie: Command, toy_run: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna lives in Seoul .\n")
    ended = gonie(
        *("tag", toy_run, "--file", tmp_path / "a.txt", "--out", tmp_path / "out", "--output", "parquet"),
        *("--input", "tokens", "--bias", "PER=1", "--decode", "posterior"),
    )
    assert ended.code == 0, ended.err
    (row,) = pq.read_table(
        tmp_path / "out"
    ).to_pylist()  # reads the folder as one table; _plan.json is ignored
    assert [token["text"] for token in row["tokens"]] == ["Anna", "lives", "in", "Seoul", "."]
    assert row["spans"][0]["label"] == "PER"


@pytest.mark.parametrize("output", ["jsonl", "parquet"])
def test_offsets_of_parts_are_in_utf16_on_request(
    gonie: Command, toy_run: Path, tmp_path: Path, output: str
) -> None:
    (tmp_path / "a.txt").write_text("🙂 Anna lives in Seoul .\n", "utf-8")
    ended = gonie(
        *("tag", toy_run, "--file", tmp_path / "a.txt", "--out", tmp_path / "out", "--output", output),
        *("--nbest", 2, "--offsets", "utf16", "--workers", 1),
    )
    assert ended.code == 0, ended.err
    (part,) = (tmp_path / "out").glob("part-*")
    (row,) = pq.read_table(part).to_pylist() if output == "parquet" else lines(part.read_text("utf-8"))
    units = row["text"].encode("utf-16-le")
    candidates = [span for own in row["nbest"] for candidate in own for span in candidate["spans"]]
    for place in (*row["spans"], *row["tokens"], *candidates):
        assert units[2 * place["start"] : 2 * place["end"]].decode("utf-16-le") == place["text"]


@pytest.mark.parametrize("output", ["jsonl", "parquet"])
def test_parts_contain_the_nbest_taggings(gonie: Command, toy_run: Path, tmp_path: Path, output: str) -> None:
    given = ("tag", toy_run, "--file", tmp_path / "a.txt", "--nbest", 2)
    (tmp_path / "a.txt").write_text("Anna lives in Seoul .\n\n")
    ended = gonie(*given, "--out", tmp_path / "out", "--output", output, "--workers", 1)
    assert ended.code == 0, ended.err
    streamed = lines(gonie(*given, "--output", "jsonl").out)
    (part,) = (tmp_path / "out").glob("part-*")
    rows = pq.read_table(part).to_pylist() if output == "parquet" else lines(part.read_text("utf-8"))
    assert [row["nbest"] for row in rows] == [record["nbest"] for record in streamed]
    assert [len(row["nbest"]) for row in rows] == [1, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--output", "pretty"], "--output pretty cannot be combined with --out"),
        (["--input", "csv"], "--input csv is not supported with --out. Use auto, text, jsonl, tsv, parquet"),
        (["--input", "parquet"], "damaged Parquet file"),
        (["--engine", "ray", "--address", "localhost:1"], "no Ray cluster at localhost:1"),
    ],
)
def test_unsupported_options_are_refused_with_a_message(
    gonie: Command, opinions: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    if "ray" in arguments:
        pytest.importorskip("ray", reason="Ray is not installed; do: pip install 'gonie[ray]'")
    (tmp_path / "a.txt").write_text("good film\n")
    ended = gonie("classify", opinions, "--file", tmp_path / "a.txt", "--out", tmp_path / "out", *arguments)
    assert ended.refused(words)


def test_a_model_of_another_task_is_refused_and_nothing_is_written(
    gonie: Command, opinions: Path, reviews: list[Path], tmp_path: Path
) -> None:
    ended = gonie("tag", opinions, "--file", reviews[1], "--out", tmp_path / "out")
    assert ended.refused("gonie classify")
    assert not (tmp_path / "out").exists()


def test_parquet_input_needs_a_file_and_parquet_output_needs_out(
    gonie: Command, opinions: Path, toy_run: Path, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"text": ["Anna", "it rains ."]}), tmp_path / "a.parquet")
    (tmp_path / "b.txt").write_text("Seoul\n")
    both = gonie(
        "tag", toy_run, "--file", tmp_path / "b.txt", "--file", tmp_path / "a.parquet", "--output", "jsonl"
    )
    assert [row["text"] for row in lines(both.out)] == ["Seoul", "Anna", "it rains ."]
    assert gonie("tag", toy_run, "--input", "parquet", stdin=b"x").refused(
        "--input parquet", "Pass --file FILE"
    )
    assert gonie("tag", toy_run, "Anna", "--output", "parquet").refused("--output parquet requires --out")
    pq.write_table(pa.table({"text": ["Anna", None]}), tmp_path / "c.parquet")
    assert gonie("tag", toy_run, "--file", tmp_path / "c.parquet").refused("c.parquet:2: null in the column")


@pytest.mark.long
def test_ctrl_c_keeps_finished_parts_and_prints_how_to_resume(toy_run: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Anna met Bert and Cleo Kim in Seoul .\n" * 200_000)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "gonie", "tag", str(toy_run), "--file", "a.txt", "--out", str(out)]
    command += ["--shard-size", "20000", "--workers", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as running:
        while not list(out.glob("part-*")) and running.poll() is None:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)  # like a terminal: every process receives it
        _, said = running.communicate(timeout=60)
    assert running.returncode == 130, said
    assert "Traceback" not in said
    names = sorted(path.name for path in out.iterdir())
    assert names[0] == "_plan.json"
    assert all(name.startswith("part-") for name in names[1:])
    assert "parts finished in" in said
    assert "Run the same command again to resume" in said


def test_a_full_disk_is_reported_without_a_traceback(toy_run: Path, tmp_path: Path) -> None:
    """Simulates a full disk by a limit on file sizes, which needs no special rights."""
    (tmp_path / "a.txt").write_text("Anna met Bert .\n" * 2000)
    command = (
        f"ulimit -f 64; trap '' XFSZ; exec {sys.executable} -m gonie tag {toy_run} --file a.txt --out out"
    )
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 2
    assert "cannot write" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_plan.json"]


@pytest.mark.long
def test_bulk_tagging_needs_neither_torch_nor_pyarrow(toy_run: Path, tmp_path: Path) -> None:
    """A core install is enough for bulk tagging, in the worker processes too."""
    for name in ("torch", "pyarrow", "ray"):
        (tmp_path / "none" / name).mkdir(parents=True)
        (tmp_path / "none" / name / "__init__.py").write_text("raise ImportError('not installed')")
    (tmp_path / "a.txt").write_text("Anna met Bert .\n")
    paths = [str(tmp_path / "none"), *sys.path]

    def call(*more: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "gonie",
            "tag",
            str(toy_run),
            "--file",
            "a.txt",
            "--out",
            "out",
            *more,
        ]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    for more in (["--output", "parquet"], ["--engine", "ray"]):
        refused = call(*more)
        assert refused.returncode == 2
        assert "pip install 'gonie[ray]'" in refused.stderr
        assert not (tmp_path / "out").exists()
    assert call().returncode == 0
    assert lines((tmp_path / "out" / "part-000000.jsonl").read_text("utf-8"))[0]["spans"]


def test_a_csv_table_is_refused_with_a_fix(gonie: Command, opinions: Path, tmp_path: Path) -> None:
    """Its quoted cells may span lines, so it cannot be cut into shards."""
    (tmp_path / "a.csv").write_text("body\ngood film\n")
    command = ["classify", opinions, "--file", tmp_path / "a.csv", "--out", tmp_path / "out"]
    assert gonie(*command).refused("a.csv: --out cannot read CSV", "Convert the file to JSONL or TSV")
    assert not (tmp_path / "out").exists()
    assert gonie(*command, "--input", "text", "--workers", 1).code == 0


def test_a_table_without_the_text_column_is_refused_before_any_work(
    gonie: Command, opinions: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.tsv").write_text("id\treview\n1\tgood film\n")
    command = ["classify", opinions, "--file", tmp_path / "a.tsv", "--out", tmp_path / "out", "--workers", 1]
    assert gonie(*command).refused("a.tsv:1: no column body in the header: id, review", "--column")
    ended = gonie(*command, "--column", "review")
    assert ended.code == 0, ended.err
    (row,) = lines((tmp_path / "out" / "part-000000.jsonl").read_text("utf-8"))
    assert (row["review"], row["id"], row["row"]) == ("good film", "1", 2)
