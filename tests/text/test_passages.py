"""Splitting texts into sentences: offsets refer to the original text, and every cut is reported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats.labelled import LabelledSource
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import cut_marks
from gonie.text.passages import BLANK, By, Passages
from gonie.text.report import Report
from gonie.text.tokenizers import EnglishTokenizer, EojeolTokenizer, SyllableTokenizer
from gonie.text.types import Sentence, Span

ENGLISH = EnglishTokenizer()


def cut(text: str, by: By = "text", names: tuple[str, ...] = (), **limits: int) -> list[Sentence]:
    clean, marks = cut_marks(text, names)
    return list(Passages(tokenizer=ENGLISH, by=by, **limits)(LabelledText(clean, (), marks)).sentences)


def words(sentences: list[Sentence]) -> list[str]:
    return [" ".join(sentence.words) for sentence in sentences]


def test_a_text_becomes_one_sentence_or_several() -> None:
    text = "It rains. He said <s> that we go! <s>  <s> Fine."
    assert words(cut("It rains. We go!")) == ["It rains . We go !"]
    assert words(cut("It rains. We go!", "sentence")) == ["It rains .", "We go !"]
    assert words(cut(text, "mark")) == ["It rains . He said", "that we go !", "Fine ."]


def test_marks_surround_their_tokens() -> None:
    text = "The <e1>big staff</e1> of a <e2>shop</e2>."
    (sentence,) = cut(text, names=("e1", "e2"))
    assert words([sentence]) == ["The <e1> big staff </e1> of a <e2> shop </e2> ."]
    assert sentence.surface == "The big staff of a shop."
    assert dict(zip(sentence.words, sentence.offsets(), strict=True)) == {
        "The": (0, 3),
        "<e1>": (4, 4),
        "big": (4, 7),
        "staff": (8, 13),
        "</e1>": (13, 13),
        "of": (14, 16),
        "a": (17, 18),
        "<e2>": (19, 19),
        "shop": (19, 23),
        "</e2>": (23, 23),
        ".": (23, 24),
    }


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("of doves<e2>moles</e2>", "of doves <e2> moles </e2>"),
        ("<e1>student</e1>-<e2>association</e2>", "<e1> student </e1> - <e2> association </e2>"),
        ("<e1>a <e2>b</e2></e1>", "<e1> a <e2> b </e2> </e1>"),
        ("<e1>a</e1><e2>b</e2>", "<e1> a </e1> <e2> b </e2>"),
        ("<e2><e1>both</e1></e2>", "<e1> <e2> both </e2> </e1>"),
        ("<e1> a </e1>", "<e1> a </e1>"),
    ],
)
def test_marks_may_be_inside_words_and_nested(text: str, shown: str) -> None:
    assert sorted(words(cut(text, names=("e1", "e2")))[0].split()) == sorted(shown.split())
    if "both" not in text:  # the order of two marks of the same characters does not matter
        assert words(cut(text, names=("e1", "e2"))) == [shown]


def test_a_mark_may_span_sentences() -> None:
    text = "It <e1>rains. We</e1> go!"
    assert words(cut(text, "sentence", ("e1",))) == ["It <e1> rains .", "We </e1> go !"]


def test_marks_without_tokens_are_counted() -> None:
    report = Report()
    clean, marks = cut_marks("a <e1> </e1>b", ("e1",))
    assert words(Passages(tokenizer=ENGLISH)(LabelledText(clean, (), marks), report).sentences) == ["a b"]
    assert report.noticed == {"marks that contain no token": 1}


def test_columns_follow_their_tokens() -> None:
    class Analysing(SyllableTokenizer):
        def __call__(self, text: str) -> list[Sentence]:
            whole = super().__call__(text)[0]
            joined = ("".join(whole.words),)
            return [Sentence(joined, None, {"morphemes": ("x/Y",)}, text, (0,), (len(text),))]

    (sentence,) = Passages(tokenizer=Analysing())(
        LabelledText("서울은", (), (Span(0, 2, "e1", "서울"),))
    ).sentences
    assert sentence.words == ("<e1>", "서울", "</e1>", "은")
    assert sentence.columns == {"morphemes": ("", "x/Y", "", "x/Y")}


def test_long_texts_and_sentences_are_cut_and_counted() -> None:
    report = Report()
    passages = Passages(tokenizer=ENGLISH, by="sentence", max_tokens=3, max_sentences=2)
    assert words(passages(LabelledText("It rains on. We go! Fine."), report).sentences) == [
        "It rains on",
        "We go !",
    ]
    assert words(passages(LabelledText("Fine."), report).sentences) == ["Fine ."]
    assert report.noticed == {"texts cut to 2 sentences": 1, "sentences cut to 3 tokens": 1}
    assert (report.sentences, report.tokens) == (3, 8)


@pytest.mark.parametrize("by", ["text", "sentence", "mark"])
def test_an_empty_text_becomes_one_unknown_word(by: By) -> None:
    for blank in ("", "  \n "):
        report = Report()
        (sentence,) = Passages(tokenizer=ENGLISH, by=by)(
            LabelledText(blank, (), (), "f", 3), report
        ).sentences
        assert (sentence.words, sentence.offsets(), sentence.line) == ((BLANK,), [(0, 0)], 3)
        assert report.noticed.total() == 1
    assert ENGLISH(BLANK) == []


@settings(deadline=None)
@given(st.text("ab .!<s>'\n가-", max_size=30), st.sampled_from(["text", "sentence", "mark"]), st.data())
def test_every_offset_points_to_its_word(text: str, by: By, data: st.DataObject) -> None:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=2)))
    mark = Span(places[0], places[1], "e", text[places[0] : places[1]])
    for tokenizer in (ENGLISH, EojeolTokenizer()):
        sentences = Passages(tokenizer=tokenizer, by=by)(LabelledText(text, (), (mark,))).sentences
        shown = [
            (word, start, end)
            for sentence in sentences
            for word, (start, end) in zip(sentence.words, sentence.offsets(), strict=True)
        ]
        assert all(sentence.text == text and sentence.words for sentence in sentences)
        real = [token for token in shown if token[0] not in ("<e>", "</e>", BLANK)]
        assert all(text[start:end] == word for word, start, end in real)
        read = text.replace("<s>", "") if by == "mark" else text
        assert "".join(word for word, _, _ in real) == "".join(read.split())
        inside, wrapped = False, ""
        for word, _, _ in shown:
            inside = {"<e>": True, "</e>": False}.get(word, inside)
            wrapped += word if inside and word != "<e>" else ""
        if "<s>" not in text:
            assert wrapped == "".join(mark.text.split())


def test_the_running_text_contains_no_sentence_marks() -> None:
    text = LabelledText("a <s> b")
    assert Passages(tokenizer=ENGLISH, by="mark")(text).running.split() == ["a", "b"]
    assert Passages(tokenizer=ENGLISH)(text).running == "a <s> b"


def test_saved_settings_split_the_same_way() -> None:
    passages = Passages(tokenizer=ENGLISH, by="mark", mark="|", max_tokens=4, max_sentences=2)
    again = Passages.from_json(json.loads(json.dumps(passages.to_json())))
    text = LabelledText("a b c d e|f|g")
    assert again(text) == passages(text)
    assert again.to_json() == passages.to_json()


def test_a_blank_sentence_mark_is_refused() -> None:
    with pytest.raises(InputError, match="blank sentence mark"):
        Passages(tokenizer=ENGLISH, by="mark", mark=" ")


def test_every_marked_nominal_of_semeval_is_found(shared_data: Path) -> None:
    passages = Passages(tokenizer=ENGLISH)
    report = Report()
    for text in LabelledSource(shared_data / "classify" / "semeval2010_task8" / "TEST_FILE_FULL.TXT"):
        (sentence,) = passages(text, report).sentences
        assert {"<e1>", "</e1>", "<e2>", "</e2>"} <= set(sentence.words)
    assert not report.noticed
