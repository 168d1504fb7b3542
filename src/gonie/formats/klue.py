"""The named-entity format of KLUE: one character per line, including spaces, in IOB2.

    ## klue-ner-v1_dev_00000-wikitree<TAB><경찰:OG>은 또 …
    경<TAB>B-OG
    찰<TAB>I-OG
    …

Words are the characters that are not spaces, as in the syllable tokenizer. The text keeps the spaces, so
offsets are exact. The tag of a space inside an entity is dropped with the space, which changes no entity. An
entity that begins with a space begins at its first other character.

The header has the id and the text of the sentence, in which entities may be marked. Lines that differ from it
are refused. A header may also have only the id, and a file may have no headers.

In a decomposed file (NFD), a syllable has two or three lines, one for each jamo. Such lines are one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from unicodedata import normalize

from gonie.errors import InputError
from gonie.formats.content import FileHead
from gonie.formats.format import TaggedFormat
from gonie.formats.spans import text_and_spans, with_own_ids
from gonie.system.files import Line
from gonie.text.alignment import CharSpan
from gonie.text.fold import fold
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Policy, Scheme, from_spans, repair, to_spans
from gonie.text.types import Sentence

HEADER = "##"
MOST = 0.75
"""The share of lines with one character from which a file with KLUE's headers or lines of spaces is a KLUE
file with errors."""
_TAG = re.compile(r"O|[BI]-\S+")
_TITLE = re.compile(r"## (\S+)\t(\S.*)")
"""The header of a sentence: its id and its text."""
_MARK = re.compile(r"<([^<>]*):[^\s<>:]+>")
"""An entity in a header."""


def read(rows: Iterable[Line], *, report: Report, policy: Policy = "error") -> Iterator[Sentence]:
    """Yield the sentences of a KLUE file.

    ``policy`` is needed only for an I after a space tagged O. Without the space it would seem valid.
    """
    pairs: list[list[str]] = []
    numbers: list[int] = []
    title: re.Match[str] | None = None
    for number, line in chain(rows, [(0, "")]):
        if line and not line.startswith(HEADER):
            pairs.append(_pair(line, report.path, number))
            numbers.append(number)
            continue
        if pairs:
            if title:
                _check_header(title[2], pairs, numbers, report.path)
            for sentence in character_sentence(pairs, numbers, report, policy):
                yield replace(sentence, id=title[1] if title else None)
            pairs, numbers, title = [], [], None
        if line:
            report.comments += 1
            title = _TITLE.match(line)


def _check_header(header: str, pairs: Sequence[Sequence[str]], numbers: Sequence[int], path: str) -> None:
    """Refuse lines whose characters are not those of the header, because some were lost or changed."""
    text = "".join(character for character, _ in pairs)
    bare = _MARK.sub(r"\1", header)
    if _same(bare, text) or _same(header, text):
        return
    if _same(header, marked_text(text, to_spans([tag for _, tag in pairs], IOB2))):
        return  # the text itself has what seems to be a mark
    wanted = normalize("NFC", bare)
    shared = max(at for at in range(len(text) + 1) if wanted.startswith(normalize("NFC", text[:at])))
    before = normalize("NFC", text[:shared])
    raise InputError(
        f"the characters of the lines differ from the text in the header after {before[-10:]!r}: "
        f"expected {wanted[len(before) :][:10]!r}, got {text[shared:][:10]!r}",
        path=path,
        line=numbers[min(shared, len(numbers) - 1)],
        fix="Write a line for each character of the text, also for spaces. If the header is wrong, leave "
        "only the id in it: ## ID",
    )


def _same(one: str, other: str) -> bool:
    """Return whether texts are equal, in whatever Unicode form and whatever spaces are at their ends."""
    return one == other or normalize("NFC", one.strip()) == normalize("NFC", other.strip())


def _pair(line: str, path: str, number: int) -> list[str]:
    pair = line.split("\t")
    if _is_pair(pair) and pair[1]:
        return pair
    if len(pair) == 2 and pair[0] and pair[1]:
        problem = f"{len(pair[0])} characters in one line of a KLUE file: {line[:60]!r}"
    else:
        problem = f"invalid line of a KLUE file: {line[:60]!r}"
    raise InputError(
        problem,
        path=path,
        line=number,
        fix="Write one character, a tab and its tag. If the file has words, not characters, choose "
        "--format conll (in a recipe data.format)",
    )


def _is_pair(row: Sequence[str]) -> bool:
    """Return whether these columns are a character and its tag."""
    return len(row) == 2 and len(row[0]) == 1


def character_sentence(
    pairs: Sequence[Sequence[str]], numbers: Sequence[int], report: Report, policy: Policy
) -> Iterator[Sentence]:
    """Yield the sentence of these characters, or nothing if all of them are spaces."""
    text = "".join(character for character, _ in pairs)
    tags = _repair_after_blanks([tag for _, tag in pairs], text, numbers, report, policy)
    if blank := _count_blank_entities(tags, text):
        report.skipped["entities of only spaces"] += blank
    edges = sorted(set(fold(text).places))  # of characters; those of a decomposed text have several lines
    ends = {start: end for start, end in pairwise(edges) if not text[start].isspace()}
    kept = [*ends]
    if not kept:
        report.skipped["sentences of only spaces"] += 1
        return
    report.sentences += 1
    report.tokens += len(kept)
    report.rows = [numbers[index] for index in kept]
    yield Sentence(
        words=tuple(text[start:end] for start, end in ends.items()),
        tags=tuple(_joined(_without_blanks(tags, text, kept, report), tags, ends, report)),
        text=text,
        starts=tuple(kept),
        ends=tuple(ends.values()),
        path=report.path,
        line=numbers[0],
    )


def _repair_after_blanks(
    tags: list[str], text: str, numbers: Sequence[int], report: Report, policy: Policy
) -> list[str]:
    """Repair any I after a space tagged O, because dropping the space would hide the error."""
    hidden = any(
        text[index - 1].isspace() and tags[index - 1] == "O" and tags[index].startswith("I-")
        for index in range(1, len(tags))
    )
    if not hidden:
        return tags
    repaired, changed = repair(tags, IOB2, policy, places=[f"{report.path}:{number}" for number in numbers])
    report.repairs[policy] += changed
    return repaired


def _count_blank_entities(tags: Sequence[str], text: str) -> int:
    """Return how many entities consist of spaces."""
    if not any(character.isspace() and tag[0] == "B" for character, tag in zip(text, tags, strict=True)):
        return 0
    return sum(text[start:end].isspace() for start, end, _ in to_spans(tags, IOB2))


def _without_blanks(tags: Sequence[str], text: str, kept: list[int], report: Report) -> Iterator[str]:
    """Yield the tags of the kept characters. Each entity begins at its first kept character."""
    for index in kept:
        tag, before = tags[index], index - 1
        while before >= 0 and text[before].isspace() and tags[before] == tag:
            before -= 1
        begun = before >= 0 and text[before].isspace() and tags[before] == "B" + tag[1:]
        if tag.startswith("I-") and begun:
            report.noticed["entities that begin with a space (moved to the first character)"] += 1
            tag = "B" + tag[1:]
        yield tag


def _joined(
    firsts: Iterable[str], tags: Sequence[str], ends: Mapping[int, int], report: Report
) -> Iterator[str]:
    """Yield the tag of each character: that of its first line, unless an entity begins in a later one."""
    for tag, (start, end) in zip(firsts, ends.items(), strict=True):
        more = tags[start + 1 : end]
        if all(other == tag.replace("B-", "I-", 1) for other in more):
            yield tag
            continue
        report.noticed["characters of several lines with different tags"] += 1
        yield next((other for other in (tag, *more) if other.startswith("B-")), tag)


def write(sentences: Iterable[Sentence], *, scheme: Scheme = IOB2) -> Iterator[str]:
    """Yield each sentence in the KLUE format, with character tags for any tokenization."""
    for number, sentence in enumerate(with_own_ids(sentences)):
        _check(sentence, scheme)
        text, spans = text_and_spans(sentence, scheme)
        tags = from_spans(spans, len(text), IOB2)
        body = "".join(f"{character}\t{tag}\n" for character, tag in zip(text, tags, strict=True))
        known = str(sentence.id)
        name = f"gonie_{number:05d}" if sentence.id is None or len(known.split()) != 1 else known
        yield f"{HEADER} {name}\t{marked_text(text, spans)}\n{body}\n"


def _check(sentence: Sentence, scheme: Scheme) -> None:
    """Raise InputError for plain labels, missing tags, and texts with tabs or line ends."""
    problem = ""
    if sentence.tags is None:
        problem = "sentences without tags"
    elif not scheme.has_spans:
        problem = "plain labels"
    elif any(character in "\n\r\t" for character in sentence.surface):
        problem = "texts with tabs or line ends"
    if problem:
        raise InputError(
            f"the KLUE format cannot store {problem}",
            path=sentence.path or None,
            line=sentence.line,
        )


def marked_text(text: str, spans: Iterable[CharSpan]) -> str:
    """Return the text with its entities as ``<surface:LABEL>``."""
    parts, at = [], 0
    for start, end, label in spans:
        parts += [text[at:start], f"<{text[start:end]}:{label}>"]
        at = end
    return "".join([*parts, text[at:]])


def _recognise(head: FileHead) -> str | None:
    body = [line.split("\t") for line in head.filled if not line.startswith(HEADER)]
    headed = any(line.startswith(HEADER + " ") for line in head.filled)
    pairs = sum(map(_is_pair, body))
    spaced = any(_is_pair(row) and row[0].isspace() and _TAG.fullmatch(row[1]) for row in body)
    if not (headed or spaced) or not body:
        return None
    if pairs == len(body):
        return "## headers and one character per line" if headed else "one character per line, also spaces"
    # A damaged file is recognised, then refused.
    certain = spaced or any(_TITLE.match(line) for line in head.filled)
    if not certain or pairs < MOST * len(body):
        return None
    return (
        "## headers and one character in most lines" if headed else "one character in most lines, also spaces"
    )


TAGGED = TaggedFormat(
    name="klue",
    description="KLUE's one character per line with ## headers",
    read=lambda content, options, report: read(content.lines, report=report, policy=options.repair),
    write=lambda sentences, scheme: write(sentences, scheme=scheme),
    unit="character",
    recognise=_recognise,
    has_ids=True,
    keeps_ids=True,
    rank=1,
    stores_texts=True,
)
