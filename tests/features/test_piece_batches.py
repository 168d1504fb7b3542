"""Sub-words in batches. An error here lets a transformer read other pieces, or too many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gonie.features import ragged
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding, count
from gonie.features.piece_batches import OVERLAP, PIECES, lay_out_pieces
from gonie.features.pieces import PieceTokenizer, Pooling
from gonie.text.normalize import Normalization
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence
from support.tiny_encoders import word_pieces

BEGIN, END = 2, 3
Batch = dict[str, np.ndarray[Any, Any]]


@st.composite
def sentences(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], list[int], int]:
    """Return the ranges of pieces of the tokens of each sentence, their sizes, and the width of a window."""
    width = draw(st.integers(2, 9))
    rows, sizes = [], []
    for _ in range(draw(st.integers(1, 4))):
        at, tokens = 0, []
        for _ in range(draw(st.integers(0, 9))):
            start = at + draw(st.integers(0, 2))  # pieces of no token between two
            end = start + draw(st.integers(0, width + 3))
            tokens.append((start, end))
            at = draw(st.integers(start, end))  # a piece may stand for two tokens
        sizes.append(max([end for _, end in tokens], default=0) + draw(st.integers(0, 3)))
        rows.append(tokens)
    return rows, sizes, width


def laid_out(rows: list[list[tuple[int, int]]], sizes: list[int], width: int, chosen: list[int]) -> Batch:
    """Lay out some sentences, whose pieces are numbered from 100 on."""
    lengths = np.array([len(tokens) for tokens in rows])
    flat = [edge for tokens in rows for edge in tokens]
    arrays = {
        PIECES: np.arange(100, 100 + sum(sizes)),
        f"{PIECES}.offsets": ragged.offsets(np.array(sizes)),
        f"{PIECES}.starts": np.array([start for start, _ in flat], dtype=np.int32),
        f"{PIECES}.ends": np.array([end for _, end in flat], dtype=np.int32),
        f"{PIECES}.begin": np.array([BEGIN]),
        f"{PIECES}.end": np.array([END]),
        f"{PIECES}.width": np.array([width]),
    }
    begins = ragged.offsets(lengths)
    tokens = ragged.positions(begins[chosen], lengths[chosen])
    mask = np.arange(max(1, lengths[chosen].max())) < lengths[chosen][:, None]
    return lay_out_pieces(arrays, np.array(chosen), tokens, mask)


def read(batch: Batch, sentence: int, token: int, tokens: int) -> list[int]:
    """Return the pieces that stand for a token."""
    at = sentence * tokens + token
    a, b = batch[f"{PIECES}.offsets"][at : at + 2]
    return batch[PIECES].ravel()[batch[f"{PIECES}.ids"][a:b]].tolist()


@given(sentences())
def test_every_token_has_its_pieces(given_: tuple[list[list[tuple[int, int]]], list[int], int]) -> None:
    rows, sizes, width = given_
    batch = laid_out(rows, sizes, width, list(range(len(rows))))
    longest = max(1, *(len(tokens) for tokens in rows))
    first = 100
    for number, (tokens, size) in enumerate(zip(rows, sizes, strict=True)):
        for token, (start, end) in enumerate(tokens):
            assert read(batch, number, token, longest) == list(range(first + start, first + end))
        first += size


@given(sentences())
def test_windows_have_marks_and_fit_the_transformer(
    given_: tuple[list[list[tuple[int, int]]], list[int], int],
) -> None:
    rows, sizes, width = given_
    batch = laid_out(rows, sizes, width, list(range(len(rows))))
    table, mask = batch[PIECES], batch[f"{PIECES}_mask"]
    assert table.shape == mask.shape
    assert mask.sum(1).max() <= width + 2
    assert not table[~mask].any()
    covered: set[int] = set()
    for row, own in zip(table, mask, strict=True):
        inner = row[own].tolist()
        assert (inner[0], inner[-1]) == (BEGIN, END)
        assert inner[1:-1] == list(range(inner[1], inner[1] + len(inner) - 2)) if len(inner) > 2 else True
        covered.update(inner[1:-1])
    assert covered == set(range(100, 100 + sum(sizes))), "every piece is in a window"


@given(sentences())
def test_windows_depend_on_the_sentence_alone(
    given_: tuple[list[list[tuple[int, int]]], list[int], int],
) -> None:
    rows, sizes, width = given_
    together = laid_out(rows, sizes, width, list(range(len(rows))))
    at = 0
    for number in range(len(rows)):
        alone = laid_out(rows, sizes, width, [number])
        for row, mask in zip(alone[PIECES], alone[f"{PIECES}_mask"], strict=True):
            own = together[f"{PIECES}_mask"][at]
            assert together[PIECES][at][own].tolist() == row[mask].tolist()
            at += 1
    assert at == len(together[PIECES])


@given(sentences())
def test_a_token_is_read_where_it_is_furthest_from_an_edge(
    given_: tuple[list[list[tuple[int, int]]], list[int], int],
) -> None:
    """Brute force over all windows, by the piece numbers that they contain."""
    rows, sizes, width = given_
    first = 100
    for number, (tokens, size) in enumerate(zip(rows, sizes, strict=True)):
        batch = laid_out(rows, sizes, width, [number])
        table, mask = batch[PIECES], batch[f"{PIECES}_mask"]
        windows = [row[own][1:-1] - first for row, own in zip(table, mask, strict=True)]

        def distance(window: np.ndarray[Any, Any], start: int, end: int, size: int = size) -> float:
            if not len(window) or start < window[0] or end > window[-1] + 1:
                return -1
            left = start - window[0] if window[0] > 0 else np.inf
            right = window[-1] + 1 - end if window[-1] + 1 < size else np.inf
            return min(left, right, size)

        for token, (start, end) in enumerate(tokens):
            if start == end:
                continue
            a, b = batch[f"{PIECES}.offsets"][token : token + 2]
            used = set((batch[f"{PIECES}.ids"][a:b] // table.shape[1]).tolist())
            best = max(distance(window, start, end) for window in windows)
            if best >= 0:
                assert len(used) == 1, "all pieces are from one window"
                assert distance(windows[used.pop()], start, end) == best
        first += size


def encoding_with(*, pooling: Pooling, limit: int) -> Encoding:
    normal = Normalization(lowercase=True, digits=True)
    return Encoding.fit(
        count([Sentence(("a",))], normalization=normal, jamo=False, extractors=[]),
        scheme=PLAIN,
        normalization=normal,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
        pieces=PieceTokenizer(word_pieces(), joined=False, fold=True, pooling=pooling, limit=limit),
    )


def test_windows_overlap_as_said() -> None:
    encoding = encoding_with(pooling="first", limit=402)
    corpus: Corpus = encoding.encode([Sentence(("a",) * 1000)])
    batch = corpus.batch(np.array([0]))
    assert batch[PIECES].shape == (4, 402)
    starts = np.array([0, 400 - OVERLAP, 2 * (400 - OVERLAP), 3 * (400 - OVERLAP)])
    counts = batch[f"{PIECES}_mask"].sum(1) - 2
    assert (starts + counts).tolist() == [400, 672, 944, 1000]


def test_an_empty_corpus_and_sentences_without_words() -> None:
    encoding = encoding_with(pooling="mean", limit=10)
    assert len(encoding.encode([])) == 0
    batch = encoding.encode([Sentence(()), Sentence(("an", "\u0000"))]).batch(np.array([0, 1]))
    assert batch[PIECES].shape == (2, 3)
    assert batch[f"{PIECES}.offsets"].tolist() == [0, 0, 0, 1, 1]
