"""The documents of spaCy in a ``.spacy`` file (DocBin), which needs spaCy (the extra ``spacy``).

Tokens and sentence bounds are those of the file, except for tokens of white space. Their tags are the
entities, or the attribute that ``tag_column`` names: ``tag``, ``pos``, ``dep``, ``lemma`` or ``morph``. The
labels of a text are its categories (``cats``) with a value of at least one half. A file whose documents have
categories and nothing else is one of labelled texts.
"""

from __future__ import annotations

import shlex
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from gonie.errors import InputError, MissingExtraError
from gonie.formats.content import Content, FileHead
from gonie.formats.format import LabelledFormat, ReadOptions, TaggedFormat
from gonie.formats.spacy_json import ATTRIBUTES, ENTITIES, PARTIAL, attribute, categories, scored, with_gold
from gonie.formats.spans import AnnotatedText, annotated_texts, tagged_sentences
from gonie.text.alignment import CharSpan
from gonie.text.labelled_text import LabelledRow, LabelledText, TextOptions
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Scheme, from_spans
from gonie.text.types import Sentence

_UNCUT = "documents without sentence bounds (read as one sentence each)"
_DAMAGE = (ValueError, KeyError, TypeError, IndexError, zlib.error)
"""What spaCy raises for a damaged file."""


