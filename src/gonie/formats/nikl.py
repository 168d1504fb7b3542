"""The JSON files of the National Institute of Korean Language (국립국어원, 모두의 말뭉치).

Named entities, by character offset in each sentence or utterance:

    {"id": …, "metadata": …, "document": [{"id": …, "sentence": [{"id": …, "form": "하나가 왔다.",
      "NE": [{"id": 1, "form": "하나", "label": "PS_NAME", "begin": 0, "end": 2}]}]}]}

Sentiment is read from three corpora: 감성 분석 말뭉치 2020 (a ``document_score`` from -2 to 2 for the
paragraphs of a document), 속성 기반 감성 분석 말뭉치 2021 (``opinions`` with a ``category`` and an
``opinion polarity`` for the sentences of a document), and the contest files of 2022, one JSON object per line
with ``sentence_form`` and ``annotation``. The labels of opinions are ``category:polarity``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gonie.errors import InputError
from gonie.formats import jsonl
from gonie.formats.content import ID, Content, FileHead, id_of
from gonie.formats.format import HeaderNames, LabelledFormat, ReadOptions, TaggedFormat
from gonie.formats.spans import AnnotatedText, annotated_texts, check_span, tagged_sentences
from gonie.formats.tagged_rows import row_text
from gonie.text.alignment import CharSpan
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, split_labels
from gonie.text.report import Report
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

SENTENCES = ("sentence", "utterance")
ENTITIES = "NE"
LAYERS = {
    "morpheme": "morphemes",
    "WSD": "word senses",
    "DP": "dependencies",
    "SRL": "semantic roles",
    "ZA": "zero anaphors",
    "CR": "coreference chains",
}
"""Other annotations of sentences and documents, which are counted."""
SCORE, OPINIONS, POLARITY = "document_score", "opinions", "opinion polarity"
FORM, ANNOTATION = "sentence_form", "annotation"
_OPINION = re.compile(r"(?P<category>.+):(?P<polarity>[a-z]+)")


def _documents(document: Any, path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the documents of a corpus. Their numbers stand for lines in messages."""
    documents = document.get("document") if isinstance(document, dict) else None
    if not isinstance(documents, list):
        raise InputError("no list under 'document'", path=path, fix="Export the corpus as JSON again")
    for number, each in enumerate(documents, 1):
        if not isinstance(each, dict):
            raise InputError(f"document {number} is not an object", path=path, line=number)
        yield number, each


def _objects(record: Mapping[str, Any], key: str, path: str, line: int) -> list[Mapping[str, Any]]:
    """Return the objects of a list. A missing list is empty."""
    values = record.get(key) or []
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(f"expected a list of objects under {key!r}", path=path, line=line)
    return values


# --- named entities --------------------------------------------------------------------------------------


