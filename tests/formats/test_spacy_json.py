"""spaCy's training data in JSON: documents with tokens, and lists of texts with their entities."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie.errors import InputError
from gonie.formats.detect import identify
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
    saved,
    shown,
)
from support.format_files import FILES

DOCUMENTS = [GEORGE, ("He likes Mount Vernon .", "O O B-LOC I-LOC O"), KIM, NOTHING]
"""The sentences of spacy-entities. The first two are one text, with two line ends between them."""
PAIR = ["George lives in Seoul.", {"entities": [[0, 6, "PER"], [16, 21, "LOC"]]}]


def document(*tokens: tuple[str, str], raw: str | None = None, **changes: Any) -> list[Any]:
    own = [{"orth": orth, "ner": ner} for orth, ner in tokens]
    paragraph = {"sentences": [{"tokens": own}], **changes} | ({} if raw is None else {"raw": raw})
    return [{"id": 0, "paragraphs": [paragraph]}]


def test_documents_are_read_with_their_tokens_and_sentences() -> None:
    path = FILES / "spacy-entities.json"
    found = identify(path)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("spacy-json", "tagged sentences")
    sentences, report = read_tagged(path, tokenizer=None)
    assert shown(sentences) == DOCUMENTS
    assert sentences[0].text == sentences[1].text == "George lives in Seoul.\n\nHe likes Mount Vernon."
    assert not report.misaligned
    with pytest.raises(InputError, match="gonie train tag"):
        read_texts(path)


def test_other_attributes_of_tokens_are_read_if_named() -> None:
    sentences, _ = read_tagged(FILES / "spacy-entities.json", tag_column="pos")
    assert shown(sentences)[0] == (GEORGE[0], "NOUN NOUN NOUN NOUN PUNCT")
    with pytest.raises(InputError, match=r"no attribute 'shape'.*one of ner, tag, pos, dep, lemma, morph"):
        read_tagged(FILES / "spacy-entities.json", tag_column="shape")


def test_categories_are_labels() -> None:
    path = FILES / "spacy-categories.json"
    found = identify(path)
    assert found is not None
    assert (found.format.name, found.format.kind) == ("spacy-json", "labelled texts")
    assert read_texts(path)[0] == LABELS
    with pytest.raises(InputError, match="gonie train classify"):
        read_tagged(path)


@pytest.mark.parametrize("form", ["list", "lines", "web"])
def test_texts_with_their_entities_are_read(form: str, tmp_path: Path) -> None:
    pairs = json.loads((FILES / "spacy-pairs.json").read_text("utf-8"))
    path = tmp_path / "a.json"
    if form == "web":
        saved(path, {"classes": ["PER", "LOC"], "annotations": [*pairs, None]})
    else:
        saved(path, *(pairs if form == "lines" else [pairs]))
    sentences, report = read_tagged(path)
    assert report.choices["format"][0] == "spacy-json"
    assert shown(sentences) == ENTITIES
    assert report.skipped == ({"empty entries": 1} if form == "web" else {})


def test_categories_of_pairs_are_labels(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.json", [["good", {"cats": {"A": 1, "B": 0.2, "C": 0.5}}], ["?", {"cats": {}}]])
    texts, report = read_texts(path)
    assert texts == [("good", ("A", "C"))]
    assert report.skipped == {"texts without a label": 1}


def test_documents_survive_writing_and_reading(tmp_path: Path) -> None:
    sentences, _ = read_tagged(FILES / "spacy-entities.json")
    assert essence(rewritten(sentences, "spacy-json", tmp_path / "a.json")) == essence(sentences)
    pairs, _ = read_tagged(FILES / "spacy-pairs.json")
    assert essence(rewritten(pairs, "spacy-json", tmp_path / "b.json")) == essence(pairs)


def test_categories_survive_writing_and_reading(tmp_path: Path) -> None:
    assert rewritten_texts(FILES / "spacy-categories.json", "spacy-json", tmp_path / "a.json") == LABELS


def test_documents_without_their_text_are_read(tmp_path: Path) -> None:
    sentences, _ = read_tagged(saved(tmp_path / "a.json", document(("George", "U-PER"), ("sleeps", "O"))))
    assert shown(sentences) == [("George sleeps", "B-PER O")]


def test_unknown_entities_are_counted_and_documents_of_only_such_are_skipped(tmp_path: Path) -> None:
    part = document(("George", "U-PER"), ("sleeps", "-"))
    whole = document(("Seoul", "-"), ("sleeps", "-"))
    sentences, report = read_tagged(saved(tmp_path / "a.json", part + whole))
    assert shown(sentences) == [("George sleeps", "B-PER O")]
    assert report.noticed == {"tokens whose entity is unknown (read as outside)": 1}
    assert report.skipped == {"documents that are not annotated": 1}
    sentences, _ = read_tagged(saved(tmp_path / "a.json", whole))
    assert shown(sentences) == [("Seoul sleeps", None)]


def test_invalid_tags_are_refused_or_repaired(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.json", document(("Mount", "B-LOC"), ("Vernon", "O")))
    with pytest.raises(InputError, match="B-LOC"):
        read_tagged(path)
    sentences, report = read_tagged(path, repair="begin")
    assert shown(sentences) == [("Mount Vernon", "B-LOC O")]
    assert report.repairs["begin"] == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (document(("George", "O"), raw="Other"), "document 1: its tokens do not make up its text 'Other'"),
        (
            document(raw="George", sentences=[{"tokens": [{"word": "a"}]}]),
            "expected sentences of tokens with 'orth'",
        ),
        ([PAIR, ["alone"]], r"entry 2 is not a document or a text with its entities: \[\"alone\"\]"),
        ([["George", {"entities": [[0, 99, "PER"]]}]], "a.json:1: invalid character offsets: 0 to 99"),
    ],
)
def test_damaged_entries_are_refused(value: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_tagged(saved(tmp_path / "a.json", value))


def test_other_json_is_not_taken_for_spacy(tmp_path: Path) -> None:
    for value in ([["a", {"b": 1}]], [["a", "b"]], {"annotations": [{"id": 1}]}, [{"paragraphs": "a"}]):
        found = identify(saved(tmp_path / "a.json", value))
        assert found is None or found.format.name != "spacy-json"


def test_spacy_reads_what_is_written(tmp_path: Path) -> None:
    converters = pytest.importorskip("spacy.training.converters", reason="spaCy is not installed")
    sentences, _ = read_tagged(FILES / "spacy-entities.json")
    rewritten(sentences, "spacy-json", tmp_path / "a.json")
    docs = list(converters.json_to_docs((tmp_path / "a.json").read_text("utf-8")))
    assert [[(entity.text, entity.label_) for entity in doc.ents] for doc in docs] == [
        [("George", "PER"), ("Seoul", "LOC"), ("Mount Vernon", "LOC")],
        [("김철수", "PER"), ("서울", "LOC")],
        [],
    ]
