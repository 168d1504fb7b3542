"""spaCy's ``.spacy`` files: tokens, sentences, entities and categories are those of the documents."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError, MissingExtraError
from gonie.formats.detect import identify, kind_of_examples
from gonie.formats.inspect import convert_file
from gonie.formats.tagged import TaggedSource, write
from gonie.text.types import Sentence
from support.annotation_files import (
    ENTITIES,
    GEORGE,
    KIM,
    LABELS,
    NOTHING,
    essence,
    read_tagged,
    read_texts,
    rewritten,
    rewritten_texts,
    shown,
)
from support.format_files import FILES

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (the extra spacy)")
from spacy.tokens import DocBin, Span  # noqa: E402

DOCUMENTS = [GEORGE, ("He likes Mount Vernon .", "O O B-LOC I-LOC O"), KIM, NOTHING]


def stored(path: Path, *docs: Any) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path


def test_documents_are_read_with_their_tokens_and_sentences() -> None:
    path = FILES / "spacy-entities.spacy"
    found = identify(path)
    assert found is not None
    assert found.format.name == "spacy"
    sentences, report = read_tagged(path, tokenizer=None)
    assert report.choices["format"][0] == "spacy"
    assert sentences[0].text == sentences[1].text == "George lives in Seoul.\n\nHe likes Mount Vernon."
    assert shown(sentences) == DOCUMENTS
    assert not report.misaligned


def test_other_attributes_of_tokens_are_read_if_named() -> None:
    sentences, _ = read_tagged(FILES / "spacy-entities.spacy", tag_column="tag")
    assert shown(sentences)[0] == (GEORGE[0], "NN NN NN NN .")
    sentences, _ = read_tagged(FILES / "spacy-entities.spacy", tag_column="pos")
    assert shown(sentences)[0] == (GEORGE[0], "NOUN NOUN NOUN NOUN PUNCT")


def test_categories_are_labels(tmp_path: Path) -> None:
    path = FILES / "spacy-categories.spacy"
    assert read_texts(path)[0] == LABELS
    assert rewritten_texts(path, "spacy", tmp_path / "a.spacy") == LABELS


def test_each_kind_of_document_is_refused_by_the_other_command() -> None:
    with pytest.raises(InputError, match=r"labelled texts, not of tagged sentences.*gonie train classify"):
        read_tagged(FILES / "spacy-categories.spacy")
    with pytest.raises(InputError, match=r"no categories.*gonie train tag"):
        read_texts(FILES / "spacy-entities.spacy")


def test_documents_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FILES / "spacy-entities.spacy")
    assert essence(rewritten(sentences, "spacy", tmp_path / "a.spacy")) == essence(sentences)
    others, _ = read_tagged(FILES / "labelstudio-entities.json")
    assert shown(rewritten(others, "spacy", tmp_path / "b.spacy")) == ENTITIES


def test_large_files_are_recognised_without_their_suffix(tmp_path: Path) -> None:
    """The codes of a large compressed file take more bytes than its first words."""
    words = [f"word{number}" for number in range(2000)]
    sentences = [Sentence((word, "sleeps"), ("B-PER", "O")) for word in words]
    assert [each.words[0] for each in rewritten(sentences, "spacy", tmp_path / "documents")] == words


def test_spacy_reads_what_is_written(tmp_path: Path) -> None:
    text = "  Mount \n Vernon,  too "
    sentence = Sentence(
        ("Mount", "Vernon", ",", "too"),
        ("B-LOC", "I-LOC", "O", "O"),
        {},
        text,
        (2, 10, 16, 19),
        (7, 16, 17, 22),
    )
    write(tmp_path / "a.spacy", [sentence], "spacy")
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(spacy.blank("en").vocab)
    assert doc.text == text
    assert [(entity.text, entity.label_) for entity in doc.ents] == [("Mount \n Vernon", "LOC")]
    assert essence(read_tagged(tmp_path / "a.spacy")[0]) == essence([sentence])


def test_unknown_gold_and_other_spans_are_reported(tmp_path: Path) -> None:
    blank = spacy.blank("en")
    plain, part, grouped = (blank("George sleeps.") for _ in range(3))
    part.set_ents([Span(part, 0, 1, "PER")], default="missing")
    grouped.set_ents([])
    grouped.spans["sc"] = [Span(grouped, 0, 1, "PER"), Span(grouped, 0, 2, "X")]
    sentences, report = read_tagged(stored(tmp_path / "a.spacy", plain, part, grouped))
    assert [each.tags for each in sentences] == [("B-PER", "O", "O"), ("O", "O", "O")]
    assert report.skipped == {"spans of span groups": 2, "documents that are not annotated": 1}
    assert report.noticed == {
        "documents without sentence bounds (read as one sentence each)": 3,
        "tokens whose entity is unknown (read as outside)": 2,
    }


def test_a_document_without_annotation_does_not_keep_the_others_from_being_converted(tmp_path: Path) -> None:
    plain, tagged = (spacy.blank("en")("George sleeps.") for _ in range(2))
    tagged.set_ents([Span(tagged, 0, 1, "PER")])
    source = TaggedSource(stored(tmp_path / "a.spacy", plain, tagged))
    assert convert_file(source, to="conll", out=tmp_path / "a.conll").sentences == 1


def test_documents_without_any_annotation_are_read_without_tags(tmp_path: Path) -> None:
    sentences, report = read_tagged(stored(tmp_path / "a.spacy", spacy.blank("en")("George sleeps.")))
    assert [each.tags for each in sentences] == [None]
    assert not report.skipped


def test_span_groups_without_entities_are_refused_with_how_to_make_entities_of_them(tmp_path: Path) -> None:
    doc = spacy.blank("en")("George sleeps.")
    doc.spans["sc"] = [Span(doc, 0, 1, "PER")]
    with pytest.raises(
        InputError, match=r"the group 'sc', but no entities.*filter_spans\(doc\.spans\['sc'\]\)"
    ):
        read_tagged(stored(tmp_path / "a.spacy", doc))


def test_the_kind_of_documents_follows_from_their_annotation(tmp_path: Path) -> None:
    """`gonie data` and `gonie.read` ask for it; `gonie train` has it from the recipe."""
    assert kind_of_examples(FILES / "spacy-categories.spacy") == "labelled texts"
    both = spacy.blank("en")("George sleeps.")
    both.set_ents([Span(both, 0, 1, "PER")])
    both.cats = {"GOOD": 1.0}
    assert kind_of_examples(stored(tmp_path / "a.spacy", both)) == "tagged sentences"
    assert read_texts(tmp_path / "a.spacy")[0] == [("George sleeps.", ("GOOD",))]


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = (FILES / "spacy-entities.spacy").read_bytes()
    content = zlib.decompress(whole)
    for damaged in (
        whole[:-9],
        zlib.compress(content[:-9]),
        zlib.compress(content.replace(b"tokens", b"tokans")),
    ):
        (tmp_path / "a.spacy").write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.spacy: damaged \.spacy file"):
            read_tagged(tmp_path / "a.spacy")
    (tmp_path / "a.bin").write_bytes(zlib.compress(b"something else, long enough"))
    with pytest.raises(InputError, match="a binary file"):
        read_tagged(tmp_path / "a.bin")


def test_without_spacy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy.tokens", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gonie\[spacy\]'"):
        read_tagged(FILES / "spacy-entities.spacy")
