"""Tests ``gonie data``: its output and its error messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gonie.cli.data import app
from gonie.errors import GonieError, InputError
from support.format_files import FILES

Gonie = Callable[..., Any]

TRAIN = "Ann\tB-PER\nLee\tI-PER\nran\tO\n\nBob\tB-PER\nran\tO\n"


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        result.exception.args = (*result.exception.args, result.output)
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def wrote(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_check_reports_what_was_detected(tmp_path: Path) -> None:
    output = run("check", wrote(tmp_path / "a.conll", TRAIN))
    for words in (
        "format: conll",
        "separator: tabs",
        "scheme: IOB2",
        "2 sentences, 5 tokens",
        "no invalid tags",
    ):
        assert words in output


def test_check_lists_the_first_twenty_problems_and_fails(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN * 20 + "\n[b]x[/b]\tI-PER\n\n" * 25)
    with pytest.raises(GonieError, match="1 of 1 files") as caught:
        run("check", path)
    output = caught.value.args[-1]
    assert "25 invalid tags; the first 20:" in output
    assert output.count("I-PER must follow") == 20
    assert f"{path}:122: I-PER" in output.replace("\n", "")


def test_check_shows_every_file_and_fails_for_one_bad_file(tmp_path: Path) -> None:
    good = wrote(tmp_path / "a.conll", TRAIN)
    with pytest.raises(GonieError, match="1 of 2 files") as caught:
        run("check", tmp_path, good)
    assert "got a folder" in caught.value.args[-1]
    assert "no invalid tags" in caught.value.args[-1]


def test_stats_are_counted_and_compared_with_the_first_file(tmp_path: Path) -> None:
    first = wrote(tmp_path / "a.conll", TRAIN)
    second = wrote(tmp_path / "b.conll", "Ann\tB-PER\nsat\tO\n")
    output = run("stats", first, second)
    assert "4 distinct words" in output
    assert "shortest 2" in output
    assert (
        "not in the first file: 50.0% of the tokens, 50.0% of the words, 100.0% of the entity mentions"
        in output
    )
    assert "PER" in output


def test_convert_writes_the_file_and_reports_the_count(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN)
    output = run("convert", path, "--to", "jsonl", "--out", tmp_path / "b.jsonl")
    assert "wrote 2 sentences" in output.replace("\n", " ")
    records = [json.loads(line) for line in (tmp_path / "b.jsonl").read_text().splitlines()]
    tokens = [{"start": 0, "end": 3}, {"start": 4, "end": 7}, {"start": 8, "end": 11}]
    spans = [{"start": 0, "end": 7, "label": "PER"}]
    assert records[0] == {"text": "Ann Lee ran", "tokens": tokens, "spans": spans}
    run(
        "convert",
        path,
        "--to",
        "conll",
        "--out",
        tmp_path / "c.conll",
        "--scheme",
        "BIOES",
        "--tag-column",
        "-1",
    )
    assert "Lee\tE-PER" in (tmp_path / "c.conll").read_text()


def test_numbered_tags_get_their_names(tmp_path: Path) -> None:
    file = wrote(tmp_path / "numbers.jsonl", '{"tokens": ["Ann", "Lee", "ran"], "ner_tags": [1, 2, 0]}\n')
    with pytest.raises(GonieError) as caught:
        run("check", file)
    assert "--tag-names O,B-PER,I-PER" in caught.value.args[1].replace("\n", " ")
    assert "no invalid tags" in run("check", file, "--tag-names", "O,B-PER,I-PER")
    out = tmp_path / "named.conll"
    run("convert", file, "--tag-names", "O,B-PER,I-PER", "--to", "conll", "--out", out)
    assert out.read_text("utf-8") == "Ann\tB-PER\nLee\tI-PER\nran\tO\n\n"


def test_texts_without_labels_are_converted_and_ignored_columns_are_told(tmp_path: Path) -> None:
    path, out = tmp_path / "inbox.csv", tmp_path / "b.jsonl"
    path.write_text("id,text,date\n1,hello there,May\n", "utf-8")
    output = run("convert", path, "--label", "", "--to", "jsonl", "--out", out)
    assert "ignored columns: date" in output
    assert json.loads(out.read_text("utf-8")) == {"id": "1", "text": "hello there", "labels": []}


@pytest.mark.parametrize("to", ["labelstudio", "doccano", "jsonl", "klue", "conllu", "nikl"])
def test_convert_keeps_ids(to: str, tmp_path: Path) -> None:
    """A join by new numbers would attach labels to other texts."""
    rows = [{"id": name, "text": "Ann ran", "label": [[0, 3, "PER"]]} for name in (7, "b-9")]
    source = wrote(tmp_path / "a.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    there, back = tmp_path / "there", tmp_path / "back.jsonl"
    assert "not kept" not in run("convert", source, "--to", to, "--out", there)
    run("convert", there, "--to", "doccano", "--out", back, "--language", "en")
    assert [str(json.loads(line)["id"]) for line in back.read_text("utf-8").splitlines()] == ["7", "b-9"]


def test_convert_keeps_ids_of_labelled_texts(tmp_path: Path) -> None:
    source = wrote(tmp_path / "a.csv", "id,text,label\n0012,good,1\nx,bad,0\n")
    studio, back = tmp_path / "b.json", tmp_path / "b.tsv"
    run("convert", source, "--to", "labelstudio", "--out", studio)
    run("convert", studio, "--to", "tsv", "--out", back)
    assert back.read_text("utf-8") == "id\ttext\tlabel\n0012\tgood\t1\nx\tbad\t0\n"


def test_further_sentences_of_a_text_have_ids_of_their_own(tmp_path: Path) -> None:
    text = "이순신은 갔다. 그는 왔다."
    row = {"id": 7, "text": text, "spans": [{"start": 0, "end": 3, "label": "PS"}]}
    source = wrote(tmp_path / "a.jsonl", json.dumps(row))
    run("convert", source, "--to", "klue", "--out", tmp_path / "b.klue")
    headers = [
        line for line in (tmp_path / "b.klue").read_text("utf-8").splitlines() if line.startswith("##")
    ]
    assert [header.split("\t")[0] for header in headers] == ["## 7", "## 7-2"]


def test_convert_says_that_ids_are_not_kept(tmp_path: Path) -> None:
    source = wrote(tmp_path / "a.jsonl", '{"id": 7, "text": "Ann ran", "label": [[0, 3, "PER"]]}')
    prodigy, columns, studio = (tmp_path / name for name in ("b.jsonl", "b.conll", "b.json"))
    numbered = "prodigy numbers its examples; ids of the input are not kept"
    assert numbered in run("convert", source, "--to", "prodigy", "--out", prodigy)
    assert "ids and other fields of the input are not kept" in run(
        "convert", source, "--to", "conll", "--out", columns
    )
    assert "not kept" not in run("convert", columns, "--to", "labelstudio", "--out", studio)  # it has none


def test_convert_counts_the_entities_that_the_new_file_lacks(tmp_path: Path) -> None:
    row = {"text": "서울에서 부산까지", "label": [[0, 2, "LC"], [5, 7, "LC"]]}
    source = wrote(tmp_path / "a.jsonl", (json.dumps(row) + "\n") * 30)
    eojeols = ("--unit", "eojeol", "--out", tmp_path / "b")
    told = run("convert", source, "--to", "slashed", *eojeols)
    assert "60 of 60 gold spans (100%) are not in the new file, because tokens cannot express them" in told
    assert "the model cannot" not in told
    assert told.count(" LC '") == 20
    assert "and 40 more" in told
    assert "not in the new file" not in run("convert", source, "--to", "jsonl", *eojeols)
    assert len(json.loads((tmp_path / "b").read_text("utf-8").splitlines()[0])["spans"]) == 2


@pytest.mark.parametrize("to", ["klue", "jsonl", "labelstudio", "doccano"])
def test_convert_counts_texts_that_are_joined_words(to: str, tmp_path: Path) -> None:
    source = wrote(tmp_path / "a.txt", "Ann/B-PER ran/O\nBob/B-PER sat/O\nYes/O\n")
    told = run("convert", source, "--to", to, "--out", tmp_path / "b")
    assert "2 texts made by joining words with spaces" in told
    known = wrote(tmp_path / "a.conll", "# text = Ann ran\nAnn\tB-PER\nran\tO\n")
    assert "made by joining" not in run("convert", known, "--to", to, "--out", tmp_path / "b")
    assert "made by joining" not in run("convert", source, "--to", "conll", "--out", tmp_path / "b")


@pytest.mark.parametrize(
    ("line", "unit"),
    [
        ("삼성/B-OG 전자/I-OG 는/O 서울/B-LC 에/O 있/O 다/O", "morpheme"),
        ("삼/B-OG 성/I-OG 은/O 큰/O 곳/O", "syllable"),
    ],
)
def test_convert_does_not_join_morphemes_and_syllables_to_texts(line: str, unit: str, tmp_path: Path) -> None:
    source = wrote(tmp_path / "a.txt", f"{line}\n" * 5)
    for to in ("klue", "jsonl"):
        with pytest.raises(InputError, match=rf"a.txt:1: {to} files have texts.*The words are {unit}s"):
            run("convert", source, "--to", to, "--out", tmp_path / "b")
        assert not (tmp_path / "b").exists()
    run("convert", source, "--to", "conll", "--out", tmp_path / "b")


def test_a_header_with_given_names_is_not_said_to_have_known_ones(tmp_path: Path) -> None:
    source = wrote(tmp_path / "a.csv", "문의내용,유형\n언제 오나요,배송\n안 와요,배송\n")
    told = run("check", source, "--text", "문의내용", "--label", "유형")
    assert "header: 문의내용, 유형 (the first line has the given column names)" in told
    source = wrote(tmp_path / "a.csv", "text,label\ngood,1\nbad,0\n")
    assert "(the first line has columns with known names)" in run("check", source)


def test_convert_refuses_unknown_names(tmp_path: Path) -> None:
    path = wrote(tmp_path / "a.conll", TRAIN)
    for option, value, message in (
        ("--scheme", "XYZ", "unknown tag scheme 'XYZ'"),
        ("--repair", "fix", "unknown repair policy 'fix'"),
        ("--format", "csvv", "unknown format 'csvv'"),
        ("--separator", ",", "not separated by ','"),
    ):
        with pytest.raises(InputError, match=message):
            run("convert", path, "--to", "conll", "--out", tmp_path / "b", option, value)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("form", ["jsonl", "doccano", "labelstudio"])
@pytest.mark.parametrize("command", ["check", "stats", "convert"])
def test_korean_raw_text_keeps_entities_inside_eojeols(command: str, form: str, tmp_path: Path) -> None:
    """English words would lose both."""
    text, spans = "이순신은 1545년 서울에서 태어났다.", [(0, 3, "PS"), (11, 13, "LC")]
    values = [
        {"start": start, "end": end, "text": text[start:end], "labels": [label]}
        for start, end, label in spans
    ]
    rows: dict[str, Any] = {
        "jsonl": {"text": text, "spans": [{"start": a, "end": b, "label": c} for a, b, c in spans]},
        "doccano": {"id": 1, "text": text, "label": spans},
        "labelstudio": [
            {
                "data": {"text": text},
                "annotations": [{"result": [{"type": "labels", "value": v} for v in values]}],
            }
        ],
    }
    path = wrote(
        tmp_path / f"a.{'json' if form == 'labelstudio' else 'jsonl'}", json.dumps(rows[form]) + "\n"
    )
    options = ["--to", "conll", "--out", tmp_path / "b.conll"] if command == "convert" else []
    output = run(command, path, *options)
    assert "not on token boundaries" not in output
    if command != "stats":
        assert "language: ko (most letters are Hangul)" in output
        assert "unit: syllable (entities may end inside eojeols)" in output
    if command == "convert":
        written = (tmp_path / "b.conll").read_text("utf-8")
        assert "이\tB-PS\n순\tI-PS\n신\tI-PS\n은\tO" in written
        run(command, path, *options, "--language", "en")
        assert "이순신은\tO" in (tmp_path / "b.conll").read_text("utf-8")


def test_raw_text_is_split_by_the_named_tokenizer(tmp_path: Path) -> None:
    record = {"text": "나는 서울에 간다", "spans": [{"start": 3, "end": 6, "label": "LC"}]}
    path = wrote(tmp_path / "a.jsonl", json.dumps(record, ensure_ascii=False) + "\n")
    run(
        "convert",
        path,
        "--to",
        "conll",
        "--out",
        tmp_path / "b.conll",
        "--language",
        "ko",
        "--unit",
        "eojeol",
    )
    assert "서울에\tB-LC" in (tmp_path / "b.conll").read_text(encoding="utf-8")


def test_help_imports_no_heavy_packages() -> None:
    """The imports of this module delay the help of every command."""
    heavy = "('torch', 'numpy', 'gonie.formats.tagged')"
    code = f"import sys, gonie.cli.data; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


# --- labelled texts --------------------------------------------------------------------------------------

TEXTS = "review\tmood\ngood film\tpos\nbad [b]film[/b]\tneg\ngood film\tneg\n \tpos\n"


def test_text_stats_count_labels_and_repeated_texts(tmp_path: Path) -> None:
    first = wrote(tmp_path / "a.tsv", TEXTS)
    second = wrote(tmp_path / "b.tsv", "review\tmood\ngood film\tpos\nso so\t[i]mixed\n")
    output = run("stats", "--texts", "--text-column", "review", "--label-column", "mood", first, second)
    for words in (
        "header: review, mood",
        "3 texts",
        "skipped 1 row with an empty text",
        "text length in words: shortest 2",
        "1 repeated text with different labels",
        "66.7%",
        "1 text also in the first file",
        "labels not in the first file: [i]mixed",
    ):
        assert words in output


def test_text_check_shows_every_file_and_fails_for_one_bad_file(tmp_path: Path) -> None:
    good = wrote(tmp_path / "a.tsv", TEXTS)
    bad = wrote(tmp_path / "b.tsv", TEXTS + "three\tcolumns\there\n")
    with pytest.raises(GonieError, match="1 of 2 files") as caught:
        run("check", "--texts", "--text-column", "review", "--label-column", "mood", bad, good)
    assert "b.tsv:6: expected 2 columns" in caught.value.args[-1].replace("\n", "")
    assert "3 texts" in caught.value.args[-1]


def test_the_labels_of_pairs_are_counted(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("text\ttext_pair\tlabel\na\tb\tsame\nc\td\tother\na\te\tsame\na\tf\tsame\n", "utf-8")
    assert "75.0%" in run("stats", pairs)


def test_text_stats_count_texts_with_no_or_several_labels(tmp_path: Path) -> None:
    plain = wrote(tmp_path / "a.txt", "one text\nanother\n")
    assert "2 texts without a label" in run("stats", "--texts", "--label-column", "", plain)
    many = wrote(tmp_path / "b.jsonl", '{"text": "x", "label": "a|b"}\n{"text": "y", "labels": []}\n')
    output = run("stats", "--texts", "--label-separator", "|", many)
    assert "1 text with more than one label" in output
    assert "1 text without a label" in output
    assert output.count("50.0%") == 2


def test_tokenise_writes_one_sentence_per_line(gonie: Gonie, tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_text("Anna skis. She doesn't mind.\n", "utf-8")
    done = gonie("data", "tokenise", tmp_path / "raw.txt", "--out", tmp_path / "out.txt")
    assert done.code == 0
    assert "2 sentences, 8 tokens" in done.out
    assert (tmp_path / "out.txt").read_text("utf-8") == "Anna skis .\nShe does n't mind .\n"
    assert {path.name for path in tmp_path.iterdir()} == {"raw.txt", "out.txt"}


def test_tokenise_chooses_the_tokenizer_by_the_letters(gonie: Gonie, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw.txt", tmp_path / "out.txt"
    raw.write_text("아버지가(60) 방에 들어가신다. OK\n", "utf-8")

    def tokenised(*options: str) -> tuple[str, str]:
        done = gonie("data", "tokenise", raw, "--out", out, *options)
        assert done.code == 0
        return next(line for line in done.out.splitlines() if "tokenizer:" in line), out.read_text("utf-8")

    told, korean = tokenised()
    assert "tokenizer: ko, eojeol (most letters are Hangul)" in told
    assert korean == tokenised("--language", "ko")[1]
    assert "tokenizer: ko, syllable (by the unit)" in tokenised("--unit", "syllable")[0]
    assert "tokenizer: en, word (as given)" in tokenised("--language", "en")[0]
    raw.write_text("Anna skis.\n", "utf-8")
    assert "tokenizer: en, word (most letters are not Hangul)" in tokenised()[0]


def test_tokenise_refuses_unreadable_input_and_unwritable_output(gonie: Gonie, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"caf\xe9\n")
    assert gonie("data", "tokenise", bad, "--out", tmp_path / "out.txt").refused("bad.txt:1")
    assert gonie("data", "tokenise", bad, "--out", tmp_path / "no" / "out.txt").refused("folder")
    assert gonie("data", "tokenise", bad, "--language", "xx", "--out", tmp_path / "o").refused("xx/word")
    assert {path.name for path in tmp_path.iterdir()} == {"bad.txt"}


KOREAN = {
    "klue-ner.tsv": "format: klue ",
    "klue-ynat.json": "text column: title",
    "klue-re.json": "format: klue-re",
    "klue-nli.json": "premise and hypothesis",
    "klp2016.txt": "format: klp2016",
    "naver.txt": "format: naver",
    "nikl-ne.json": "format: nikl",
    "sejong.txt": "format: sejong",
    "slashed.txt": "format: slashed",
}


@pytest.mark.parametrize("name", KOREAN)
def test_korean_corpora_are_read_without_options(gonie: Gonie, tmp_path: Path, name: str) -> None:
    """As published, as saved on Windows, and in an encoding that must be converted."""
    text = (FILES / name).read_text("utf-8")
    windows, older = tmp_path / f"windows-{name}", tmp_path / f"older-{name}"
    windows.write_bytes(text.replace("\n", "\r\n").encode("utf-8-sig"))
    older.write_bytes(text.replace("😀", "").encode("cp949"))
    for path in (FILES / name, windows):
        outcome = gonie("data", "check", path)
        assert outcome.code == 0, outcome.err
        assert KOREAN[name] in outcome.out
    outcome = gonie("data", "check", older)
    assert outcome.refused("1 of 1 files have errors")
    assert "The encoding may be CP949. Run: iconv -f CP949 -t UTF-8" in " ".join(outcome.out.split())
