"""Tests the tables of `gonie vectors`: words that moved most, their neighbours, and missing words."""

from __future__ import annotations

import numpy as np
import pytest
from rich.console import Console

from gonie.cli.views.vectors_table import NAMED, print_vectors
from gonie.experiments.word_vectors import Word, WordVectors
from gonie.features.encoding import Encoding, count
from gonie.text.normalize import Normalization
from gonie.text.schemes import IOB2
from gonie.text.types import Sentence


@pytest.fixture
def vectors() -> WordVectors:
    """Build four words in two dimensions: ``a`` moves from ``b`` to ``c``, ``\\x1b`` stays."""
    text = [Sentence(words=("a", "b", "c", "\x1b[2J"), tags=("O",) * 4)]
    same = Normalization(lowercase=False, digits=False)
    counts = count(text, normalization=same, jamo=False, extractors=[])
    encoding = Encoding.fit(
        counts,
        scheme=IOB2,
        normalization=same,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
    )
    words = {id: Word(encoding.words.string(id), id, "X") for id in range(2, 6)}
    at = {word.text: id for id, word in words.items()}
    before = np.zeros((6, 2), dtype=np.float32)
    before[[at["a"], at["b"], at["c"], at["\x1b[2J"]]] = [[1, 0], [1, 0.1], [0, 1], [-1, -1]]
    after = before.copy()
    after[at["a"]] = [0.1, 1]
    return WordVectors(encoding, before, after, words)


def printed(vectors: WordVectors, *forms: str, **options: object) -> str:
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        settings = {"asked": True, "missing": [], **options}
        print_vectors(console, vectors, vectors.find(forms)[0], **settings)  # type: ignore[arg-type]
    return capture.get()


def test_the_word_that_moved_most_comes_first(vectors: WordVectors) -> None:
    lines = printed(vectors, "b", "a").splitlines()
    assert lines[1].split() == ["a", "X", "0.100"]
    assert lines[2].split() == ["b", "X", "1.000"]


def test_neighbours_are_shown_before_and_after(vectors: WordVectors) -> None:
    rows = [line.split() for line in printed(vectors, "b", "a").splitlines()[4:]]
    assert [row[0] for row in rows] == ["b", "a"], "in the order asked"
    assert rows[1][1].startswith("b")
    assert rows[1][4].startswith("c")


def test_without_requested_words_neighbours_of_moved_words_are_shown(vectors: WordVectors) -> None:
    assert printed(vectors, "b", "a", asked=False).splitlines()[4].split()[0] == "a"


def test_words_that_did_not_move_are_explained(vectors: WordVectors) -> None:
    text = printed(vectors, "b", "c")
    assert "model.words.tuned" in text
    assert "moved most" not in text


def test_the_first_missing_words_are_named_and_the_rest_counted(vectors: WordVectors) -> None:
    text = printed(vectors, "a", missing=[f"m{n}" for n in range(NAMED + 3)])
    assert "m0, m1" in text
    assert "and 3 more" in text


def test_control_characters_in_words_are_not_printed(vectors: WordVectors) -> None:
    text = printed(vectors, "a", "\x1b[2J", missing=["\x1b[31m"])
    assert "\x1b" not in text
