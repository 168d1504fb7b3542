"""CoNLL-U treebanks: the words are those that are scored, with offsets into the raw text."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.errors import InputError
from gonie.formats import conllu
from gonie.formats.tagged import TaggedSource
from gonie.system.files import lines
from gonie.text.report import Report
from gonie.text.types import Sentence


def row(
    identity: str, form: str, upos: str = "X", xpos: str = "_", *, feats: str = "_", misc: str = "_"
) -> str:
    return "\t".join([identity, form, "_", upos, xpos, feats, "0", "dep", "_", misc])


def read(*rows: str, **options: object) -> tuple[list[Sentence], Report]:
    report = Report(path="f")
    return list(conllu.read(enumerate(rows, 1), report=report, **options)), report  # type: ignore[arg-type]


EXAMPLE = (
    "# sent_id = 1",
    "# text = I didn't see.",
    row("1", "I", "PRON", "PRP", feats="Case=Nom"),
    row("2-3", "didn't", misc="SpaceAfter=Yes"),
    row("2", "did", "AUX", "VBD"),
    row("3", "n't", "PART", "RB"),
    row("3.1", "really"),
    row("4", "see", "VERB", "VB", misc="SpaceAfter=No|NER=B-X"),
    row("5", ".", "PUNCT", "."),
    "",
    row("1", "Ja", "INTJ"),
)


def test_words_tags_and_offsets_are_read() -> None:
    (first, second), report = read(*EXAMPLE)
    assert first.words == ("I", "did", "n't", "see", ".")
    assert first.tags == ("PRON", "AUX", "PART", "VERB", "PUNCT")
    assert first.text is not None
    assert [first.text[a:b] for a, b in first.offsets()] == list(first.words)
    assert first.columns["multiword"] == ("_", "2-3:didn't", "2-3:didn't", "_", "_")
    assert (first.line, second.line, second.text) == (3, 11, None)
    assert "multiword" not in second.columns
    assert (report.sentences, report.tokens, report.comments) == (2, 6, 2)
    assert report.skipped == {"empty nodes (n.m)": 1}
    assert report.noticed == {"multiword tokens (n-m)": 1}


def test_line_numbers_are_those_of_the_words() -> None:
    report = Report(path="f")
    next(conllu.read(enumerate(EXAMPLE, 1), report=report))
    assert list(report.rows) == [3, 5, 6, 8, 9]


@pytest.mark.parametrize(
    ("column", "tags"),
    [
        ("xpos", ("PRP", "VBD", "RB", "VB", ".")),
        (4, ("PRP", "VBD", "RB", "VB", ".")),
        ("feats", ("Case=Nom", "_", "_", "_", "_")),
        ("misc:NER", ("O", "O", "O", "B-X", "O")),
    ],
)
def test_any_column_may_hold_the_tags(column: str | int, tags: tuple[str, ...]) -> None:
    assert read(*EXAMPLE, tag_column=column)[0][0].tags == tags


def test_an_unknown_column_is_refused() -> None:
    with pytest.raises(InputError, match=r"unknown tag column 'pos'.*id, form"):
        read(*EXAMPLE, tag_column="pos")
    with pytest.raises(InputError, match="no word has Gone= in MISC"):
        read(*EXAMPLE, tag_column="misc:Gone")


def test_words_that_differ_from_their_surface_share_its_offsets() -> None:
    sentences, _ = read(
        "# text = zum Haus", row("1-2", "zum"), row("1", "zu"), row("2", "dem"), row("3", "Haus")
    )
    assert sentences[0].offsets() == [(0, 3), (0, 3), (4, 8)]


def test_a_text_that_differs_gives_no_offsets_and_is_counted() -> None:
    sentences, report = read("# text = other", row("1", "word"))
    assert sentences[0].text is None
    assert report.noticed.total() == 1


def test_further_columns_are_read() -> None:
    assert read(*EXAMPLE, columns={"pos": 4})[0][0].columns["pos"] == ("PRP", "VBD", "RB", "VB", ".")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["1\tI\tPRON"], "f:1: expected 10 tab-separated columns, got 3"),
        (["1 I _ X _ _ 0 dep _ _"], "f:1: .* got 1. Replace spaces by tabs"),
        ([row("1", "a"), row("3", "b")], "f:2: expected word number 2 in the first column, got '3'"),
        ([row("1", "a"), row("x", "b")], "f:2: expected word number 2"),
        ([row("1", "")], "f:1: empty form"),
        (
            [row("1-3", "abc"), row("1", "a"), row("2", "b")],
            "f:3: multiword token 'abc' ends at word 3",
        ),
    ],
)
def test_invalid_rows_are_refused_with_their_line_number(rows: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(*rows)


def test_sentences_survive_writing_and_reading() -> None:
    kept = {name: index for index, name in enumerate(conllu.FIELDS) if index > 1}
    sentences, _ = read(*EXAMPLE, columns=kept)
    text = "".join(conllu.write(sentences))
    back, _ = read(*text.split("\n"), columns=kept)
    for old, new in zip(sentences, back, strict=True):
        assert (old.words, old.tags, old.columns, old.text) == (new.words, new.tags, new.columns, new.text)
        assert old.offsets() == new.offsets()


def test_entities_are_written_to_misc() -> None:
    text = "".join(conllu.write([Sentence(("a", "b"), ("B-X", "O"))], tag_column="misc:NER"))
    assert text.split("\n")[0] == "1\ta" + "\t_" * 7 + "\tNER=B-X"
    assert read(*text.split("\n"), tag_column="misc:NER")[0][0].tags == ("B-X", "O")
    with pytest.raises(InputError, match="unknown tag column 'pos'"):
        list(conllu.write([], tag_column="pos"))
    with pytest.raises(InputError, match="cannot store tabs"):
        list(conllu.write([Sentence(("a\tb",))]))


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("pos/ud_english_ewt/en_ewt-ud-dev.conllu", (2001, 25147, 359, 4)),
        ("pos/ud_english_ewt/en_ewt-ud-test.conllu", (2077, 25094, 354, 2)),
        ("pos/ud_korean_gsd/ko_gsd-ud-train.conllu", (4400, 56687, 0, 0)),
    ],
)
def test_counts_match_the_published_treebanks(shared_data: Path, path: str, counts: tuple[int, ...]) -> None:
    """``counts`` are sentences, words, multiword tokens and empty nodes, as counted by ``grep``."""
    report = Report(path=path)
    for sentence in conllu.read(lines(shared_data / path), report=report):
        text = sentence.text
        assert text is not None  # in these treebanks, every '# text' matches its words
        assert all(
            text[a:b] == word for word, (a, b) in zip(sentence.words, sentence.offsets(), strict=True)
        ) or ("multiword" in sentence.columns)
    assert (report.sentences, report.tokens, report.noticed.total(), report.skipped.total()) == counts


def test_entities_in_misc_are_read_if_there_are_no_parts_of_speech(tmp_path: Path) -> None:
    """As `gonie data convert --to conllu` writes them. The empty column upos would be learned."""
    path = tmp_path / "a.conllu"
    rows = ["1\tAnna\t_\t_\t_\t_\t_\t_\t_\tNER=B-PER", "2\tran\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No"]
    path.write_text("\n".join(rows) + "\n\n", "utf-8")
    (sentence,) = TaggedSource(path)
    assert sentence.tags == ("B-PER", "O")


def test_entities_beside_parts_of_speech_are_named_with_the_option_that_reads_them(tmp_path: Path) -> None:
    """As Stanza writes them: a tagger of entities would learn the parts of speech."""
    path = tmp_path / "a.conllu"
    rows = [row("1", "Anna", "PROPN", misc="start_char=0|ner=S-PER"), row("2", "ran", "VERB", misc="ner=O")]
    path.write_text("\n".join(rows) + "\n\n", "utf-8")
    source = TaggedSource(path)
    assert [sentence.tags for sentence in source] == [("PROPN", "VERB")]
    reason = "for the entities in MISC, --tag-column misc:ner or --set data.tag_column=misc:ner"
    assert source.report.choices["tag column"] == ("upos", reason)
    assert [each.tags for each in source.with_options(tag_column="misc:ner")] == [("S-PER", "O")]
