"""The sub-words (pieces) of sentences for a transformer, aligned to tokens by character offsets.

A sentence is cut at the whitespace of its text into runs of characters, such as 서울은. The tokenizer of the
transformer divides each run by itself, as it divides a word that is cut off already, so the pieces of a run
are the same in every sentence. A token has the pieces that have one of its characters: the piece 서울 is that
of the token 서, and of the token 울. A token has none if the tokenizer drops all of its characters, such as
control characters. Whitespace is what Unicode calls so. A run that is one token has all pieces of the run.

Tokens that are words are runs by themselves, whether or not there is a space between them, because many files
do not say where spaces are. Tokens that are smaller, such as syllables, are joined.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, MissingExtraError
from gonie.text.fold import fold
from gonie.text.types import Sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Pooling = Literal["first", "mean", "last"]
"""Which pieces of a token stand for it: the first, all of them, or the last."""
KNOWN = 1 << 15
"""The number of runs whose pieces are kept in memory."""
_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")


class TextRun(NamedTuple):
    """Characters without whitespace: its folded text, and the offsets in it of the tokens that it has."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


class RunPieces(NamedTuple):
    """The pieces of a run: their ids, and the offset of the first and after the last character of each."""

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class PieceArrays(NamedTuple):
    """The pieces of N sentences with M tokens: P ids, the offsets of sentences, and a range for each token.

    Sentence i has the pieces ``ids[offsets[i] : offsets[i + 1]]``. Its token t is represented by those from
    ``starts[t]`` to ``ends[t]``, counted from the first piece of the sentence; none if they are equal.
    """

    ids: NDArray[np.int32]
    offsets: NDArray[np.int64]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