def _read_entities(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    return tagged_sentences(_annotated(content.head.document, report), options.tokenizer, report)


def _annotated(document: Any, report: Report) -> Iterator[AnnotatedText]:
    for line, each in _documents(document, report.path):
        _count_layers(each, report)
        for key in SENTENCES:
            for sentence in _objects(each, key, report.path, line):
                _count_layers(sentence, report)
                text = row_text(sentence, "form", report.path, line)
                if not text.strip():
                    report.skipped["empty sentences"] += 1
                    continue
                spans = _entities(sentence, text, report, line)
                yield AnnotatedText(text=text, spans=spans, line=line, id=id_of(sentence))


def _count_layers(record: Mapping[str, Any], report: Report) -> None:
    for key, name in LAYERS.items():
        if isinstance(record.get(key), list) and record[key]:
            report.skipped[name] += len(record[key])


def _entities(sentence: Mapping[str, Any], text: str, report: Report, line: int) -> list[CharSpan] | None:
    if sentence.get(ENTITIES) is None:
        return None
    spans = []
    for entity in _objects(sentence, ENTITIES, report.path, line):
        start, end = check_span(entity.get("begin"), entity.get("end"), text, path=report.path, line=line)
        label = entity.get("label")
        if not isinstance(label, str) or not label or entity.get("form") != text[start:end]:
            raise InputError(
                f"the entity {entity.get('form')!r} ({label}) is not the text at {start} to {end}: "
                f"{text[start:end]!r}",
                path=report.path,
                line=line,
                fix="Correct its begin and end, which count characters, or remove it",
            )
        spans.append((start, end, label))
    return spans


def _write_entities(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    yield '{"id": "gonie", "metadata": {}, "document": [\n'
    before = ""
    for number, text in enumerate(annotated_texts(sentences, scheme, format="nikl"), 1):
        name = f"gonie.{number}.1" if text.id is None else text.id
        sentence: dict[str, Any] = {ID: name, "form": text.text, "word": _words(text.text)}
        if text.spans is not None:
            sentence[ENTITIES] = [
                {"id": index, "form": text.text[start:end], "label": label, "begin": start, "end": end}
                for index, (start, end, label) in enumerate(text.spans, 1)
            ]
        record = {"id": f"gonie.{number}", "metadata": {}, "sentence": [sentence]}
        yield before + json.dumps(record, ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def _words(text: str) -> list[dict[str, Any]]:
    return [
        {"id": number, "form": match[0], "begin": match.start(), "end": match.end()}
        for number, match in enumerate(re.finditer(r"\S+", text), 1)
    ]


def _recognise_entities(head: FileHead) -> str | None:
    first = _first_document(head)
    sentences = [each for key in SENTENCES for each in (first or {}).get(key) or () if isinstance(each, dict)]
    fits = any("form" in sentence and isinstance(sentence.get(ENTITIES), list) for sentence in sentences)
    return "documents whose sentences have a form and NE" if fits else None


def _first_document(head: FileHead) -> Mapping[str, Any] | None:
    documents = head.document.get("document") if isinstance(head.document, dict) else None
    first = documents[0] if isinstance(documents, list) and documents else None
    return first if isinstance(first, dict) else None


# --- sentiment -------------------------------------------------------------------------------------------


def _read_sentiment(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    """Yield each document with its score or its opinions, or each line of a contest file."""
    if isinstance(content.head.document, dict) and FORM not in content.head.document:
        for line, each in _documents(content.head.document, report.path):
            text = _document_text(each, report.path, line)
            if SCORE in each:
                yield LabelledRow(line, text, _score(each[SCORE], options, report, line))
            else:
                opinions = _objects(each, OPINIONS, report.path, line)
                pairs = [(opinion.get("category"), opinion.get(POLARITY)) for opinion in opinions]
                yield LabelledRow(line, text, _labels(pairs, options, report, line))
        return
    for line, row in jsonl.ROWS[0].read(content, HeaderNames(), report).rows:
        text = row_text(row, FORM, report.path, line)
        values = row.get(ANNOTATION) or []
        if not isinstance(values, list) or not all(map(_is_opinion, values)):
            raise InputError(
                f"expected lists of a category, a target and a polarity under {ANNOTATION!r}",
                path=report.path,
                line=line,
            )
        if targets := sum(each[1][0] is not None for each in values):
            report.skipped["targets of opinions"] += targets
        yield LabelledRow(line, text, _labels([(each[0], each[2]) for each in values], options, report, line))


def _is_opinion(value: object) -> bool:
    """Return whether this is a list of a category, a target with its offsets, and a polarity."""
    return isinstance(value, list) and len(value) == 3 and isinstance(value[1], list) and bool(value[1])


def _document_text(document: Mapping[str, Any], path: str, line: int) -> str:
    """Return the paragraphs of a document, one per line, or its sentences, joined by spaces."""
    paragraphs = _objects(document, "paragraph", path, line)
    if paragraphs:
        return "\n".join(row_text(each, "paragraph_form", path, line) for each in paragraphs)
    return " ".join(row_text(each, FORM, path, line) for each in _objects(document, "sentence", path, line))


def _score(value: object, options: TextOptions, report: Report, line: int) -> tuple[str, ...] | None:
    if value is not None and type(value) not in (int, str):
        raise InputError(f"invalid {SCORE}: {value!r}", path=report.path, line=line)
    return split_labels("" if value is None else str(value), options, path=report.path, line=line)


def _labels(
    opinions: Iterable[tuple[Any, Any]], options: TextOptions, report: Report, line: int
) -> tuple[str, ...]:
    """Return the labels of a text: its categories with their polarities, or what ``--label`` names."""
    if options.label_column is None:
        return ()
    found = []
    for category, polarity in opinions:
        if not isinstance(category, str) or not isinstance(polarity, str):
            raise InputError(f"invalid opinion: {category!r}, {polarity!r}", path=report.path, line=line)
        chosen = {"category": category, "polarity": polarity}
        found.append(chosen.get(str(options.label_column), f"{category}:{polarity}"))
    return tuple(dict.fromkeys(found))


def _write_sentiment(texts: Iterable[LabelledText]) -> Iterator[str]:
    yield '{"id": "gonie", "metadata": {}, "document": [\n'
    before = ""
    for number, text in enumerate(texts, 1):
        yield before + json.dumps({"id": f"gonie.{number}", **_sentiment(text)}, ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def _sentiment(text: LabelledText) -> dict[str, Any]:
    """Return the document of a text: with a score if its label is one, otherwise with opinions."""
    if len(text.labels) == 1 and re.fullmatch(r"-?\d", text.labels[0]):
        paragraph = {"paragraph_id": 1, "paragraph_form": text.text}
        return {"paragraph": [paragraph], SCORE: int(text.labels[0])}
    opinions = []
    for label in text.labels:
        parts = _OPINION.fullmatch(label)
        if parts is None:
            raise InputError(
                f"nikl cannot store the label {label!r}",
                path=text.path or None,
                line=text.line,
                fix="Labels are a score, such as -2, or category:polarity. For others, write jsonl",
            )
        opinions.append({"category": parts["category"], POLARITY: parts["polarity"]})
    return {"sentence": [{"sentence_id": 1, FORM: text.text}], OPINIONS: opinions}


def _recognise_sentiment(head: FileHead) -> str | None:
    if head.record is not None and {FORM, ANNOTATION} <= set(head.record):
        return f"objects with a {FORM} and an {ANNOTATION}"
    first = _first_document(head)
    key = next((key for key in (SCORE, OPINIONS) if key in (first or {})), None)
    return None if key is None else f"documents with {key}"


TAGGED = TaggedFormat(
    name="nikl",
    description="the National Institute of Korean Language's JSON (모두의 말뭉치): named entities",
    read=_read_entities,
    write=_write_entities,
    recognise=_recognise_entities,
    has_ids=True,
    keeps_ids=True,
    rank=1,
    stores_texts=True,
)
LABELLED = (
    LabelledFormat(
        name="nikl",
        description="the National Institute of Korean Language's JSON (모두의 말뭉치): sentiment",
        read=_read_sentiment,
        write=_write_sentiment,
        recognise=_recognise_sentiment,
        has_ids=True,
        rank=1,
    ),
)
