"""The training data of spaCy in JSON: documents with their tokens (spaCy 2), or texts with their entities.

    [{"id": 0, "paragraphs": [{"raw": "George is happy", "sentences": [{"tokens": [{"orth": "George",
      "ner": "U-PER"}, …]}], "cats": [{"label": "GOOD", "value": 1.0}]}]}]
    [["George is happy", {"entities": [[0, 6, "PER"]], "cats": {"GOOD": 1.0}}], …]

Such pairs may also be lines of JSONL, or stand under ``annotations``, where web annotators write them.
Offsets are code points. Tokens and sentence bounds are those of the file, except for tokens of white space.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, pairwise
from typing import Any

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import LabelledFormat, ReadOptions, TaggedFormat
from gonie.formats.json_list import write_objects
from gonie.formats.spans import AnnotatedText, annotated_texts, tagged_sentences
from gonie.formats.tagged_rows import annotated, row_text
from gonie.system.files import Line
from gonie.text.alignment import CharSpan, locate
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions, check_unlabelled
from gonie.text.marks import with_marks
from gonie.text.report import Report
from gonie.text.schemes import OUTSIDE, Scheme, from_spans, repair, scheme_named, to_spans
from gonie.text.types import Sentence

ENTITIES = "ner"
ATTRIBUTES = ("tag", "pos", "dep", "lemma", "morph")
"""Attributes of tokens that ``tag_column`` can name, beside the entities."""
PARTIAL = "tokens whose entity is unknown (read as outside)"
TEXT, RAW, CATS = "text", "raw", "cats"
HALF = 0.5
"""The value from which a text has a category."""
_UNKNOWN = ("-", "")
_BILOU = scheme_named("BILOU")


def attribute(options: ReadOptions, report: Report) -> str:
    """Return the attribute of tokens that the options name, or that of entities."""
    named = options.tag_column
    known = (ENTITIES, *ATTRIBUTES)
    if named is None or named in known:
        return ENTITIES if named is None else str(named)
    raise InputError(
        f"the tokens of spaCy have no attribute {named!r}",
        path=report.path,
        fix=f"Choose one of {', '.join(known)} with --tag-column NAME (in a recipe data.tag_column)",
    )


# --- entries ---------------------------------------------------------------------------------------------


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("paragraphs"), list)


def _is_pair(value: Any) -> bool:
    """Return whether a value is a text with an object of its annotations."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    text, gold = value
    return isinstance(text, str) and isinstance(gold, dict) and not gold.keys().isdisjoint(("entities", CATS))


def _entries(head: FileHead, lines: Iterable[Line]) -> Iterable[tuple[int, Any]]:
    """Return the documents or pairs of a file with their numbers. Other files have none."""
    document = head.document
    if isinstance(document, dict) and isinstance(document.get("annotations"), list):
        document = document["annotations"]
    if _is_document(document) or _is_pair(document):
        return [(1, document)]
    if isinstance(document, list) and document and (_is_document(document[0]) or _is_pair(document[0])):
        return enumerate(document, 1)
    if head.filled and head.filled[0].startswith("[") and _is_pair(_parsed(head.filled[0])):
        return ((number, _parsed(line)) for number, line in lines if line.strip())
    return ()


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


