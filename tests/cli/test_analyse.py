"""Tests `gonie analyse`: every output, files, standard input and mistakes."""

from __future__ import annotations

import json
import unicodedata

import pytest
import typer
from typer.testing import CliRunner

from gonie.cli.analyse import analyse
from gonie.errors import InputError

pytest.importorskip("kiwipiepy")
TEXT = "밥을 했다. 예쁜 꽃"


def run(*arguments: str, given: str | None = None) -> str:
    app = typer.Typer()
    app.command()(analyse)
    result = CliRunner().invoke(app, arguments, input=given)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_text_has_a_line_per_sentence_and_a_group_per_eojeol():
    assert run(TEXT) == "밥/NNG+을/JKO 하/VV+었/EP+다/EF+./SF\n예쁘/VA+ㄴ/ETM 꽃/NNG\n"


def test_tags_are_those_of_sejong():
    """Kiwi has VV-I, XSM, Z_CODA and W_SERIAL."""
    assert run("요란히 걸었엌 010-1234-5678") == "요란히/MAG 걷/VV+었/EP+어/EF+ㅋ/NA 010-1234-5678/SN\n"


def test_columns_have_forms_tags_and_offsets():
    assert run(TEXT, "--output", "conll").split("\n") == [
        "밥\t밥\tNNG\t0\t1",
        "을\t을\tJKO\t1\t2",
        "했\t하+었\tVV+EP\t3\t4",
        "다\t다\tEF\t4\t5",
        ".\t.\tSF\t5\t6",
        "",
        "예쁜\t예쁘+ㄴ\tVA+ETM\t7\t9",
        "꽃\t꽃\tNNG\t10\t11",
        "",
        "",
    ]


def test_records_have_exact_offsets():
    record = json.loads(run(f"😀 {TEXT}", "--output", "jsonl"))
    assert record["text"] == f"😀 {TEXT}"
    assert [record["text"][each["start"] : each["end"]] for each in record["sentences"]] == [
        "😀 밥을 했다.",
        "예쁜 꽃",
    ]
    assert all(record["text"][each["start"] : each["end"]] == each["text"] for each in record["tokens"])
    assert record["tokens"][3]["morphemes"] == [{"form": "하", "tag": "VV"}, {"form": "었", "tag": "EP"}]


def test_each_line_of_standard_input_is_a_text():
    records = [json.loads(line) for line in run("--output", "jsonl", given="하나\n\n둘\n").splitlines()]
    assert [(each["text"], len(each["tokens"])) for each in records] == [("하나", 1), ("", 0), ("둘", 1)]


def test_files_and_a_user_dictionary(tmp_path):
    texts, words = tmp_path / "texts.txt", tmp_path / "words.tsv"
    texts.write_text("고니툴킷봇을 샀다\n", encoding="utf-8")
    words.write_text("고니툴킷봇\tNNP\t3\n", encoding="utf-8")
    assert run("--file", str(texts), "--user-dictionary", str(words)).startswith("고니툴킷봇/NNP+을/JKO ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["가", "--output", "xml"], "--output xml is not supported"),
        (["가", "--user-dictionary", "none.tsv"], "file not found"),
    ],
)
def test_mistakes_are_explained(arguments, said):
    with pytest.raises(InputError, match=said):
        run(*arguments)


def test_decomposed_text_is_analysed_like_composed_text():
    decomposed = unicodedata.normalize("NFD", "예쁜 꽃")
    assert run(decomposed) == run("예쁜 꽃")
    assert run("ＬＧ　전자") == run("LG 전자")