def _spacy(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("spacy", extra="spacy", purpose="reading and writing .spacy files") from None


# --- reading ---------------------------------------------------------------------------------------------


def _documents(content: Content, report: Report) -> Iterator[tuple[int, Any]]:
    """Yield the documents of a file with their numbers."""
    tokens, vocab = _spacy("spacy.tokens"), _spacy("spacy.vocab").Vocab()
    try:
        documents = list(tokens.DocBin().from_bytes(content.path.read_bytes()).get_docs(vocab))
    except _DAMAGE as error:
        raise InputError(
            f"damaged .spacy file: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
            path=report.path,
            fix="Write it again with DocBin.to_disk",
        ) from None
    return enumerate(documents, 1)


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    name = attribute(options, report)
    documents = list(_documents(content, report))
    if name == ENTITIES and not any(doc.has_annotation("ENT_IOB") for _, doc in documents):
        _refuse_groups([doc for _, doc in documents], report)
    texts = (_annotated(number, doc, name, report) for number, doc in documents)
    return tagged_sentences(with_gold(texts, report), options.tokenizer, report)


def _refuse_groups(documents: Sequence[Any], report: Report) -> None:
    """Refuse documents whose only annotation is in span groups, which may overlap."""
    group = next((name for doc in documents for name, spans in doc.spans.items() if spans), None)
    if group is not None:
        raise InputError(
            f"the documents have spans in the group {group!r}, but no entities",
            path=report.path,
            fix=f"In spaCy, set doc.ents = filter_spans(doc.spans[{group!r}]) and save the documents again",
        )


def _annotated(number: int, doc: Any, name: str, report: Report) -> AnnotatedText:
    """Return the text of a document with its tokens, and their entities or tags."""
    words = [token for token in doc if not token.text.isspace()]
    tags = spans = None
    if name != ENTITIES:
        values = [str(getattr(token, name if name == "morph" else f"{name}_")) for token in words]
        tags = values if all(values) else None
    elif doc.has_annotation("ENT_IOB"):
        spans = [(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
        if unknown := sum(token.ent_iob == 0 for token in words):
            report.noticed[PARTIAL] += unknown
    if grouped := sum(map(len, doc.spans.values())):
        report.skipped["spans of span groups"] += grouped
    cut = doc.has_annotation("SENT_START")
    if not cut:
        report.noticed[_UNCUT] += 1
    return AnnotatedText(
        text=doc.text,
        spans=spans,
        tokens=[(token.idx, token.idx + len(token)) for token in words],
        tags=tags,
        starts=_starts(doc) if cut else (),
        line=number,
    )


def _starts(doc: Any) -> list[int]:
    """Return where sentences begin, counted in tokens that are not white space."""
    at, found = 0, []
    for token in doc:
        if token.is_sent_start:
            found.append(at)
        at += not token.text.isspace()
    return [start for start in found if start < at]


def _labelled(content: Content, options: TextOptions, report: Report) -> Iterator[LabelledRow]:
    documents = list(_documents(content, report))
    if options.label_column is not None and not any(doc.cats for _, doc in documents):
        raise InputError(
            "the documents have no categories",
            path=report.path,
            fix=f"If they have entities, run: gonie train tag {shlex.quote(report.path)}",
        )
    for number, doc in documents:
        yield LabelledRow(number, doc.text, categories(doc.cats, options, report.path, number))


# --- writing ---------------------------------------------------------------------------------------------


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[bytes]:
    tokens, vocab = _spacy("spacy.tokens"), _spacy("spacy.vocab").Vocab()
    stored = tokens.DocBin()
    for each in annotated_texts(sentences, scheme, format="spaCy"):
        given = each.tokens or ()
        places, spaces = _places(each.text, given)
        first = {given[index][0] for index in (0, *each.starts)}
        doc = tokens.Doc(
            vocab,
            words=[each.text[start:end] for start, end in places],
            spaces=spaces,
            sent_starts=[start in first for start, _ in places],
            ents=None if each.spans is None else _entities(places, each.spans),
        )
        stored.add(doc)
    yield stored.to_bytes()


def _places(text: str, tokens: Iterable[tuple[int, int]]) -> tuple[list[tuple[int, int]], list[bool]]:
    """Return the offsets of the tokens of a whole text, and whether a space follows each.

    In spaCy, all characters but that space belong to a token.
    """
    places: list[tuple[int, int]] = []
    spaces: list[bool] = []
    at = 0
    for start, end in (*tokens, (len(text), len(text))):
        if places and at < start and text[at] == " ":
            spaces[-1] = True
            at += 1
        for first, last in ((at, start), (start, end)):
            if first < last:
                places.append((first, last))
                spaces.append(False)
        at = end
    return places, spaces


def _entities(places: Sequence[tuple[int, int]], spans: Iterable[CharSpan]) -> list[str]:
    """Return the IOB2 tags of the tokens."""
    first = {start: index for index, (start, _) in enumerate(places)}
    last = {end: index + 1 for index, (_, end) in enumerate(places)}
    return from_spans([(first[start], last[end], label) for start, end, label in spans], len(places), IOB2)


def _write_labelled(texts: Iterable[LabelledText]) -> Iterator[bytes]:
    tokens, blank = _spacy("spacy.tokens"), _spacy("spacy").blank("xx")
    stored = tokens.DocBin()
    for text, values in scored(texts):
        doc = blank.make_doc(text)
        doc.cats = values
        stored.add(doc)
    yield stored.to_bytes()


def _recognise_tagged(head: FileHead) -> str | None:
    reason = _recognise(head)
    return None if reason is None or _has_only_categories(Path(head.path)) else reason


def _has_only_categories(path: Path) -> bool:
    """Return whether documents have categories, and neither entities nor tags."""
    with suppress(MissingExtraError, *_DAMAGE):  # reading it says what is wrong
        stored = _spacy("spacy.tokens").DocBin().from_bytes(path.read_bytes())
        names = _spacy("spacy.attrs").IDS
        wanted = {names[name.upper()] for name in ("ent_iob", *ATTRIBUTES)}
        tags = [column for column, attribute in enumerate(stored.attrs) if attribute in wanted]
        return any(stored.cats) and not any(tokens[:, tags].any() for tokens in stored.tokens)
    return False


def _recognise(head: FileHead) -> str | None:
    """Recognise a compressed MessagePack map that begins with a version and attributes."""
    if not head.magic.startswith(b"\x78"):
        return None
    try:
        begun = zlib.decompressobj().decompress(head.magic)
    except zlib.error:
        return None
    return "documents of spaCy" if b"version" in begun[:16] and b"attrs" in begun else None


TAGGED = TaggedFormat(
    name="spacy",
    description="spaCy's .spacy file (DocBin)",
    read=_read,
    write=_write,
    suffixes=(".spacy",),
    recognise=_recognise_tagged,
    stores_texts=True,
)

LABELLED = (
    LabelledFormat(
        name="spacy",
        description="spaCy's .spacy file (DocBin) with categories",
        read=_labelled,
        write=_write_labelled,
        suffixes=(".spacy",),
        recognise=_recognise,
    ),
)
