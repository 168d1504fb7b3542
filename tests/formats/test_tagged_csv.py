"""CSV with one token per row: sentences must not be joined, cut, or lose their tags."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats.format import ReadOptions
from gonie.formats.tagged import TaggedSource, write
from gonie.text.types import Sentence

FIRST = """\
Sentence #,Word,POS,Tag
Sentence: 1,Ann,NNP,B-per
,left,VBD,O
Sentence: 2,"1,000",CD,O
,ran,VBD,O
"""
WORDS = [("Ann", "left"), ("1,000", "ran")]
TAGS = [("B-per", "O"), ("O", "O")]


def source(folder: Path, text: str, name: str = "f.csv", **options: object) -> TaggedSource:
    (folder / name).write_text(text, "utf-8")
    return TaggedSource(folder / name, ReadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        FIRST,
        FIRST.replace("\n,l", "\nSentence: 1,l").replace("\n,r", "\nSentence: 2,r"),
        'sentence_id,words,labels\n0,Ann,B-per\n0,left,O\n1,"1,000",O\n1,ran,O\n',
        'word,ner\nAnn,B-per\nleft,O\n\n"1,000",O\nran,O\n',
        'token,tag\nAnn,B-per\nleft,O\n,\n"1,000",O\nran,O\n',
        "sent_id;token;tag\n1;Ann;B-per\n1;left;O\n2;1,000;O\n2;ran;O\n",
        "Sentence\tWord\tTag\n1\tAnn\tB-per\n1\tleft\tO\n2\t1,000\tO\n2\tran\tO\n",
        ',sentence_idx,word,tag\n0,1,Ann,B-per\n1,1,left,O\n2,2,"1,000",O\n3,2,ran,O\n',
    ],
)
@pytest.mark.parametrize("name", ["f.csv", "f.txt"])
def test_the_tables_of_kaggle_and_pandas_are_recognised(text: str, name: str, tmp_path: Path) -> None:
    found = source(tmp_path, text, name)
    sentences = list(found)
    assert [each.words for each in sentences] == WORDS
    assert [each.tags for each in sentences] == TAGS
    assert found.report.choices["format"][0] == "csv"
    assert (found.report.sentences, found.report.tokens) == (2, 4)


def test_other_columns_can_be_tags_or_features(tmp_path: Path) -> None:
    assert next(iter(source(tmp_path, FIRST))).columns == {"POS": ("NNP", "VBD")}
    for column in ("POS", "pos", 2, -2):
        assert next(iter(source(tmp_path, FIRST, tag_column=column))).tags == ("NNP", "VBD")


def test_a_row_without_a_word_is_skipped_and_counted(tmp_path: Path) -> None:
    found = source(tmp_path, FIRST.replace(",left,", ",,"))
    assert [each.words for each in found] == [("Ann",), WORDS[1]]
    assert found.report.skipped == {"rows without a word": 1}


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (FIRST.replace("VBD,O", "VBD,"), {}, "f.csv:3: no tag. Write O"),
        (FIRST.replace('"1,000"', "1,000"), {}, "f.csv:4: expected 4 columns separated by commas, got 5"),
        (FIRST, {"tag_column": "NER"}, "f.csv:1: no column of tags 'NER'; the columns are 'Sentence #, Word"),
        ("Sentence #,Word,POS,Tag\n", {}, "f.csv:1: no rows below the header"),
        ("a,b\nc,d\n", {"format": "csv"}, "f.csv:1: no column of words; the columns are 'a, b'"),
        ("word,tag\nAnn,B-per\nleft,O\n", {}, "name its columns sentence, word and tag"),
    ],
)
def test_tables_that_cannot_be_read_say_why(
    text: str, options: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        list(source(tmp_path, text, **options))


def test_a_table_of_texts_is_not_taken_for_tokens(tmp_path: Path) -> None:
    """A column ``sentence`` usually has sentences, not their numbers."""
    with pytest.raises(InputError, match="a file of labelled texts"):
        list(source(tmp_path, "sentence,word,label\nThe bank is closed.,bank,1\nA river bank.,bank,2\n"))


@pytest.mark.parametrize("tags", [TAGS, [None, None]])
def test_what_is_written_is_read_again(tags: list[tuple[str, ...] | None], tmp_path: Path) -> None:
    sentences = [Sentence(words, own) for words, own in zip(WORDS, tags, strict=True)]
    write(tmp_path / "f.csv", sentences, "csv")
    found = list(TaggedSource(tmp_path / "f.csv", ReadOptions(format="csv" if None in tags else "auto")))
    assert [(each.words, each.tags) for each in found] == list(zip(WORDS, tags, strict=True))


def test_tagged_and_untagged_sentences_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only some rows have the column tag"):
        write(tmp_path / "f.csv", [Sentence(WORDS[0]), Sentence(WORDS[1], TAGS[1])], "csv")
