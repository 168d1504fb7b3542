"""Tests that rows can be joined with their answers: all fields of the input come back, in every output."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.runtime.bundle import write_bundle

Gonie = Callable[..., Any]
LINES = [
    '{"id": 12345678901234567890123, "text": "Anna lives in Seoul .", "label": "gold", "far": 1e400}',
    '{"text": "good film", "id": "나", "meta": {"a": [1, 2.50, null, {"b": true}], "": "\\ud800"}, '
    '"spans": 0}',
]
LABELLED = {"label", "score", "scores"}
TAGGED = {"spans", "tokens"}


@pytest.fixture(scope="module")
def opinions(text_bundle: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opinions")
    write_bundle(folder, text_bundle())
    return folder


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{line}\n" for line in LINES), "utf-8")
    return path


def exact(line: str) -> dict[str, Any]:
    """Return the object of a line with its numbers as they are written."""
    found = json.loads(line, parse_int=lambda number: ("number", number), parse_float=lambda n: ("number", n))
    assert isinstance(found, dict)
    return found


def check(lines: list[str], command: str, *, place: bool = False) -> None:
    """Check that the fields of ``LINES`` are in these answers, in order and with their exact values."""
    own = LABELLED if command == "classify" else TAGGED
    for line, wanted in zip(lines, map(exact, LINES), strict=True):
        found = exact(line)
        fields = {f"input_{name}" if name in own else name: value for name, value in wanted.items()}
        names = [name for name in found if name in fields]
        assert names == list(fields)
        assert {name: found[name] for name in names} == fields
        assert found.keys() - fields.keys() == own | ({"file", "row"} if place else set())


@pytest.mark.parametrize("command", ["tag", "classify"])
def test_a_stream_returns_every_field_of_its_input(
    gonie: Gonie, toy_run: Path, opinions: Path, rows: Path, command: str
) -> None:
    model = toy_run if command == "tag" else opinions
    for options, stdin in (
        (["--file", rows], b""),
        (["--input", "jsonl"], rows.read_bytes()),
    ):
        ended = gonie(command, model, *options, "--output", "jsonl", stdin=stdin)
        assert ended.code == 0, ended.err
        check(ended.out.splitlines(), command)
        renamed = "spans" if command == "tag" else "label"
        assert ended.err.count("with the prefix input_:") == 1
        assert f"prefix input_: {renamed} (1 row)\n" in ended.err


def engines() -> list[Any]:
    ray = pytest.mark.skipif(
        find_spec("ray") is None, reason="Ray is not installed; do: pip install 'gonie[ray]'"
    )
    return ["local", pytest.param("ray", marks=[pytest.mark.long, ray])]


@pytest.mark.parametrize("engine", engines())
@pytest.mark.parametrize("command", ["tag", "classify"])
def test_a_bulk_run_returns_every_field_of_its_input(
    toy_run: Path, opinions: Path, rows: Path, command: str, engine: str
) -> None:
    model = toy_run if command == "tag" else opinions
    with rows.open("a", encoding="utf-8") as file:
        file.write('{"id": 1e400, "content": [0.10]}\n')
    arguments = [command, str(model), "--file", "rows.jsonl", "--out", "out", "--workers", "1"]
    ended = subprocess.run(
        [sys.executable, "-m", "gonie", *arguments, "--engine", engine],
        cwd=rows.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("with the prefix input_:") == 1
    check((rows.parent / "out" / "part-000000.jsonl").read_text("utf-8").splitlines(), command, place=True)
    (bad,) = (rows.parent / "out" / "_bad-000000.jsonl").read_text("utf-8").splitlines()
    assert bad.startswith(
        '{"file": "rows.jsonl", "row": 3, "id": 1e400, "input_content": [0.10], "reason": "no key'
    )


def test_parquet_columns_keep_their_types(gonie: Gonie, opinions: Path, tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([2**62, 7, 8], pa.uint64()),
            "text": ["good film", None, "the bad film"],
            "label": ["gold", "x", "y"],
            "moment": pa.array([1, 2, 3], pa.timestamp("ns", "Asia/Seoul")),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "deep": pa.array([[{"x": 1}], None, []], pa.list_(pa.struct({"x": pa.int8()}))),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    pq.write_table(table.select(["text", "id"]), tmp_path / "b.parquet")
    files = ["--file", tmp_path / "a.parquet", "--file", tmp_path / "b.parquet"]
    ended = gonie(
        "classify", opinions, *files, "--out", tmp_path / "out", "--output", "parquet", "--workers", 1
    )
    assert ended.code == 0, ended.err
    assert "prefix input_: label (2 rows)" in ended.err
    found = pq.read_table(tmp_path / "out" / "part-000000.parquet")
    assert found.schema.names[:8] == ["file", "row", "id", "input_label", "moment", "kind", "deep", "text"]
    kept = table.take([0, 2])
    for name in ("id", "text", "moment", "kind", "deep"):
        assert found.schema.field(name).type == table.schema.field(name).type
        assert found[name].slice(0, 2).to_pylist() == kept[name].to_pylist()
    assert found["input_label"].to_pylist() == ["gold", "y", None, None]
    assert found["moment"].slice(2).null_count == 2, "the second file does not have the column"
    (bad, _) = map(json.loads, (tmp_path / "out" / "_bad-000000.jsonl").read_text("utf-8").splitlines())
    assert (bad["row"], bad["id"], bad["label"], bad["kind"]) == (2, 7, "x", "b")

    pq.write_table(kept, tmp_path / "c.parquet")
    streamed = gonie("classify", opinions, "--file", tmp_path / "c.parquet", "--output", "jsonl")
    one = json.loads(streamed.out.splitlines()[0])
    assert list(one)[:6] == ["id", "text", "input_label", "moment", "kind", "deep"]
    assert (one["id"], one["moment"]) == (2**62, "1970-01-01 09:00:00.000000001+0900")
    assert (one["kind"], one["deep"]) == ("a", [{"x": 1}])


def test_json_objects_and_tables_become_columns_of_parquet(gonie: Gonie, opinions: Path, rows: Path) -> None:
    folder = rows.parent
    (folder / "a.tsv").write_text("text\tscore\tid\ngood\t1.10\tx\n")
    files = ["--file", rows, "--file", folder / "a.tsv"]
    ended = gonie(
        "classify", opinions, *files, "--out", folder / "out", "--output", "parquet", "--workers", 1
    )
    assert ended.code == 0, ended.err
    one, two, three = pq.read_table(folder / "out" / "part-000000.parquet").to_pylist()
    assert [row["id"] for row in (one, two, three)] == ["12345678901234567890123", "나", "x"]
    assert exact(one["fields"]) == exact(LINES[0])
    assert exact(two["fields"]) == exact(LINES[1])
    assert (three["fields"], three["input_score"], one["input_score"]) == (None, "1.10", None)


def test_files_whose_columns_differ_in_type_are_refused_before_work(
    gonie: Gonie, opinions: Path, tmp_path: Path
) -> None:
    for name, ids in (("a", ["x"]), ("b", [1])):
        pq.write_table(pa.table({"text": ["good"], "id": ids}), tmp_path / f"{name}.parquet")
    files = ["--file", tmp_path / "a.parquet", "--file", tmp_path / "b.parquet"]
    out = ["--out", tmp_path / "out", "--workers", 1]
    refused = gonie("classify", opinions, *files, *out, "--output", "parquet")
    assert refused.refused(
        "b.parquet: the column 'id' has the type int64 here, and string in", "--output jsonl"
    )
    assert not (tmp_path / "out").exists()
    assert gonie("classify", opinions, *files, *out).code == 0


@pytest.mark.parametrize(("kind", "apart"), [("tsv", "\t"), ("csv", ",")])
def test_cells_of_a_table_come_back(gonie: Gonie, opinions: Path, kind: str, apart: str) -> None:
    table = "".join(apart.join(row) + "\n" for row in [("id", "text", "label"), ("007", "good", "gold")])
    ended = gonie("classify", opinions, "--input", kind, "--output", "jsonl", stdin=table.encode())
    (found,) = map(json.loads, ended.out.splitlines())
    assert list(found) == ["id", "text", "input_label", "label", "score", "scores"]
    assert (found["id"], found["input_label"], found["label"]) == ("007", "gold", "positive")


# --- answers as lines arrive -----------------------------------------------------------------------------

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "production.md"


def service(model: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment of the service in the guide, for this model."""
    unit = GUIDE.read_text("utf-8")
    (start,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    program, command, _, *options = shlex.split(start)
    assert program.endswith("/bin/gonie")
    environment = dict(each.split("=", 1) for each in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE))
    assert environment
    return [sys.executable, "-m", "gonie", command, str(model), *options], environment


