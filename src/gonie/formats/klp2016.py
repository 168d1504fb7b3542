"""The named-entity file of the Korean Language Processing contest 2016 (국어 정보 처리 시스템 경진대회).

    ; 하나는 19일 서울에서
    $<하나:PS>는 <19일:DT> <서울:LC>에서
    1<TAB>하나<TAB>NNP<TAB>B_PS
    1<TAB>는<TAB>JX<TAB>O
    2<TAB>19<TAB>SN<TAB>B_DT
    2<TAB>일<TAB>NNB<TAB>I
    …

A sentence is its text, the text with its entities, and one line per morpheme: the number of its eojeol, the
morpheme, its part of speech and its tag. Inside tags carry no label.

Morphemes that are contracted in the text (열린 is 열리 + ㄴ) are one word, as in gonie's own morphemes, with
the parts of speech ``VV+ETM``. So every word has offsets. A sentence has none if an entity ends inside such a
word, or if the eojeols of its text are not those of its morphemes. Both are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.eojeols import EOJEOL, POS, eojeol_numbers, morpheme_sentence, pieces_of
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.formats.klue import marked_text
from gonie.formats.spans import text_and_spans
from gonie.text.report import Report
from gonie.text.schemes import Scheme, from_spans, to_spans
from gonie.text.types import Sentence

TEXT, ANNOTATED = ";", "$"
SCHEME = Scheme(kind="IOB2", separator="_", typed_inside=False)
UNKNOWN = "_"
"""The part of speech of a morpheme that has none."""
INSIDE = "an entity that ends inside a contracted word"
OTHER = "eojeols that are not those of their text"
"""Why a sentence has no offsets."""
_ROW = re.compile(r"(\d+)\t([^\t]+)\t([^\t]+)\t([^\t]+)")
_TAG = re.compile(r"B_.+|I|O")


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    rows: list[Sequence[str]] = []
    numbers: list[int] = []
    text: str | None = None
    for number, line in content.lines:
        row = _ROW.fullmatch(line)
        if row is not None:
            rows.append(row.groups())
            numbers.append(number)
            continue
        if rows and (not line.strip() or line.startswith(TEXT)):
            yield _sentence(rows, numbers, text, report)
            rows, numbers, text = [], [], None
        if line.startswith(TEXT):
            text = line.removeprefix(TEXT).strip()
        elif line.strip() and (rows or not line.startswith(ANNOTATED)):
            raise InputError(
                f"invalid line: {line[:60]!r}",
                path=report.path,
                line=number,
                fix="Write the number of the eojeol, the morpheme, its part of speech and its tag, "
                "separated by tabs",
            )
    if rows:
        yield _sentence(rows, numbers, text, report)


def _sentence(
    rows: Sequence[Sequence[str]], numbers: Sequence[int], text: str | None, report: Report
) -> Sentence:
    placed, reason = (None, "") if text is None else _placed(rows, text)
    if placed is not None:
        rows, numbers = [row for row, _ in placed], [numbers[first] for _, first in placed]
    eojeols, words, tags_of_speech, tags = zip(*rows, strict=True)
    columns = {EOJEOL: eojeols, POS: tags_of_speech}
    known = None if reason == INSIDE else text
    sentence = morpheme_sentence(words, tags, columns, text=known, lines=numbers, report=report)
    if contracted := sum("+" in tag for tag in tags_of_speech) if placed is not None else 0:
        report.noticed["contracted words (their morphemes are read as one word)"] += contracted
    if text is not None and sentence.text is None:
        report.noticed[f"sentences with {reason} (no offsets there)"] += 1
    return sentence


def _placed(rows: Sequence[Sequence[str]], text: str) -> tuple[list[tuple[Sequence[str], int]] | None, str]:
    """Return the rows of the words of a text, each with the index of its first morpheme, or else why not."""
    pieces = pieces_of(text, [row[1] for row in rows], [row[0] for row in rows])
    if pieces is None:
        return None, OTHER
    joined = [_joined(rows[each.first : each.last], text[each.start : each.end]) for each in pieces]
    found = [(row, each.first) for row, each in zip(joined, pieces, strict=True) if row is not None]
    return (found, "") if len(found) == len(pieces) else (None, INSIDE)


def _joined(rows: Sequence[Sequence[str]], word: str) -> Sequence[str] | None:
    """Return the row of the word that these morphemes make, or None if an entity ends inside it."""
    tags = [row[3] for row in rows]
    inside = "O" if tags[0] == "O" else "I"
    if any(tag != inside for tag in tags[1:]):
        return None
    return rows[0][0], word, "+".join(row[2] for row in rows), tags[0]


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    """Yield each sentence. Its text is written if it is known."""
    for sentence in sentences:
        tags = _tags(sentence, scheme)
        if any(re.search(r"[\t\n\r]", word) or not word.strip() for word in sentence.words):
            raise _unfit("words with tabs, line ends or only spaces", sentence)
        text, spans = text_and_spans(sentence, scheme)
        if sentence.text is not None and not re.search(r"[\n\r]", text):
            yield f"{TEXT} {text}\n{ANNOTATED}{marked_text(text, spans)}\n"
        speech = sentence.columns.get(POS, (UNKNOWN,) * len(sentence))
        for row in zip(eojeol_numbers(sentence), sentence.words, speech, tags, strict=True):
            yield "\t".join(row) + "\n"
        yield "\n"


def _tags(sentence: Sentence, scheme: Scheme) -> Sequence[str]:
    if sentence.tags is None:
        raise _unfit("sentences without tags", sentence)
    if not scheme.has_spans:
        raise _unfit("tags that are not entities", sentence)
    return from_spans(to_spans(sentence.tags, scheme), len(sentence), SCHEME)


def _unfit(what: str, sentence: Sentence) -> InputError:
    return InputError(
        f"klp2016 cannot store {what}",
        path=sentence.path or None,
        line=sentence.line,
        fix="Write jsonl instead",
    )


def _recognise(head: FileHead) -> str | None:
    body = [line for line in head.filled if not line.startswith((TEXT, ANNOTATED))]
    rows = [_ROW.fullmatch(line) for line in body]
    fits = bool(rows) and all(row is not None and _TAG.fullmatch(row[4]) for row in rows)
    found = [row for row in rows if row is not None]
    begun = any(row[4].startswith("B_") for row in found) or len(body) < len(head.filled)
    return "morphemes with the number of their eojeol and tags like B_X, I and O" if fits and begun else None


TAGGED = TaggedFormat(
    name="klp2016",
    description="the Korean Language Processing contest 2016: morphemes with ; and $ lines",
    read=_read,
    write=_write,
    unit="morpheme",
    recognise=_recognise,
    rank=1,
    stores_texts=True,
)