class PieceTokenizer:
    """Divides sentences into the pieces of a transformer (``tokenizer.json``), without its special pieces.

    ``content`` is the file. ``joined`` says that tokens without whitespace between them are one run, ``fold``
    that runs are folded first (``gonie.text.fold``), and ``pooling`` which pieces of a token stand for it.
    ``limit`` is the most pieces that the transformer reads at once, with the special pieces ``begin`` and
    ``end`` around them.
    """

    def __init__(self, content: str, *, joined: bool, fold: bool, pooling: Pooling, limit: int) -> None:
        tokenizer = _read(content)
        self.content = tokenizer.to_str()
        self.joined = joined
        self.fold = fold
        self.pooling: Pooling = pooling
        self.limit = limit
        self.begin, self.end = _special(tokenizer)
        self.size = max(tokenizer.get_vocab().values(), default=-1) + 1
        """The number of pieces."""
        if self.width < 4:
            raise InputError(f"the transformer reads only {limit} sub-words at once")
        self._tokenizer = tokenizer
        self._known: dict[str, RunPieces] = {}

    @property
    def width(self) -> int:
        """The most pieces of a sentence that the transformer reads at once."""
        return self.limit - len(self.begin) - len(self.end)

    @property
    def frame(self) -> dict[str, NDArray[np.int64]]:
        """What a batch needs besides the pieces: ``begin``, ``end`` and ``width``, as arrays."""
        values = {"begin": self.begin, "end": self.end, "width": [self.width]}
        return {name: np.array(own, dtype=np.int64) for name, own in values.items()}

    def encode(self, sentences: Sequence[Sentence]) -> PieceArrays:
        """Return the pieces of sentences and of their tokens."""
        runs = [list(self._runs(sentence)) for sentence in sentences]
        known = self._look_up(run.text for own in runs for run in own)
        ids: list[NDArray[np.int32]] = []
        starts: list[int] = []
        ends: list[int] = []
        sizes = [0]
        for own in runs:
            at = 0
            for run in own:
                pieces = known[run.text]
                for first, last in self._token_pieces(run, pieces):
                    starts.append(at + first)
                    ends.append(at + last)
                ids.append(pieces.ids)
                at += len(pieces.ids)
            sizes.append(at)
        return PieceArrays(
            np.concatenate(ids) if ids else np.zeros(0, np.int32),
            np.array([*accumulate(sizes)], dtype=np.int64),
            np.array(starts, dtype=np.int32),
            np.array(ends, dtype=np.int32),
        )

    def _runs(self, sentence: Sentence) -> Iterator[TextRun]:
        """Yield the runs of a sentence. Each has at least one token, and each token is in one run."""
        if sentence.text is None or not self.joined:
            for word in sentence.words:
                text = fold(word).text if self.fold else word
                yield TextRun(text, (0,), (len(text),))
            return
        starts, ends = sentence.edges()
        first = 0
        while first < len(starts):
            last, end = first + 1, ends[first]
            while last < len(starts) and not _SPACE.search(sentence.text, end, max(end, starts[last])):
                end = max(end, ends[last])
                last += 1
            yield self._run(sentence.text, starts[first:last], ends[first:last], end)
            first = last

    def _run(self, text: str, starts: Sequence[int], ends: Sequence[int], end: int) -> TextRun:
        """Return the characters of a text from the first start to ``end`` as a run."""
        begin = starts[0]
        written = text[begin:end]
        if not self.fold:
            return TextRun(written, tuple(at - begin for at in starts), tuple(at - begin for at in ends))
        folded = fold(written)
        places = np.asarray(folded.places)
        before = np.searchsorted(places, [at - begin for at in starts], side="right") - 1
        inner = np.searchsorted(places, places[before], side="left")  # the first of those folded together
        outer = np.searchsorted(places, [at - begin for at in ends], side="left")
        return TextRun(folded.text, tuple(inner.tolist()), tuple(outer.tolist()))

    def _token_pieces(self, run: TextRun, pieces: RunPieces) -> Iterator[tuple[int, int]]:
        """Yield the range of pieces that stand for each token of a run."""
        number = len(pieces.ids)
        if len(run.starts) == 1:
            yield self._pooled(0, number)
            return
        for start, end in zip(run.starts, run.ends, strict=True):
            # Neither starts nor ends decrease, so the pieces that share a character are neighbours.
            first = int(np.searchsorted(pieces.ends, start, side="right"))
            last = int(np.searchsorted(pieces.starts, end, side="left"))
            yield self._pooled(first, max(first, last))

    def _pooled(self, first: int, last: int) -> tuple[int, int]:
        if first == last or self.pooling == "mean":
            return first, last
        return (first, first + 1) if self.pooling == "first" else (last - 1, last)

    def _look_up(self, texts: Iterable[str]) -> Mapping[str, RunPieces]:
        """Return the pieces of each run. Those of runs not seen lately are computed in one call."""
        known = self._known  # other threads may replace it
        wanted = dict.fromkeys(texts)
        found = {text: pieces for text in wanted if (pieces := known.get(text)) is not None}
        if new := [text for text in wanted if text not in found]:
            divided = dict(zip(new, self._divide(new), strict=True))
            found.update(divided)
            if len(known) + len(new) > KNOWN:
                known = self._known = {}
            known.update(islice(divided.items(), KNOWN))
        return found

    def _divide(self, texts: Sequence[str]) -> list[RunPieces]:
        """Divide runs into pieces."""
        encoded = self._tokenizer.encode(texts, is_pretokenized=True, add_special_tokens=False)
        ids = np.array(encoded.ids, dtype=np.int32)
        edges = np.array(encoded.offsets, dtype=np.int64).reshape(-1, 2)
        counts = np.bincount(np.array(encoded.word_ids, dtype=np.int64), minlength=len(texts))
        ends = np.cumsum(counts)
        return [
            RunPieces(ids[a:b], *_ordered(edges[a:b, 0], edges[a:b, 1]))
            for a, b in zip((ends - counts).tolist(), ends.tolist(), strict=True)
        ]

    def to_json(self) -> dict[str, Any]:
        """Return everything ``from_json`` needs, as plain values."""
        return {
            "tokenizer": self.content,
            "joined": self.joined,
            "fold": self.fold,
            "pooling": self.pooling,
            "limit": self.limit,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> PieceTokenizer:
        """Restore the tokenizer from the result of ``to_json``."""
        return cls(
            saved["tokenizer"],
            joined=saved["joined"],
            fold=saved["fold"],
            pooling=saved["pooling"],
            limit=saved["limit"],
        )


def _ordered(
    starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of pieces so that none decreases, and each piece has at least one character."""
    starts = np.maximum.accumulate(starts)
    return starts, np.maximum.accumulate(np.maximum(ends, starts + 1))


def _read(content: str) -> Tokenizer:
    """Read a ``tokenizer.json``. It must not cut or pad texts, nor look for special pieces in them."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("tokenizers", extra="tokenizers", purpose="a transformer") from error
    try:
        tokenizer = Tokenizer.from_str(_with_prefix_space(content))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        tokenizer.encode(["a"], is_pretokenized=True)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # a panic of the library is no Exception
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InputError(f"invalid tokenizer.json: {reason[:200]}") from error
    return tokenizer


def _with_prefix_space(content: str) -> str:
    """Return the content so that pieces of bytes mark the beginning of each run, as a space before it.

    So do the models themselves when they read words (Liu et al. 2019, RoBERTa).
    """
    if '"ByteLevel"' not in content:
        return content
    value = json.loads(content)
    steps = [value.get("pre_tokenizer") or {}]
    for step in steps:
        steps += step.get("pretokenizers", [])
        if step.get("type") == "ByteLevel":
            step["add_prefix_space"] = True
    return json.dumps(value, ensure_ascii=False)


def _special(tokenizer: Tokenizer) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the special pieces before and after those of a sentence."""
    found = tokenizer.encode("a")
    own = [at for at, special in enumerate(found.special_tokens_mask) if not special]
    if not own:
        raise InputError("invalid tokenizer.json: it has no piece for the letter a")
    return tuple(found.ids[: own[0]]), tuple(found.ids[own[-1] + 1 :])
