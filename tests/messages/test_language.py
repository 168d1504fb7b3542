"""The choice of the language, and that machine-readable output does not depend on it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from gonie.cli.main import app
from gonie.errors import InputError
from gonie.messages import chosen_language, language, say, use_language, without_language
from gonie.messages.templates import read_table
from support.korean_words import english_words, own_names


@pytest.mark.parametrize(
    ("arguments", "environment", "wanted"),
    [
        ([], {}, "en"),
        ([], {"LANG": "ko_KR.UTF-8"}, "ko"),
        ([], {"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}, "en"),
        ([], {"LC_MESSAGES": "ko"}, "ko"),
        ([], {"LANG": "fr_FR.UTF-8"}, "en"),
        ([], {"LANG": "kok_IN"}, "en"),
        ([], {"GONIE_LANG": "ko", "LC_ALL": "en_US"}, "ko"),
        (["--lang", "en"], {"GONIE_LANG": "ko"}, "en"),
        (["tag", "m", "--lang=ko"], {}, "ko"),
        (["tag", "m", "--", "--lang", "ko"], {}, "en"),
    ],
)
def test_the_option_comes_before_the_variable_and_the_locale(arguments, environment, wanted):
    assert chosen_language(arguments, environment) == wanted


@pytest.mark.parametrize(
    ("arguments", "environment"), [(["--lang", "xx"], {}), (["--lang"], {}), ([], {"GONIE_LANG": "xx"})]
)
def test_an_unknown_language_is_refused(arguments, environment):
    with pytest.raises(InputError, match="Use en or ko"):
        chosen_language(arguments, environment)


def test_the_option_is_taken_out_of_the_arguments():
    given = ["--lang", "ko", "tag", "m", "--lang=en", "x", "--", "--lang", "y"]
    assert without_language(given) == ["tag", "m", "x", "--", "--lang", "y"]


def test_a_block_speaks_a_language():
    assert (language(), say("file not found")) == ("en", "file not found")
    with use_language("ko"):
        assert (language(), say("file not found")) == ("ko", "파일을 찾을 수 없습니다")
    assert language() == "en"


def gonie(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gonie", *words]
    variables = {"PYTHONPATH": ":".join(sys.path), "PATH": "", "COLUMNS": "100", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=variables)


@pytest.mark.parametrize(
    "words", [("--lang", "ko", "train"), ("train", "--lang", "ko"), ("train", "--lang=ko")]
)
def test_errors_are_in_korean(words):
    found = gonie(*words)
    assert found.returncode == 2
    assert "RECIPE가 필요합니다. 예: gonie train ner-ko mine.klue" in found.stderr


def test_commands_in_messages_are_not_replaced_by_examples():
    with use_language("ko"):
        assert say("Type: gonie train ner mine.conll") == "이렇게 입력하세요: gonie train ner mine.conll"


def walk(command: Any, *path: str) -> Iterator[tuple[str, ...]]:
    yield path
    for name, each in getattr(command, "commands", {}).items():
        yield from walk(each, *path, name)


def test_help_is_in_korean():
    page = gonie("train", "--help", GONIE_LANG="ko").stdout
    for text in (
        "사용법: gonie train",
        "옵션",
        "인자",
        "레시피로 모델을 학습합니다.",
        "[필수]",
        "gonie train ner-ko mine.klue",
    ):
        assert text in page, text


@pytest.mark.parametrize("command", ["train", "tag", "classify", "evaluate", "explain"])
def test_examples_of_help_pages_are_korean(command):
    page = gonie(command, "--help", GONIE_LANG="ko").stdout
    examples = re.findall(r"^ +(?:cat|gonie) .*", page, re.MULTILINE)
    assert len(examples) > 3
    for example in examples:
        assert example.startswith("   "), example
        assert "runs/ner " not in example, example
        assert english_words(" ".join(re.findall(r'"[^"]*"', example)).replace('"', "")) == [], example


@pytest.mark.parametrize("command", list(walk(get_command(app))), ids=" ".join)
def test_other_examples_of_help_pages_are_as_in_english(command, monkeypatch):
    """Commands without an entry of their own are not changed by entries for other texts."""
    monkeypatch.setenv("COLUMNS", "200")
    pages = {}
    for name in ("en", "ko"):
        with use_language(name):
            page = CliRunner().invoke(app, [*command, "--help"], prog_name="gonie").stdout
        pages[name] = re.findall(r"^ +((?:cat|echo|gonie) .*?) *$", page, re.MULTILINE)
    table = {key: text for texts in read_table("ko").values() for key, text in texts.items()}
    assert pages["ko"] == [table.get(f"$ {each}", f"$ {each}")[2:] for each in pages["en"]]


VALUES = """
text json tokens pretty local ray tab blank mixed word eojeol syllable morpheme upos xpos feats misc tsne pca
label codepoints start end
"""
"""Values of options, which help pages name."""


@pytest.mark.parametrize("command", list(walk(get_command(app))), ids=" ".join)
def test_help_is_whole_in_narrow_terminals(command, monkeypatch):
    """Hangul is two columns wide. Lines are wrapped and never cut, and nothing stays English."""
    pages = []
    for width in (400, 80, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        with use_language("ko"):
            pages.append(CliRunner().invoke(app, [*command, "--help"], prog_name="gonie").stdout)
    wide, *narrow = (Counter(re.sub(r"[\s│╭╮╰╯─]", "", page)) for page in pages)
    assert narrow == [wide, wide]
    prose = re.sub(r"^ +(?:cat|echo|gonie) .*", "", pages[0], flags=re.MULTILINE)
    assert english_words(prose, {*own_names(), *VALUES.split()}) == []


def test_tokens_and_exit_codes_are_the_same(tmp_path):
    (tmp_path / "a.txt").write_text("George sleeps. He snores.\n", "utf-8")
    one, other = (
        gonie("data", "tokenise", str(tmp_path / "a.txt"), "--out", str(tmp_path / name), GONIE_LANG=name)
        for name in ("en", "ko")
    )
    assert (one.returncode, other.returncode) == (0, 0), other.stderr
    assert (tmp_path / "en").read_bytes() == (tmp_path / "ko").read_bytes()


def test_english_does_not_load_the_table():
    code = "import sys, gonie.cli.main; sys.exit('gonie.messages.templates' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