def _texts(head: FileHead, lines: Iterable[Line], report: Report) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the paragraphs of all documents, and pairs as objects with a ``text``."""
    for number, entry in _entries(head, lines):
        if entry is None:
            report.skipped["empty entries"] += 1
        elif _is_pair(entry):
            yield number, {**entry[1], TEXT: entry[0]}
        elif _is_document(entry) and all(isinstance(each, dict) for each in entry["paragraphs"]):
            yield from ((number, each) for each in entry["paragraphs"])
        else:
            shown = json.dumps(entry, ensure_ascii=False)[:100]
            raise InputError(
                f"entry {number} is not a document or a text with its entities: {shown}",
                path=report.path,
                line=number,
            )


# --- entities and tags -----------------------------------------------------------------------------------


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    name = attribute(options, report)
    texts = (
        annotated({key: each[key] for key in (TEXT, "entities") if key in each}, report.path, number)
        if TEXT in each
        else _paragraph(number, each, name, options, report)
        for number, each in _texts(content.head, content.lines, report)
    )
    return tagged_sentences(with_gold(texts, report), options.tokenizer, report)


def with_gold(texts: Iterable[AnnotatedText], report: Report) -> Sequence[AnnotatedText]:
    """Return the annotated documents, and count the others. If there are none, return all."""
    held = list(texts)
    known = [each for each in held if each.spans is not None or each.tags is not None]
    if known and len(known) < len(held):
        report.skipped["documents that are not annotated"] += len(held) - len(known)
    return known or held


def _paragraph(
    number: int, paragraph: Mapping[str, Any], name: str, options: ReadOptions, report: Report
) -> AnnotatedText:
    """Return the text of a paragraph with its tokens. Without ``raw``, spaces separate them."""
    sentences = _sentences(number, paragraph, report)
    words = [str(token["orth"]) for tokens in sentences for token in tokens]
    values = [token.get(name) for tokens in sentences for token in tokens]
    raw = paragraph.get(RAW)
    text = " ".join(words) if raw is None else row_text(paragraph, RAW, report.path, number)
    found = locate(text, words)
    if found is None:
        raise InputError(
            f"document {number}: its tokens do not make up its text {text[:60]!r}",
            path=report.path,
            line=number,
            fix="Correct the words under 'orth', or remove 'raw'",
        )
    places = list(zip(*found, strict=True))
    kept = [index for index, word in enumerate(words) if word.strip()]
    lengths = [sum(bool(str(token["orth"]).strip()) for token in tokens) for tokens in sentences]
    known = [value not in (None, *_UNKNOWN) for value in values]
    tagged = name != ENTITIES and all(known[index] for index in kept)
    return AnnotatedText(
        text=text,
        spans=_spans(values, places, options, report) if name == ENTITIES and any(known) else None,
        tokens=[places[index] for index in kept],
        tags=[str(values[index]) for index in kept] if tagged else None,
        starts=list(accumulate(lengths[:-1])),
        line=number,
    )


def _sentences(number: int, paragraph: Mapping[str, Any], report: Report) -> list[list[dict[str, Any]]]:
    """Return the tokens of each sentence of a paragraph."""
    sentences = paragraph.get("sentences")
    tokens = [
        each.get("tokens") if isinstance(each, dict) else None
        for each in (sentences if isinstance(sentences, list) else [None])
    ]
    if not all(
        isinstance(own, list) and all(isinstance(token, dict) and token.get("orth") for token in own)
        for own in tokens
    ):
        raise InputError(
            f"document {number}: expected sentences of tokens with 'orth'", path=report.path, line=number
        )
    return tokens  # type: ignore[return-value]


def _spans(
    values: Sequence[Any], places: Sequence[tuple[int, int]], options: ReadOptions, report: Report
) -> list[CharSpan]:
    """Return the entities of BILOU tags as character spans."""
    tags = [OUTSIDE if value in (None, *_UNKNOWN) else str(value) for value in values]
    if unknown := sum(value in (None, *_UNKNOWN) for value in values):
        report.noticed[PARTIAL] += unknown
    tags, changed = repair(tags, _BILOU, options.repair, places=[report.path] * len(tags))
    if changed:
        report.repairs[options.repair] += changed
    return [(places[first][0], places[last - 1][1], label) for first, last, label in to_spans(tags, _BILOU)]


# --- categories of texts ---------------------------------------------------------------------------------


def categories(
    values: Mapping[str, Any], options: TextOptions, path: str, line: int
) -> tuple[str, ...] | None:
    """Return the categories that a text has, or None if there are no values."""
    if options.label_column is None:
        return ()
    if not values:
        check_unlabelled(options, path=path, line=line)
        return None
    if not all(isinstance(value, int | float) for value in values.values()):
        raise InputError(f"invalid categories: {values!r}"[:200], path=path, line=line)
    return tuple(label for label, value in values.items() if value >= HALF)


def scored(texts: Iterable[LabelledText]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the texts with a value for each label of any text."""
    held = list(texts)
    names = sorted({label for each in held for label in each.labels})
    for each in held:
        yield with_marks(each.text, each.marks), {name: float(name in each.labels) for name in names}


