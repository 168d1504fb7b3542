"""User dictionaries for Kiwi: words that the morpheme tokenizer must know, one per line.

    고니툴킷<TAB>NNP
    케이-팝<TAB>NNG<TAB>3.5      the score is optional; a higher one makes the word win more often

Lines that begin with ``#`` are comments. A tokenizer keeps the lines, so that a bundle needs no file.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from os import PathLike
from typing import NamedTuple

from gonie.errors import InputError
from gonie.system.files import lines

_TAGS = """NNG NNP NNB NR NP VV VV-R VV-I VA VA-R VA-I VX VX-R VX-I VCP VCN MM MAG MAJ IC JKS JKC JKG JKO JKB
JKV JKQ JX JC EP EF EC ETN ETM XPN XSN XSV XSA XSA-R XSA-I XSM XR SF SP SS SSO SSC SE SO SW SL SH SN SB
USER0 USER1 USER2 USER3 USER4"""
TAGS = frozenset(_TAGS.split())
"""The tags that an entry may have: Sejong's with Kiwi's extensions, and five free ones."""

MOST_ENTRIES, LONGEST_FORM, LONGEST_ENTRY = 100_000, 100, 200
"""The maximum number of entries, and of characters of a form and of an entry."""
_LARGEST_SCORE = 1_000


class UserWord(NamedTuple):
    """A word with its tag and its score."""

    form: str
    tag: str
    score: float = 0.0


def parse_word(line: str, *, path: str | PathLike[str] | None = None, number: int | None = None) -> UserWord:
    """Parse an entry. ``path`` and ``number`` are the place of the line, for errors."""
    form, *rest = (cell.strip() for cell in line.split("\t"))
    tag, score = (*rest, "0", "0")[:2] if rest else ("", "0")
    problem = fix = ""
    if not form or len(form) > LONGEST_FORM or not form.isprintable():
        problem = f"invalid form: {form[:LONGEST_FORM]!r} in the user dictionary"
        fix = f"Write one to {LONGEST_FORM} printable characters before the first tab"
    elif len(rest) not in (1, 2):
        problem = f"expected 2 or 3 columns, got {len(rest) + 1} in the user dictionary"
        fix = "Write the form, a tab and the tag, such as NNP, then optionally a tab and a score"
    elif tag not in TAGS:
        problem = f"unknown tag: {tag[:LONGEST_FORM]!r} in the user dictionary"
        fix = f"Use one of {' '.join(sorted(TAGS))}"
    elif not _is_score(score):
        problem = f"invalid score: {score[:LONGEST_FORM]!r} in the user dictionary"
        fix = f"Write a number from -{_LARGEST_SCORE} to {_LARGEST_SCORE}"
    if problem:
        raise InputError(problem, path=path, line=number, fix=fix)
    return UserWord(form, tag, float(score))


def read_user_dictionary(path: str | PathLike[str]) -> tuple[str, ...]:
    """Read the entries of a file as lines without comments, after checking each."""
    entries = []
    for number, line in lines(path):
        if line.strip() and not line.startswith("#"):
            parse_word(line, path=path, number=number)
            entries.append(line.strip())
    if not entries:
        raise InputError("the user dictionary has no entries", path=path)
    if len(entries) > MOST_ENTRIES:
        raise InputError(
            f"the user dictionary has {len(entries):,} entries",
            path=path,
            fix=f"Keep at most {MOST_ENTRIES:,}",
        )
    return tuple(entries)


def user_words(entries: Iterable[str]) -> list[UserWord]:
    """Return the words of entries."""
    return [parse_word(entry) for entry in entries]


def _is_score(text: str) -> bool:
    try:
        score = float(text)
    except ValueError:
        return False
    return isfinite(score) and abs(score) <= _LARGEST_SCORE
