"""User dictionaries: a faulty line must be named, not passed to Kiwi, which accepts nearly anything."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.text.tokenizers import tokenizer
from gonie.text.tokenizers.settings import TokenizerSettings
from gonie.text.tokenizers.user_dictionary import UserWord, parse_word, read_user_dictionary


def test_entries_have_a_form_a_tag_and_perhaps_a_score(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("# 이름\n고니\tNNP\n\n케이 팝\tNNG\t3.5\n", encoding="utf-8")
    entries = read_user_dictionary(path)
    assert entries == ("고니\tNNP", "케이 팝\tNNG\t3.5")
    assert [parse_word(entry) for entry in entries] == [
        UserWord("고니", "NNP"),
        UserWord("케이 팝", "NNG", 3.5),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("고니", "expected 2 or 3 columns, got 1"),
        ("고니\tNNP\t1\t2", "expected 2 or 3 columns, got 4"),
        ("고니\tNOUN", "unknown tag: 'NOUN'"),
        ("\tNNP", "invalid form: ''"),
        ("고" * 101 + "\tNNP", "invalid form"),
        ("고니\tNNP\tnan", "invalid score: 'nan'"),
        ("고니\tNNP\thigh", "invalid score: 'high'"),
        ("고니\tNNP\t1e30", "invalid score"),
    ],
)
def test_a_faulty_line_is_named(tmp_path, line, said):
    path = tmp_path / "words.tsv"
    path.write_text(f"고니\tNNP\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as refusal:
        read_user_dictionary(path)
    assert str(refusal.value).startswith(f"{path}:2: ")
    assert said in str(refusal.value)


def test_a_file_without_entries_is_refused(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("# nothing\n", encoding="utf-8")
    with pytest.raises(InputError, match="no entries"):
        read_user_dictionary(path)


def test_a_tokenizer_keeps_its_entries():
    cut = tokenizer(language="ko", unit="morpheme", user_dictionary=["고니\tNNP"])
    saved = cut.to_json()
    assert saved == {"language": "ko", "unit": "morpheme", "user_dictionary": ["고니\tNNP"]}
    assert tokenizer(**saved).to_json() == saved
    assert TokenizerSettings("ko", "morpheme", user_dictionary=("고니\tNNP",)).tokenizer().to_json() == saved


@pytest.mark.parametrize(("language", "unit"), [("ko", "syllable"), ("ko", "eojeol"), ("en", "word")])
def test_other_units_refuse_a_dictionary(language, unit):
    with pytest.raises(InputError, match="only to Korean morphemes"):
        tokenizer(language=language, unit=unit, user_dictionary=["고니\tNNP"])


def test_invalid_entries_are_refused_by_the_tokenizer():
    with pytest.raises(InputError, match="unknown tag"):
        tokenizer(language="ko", unit="morpheme", user_dictionary=["고니\tX"])
