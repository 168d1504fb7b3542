"""Tokenising files: same bytes for any number of workers and after interruptions; no work done twice."""

from __future__ import annotations

import gzip
import lzma
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gonie.errors import GonieError, InputError, OutputError
from gonie.features.lm_text import FIRST, TokenisingProgress, TokenStream, build_stream
from gonie.features.lm_text import tokenise as module
from gonie.system.files import lines
from gonie.system.folder_lock import folder_lock
from gonie.text.tokenizers import tokenizer

SCRIPT = """
import os
import signal
import sys
from pathlib import Path
from threading import Timer
from gonie.features.lm_text import build_stream
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it
    ends = {"kill": (os.kill, (os.getpid(), signal.SIGKILL)), "ctrl-c": (os.killpg, (0, signal.SIGINT))}
    timer = Timer(0.2, *ends[sys.argv[1]])
    folder, *paths = map(Path, sys.argv[2:])
    def advance(told):
        if timer.ident is None and list(folder.glob("parts/*/stream.json")):
            timer.start()
    try:
        build_stream(paths, folder, language="en", unit="word", workers=2, note=print, advance=advance)
    except KeyboardInterrupt:
        sys.exit(130)
"""
"""Stops itself soon after the first file is finished, by a kill or like Ctrl-C in a terminal."""
PATIENCE = 300
"""Seconds before a process is considered to hang; a busy machine is slow."""


def text(path: Path, number: int, seed: int = 0) -> Path:
    """Write a file with this number of random paragraphs."""
    chance = random.Random(seed)
    words = ["".join(chance.choices("abcdefgh", k=1 + chance.randrange(5))) for _ in range(300)]
    rows = (" ".join(chance.choices(words, k=chance.randrange(40))) + "." for _ in range(number))
    path.write_text("\n".join(rows), "utf-8")
    return path


def build(paths: list[Path], folder: Path, **options: Any) -> TokenStream:
    options = {"language": "en", "unit": "word", "workers": 1, "note": lambda line: None, **options}
    return build_stream(paths, folder, **options)


