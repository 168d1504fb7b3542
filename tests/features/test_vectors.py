"""Word vectors for a vocabulary: a wrong or missing vector would silently reduce accuracy."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from gonie.features.vectors import DIGITS, EXACT, LOWER, RANDOM, ROUTES, Coverage, Vectors, read_vectors
from gonie.features.vocabulary import Vocabulary
from gonie.text.normalize import Normalization


def vectors_of(*words: str, width: int = 4) -> Vectors:
    """Return vectors for these words; every number of vector i is i + 1."""
    matrix = np.repeat(np.arange(1, len(words) + 1, dtype=np.float32)[:, None], width, axis=1)
    return Vectors(words=list(words), matrix=matrix, path=Path("vectors"), format="glove")


def found(vectors: Vectors, word: str) -> tuple[str | None, str]:
    """Return the word whose vector ``word`` gets, and by which route."""
    rows, routes = vectors.look_up([word])
    return (None if rows[0] < 0 else vectors.words[rows[0]]), ROUTES[routes[0]]


@pytest.mark.parametrize(
    ("words", "word", "expected"),
    [
        (("apple", "Apple"), "Apple", ("Apple", EXACT)),
        (("APPLE", "apple"), "Apple", ("apple", LOWER)),  # the lower-case form comes before other spellings
        (("APPLE", "aPPle"), "apple", ("APPLE", LOWER)),  # lower-cased vocabulary, cased vectors
        (("0000", "2008"), "1999", ("0000", DIGITS)),
        (("2008", "1999"), "0000", ("2008", DIGITS)),  # normalised vocabulary, plain vectors
        (("mid-1990s",), "Mid-0000s", ("mid-1990s", DIGITS)),
        (("#", "##"), "17", ("##", DIGITS)),  # GoogleNews
        (("#",), "7", (None, RANDOM)),  # a single "#" is the number sign
        (("0",), "12,345", ("0", DIGITS)),
        (("0,000", "0"), "1,234", ("0,000", DIGITS)),
        (("pear",), "apple", (None, RANDOM)),
        (("x8",), "x", (None, RANDOM)),
    ],
)
def test_a_word_gets_the_vector_of_the_closest_form(
    words: tuple[str, ...], word: str, expected: tuple[str, str]
) -> None:
    assert found(vectors_of(*words), word) == expected


def test_the_table_has_each_words_vector_and_zeros_for_padding() -> None:
    vectors = vectors_of("the", "apple", width=300)
    vocabulary = Vocabulary.from_counts({"the": 5, "Apple": 3, "zzz": 2}).extended(["apple"])
    matrix = vectors.table_for(vocabulary, np.random.default_rng(1)).matrix
    assert matrix.shape == (6, 300)
    assert matrix.dtype == np.float32
    assert not matrix[0].any()
    assert (matrix[vocabulary.id("the")] == 1).all()
    assert (matrix[vocabulary.id("Apple")] == 2).all()
    assert (matrix[vocabulary.id("apple")] == 2).all()


def test_words_without_a_vector_get_seeded_random_unit_vectors() -> None:
    vectors = vectors_of("the", width=300)
    vocabulary = Vocabulary.from_counts({f"w{i}": 1 for i in range(50)})
    matrix = vectors.table_for(vocabulary, np.random.default_rng(1)).matrix
    random = matrix[1:]  # including the unknown word
    assert np.abs(random).max() <= np.sqrt(3 / 300)
    assert np.abs(np.linalg.norm(random, axis=1) - 1).max() < 0.15
    assert abs(random.mean()) < 0.005
    assert len(np.unique(random, axis=0)) == len(random)
    again = vectors.table_for(vocabulary, np.random.default_rng(1)).matrix
    other = vectors.table_for(vocabulary, np.random.default_rng(2)).matrix
    assert np.array_equal(matrix, again)
    assert not np.array_equal(matrix, other)


def test_coverage_counts_training_words_by_route() -> None:
    vectors = vectors_of("the", "apple", "0000")
    vocabulary = Vocabulary.from_counts({"the": 5, "Apple": 3, "zzz": 2, "1999": 1, "y": 1}).extended(
        ["apple"]
    )
    coverage = vectors.table_for(vocabulary, np.random.default_rng(0)).coverage
    assert coverage.types == {EXACT: 1, LOWER: 1, DIGITS: 1, RANDOM: 2}
    assert coverage.tokens == {EXACT: 5, LOWER: 3, DIGITS: 1, RANDOM: 3}
    assert coverage.frequent == ("zzz", "y")
    assert coverage.found == pytest.approx(0.75)
    assert str(coverage).splitlines() == [
        "vectors cover 3 of 5 (60.0%) types, 9 of 12 (75.0%) tokens",
        "exact 1 (41.7% of tokens), lower case 1 (25.0% of tokens), digits 1 (8.3% of tokens), "
        "random 2 (25.0% of tokens)",
        "most frequent without: zzz y",
    ]


def test_an_empty_vocabulary_is_accepted() -> None:
    matrix, _, coverage = vectors_of("the").table_for(Vocabulary.from_counts({}), np.random.default_rng(0))
    assert matrix.shape == (2, 4)
    assert isinstance(coverage, Coverage)
    assert "0 of 0" in str(coverage)


def test_reading_takes_at_most_about_twice_the_matrix_in_memory(tmp_path: Path) -> None:
    """Files of several gigabytes are read on laptops."""
    path = tmp_path / "vectors"
    matrix = np.random.default_rng(0).normal(size=(8000, 300)).round(3).astype(np.float32)
    path.write_text("".join(f"w{i} {' '.join(map(str, row))}\n" for i, row in enumerate(matrix.tolist())))
    tracemalloc.start()
    vectors = read_vectors(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert np.allclose(vectors.matrix, matrix)
    # A few chunks of text and their lines are added, regardless of the file size.
    assert peak < 2.1 * matrix.nbytes + 24e6


def test_the_shared_vectors_cover_the_shared_corpus(shared_data: Path) -> None:
    vectors = read_vectors(shared_data / "vectors/glove.6B.100d.100k.txt.gz", limit=20_000)
    assert (vectors.format, vectors.matrix.shape) == ("glove", (20_000, 100))
    normalize = Normalization(lowercase=True, digits=True)
    train = shared_data / "ner/uner_english_ewt/en_ewt-ud-train.iob2"
    rows = (line.split("\t") for line in train.read_text().splitlines() if line and line[0] != "#")
    vocabulary = Vocabulary.from_sequences([[normalize(row[1]) for row in rows]])
    coverage = vectors.table_for(vocabulary, np.random.default_rng(0)).coverage
    assert coverage.found > 0.85