def ask(connection: socket.socket, answers: Any, line: str) -> dict[str, Any]:
    """Send a line, and return its answer."""
    connection.sendall(line.encode() + b"\n")
    found: dict[str, Any] = json.loads(answers.readline())
    return found


@pytest.mark.skipif(os.name != "posix", reason="needs Unix sockets")
@pytest.mark.parametrize("command", ["tag", "classify"])
def test_the_service_of_the_guide_answers_each_line_of_its_socket(
    toy_run: Path, opinions: Path, tmp_path: Path, command: str
) -> None:
    """As systemd starts it: with the accepted connection as standard input and output.

    The client waits for each answer before it sends the next line.
    """
    program, environment = service(toy_run)
    if command == "classify":
        program = [{"tag": "classify", str(toy_run): str(opinions)}.get(part, part) for part in program]
    with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as client:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        client.settimeout(120)
        client.connect(str(tmp_path / "s"))
        accepted, _ = listening.accept()
        with accepted:
            process = subprocess.Popen(
                program,
                stdin=accepted,
                stdout=accepted,
                stderr=subprocess.PIPE,
                env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        with process, client.makefile("r", encoding="utf-8") as answers:
            for line in ("Anna is good .", "Seoul", "a bad film", "나는 간다", "it rains .", "x"):
                assert ask(client, answers, line)["text"] == line
            client.sendall(b"last line without an end")
            client.shutdown(socket.SHUT_WR)
            assert json.loads(answers.readline())["text"] == "last line without an end"
            assert answers.readline() == "", "the connection is closed"
            assert process.wait(60) == 0, process.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("command", ["tag", "classify"])
def test_a_line_is_answered_while_the_next_one_is_not_there_yet(
    toy_run: Path, opinions: Path, tmp_path: Path, command: str
) -> None:
    """The pipe stays open until the test has seen the answer, so waiting for more lines would block."""
    model = toy_run if command == "tag" else opinions
    os.mkfifo(tmp_path / "lines")
    arguments = [
        command,
        str(model),
        "--input",
        "jsonl",
        "--output",
        "jsonl",
        "--file",
        str(tmp_path / "lines"),
    ]
    with (
        subprocess.Popen(
            [sys.executable, "-m", "gonie", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process,
        open(tmp_path / "lines", "w", encoding="utf-8") as lines,
    ):
        assert process.stdout is not None
        for number in range(5):
            lines.write(json.dumps({"id": number, "text": "good"}) + "\n")
            lines.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        lines.close()
        assert process.wait(60) == 0
