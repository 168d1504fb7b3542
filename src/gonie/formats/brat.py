"""The standoff format of brat: a folder of texts (``.txt``) with their annotations (``.ann``), or one pair.

    T1	PER 0 6	George
    T2	LOC 16 22;30 35	Mount… Vernon
    R1	lives_in Arg1:T1 Arg2:T2

Lines that begin with T are entities; offsets are code points. All other annotations are counted. A span in
several pieces is listed as not learnable, unless only line ends separate the pieces: brat cuts spans there. A
text without an ``.ann`` file is not annotated and is skipped; with an empty one, it has no entities. A byte
order mark is no part of the text, but brat's offsets count it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import TaggedFormat
from gonie.formats.spans import AnnotatedText, annotated_texts, check_span, tagged_sentences
from gonie.system.files import lines
from gonie.text.alignment import CharSpan
from gonie.text.report import Misaligned, Report
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

TEXT, ANNOTATIONS = ".txt", ".ann"
_ENTITY = re.compile(r"(?P<id>T\S*)\t(?P<label>\S+) (?P<pieces>\d+ \d+(?:;\d+ \d+)*)(?:\t(?P<text>.*))?")
_OTHERS = {
    "R": "relations",
    "E": "events",
    "A": "attributes",
    "M": "attributes",
    "N": "normalisations",
    "#": "notes",
    "*": "equivalence sets",
}
"""The annotations that are not read, by the first character of their lines."""
_LINE = re.compile(r"([TREAMN#]\d\S*|\*)\t\S")
_PIECE = re.compile(r"[^\r\n]+")


def _annotated(path: Path, report: Report) -> Iterator[AnnotatedText]:
    """Yield each annotated text of a folder and its subfolders, or the text of one file."""
    if not path.is_dir():
        yield _read_pair(path.with_suffix(ANNOTATIONS), report)
        return
    for file in sorted(path.rglob(f"*{ANNOTATIONS}")):
        if not file.with_suffix(TEXT).is_file():
            raise _no_text(file)
    for text in sorted(path.rglob(f"*{TEXT}")):
        if text.with_suffix(ANNOTATIONS).is_file():
            yield _read_pair(text.with_suffix(ANNOTATIONS), report)
        else:
            report.skipped[f"texts without an {ANNOTATIONS} file"] += 1
    report.path = str(path)


def _no_text(file: Path) -> InputError:
    name = file.with_suffix(TEXT).name
    return InputError(f"no {name} beside it", path=file, fix=f"Add the text of these annotations as {name}")


def _read_pair(file: Path, report: Report) -> AnnotatedText:
    """Return the text of an annotation file with its entities."""
    report.path = str(file)
    beside = file.with_suffix(TEXT)
    if not beside.is_file():
        raise _no_text(file)
    if not file.is_file():
        raise InputError(f"no {file.name} beside it", path=beside, fix="Create it; it can be empty")
    try:
        text = beside.read_bytes().decode("utf-8")  # as stored: each character counts, also CR
    except UnicodeDecodeError:
        raise InputError("not encoded as UTF-8", path=beside, fix="Convert the file to UTF-8") from None
    rows = [(number, line) for number, line in lines(file) if line.strip()]
    text = _without_mark(text, [line for _, line in rows])
    found: list[tuple[CharSpan, int]] = []
    discontinuous: list[CharSpan] = []
    for number, line in rows:
        if line.startswith("T"):
            span, whole = _entity(line, text, number, report)
            found += [(span, number)] if whole else []
            discontinuous += [] if whole else [span]
        elif line[0] in _OTHERS:
            report.skipped[_OTHERS[line[0]]] += 1
        else:
            raise _invalid(line, number, report)
    return AnnotatedText(
        text=text,
        spans=[span for span, _ in found],
        discontinuous=discontinuous,
        line=1,
        span_lines=dict(found),
    )


def _without_mark(text: str, rows: Iterable[str]) -> str:
    """Return a text without the byte order mark that Windows tools write.

    A space replaces it where the first entity shows that offsets count it, as those of brat do.
    """
    bare = text.removeprefix("\ufeff")
    match = next(filter(None, map(_ENTITY.fullmatch, rows)), None) if bare != text else None
    if match is None or match["text"] is None:
        return bare
    start, end = map(int, re.split(r"[ ;]", match["pieces"])[:2])
    return f" {bare}" if match["text"].startswith(_one_line(text[start:end])) else bare


def _invalid(line: str, number: int, report: Report) -> InputError:
    return InputError(
        f"invalid line: {line[:60]!r}",
        path=report.path,
        line=number,
        fix="Write the number of an annotation, a tab, its label and offsets, a tab and its text: "
        "T1<TAB>PER 0 6<TAB>George",
    )


def _entity(line: str, text: str, number: int, report: Report) -> tuple[CharSpan, bool]:
    """Return the span of a line, and whether it is whole. One with several pieces cannot be learned."""
    match = _ENTITY.fullmatch(line)
    if match is None:
        raise _invalid(line, number, report)
    pieces = [_piece(piece, text, number, report) for piece in match["pieces"].split(";")]
    found = " ".join(_one_line(text[start:end]) for start, end in pieces)
    if match["text"] is not None and match["text"] != found:
        raise InputError(
            f"{match['id']} is {found!r} in the text, but its line has {match['text']!r}",
            path=report.path,
            line=number,
            fix="The text was changed after its annotation, or the offsets count bytes. Correct the offsets",
        )
    start, end = pieces[0][0], pieces[-1][1]
    whole = all(_is_line_end(text[before[1] : after[0]]) for before, after in pairwise(pieces))
    if not whole:
        report.misaligned.append(
            Misaligned(report.path, number, start, end, found, match["label"], "is discontinuous")
        )
    return (start, end, match["label"]), whole


def _piece(piece: str, text: str, number: int, report: Report) -> tuple[int, int]:
    start, end = map(int, piece.split())
    return check_span(start, end, text, path=report.path, line=number)


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def _is_line_end(gap: str) -> bool:
    return gap.isspace() and "\n" in gap


def _recognise(head: FileHead) -> str | None:
    if head.folder is not None:
        found = next(head.folder.glob(f"*{ANNOTATIONS}"), None)
        return f"a folder with {ANNOTATIONS} files" if found else None
    fits = bool(head.filled) and all(map(_LINE.match, head.filled))
    some = any(map(_ENTITY.fullmatch, head.filled))
    return "standoff annotations of brat" if fits and some else None


def _write_folder(sentences: Iterable[Sentence], scheme: Scheme) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    for number, each in enumerate(annotated_texts(sentences, scheme, format="brat"), 1):
        name = f"text-{number:05d}"
        files[name + TEXT] = each.text.encode("utf-8")
        if each.spans is not None:
            rows = (_entity_line(index, span, each.text) for index, span in enumerate(each.spans, 1))
            files[name + ANNOTATIONS] = "".join(rows).encode("utf-8")
    return files


def _entity_line(number: int, span: CharSpan, text: str) -> str:
    """Return the line of a span, which is cut at the line ends inside it."""
    start, end, label = span
    if re.search(r"\s", label):
        raise InputError(f"brat cannot store the label {label!r}", fix="Rename it without white space")
    pieces = [(match.start() + start, match.end() + start) for match in _PIECE.finditer(text[start:end])]
    places = ";".join(f"{first} {last}" for first, last in pieces)
    return f"T{number}\t{label} {places}\t{' '.join(text[first:last] for first, last in pieces)}\n"


TAGGED = TaggedFormat(
    name="brat",
    description="brat's .txt and .ann files",
    read=lambda content, options, report: tagged_sentences(
        _annotated(content.path, report), options.tokenizer, report
    ),
    write_folder=_write_folder,
    suffixes=(ANNOTATIONS,),
    recognise=_recognise,
    has_ids=True,
    stores_texts=True,
)