def content(folder: Path) -> dict[str, bytes]:
    """Return the content of every file in a folder and its subfolders."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_stream_contains_every_sentence(tmp_path: Path) -> None:
    paths = [text(tmp_path / "a", 30, 1), text(tmp_path / "b", 20, 2)]
    stream = build(paths, tmp_path / "s")
    english = tokenizer(language="en", unit="word")
    read = [row for path in paths for _, row in lines(path)]
    sentences = [sentence.words for row in read for sentence in english(row)]
    spelled = [stream.forms[id] for id in stream.tokens.tolist()]
    assert spelled == [word for words in sentences for word in ("<S>", *words, "</S>")]
    assert (stream.sentences, stream.words) == (len(sentences), sum(map(len, sentences)))
    assert (stream.language, stream.unit) == ("en", "word")
    assert sorted(content(tmp_path / "s")) == [
        *("counts.bin", "form_bytes.bin", "form_offsets.bin", "stream.json", "tokens.bin"),
    ]


def test_every_file_type_gives_the_same_tokens(tmp_path: Path) -> None:
    plain = text(tmp_path / "a.txt", 20)
    (tmp_path / "a.gz").write_bytes(gzip.compress(plain.read_bytes()))
    (tmp_path / "a.xz").write_bytes(lzma.compress(plain.read_bytes()))
    pq.write_table(pa.table({"body": plain.read_text("utf-8").split("\n")}), tmp_path / "a.parquet")
    made = [
        build([tmp_path / f"a.{suffix}"], tmp_path / suffix, column="body").tokens.tolist()
        for suffix in ("txt", "gz", "xz", "parquet")
    ]
    assert made == [made[0]] * 4


def test_two_workers_give_the_same_bytes_as_one(tmp_path: Path) -> None:
    paths = [text(tmp_path / "a", 3000, 1), text(tmp_path / "b", 20, 2), text(tmp_path / "c", 3000, 3)]
    build(paths, tmp_path / "one")
    build(paths, tmp_path / "two", workers=2)
    assert content(tmp_path / "one") == content(tmp_path / "two")


def test_an_existing_stream_is_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, notes = text(tmp_path / "a", 20), []
    first = build([path], tmp_path / "s")
    (tmp_path / "s" / "parts").mkdir()  # left by a build that was killed in its last step
    monkeypatch.setattr(module, "merge", None)
    second = build([path.rename(tmp_path / "renamed")], tmp_path / "s", note=notes.append)
    assert second.tokens.tolist() == first.tokens.tolist()
    assert notes == [f"{tmp_path / 's'}: already tokenised, {first.words:,} words"]
    assert not (tmp_path / "s" / "parts").exists()


def test_the_fingerprint_depends_on_the_content(tmp_path: Path) -> None:
    a, b = text(tmp_path / "a", 5, 1), text(tmp_path / "b", 5, 2)
    prints = [
        build(paths, tmp_path / str(number), **options).fingerprint
        for number, (paths, options) in enumerate(
            [([a], {}), ([b], {}), ([a, b], {}), ([b, a], {}), ([a], {"language": "ko", "unit": "syllable"})]
        )
    ]
    assert len(set(prints)) == 5
    assert build([text(tmp_path / "c", 5, 1)], tmp_path / "again").fingerprint == prints[0]


def test_other_text_replaces_the_existing_stream(tmp_path: Path) -> None:
    small, large = text(tmp_path / "a", 3, 1), text(tmp_path / "b", 60, 2)
    for path in (large, small, large):
        build([path], tmp_path / "s")
        build([path], tmp_path / f"{path.name}-alone")
        assert content(tmp_path / "s") == content(tmp_path / f"{path.name}-alone")


@pytest.mark.parametrize("damage", ["stream.json", "tokens.bin"])
def test_a_damaged_stream_is_rebuilt(tmp_path: Path, damage: str) -> None:
    path = text(tmp_path / "a", 5)
    build([path], tmp_path / "s")
    whole = content(tmp_path / "s")
    (tmp_path / "s" / damage).write_bytes(whole[damage][:10])
    build([path], tmp_path / "s")
    assert content(tmp_path / "s") == whole


def test_a_file_given_twice_is_tokenised_once_and_read_twice(tmp_path: Path) -> None:
    path, told = text(tmp_path / "a", 5), []
    once = build([path], tmp_path / "one")
    twice = build([path, path], tmp_path / "two", advance=told.append)
    assert twice.tokens.tolist() == once.tokens.tolist() * 2
    assert [advance.words for advance in told] == [once.words, 2 * once.words]


# --- interruptions ----------------------------------------------------------------------------------------


def test_finished_files_are_kept_after_an_error(tmp_path: Path) -> None:
    good, bad = text(tmp_path / "a", 20), tmp_path / "b"
    bad.write_bytes(b"fine\n\xff\n")
    with pytest.raises(InputError, match="b:2: invalid UTF-8"):
        build([good, bad], tmp_path / "s")
    (kept,) = (tmp_path / "s" / "parts").glob("*/stream.json")
    before = kept.stat().st_mtime_ns
    bad.write_text("fine")
    seen: list[int] = []
    stream = build([good, bad], tmp_path / "s", advance=lambda told: seen.append(kept.stat().st_mtime_ns))
    assert seen == [before] * 2, "the first file was tokenised again"
    assert stream.tokens.tolist() == build([good, bad], tmp_path / "clean").tokens.tolist()


@pytest.mark.long
def test_a_killed_build_resumes_and_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = [text(tmp_path / "a", 200, 1), text(tmp_path / "b", 60_000, 2), text(tmp_path / "c", 200, 3)]
    folder, script = tmp_path / "s", tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, script, "kill", folder, *paths]
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, timeout=PATIENCE)
    assert ended.returncode == -signal.SIGKILL
    assert not (folder / "stream.json").exists()
    (kept,) = folder.glob("parts/*/stream.json")
    before, seen = kept.stat().st_mtime_ns, []
    build(paths, folder, advance=lambda told: seen.append(kept.stat().st_mtime_ns))
    assert set(seen) == {before}
    build(paths, tmp_path / "clean")
    assert content(folder) == content(tmp_path / "clean")


def living(group: int) -> list[str]:
    """Return the processes of a group, except zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, its_group = path.read_text().rsplit(")", 1)[1].split()[:3]
            found += [path.parent.name] if int(its_group) == group and state != "Z" else []
    return found


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_ctrl_c_ends_the_workers_and_keeps_finished_files(tmp_path: Path) -> None:
    paths = [text(tmp_path / "a", 200, 1), text(tmp_path / "b", 60_000, 2)]
    folder, script = tmp_path / "s", tmp_path / "script.py"
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, script, "ctrl-c", folder, *paths],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _, told = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told) == (130, ""), "no other process has anything to say"
    for _ in range(1200):
        if not living(process.pid):
            break
        time.sleep(0.05)
    assert not living(process.pid)
    assert len(list(folder.glob("parts/*/stream.json"))) == 1


