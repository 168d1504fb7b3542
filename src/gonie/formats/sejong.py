"""Sejong's morpheme columns: one eojeol per line, with its morphemes and their parts of speech.

    <p>
    BTAA0001-00000012<TAB>프랑스의<TAB>프랑스/NNP + 의/JKG
    BTAA0001-00000013<TAB>문장이다.<TAB>문장/NNG + 이/VCP + 다/EF + ./SF
    </p>

The first column, the number of the eojeol, may be missing. Words are the morphemes, tags their parts of
speech. Sentences end at lines with markup, at blank lines and, in files without blank lines, after an eojeol
that ends in SF (the end of a sentence). The header of the corpus is skipped.

Sentences of eojeols can be written if their tags are like NNG+JKB and their lemmas (a column of CoNLL-U) like
도서관+에서.

Morphemes have offsets if those of each eojeol of the sentence make it up. 나섰다 (나서/VV + 었/EP + 다/EF) is
contracted, and its sentence has none. Other columns are ``eojeol`` (its number) and ``form`` (as written).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from gonie.errors import InputError
from gonie.formats.content import Content, FileHead
from gonie.formats.eojeols import EOJEOL, eojeol_numbers, morpheme_sentence
from gonie.formats.format import ReadOptions, TaggedFormat
from gonie.text.report import Report
from gonie.text.schemes import Scheme
from gonie.text.tokenizers.sejong_tags import is_sejong_tag
from gonie.text.types import Sentence

FORM = "form"
"""The column with the eojeol of each morpheme, as it is written in the text."""
LEMMA, XPOS = "lemma", "xpos"
"""Columns of CoNLL-U with the morphemes of an eojeol and with their tags, joined by plus signs."""
JOINT = " + "
END = "SF"
_MORPHEME = r"\S+/[A-Z][A-Z_-]+"
_ANALYSIS = re.compile(rf"{_MORPHEME}(?: \+ {_MORPHEME})*")
_NUMBER = re.compile(r"\w+-\d+")
_HOMOGRAPH = re.compile(r"(?<=.)__\d\d$")


class Eojeol(NamedTuple):
    """One line: its number, the eojeol, and its morphemes with their parts of speech."""

    line: int
    form: str
    morphemes: list[tuple[str, str]]


def _read(content: Content, options: ReadOptions, report: Report) -> Iterator[Sentence]:
    blank = any(not line.strip() for line in content.head.lines)
    ends = "blank lines and markup" if blank else f"markup and eojeols that end in {END}"
    report.choose("sentences", ends, "there are blank lines" if blank else "there are no blank lines")
    held: list[Eojeol] = []
    header = False
    for number, line in content.lines:
        eojeol = None if header else _eojeol(number, line)
        if eojeol is not None:
            held.append(eojeol)
            if blank or eojeol.morphemes[-1][1] != END:
                continue
        elif line.lstrip().startswith("<") or header:
            header = "</teiheader" not in line.lower() and (header or "<teiheader" in line.lower())
            report.skipped["lines of markup"] += 1
        elif line.strip():
            raise InputError(
                f"invalid line: {line[:60]!r}",
                path=report.path,
                line=number,
                fix="Write the eojeol, a tab and its morphemes: 프랑스의<TAB>프랑스/NNP + 의/JKG",
            )
        if held:
            yield _sentence(held, report)
            held = []
    if held:
        yield _sentence(held, report)


def _eojeol(number: int, line: str) -> Eojeol | None:
    """Return the eojeol of a line, or None if the line is something else."""
    cells = line.strip().split("\t")
    fits = len(cells) == 2 or (len(cells) == 3 and _NUMBER.fullmatch(cells[0]))
    if not fits or not cells[-2].strip() or not _ANALYSIS.fullmatch(cells[-1].strip()):
        return None
    parts = (part.rpartition("/") for part in cells[-1].strip().split(JOINT))
    return Eojeol(number, cells[-2].strip(), [(form, tag) for form, _, tag in parts])


def _sentence(eojeols: Sequence[Eojeol], report: Report) -> Sentence:
    rows = [
        (_plain(morpheme, report), tag, str(number), eojeol.form, eojeol.line)
        for number, eojeol in enumerate(eojeols, 1)
        for morpheme, tag in eojeol.morphemes
    ]
    words, tags, numbers, forms, lines = zip(*rows, strict=True)
    changed = sum("".join(_bare(eojeol)) != eojeol.form for eojeol in eojeols)
    if changed:
        report.noticed["contracted eojeols (sentences without offsets)"] += changed
    text = None if changed else " ".join(eojeol.form for eojeol in eojeols)
    columns = {EOJEOL: numbers, FORM: forms}
    return morpheme_sentence(words, tags, columns, text=text, lines=lines, report=report)


def _plain(morpheme: str, report: Report) -> str:
    """Return a morpheme without the number of its meaning: 세계__02 is 세계."""
    if _HOMOGRAPH.search(morpheme):
        report.skipped["numbers of homographs, such as __02"] += 1
    return _HOMOGRAPH.sub("", morpheme)


def _bare(eojeol: Eojeol) -> Iterator[str]:
    return (_HOMOGRAPH.sub("", morpheme) for morpheme, _ in eojeol.morphemes)


def _write(sentences: Iterable[Sentence], scheme: Scheme) -> Iterator[str]:
    """Yield a line for each eojeol, with its number in the file, and a blank line after each sentence."""
    total = 0
    for sentence in sentences:
        if sentence.tags is None or scheme.has_spans:
            raise _unfit("sentences without parts of speech", sentence)
        forms, numbers = sentence.columns.get(FORM), eojeol_numbers(sentence)
        for _, own in groupby(range(len(sentence)), key=numbers.__getitem__):
            places = list(own)
            morphemes = [part for at in places for part in _morphemes(sentence, at, sentence.tags[at])]
            analysis = JOINT.join(f"{word}/{tag}" for word, tag in morphemes)
            numbered = any(_HOMOGRAPH.search(word) for word, _ in morphemes)
            if numbered or not _ANALYSIS.fullmatch(analysis):
                raise _unfit(f"morphemes such as {analysis[:60]!r}", sentence)
            form = forms[places[0]] if forms else "".join(sentence.words[at] for at in places)
            total += 1
            yield f"GONIE-{total:08d}\t{form}\t{analysis}\n"
        yield "\n"


def _morphemes(sentence: Sentence, at: int, tag: str) -> list[tuple[str, str]]:
    """Return the morphemes of a word with their tags. Tags like NNG+JKB require lemmas."""
    tags, word = tag.split("+"), sentence.words[at]
    if not all(map(is_sejong_tag, tags)):
        known = all(
            is_sejong_tag(part) for each in sentence.columns.get(XPOS, "?") for part in each.split("+")
        )
        raise _unfit(
            f"tags that are not of the Sejong corpus, such as {tag!r} of {word!r}",
            sentence,
            fix=f"Choose the column with Sejong's tags: --tag-column {XPOS}" if known else "",
        )
    if len(tags) == 1:
        return [(word, tag)]
    parts = sentence.columns.get(LEMMA, ("",) * len(sentence))[at].split("+")
    if len(parts) != len(tags):
        raise _unfit(
            f"{word!r} with the tag {tag!r}, because its {len(tags)} morphemes are not known", sentence
        )
    return list(zip(parts, tags, strict=True))


def _unfit(what: str, sentence: Sentence, *, fix: str = "") -> InputError:
    return InputError(
        f"sejong cannot store {what}",
        path=sentence.path or None,
        line=sentence.line,
        fix=fix or "Write conll or jsonl instead",
    )


def _recognise(head: FileHead) -> str | None:
    after = [index for index, line in enumerate(head.filled, 1) if "</teiheader" in line.lower()]
    body = [line for line in head.filled[max(after, default=0) :] if not line.lstrip().startswith("<")]
    fits = bool(body) and all(_eojeol(0, line) for line in body)
    return "eojeols with morphemes like 나/NP + 는/JX" if fits else None


TAGGED = TaggedFormat(
    name="sejong",
    description="Sejong's columns: an eojeol and its morphemes with parts of speech per line",
    read=_read,
    write=_write,
    unit="morpheme",
    recognise=_recognise,
    rank=2,
)
