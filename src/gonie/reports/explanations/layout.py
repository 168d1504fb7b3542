"""A text as it was written, cut at its tokens, so that weights can be laid over it and nothing is lost.

Tokens know their offsets. What lies between them (blanks, line breaks, words beyond a model's limit) is kept
as it is. A token without characters of its own, such as the mark ``<e1>`` or the second of two morphemes that
share a syllable, is shown by its word and is no part of the text; one whose characters cannot be seen, as
U+202E, by their codes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from gonie.text.types import Sentence


class TextPiece(NamedTuple):
    """A stretch of a text: token ``token`` of its row, or what lies between tokens (None).

    ``added`` says that the stretch is not in the text.
    """

    text: str
    token: int | None = None
    added: bool = False


def lay_out(text: str, sentences: Sequence[Sentence]) -> list[list[TextPiece]]:
    """A row of pieces for each sentence; all that are not ``added`` together are ``text``.

    What stands between two sentences ends the row of the first.
    """
    rows: list[list[TextPiece]] = []
    at = 0
    for number, sentence in enumerate(sentences):
        last = number == len(sentences) - 1
        stop = len(text) if last else min(_start(sentences[number + 1], len(text)), len(text))
        row, at = _row(text, sentence, at, max(stop, at))
        rows.append(row)
    return rows


def lay_out_sentence(sentence: Sentence) -> list[TextPiece]:
    """One sentence alone, from its first token to its last, of whatever text it was cut from."""
    places = sentence.offsets()
    if not places:
        return []
    first, last = min(start for start, _ in places), max(end for _, end in places)
    row, _ = _row(sentence.surface[:last], sentence, first, last)
    return row


def _start(sentence: Sentence, otherwise: int) -> int:
    places = sentence.offsets()
    return places[0][0] if places else otherwise


def _row(text: str, sentence: Sentence, at: int, stop: int) -> tuple[list[TextPiece], int]:
    """The pieces of ``text[at:stop]``, and where they end; a token that reaches further takes it along."""
    row: list[TextPiece] = []
    for token, (start, end) in enumerate(sentence.offsets()):
        if start > at:
            row.append(TextPiece(text[at:start]))
            at = start
        own, at = text[at:end], max(at, end)
        if _can_be_seen(own):
            row.append(TextPiece(own, token))
            continue
        shown = " ".join(f"U+{ord(character):04X}" for character in own) or sentence.words[token].strip()
        row.append(TextPiece(shown or "(no word)", token, added=True))
        if own:
            row.append(TextPiece(own))
    if stop > at:
        row.append(TextPiece(text[at:stop]))
    return row, max(at, stop)


def _can_be_seen(text: str) -> bool:
    """Does it have more than control characters, blanks and accents without a letter?"""
    return any(unicodedata.category(character)[0] not in "CZM" for character in text)
