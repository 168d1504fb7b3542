"""CoNLL column files: a wrong guess would silently train on the wrong column."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.formats import conll as columns
from gonie.formats.tagged import TaggedSource
from gonie.text.report import Report
from gonie.text.types import Sentence


def read(text: str, **options: object) -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    rows = list(enumerate(text.split("\n"), 1))
    return list(columns.read(rows, report=report, **options)), report  # type: ignore[arg-type]


def pairs(sentences: list[Sentence]) -> list[list[tuple[str, str]]]:
    return [list(zip(s.words, s.tags or (), strict=True)) for s in sentences]


def test_tab_separated_columns_are_read() -> None:
    sentences, report = read("EU\tB-ORG\nrejects\tO\n\nPeter\tB-PER\nBlackburn\tI-PER")
    assert pairs(sentences) == [
        [("EU", "B-ORG"), ("rejects", "O")],
        [("Peter", "B-PER"), ("Blackburn", "I-PER")],
    ]
    assert (report.sentences, report.tokens) == (2, 4)
    assert [(s.path, s.line) for s in sentences] == [("f", 1), ("f", 4)]
    assert report.choices["separator"][0] == "tabs"


def test_conll_2003_documents_and_further_columns_are_read() -> None:
    text = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\n"
    text += "-DOCSTART- -X- O O\nPeter NNP I-NP I-PER\n"
    sentences, report = read(text, columns={"pos": 1, "chunk": -2})
    assert pairs(sentences) == [[("EU", "I-ORG"), ("rejects", "O")], [("Peter", "I-PER")]]
    assert sentences[0].columns == {"pos": ("NNP", "VBZ"), "chunk": ("I-NP", "I-VP")}
    assert report.documents == 2


@pytest.mark.parametrize("odd", ["Peter I-PER", "Peter\tI-PER", "Peter  I-PER", " Peter I-PER "])
@pytest.mark.parametrize("separator", ["\t", " "])
def test_lines_with_other_white_space_are_read_and_counted(odd: str, separator: str) -> None:
    """Real files mix tabs and spaces. The tag must look like a tag, so that ``New York`` is not split."""
    lines = [f"EU{separator}I-ORG", f"rejects{separator}O", odd, f"Blackburn{separator}I-PER"]
    sentences, report = read("\n".join(lines))
    assert pairs(sentences) == [
        [("EU", "I-ORG"), ("rejects", "O"), ("Peter", "I-PER"), ("Blackburn", "I-PER")]
    ]
    straight = odd.split(separator) == ["Peter", "I-PER"] or (separator == " " and "\t" not in odd)
    assert bool(report.noticed) != straight


@given(
    st.lists(
        st.lists(st.sampled_from(["\t", " ", "  ", " \t"]), min_size=3, max_size=3), min_size=6, max_size=20
    )
)
def test_columns_between_any_tabs_and_spaces_are_read(gaps: list[list[str]]) -> None:
    """Files edited by hand mix separators within a line, in the same order or not."""
    rows = [(f"w{at}", "NNP", "I-NP", "I-ORG" if at % 3 else "O") for at in range(len(gaps))]
    lines = [
        f"{w}{a}{pos}{b}{chunk}{c}{tag}" for (w, pos, chunk, tag), (a, b, c) in zip(rows, gaps, strict=True)
    ]
    sentences, _ = read("\n".join(lines))
    assert pairs(sentences) == [[(row[0], row[3]) for row in rows]]


def test_words_with_spaces_stay_whole_between_tabs() -> None:
    lines = ["New York\tB-LOC", "is\tO", "in\tO", "the\tO", "United States\tB-LOC", "today\tO"]
    assert pairs(read("\n".join(lines))[0])[0][0] == ("New York", "B-LOC")


def test_a_document_line_ends_a_sentence() -> None:
    sentences, _ = read("a\tO\n-DOCSTART-\tO\nb\tO")
    assert [s.words for s in sentences] == [("a",), ("b",)]


def test_numbered_tokens_and_columns_after_the_tag_are_read() -> None:
    text = "# sent_id = 1\n# text = Al-Zaman : x\n1\tAl\tB-ORG\t-\tann\n2\t-\tI-ORG\t-\tann\n"
    text += "3\tZaman\tI-ORG\t-\tann\n4\t:\tO\t-\t-\n5\tx\tO\t-\t-\n\n1\tHi\tO\t-\t-\n"
    sentences, report = read(text)
    assert sentences[0].words == ("Al", "-", "Zaman", ":", "x")
    assert sentences[0].tags == ("B-ORG", "I-ORG", "I-ORG", "O", "O")
    assert sentences[0].text == "Al-Zaman : x"
    assert sentences[0].offsets() == [(0, 2), (2, 3), (3, 8), (9, 10), (11, 12)]
    assert (sentences[1].text, sentences[1].line) == (None, 9)
    assert (report.choices["word column"][0], report.choices["tag column"][0]) == ("1", "2")
    assert report.comments == 2


def test_numbers_as_words_are_not_token_numbers() -> None:
    sentences, _ = read("1\tO\n\n2\tO\n")
    assert [s.words for s in sentences] == [("1",), ("2",)]


def test_multiword_rows_are_skipped_and_counted() -> None:
    sentences, report = read("1-2\tdon't\t_\n1\tdo\tO\n2\tn't\tO\n3\tEve\tB-PER\n")
    assert sentences[0].words == ("do", "n't", "Eve")
    assert report.skipped.total() == 1
    assert list(report.rows) == [2, 3, 4]


def test_a_word_may_begin_with_a_hash() -> None:
    """WNUT and CrossNER have such tokens. Reading them as comments would shift all later gold entities."""
    sentences, report = read("# a comment\n#\tO\n#hashtag\tB-X\n#also a comment\nend\tO")
    assert sentences[0].words == ("#", "#hashtag", "end")
    assert report.comments == 2
    sentences, report = read("# newdoc\npaid VBD O\n# # B-NP\n1.2 CD I-NP\n# not a token\n")
    assert sentences[0].words == ("paid", "#", "1.2")
    assert report.comments == 2
    assert read("#a\tO\n#b\tO")[0][0].words == ("#a", "#b")
    assert read("# only\n# comments\n") == ([], Report(path="f"))


def test_white_space_lines_end_sentences() -> None:
    assert len(read("a\tO\n\t\nb\tO\n   \n\u3000\nc\tO")[0]) == 3


def test_columns_may_be_separated_by_several_ascii_spaces() -> None:
    sentences, _ = read("1\u00a0000   B-X\nb O ")
    assert pairs(sentences) == [[("1\u00a0000", "B-X"), ("b", "O")]]


def test_columns_are_counted_from_either_end() -> None:
    text = "a\tX\tO\tp\nb\tY\tB-Z\tq"
    assert read(text, word_column=-1, tag_column=1)[0][0].words == ("p", "q")
    assert read(text, word_column=-1, tag_column=1)[0][0].tags == ("X", "Y")
    with pytest.raises(InputError, match=r"f: no tag column 4: the file has 4 columns.*0 to 3, or -1 to -4"):
        read(text, tag_column=4)


def test_the_word_column_is_refused_as_the_tag_column() -> None:
    """Otherwise every word would be a tag of its own, and the model would learn to copy words."""
    for column in (0, -3):
        with pytest.raises(
            InputError, match=r"f: column 0 is the column of the words.*--tag-column N.*--word-"
        ):
            read("Anna\tNNP\tB-PER\nsleeps\tVBZ\tO\n", tag_column=column)
    tagged, _ = read("B-PER\tAnna\nO\tsleeps\n", word_column=1, tag_column=0)
    assert tagged[0].tags == ("B-PER", "O")


def test_a_given_column_of_other_values_is_noted_with_the_column_of_entity_tags() -> None:
    """Names of annotators, say, would be learned as tags. Parts of speech may be what is wanted."""
    text = "Anna\tB-PER\tstephen\nsleeps\tO\tstephen\n"
    told = "as given, but only the values of column 1 look like B-X, I-X and O"
    assert read(text, tag_column=2)[1].choices["tag column"] == ("2", told)
    assert read(text, tag_column=1)[1].choices["tag column"] == ("1", "as given")
    assert read("a\tX\tY\n", tag_column=1)[1].choices["tag column"] == ("1", "as given")


def test_the_tag_column_is_the_last_that_looks_like_tags() -> None:
    assert read("a\tNN\tB-X\t7\nb\tVB\tO\t8")[0][0].tags == ("B-X", "O")
    assert read("a\tB-NP\tB-X\nb\tO\tO")[0][0].tags == ("B-X", "O")
    assert read("a\tO\t7\nb\tO\t8")[0][0].tags == ("O", "O")  # nothing but O so far
    sentences, report = read("a\tDT\tx\nb\tNN\ty")
    assert sentences[0].tags == ("x", "y")
    assert "no column looks like" in report.choices["tag column"][1]


def test_a_single_column_has_no_tags() -> None:
    sentences, report = read("one\ntwo\n\nthree")
    assert [(s.words, s.tags) for s in sentences] == [(("one", "two"), None), (("three",), None)]
    assert report.choices["tag column"][0] == "none"


def test_a_separator_may_be_given() -> None:
    assert read("a||B-X\nb||O", separator="||")[0][0].tags == ("B-X", "O")
    assert read("a b\tB-X\nc\tO", separator="tab")[0][0].words == ("a b", "c")
    with pytest.raises(InputError, match="f:1: columns are not separated by tabs: 'a O'"):
        read("a O\nb O", separator="tab")


def test_offsets_require_a_matching_text() -> None:
    sentences, report = read("# text = do n't\ndo\tO\nn't\tO\n\n# text = other\nwords\tO\n")
    assert sentences[0].offsets() == [(0, 2), (3, 6)]
    assert sentences[1].text is None
    assert sum(report.noticed.values()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a\tO\nb\tO\tO\nc\tO",
            "f:2: expected 2 columns .* got 3 columns: 'b\\\\tO\\\\tO'",
        ),
        ("a\tO\nb\tO\nNew York", "f:3: expected 2 columns .* got 1 column with tabs and spaces mixed"),
        ("a O\nb O\nc\td", "f:3: expected 2 columns separated by spaces, .* with tabs and spaces mixed"),
        ("a\tO\n\tO\nc\tO", "f:2: empty word column"),
        ("a\tO\nb\t\nc\tO", "f:2: empty tag column"),
    ],
)
def test_uneven_lines_are_refused_with_their_line_number(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(text)


def test_an_uneven_line_after_the_peeked_lines_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "PEEK", 10)
    with pytest.raises(InputError, match="f:101:"):
        read("a\tO\n" * 100 + "b")


def test_detection_reads_past_many_comment_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "PEEK", 5)
    sentences, report = read("# c\n" * 23 + "a\tB-X\nb\tO")
    assert (sentences[0].tags, report.comments) == (("B-X", "O"), 23)


def test_sentences_are_streamed() -> None:
    """A corpus may be larger than memory."""

    def endless() -> object:
        number = 0
        while True:
            number += 1
            yield number, "" if number % 5 == 0 else "w\tB-X"

    stream = columns.read(endless(), report=Report())  # type: ignore[arg-type]
    assert [len(next(stream)) for _ in range(1000)] == [4] * 1000


def test_a_sentence_of_100_000_tokens_is_read() -> None:
    sentences, _ = read("w\tO\n" * 100_000)
    assert [len(s) for s in sentences] == [100_000]


# --- writing ---

word = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "Cc"]), min_size=1, max_size=6)
sentence = st.lists(st.tuples(word, st.sampled_from(["O", "B-X", "I-X"])), min_size=1, max_size=6).map(
    lambda rows: Sentence(tuple(w for w, _ in rows), tuple(t for _, t in rows))
)


@settings(deadline=None, max_examples=150)
@given(st.lists(sentence, min_size=1, max_size=5))
def test_sentences_survive_writing_and_reading(sentences: list[Sentence]) -> None:
    text = "".join(columns.write(sentences))
    if any(w.startswith("-DOCSTART-") for s in sentences for w in s.words):
        return
    back, _ = read(text, word_column=0, tag_column=1)
    assert pairs(back) == pairs(sentences)


def test_text_offsets_and_columns_are_written() -> None:
    whole = "One. Two three"
    cut = Sentence(("Two", "three"), ("O", "B-X"), {"pos": ("CD", "CD")}, whole, (5, 9), (8, 14))
    text = "".join(columns.write([cut], columns=["pos"]))
    assert text == "# text = Two three\nTwo\tCD\tO\nthree\tCD\tB-X\n\n"
    assert "".join(columns.write([Sentence(("a",))])) == "a\n\n"


@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "", " ", "# x", "-DOCSTART-"])
def test_words_that_could_not_be_read_back_are_refused(bad: str) -> None:
    with pytest.raises(InputError, match="a column file cannot store the word"):
        list(columns.write([Sentence((bad,), ("O",))]))


def test_tags_in_only_some_sentences_are_refused() -> None:
    with pytest.raises(InputError, match="unlike the first sentence"):
        list(columns.write([Sentence(("a",), ("O",)), Sentence(("b",))]))


# --- the corpora ---


@pytest.mark.parametrize(
    ("path", "sentences", "tokens", "types"),
    [
        ("ner/uner_english_ewt/en_ewt-ud-dev.iob2", 2001, 25149, 3),
        ("ner/wnut17/wnut17train.conll", 3394, 62730, 6),
        ("ner/wnut17/emerging.test.annotated", 1287, 23394, 6),
        ("ner/crossner/ai/test.txt", 431, 12991, 14),
        ("ner/bc5cdr/devel.tsv", 4581, 117453, 2),
        ("ner/ncbi_disease/train.tsv", 5424, 135701, 1),
    ],
)
def test_counts_match_the_published_corpora(
    shared_data: Path, path: str, sentences: int, tokens: int, types: int
) -> None:
    from gonie.system.files import lines

    report = Report(path=path)
    tags = {tag for s in columns.read(lines(shared_data / path), report=report) for tag in s.tags or ()}
    assert (report.sentences, report.tokens) == (sentences, tokens)
    assert len({tag[2:] for tag in tags} - {""}) == types
    assert report.noticed.total() == 0


@pytest.mark.parametrize("numbers", [(1, 2, 3, 4, 5), (12, 7, 19, 31, 22)])
def test_two_columns_of_numbers_and_tags_have_no_words(numbers: tuple[int, ...]) -> None:
    """As the eojeol numbers of a Korean corpus whose words are lost. The tags are no words either."""
    with pytest.raises(InputError, match=r"the words seem to be numbers.*Write the word before each tag"):
        read("".join(f"{number}\tB-PS\n" for number in numbers))


def test_columns_of_numbers_and_of_ontonotes_are_not_read_as_words() -> None:
    """A document name or a sentence number would be learned."""
    ontonotes = (
        "bc/x 0 0 Hana NNP (TOP(S(NP*) - - - Sp#1 (PERSON) (ARG0*) (1)\nbc/x 0 1 ran VBD (VP*) - - - S * * -"
    )
    with pytest.raises(InputError, match="CoNLL-2012"):
        read(ontonotes)
    with pytest.raises(InputError, match=r"the words seem to be numbers: 1, 1, 2.*--word-column N"):
        read("1 Hana B-PER\n1 came O\n2 Kim B-PER\n2 left O\n3 again O")
    assert pairs(read("0 Hana B-PER\n1 came O\n\n0 Kim B-PER\n1 left O")[0])[0][0] == ("Hana", "B-PER")


def test_a_hash_before_a_tab_is_a_token_of_a_file_with_spaces() -> None:
    """As a comment, the word and its entity would be lost."""
    sentences, report = read("Pay O\n#\tB-ORG\nrent O\n# a comment")
    assert pairs(sentences) == [[("Pay", "O"), ("#", "B-ORG"), ("rent", "O")]]
    assert report.comments == 1


def test_lines_that_end_in_cr_alone_are_refused(tmp_path: Path) -> None:
    """They would be one line, of which all but two words are lost."""
    (tmp_path / "f").write_bytes(b"a B-X\rb O\r\rc O\r")
    with pytest.raises(InputError, match="end in CR alone"):
        list(TaggedSource(tmp_path / "f"))
