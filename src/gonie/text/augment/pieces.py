"""Take a sentence apart into words with the characters before them, and put changed words together again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gonie.text.types import Sentence


class WordPiece(NamedTuple):
    """A word, its characters in the text, its further columns, and the characters before it.

    ``before`` is None if the text is not known.
    """

    word: str
    surface: str
    columns: tuple[str, ...] = ()
    before: str | None = None

    def in_place_of(self, other: WordPiece) -> WordPiece:
        """Return this word after the characters that stand before another."""
        return self._replace(before=other.before)

    def spelled(self, word: str) -> WordPiece:
        """Return the piece with another spelling of its word."""
        return self if word == self.word else self._replace(word=word, surface=word)


def take_apart(sentence: Sentence) -> list[WordPiece]:
    """Return the words of a sentence as pieces. Only its own part of a longer text is kept."""
    columns = list(zip(*sentence.columns.values(), strict=True)) or [()] * len(sentence)
    if not _has_text(sentence):
        return [WordPiece(word, word, own) for word, own in zip(sentence.words, columns, strict=True)]
    text = sentence.text or ""
    before = [sentence.starts[0], *sentence.ends[:-1]] if sentence.words else []
    places = zip(before, sentence.starts, sentence.ends, strict=True)
    return [
        WordPiece(word, text[start:end], own, text[last:start])
        for word, own, (last, start, end) in zip(sentence.words, columns, places, strict=True)
    ]


def put_together(pieces: Sequence[WordPiece], tags: Iterable[str], original: Sentence) -> Sentence | None:
    """Return a copy of ``original`` with these words and tags. The text and its offsets fit the words.

    Return None if the words and the tags are those of the original.
    """
    words, tags = tuple(piece.word for piece in pieces), tuple(tags)
    if (words, tags) == (original.words, original.tags):
        return None
    text: str | None = None
    starts: list[int] = []
    ends: list[int] = []
    if _has_text(original):
        text = ""
        for place, piece in enumerate(pieces):
            text += (" " if piece.before is None else piece.before) if place else ""
            starts.append(len(text))
            text += piece.surface
            ends.append(len(text))
    return replace(
        original,
        words=words,
        tags=tags,
        columns={
            name: tuple(piece.columns[place] for piece in pieces)
            for place, name in enumerate(original.columns)
        },
        text=text,
        starts=tuple(starts),
        ends=tuple(ends),
        unreachable=(),
    )


def _has_text(sentence: Sentence) -> bool:
    """Return whether the text is known, with words that follow each other in it."""
    if sentence.text is None or not len(sentence.starts) == len(sentence.ends) == len(sentence):
        return False
    return all(end <= start for end, start in zip(sentence.ends, sentence.starts[1:], strict=False))