def _labelled(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    for number, each in _texts(content.head, content.lines, report):
        text = row_text(each, TEXT if TEXT in each else RAW, report.path, number)
        yield LabelledRow(number, text, categories(_values(each), options, report.path, number))


def _values(each: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the categories of a text, which documents have as a list."""
    values = each.get(CATS)
    if isinstance(values, list):
        return {str(cat.get("label")): cat.get("value") for cat in values if isinstance(cat, dict)}
    return dict(values) if isinstance(values, dict) else {}


# --- recognition and writing -----------------------------------------------------------------------------


def _sample(head: FileHead) -> Mapping[str, Any]:
    """Return the first text of a file of spaCy, or an empty object."""
    entries = ((number, entry) for number, entry in _entries(head, enumerate(head.lines, 1)) if entry)
    first = next(entries, None)
    entry = None if first is None else first[1]
    if _is_pair(entry):
        return {**entry[1], TEXT: entry[0]}  # type: ignore[index]
    paragraphs = entry["paragraphs"] if entry is not None and _is_document(entry) else []
    return paragraphs[0] if paragraphs and isinstance(paragraphs[0], dict) else {}


def _recognise(head: FileHead) -> str | None:
    sample = _sample(head)
    if TEXT in sample:
        fits = "entities" in sample
    else:
        fits = bool(sample) and (not _values(sample) or _has_tags(sample))
    return "training data of spaCy" if fits else None


def _has_tags(paragraph: Mapping[str, Any]) -> bool:
    """Return whether a token of the paragraph has an entity, also "O", or a tag."""
    with suppress(InputError):
        return any(
            token.get(name) not in (None, *_UNKNOWN)
            for tokens in _sentences(1, paragraph, Report())
            for token in tokens
            for name in (ENTITIES, *ATTRIBUTES)
        )
    return True  # reading it says what is wrong


def _recognise_labelled(head: FileHead) -> str | None:
    return "training data of spaCy with categories" if _values(_sample(head)) else None


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    texts = annotated_texts(sentences, scheme, format="spaCy")
    return write_objects(_document(number, each) for number, each in enumerate(texts))


def _document(number: int, each: AnnotatedText) -> dict[str, Any]:
    places = list(each.tokens or ())
    tags = [_UNKNOWN[0]] * len(places)
    if each.spans is not None:
        first = {start: index for index, (start, _) in enumerate(places)}
        last = {end: index + 1 for index, (_, end) in enumerate(places)}
        spans = [(first[start], last[end], label) for start, end, label in each.spans]
        tags = from_spans(spans, len(places), _BILOU)
    tokens = [
        {"id": index, "orth": each.text[start:end], ENTITIES: tag}
        for index, ((start, end), tag) in enumerate(zip(places, tags, strict=True))
    ]
    cuts = pairwise([0, *each.starts, len(tokens)])
    sentences = [{"tokens": tokens[begin:end]} for begin, end in cuts]
    return {"id": number, "paragraphs": [{RAW: each.text, "sentences": sentences}]}


def _write_labelled(texts: Iterable[LabelledText]) -> Iterator[str]:
    return write_objects(
        {"id": number, "paragraphs": [{RAW: text, "sentences": [], CATS: _listed(values)}]}
        for number, (text, values) in enumerate(scored(texts))
    )


def _listed(values: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"label": label, "value": value} for label, value in values.items()]


TAGGED = TaggedFormat(
    name="spacy-json",
    description="spaCy's training data in JSON",
    read=_read,
    write=_write,
    recognise=_recognise,
    has_ids=True,
    stores_texts=True,
)

LABELLED = (
    LabelledFormat(
        name="spacy-json",
        description="spaCy's training data in JSON, with categories",
        read=_labelled,
        write=_write_labelled,
        recognise=_recognise_labelled,
        has_ids=True,
    ),
)