def test_a_folder_in_use_by_another_process_is_refused(tmp_path: Path) -> None:
    parts = tmp_path / "s" / "parts"
    parts.mkdir(parents=True)
    with folder_lock(parts, refusal=GonieError()), pytest.raises(OutputError, match="another process"):
        build([text(tmp_path / "a", 3)], tmp_path / "s")


def test_opening_a_stream_keeps_the_parts_of_a_running_build(tmp_path: Path) -> None:
    path, part = text(tmp_path / "a", 3), tmp_path / "s" / "parts" / "another"
    build([path], tmp_path / "s")
    part.mkdir(parents=True)
    with folder_lock(part.parent, refusal=GonieError()):
        build([path], tmp_path / "s")
        assert part.exists()
    build([path], tmp_path / "s")
    assert not part.parent.exists()


# --- messages and progress ----------------------------------------------------------------------------------


def test_progress_counts_words_and_stored_bytes_over_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE", 0.0)
    paths = [text(tmp_path / "a", 2000, 1), text(tmp_path / "b", 2000, 2)]
    told: list[TokenisingProgress] = []
    stream = build(paths, tmp_path / "s", advance=told.append)
    total = sum(path.stat().st_size for path in paths)
    assert {advance.total for advance in told} == {total}
    assert [advance.file for advance in told] == sorted(advance.file for advance in told)
    for name in ("words", "read"):
        values = [getattr(advance, name) for advance in told]
        assert values == sorted(values)
    assert (told[-1].words, told[-1].read) == (stream.words, total)
    assert len(told) > 4


def test_split_sentences_and_lines_are_reported(tmp_path: Path) -> None:
    path, notes = tmp_path / "a", []
    path.write_text("word " * 1000 + "\n" + "x" * 100_001)
    stream = build([path], tmp_path / "s", note=notes.append)
    assert stream.words == 1002
    assert stream.sentences == 5
    assert f"{path}: 1 sentences longer than 400 tokens, split" in notes
    assert f"{path}: 1 lines longer than 100,000 characters, read in pieces" in notes


def test_a_line_of_ten_megabytes_is_tokenised(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x" * 10_000_000)
    stream = build([path], tmp_path / "s")
    assert stream.words == 100
    assert len(stream.forms) == FIRST + 1


def test_a_text_of_one_word_is_tokenised(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("yes\nyes")
    stream = build([tmp_path / "a"], tmp_path / "s")
    assert stream.tokens.tolist() == [0, 3, 1, 0, 3, 1]
    assert stream.counts.tolist() == [2, 2, 0, 2]


def test_korean_is_tokenised_by_morpheme(tmp_path: Path) -> None:
    pytest.importorskip("kiwipiepy")
    (tmp_path / "a").write_text("나비가 날았다.", "utf-8")
    stream = build([tmp_path / "a"], tmp_path / "s", language="ko", unit="morpheme", workers=0)
    assert "나비" in list(stream.forms)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty", b"", "the file contains no text"),
        ("broken", b"ok\nna\xefve", r"broken:2: invalid UTF-8"),
        ("binary", b"a\0b", "NUL"),
        ("cut.gz", gzip.compress(b"text " * 99)[:-9], "damaged compressed file"),
        ("text.xz", b"no xz at all", "damaged compressed file"),
        ("text.parquet", b"PAR1", "Parquet"),
    ],
    ids=["empty", "broken", "binary", "cut gzip", "no xz", "no parquet"],
)
def test_files_that_are_not_text_are_refused(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        build([tmp_path / name], tmp_path / "s")
    assert not (tmp_path / "s" / "stream.json").exists()


def test_invalid_arguments_are_refused_before_writing(tmp_path: Path) -> None:
    good = text(tmp_path / "a", 3)
    with pytest.raises(InputError, match="file not found"):
        build([good, tmp_path / "missing"], tmp_path / "s")
    with pytest.raises(InputError, match="got a folder"):
        build([tmp_path], tmp_path / "s")
    with pytest.raises(InputError, match=r"standard input: .*cannot be a stream"):
        build([Path("-")], tmp_path / "s")
    with pytest.raises(InputError, match="no text files"):
        build([], tmp_path / "s")
    with pytest.raises(InputError, match="en/eojeol"):
        build([good], tmp_path / "s", unit="eojeol")
    assert not (tmp_path / "s").exists()
    with pytest.raises(OutputError, match="cannot write tokenised text"):
        build([good], good)
