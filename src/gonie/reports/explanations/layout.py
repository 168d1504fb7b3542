"""A text split at its tokens, so that weights can be shown on the original text without losing anything.

Tokens have offsets. Whatever lies between them (spaces, line breaks, words beyond a model's limit) is kept
unchanged. Some tokens have no characters, such as the mark ``<e1>`` or the second of two morphemes that share
a syllable. They are shown by their word and are not part of the text. Tokens whose characters are invisible,
such as U+202E, are shown by their code points.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from gonie.text.types import Sentence


class TextPiece(NamedTuple):
    """A piece of a text: token ``token`` of its row, or the text between tokens (None).

    ``added`` means that the piece is not part of the original text.
    """

    text: str
    token: int | None = None
    added: bool = False


def lay_out(text: str, sentences: Sequence[Sentence]) -> list[list[TextPiece]]:
    """Return one row of pieces per sentence. The pieces that are not ``added`` concatenate to ``text``.

    The text between two sentences belongs to the row of the first.
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
    """Lay out one sentence alone, from its first token to its last."""
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
    """Return the pieces of ``text[at:stop]`` and where they end, which is later if a token extends beyond."""
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
    """Return whether the text has more than control characters, spaces and accents without a letter."""
    return any(unicodedata.category(character)[0] not in "CZM" for character in text)
