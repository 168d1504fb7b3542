"""Compares decoding a very long sentence in chunks with decoding it as one chain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.chunks import Chunk, join_point, tag_in_chunks
from gonie.tasks.tagging.decoding import Decoding
from gonie.tasks.tagging.labeller import Labeller, Tagging, TokenSpan
from gonie.text.schemes import PLAIN, Kind, Scheme, allowed, problems, to_spans

LABELS = {
    "BIOES": ("O", "B-A", "I-A", "E-A", "S-A", "B-B", "I-B", "E-B", "S-B"),
    "IOB2": ("O", "B-A", "I-A", "B-B", "I-B"),
    "IOB1": ("O", "B-A", "I-A", "B-B", "I-B"),
    "IO": ("O", "A", "B"),
    "plain": ("NOUN", "VERB", "X"),
}
Emissions = NDArray[np.float32]


class Chain:
    """A chain with random weights over the tags of one scheme; records the chunks that it tags."""

    def __init__(self, kind: Kind, *, seed: int = 0, strength: float = 0.5) -> None:
        self.scheme = PLAIN if kind == "plain" else Scheme(kind=kind)
        self.labels = LABELS[kind]
        generator, K = np.random.default_rng(seed), len(self.labels)
        decoder = Decoder(
            transitions=generator.normal(size=(K, K)) * strength,
            start=generator.normal(size=K) * strength,
            end=generator.normal(size=K) * strength,
            allowed=allowed(self.labels, self.scheme),
        )
        self._label = Labeller(decoder=decoder, labels=self.labels, scheme=self.scheme, decoding=Decoding())
        self.asked: list[tuple[int, int]] = []

    def whole(self, emissions: Emissions) -> Tagging:
        (tagging,) = self._label(emissions[None], np.array([len(emissions)]))
        return tagging

    def tag(self, emissions: Emissions) -> Callable[[int, int], Tagging]:
        def tag(start: int, end: int) -> Tagging:
            self.asked.append((start, end))
            return self.whole(emissions[start:end])

        return tag

    def emissions(self, length: int, *, seed: int, strength: float) -> Emissions:
        generator = np.random.default_rng(seed)
        return (generator.normal(size=(length, len(self.labels))) * strength).astype(np.float32)


def assert_sound(tagging: Tagging, chain: Chain, length: int) -> None:
    assert len(tagging.tags) == len(tagging.scores) == length
    assert problems(tagging.tags, chain.scheme) == []
    assert [span[:3] for span in tagging.spans] == to_spans(tagging.tags, chain.scheme)


@settings(deadline=None, max_examples=300)
@given(
    kind=st.sampled_from(sorted(LABELS)),
    length=st.integers(1, 150),
    sizes=st.tuples(st.integers(1, 12), st.integers(1, 20)),
    seed=st.integers(0, 10_000),
    strength=st.sampled_from([0.01, 0.5, 3.0]),
)
def test_tags_are_valid_and_match_their_spans_for_any_scores(
    kind: Kind, length: int, sizes: tuple[int, int], seed: int, strength: float
) -> None:
    """Joining chunks inside an entity, or between incompatible tags, would give an invalid file."""
    shared, more = sizes
    chain = Chain(kind, seed=seed, strength=2.0)
    emissions = chain.emissions(length, seed=seed, strength=strength)
    found = tag_in_chunks(chain.tag(emissions), length, width=2 * shared + more, shared=shared)
    assert_sound(found, chain, length)


@settings(deadline=None, max_examples=100)
@given(
    kind=st.sampled_from(sorted(LABELS)),
    length=st.integers(1, 600),
    width=st.integers(130, 300),
    seed=st.integers(0, 10_000),
)
def test_chunks_with_enough_overlap_match_the_whole_chain(
    kind: Kind, length: int, width: int, seed: int
) -> None:
    """Chunks save memory and do not change tags or probabilities."""
    chain = Chain(kind, seed=seed)
    emissions = chain.emissions(length, seed=seed, strength=2.0)
    found = tag_in_chunks(chain.tag(emissions), length, width=width, shared=64)
    wanted = chain.whole(emissions)
    assert found.tags == wanted.tags
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-6)
    assert [span[:3] for span in found.spans] == [span[:3] for span in wanted.spans]
    np.testing.assert_allclose([s.score for s in found.spans], [s.score for s in wanted.spans], atol=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 400), st.integers(9, 60))
def test_chunk_length_is_bounded_where_neighbours_agree(length: int, width: int) -> None:
    """A very long line must not be decoded as a single chunk."""
    chain = Chain("IOB2")
    emissions = np.zeros((length, 5), dtype=np.float32)
    emissions[:, 0] = 20.0
    tag_in_chunks(chain.tag(emissions), length, width=width, shared=4)
    assert max(end - start for start, end in chain.asked) == min(width, length)
    assert len(chain.asked) == max(1, -(-(length - 4) // (width - 4)))


def entity(length: int, first: int, last: int, *, K: int = 9) -> Emissions:
    """Scores in BIOES for one entity of type A that covers tokens [first, last)."""
    emissions = np.zeros((length, K), dtype=np.float32)
    emissions[:, 0] = 9.0
    emissions[first:last] = 0.0
    emissions[first + 1 : last - 1, 2] = 9.0
    emissions[first, 1] = emissions[last - 1, 3] = 9.0
    return emissions


@pytest.mark.parametrize(("first", "last"), [(3, 50), (30, 40), (0, 90), (7, 8 + 8), (10, 12)])
def test_an_entity_across_chunks_is_found_whole(first: int, last: int) -> None:
    """Split at the end of a chunk, it would become two entities with wrong probabilities."""
    chain = Chain("BIOES", strength=0.0)
    emissions = entity(90, first, last)
    found = tag_in_chunks(chain.tag(emissions), 90, width=12, shared=4)
    assert [span[:3] for span in found.spans] == [(first, last, "A")]
    assert found.spans[0].score == pytest.approx(chain.whole(emissions).spans[0].score, abs=1e-6)
    assert_sound(found, chain, 90)


def test_an_entity_as_long_as_the_text_takes_linear_time() -> None:
    """If it were tagged again for each chunk, a hostile line would take quadratic time."""
    chain, length = Chain("BIOES", strength=0.0), 3000
    found = tag_in_chunks(chain.tag(entity(length, 0, length)), length, width=20, shared=4)
    assert [span[:3] for span in found.spans] == [(0, length, "A")]
    assert sum(end - start for start, end in chain.asked) < 6 * length


def test_after_a_long_entity_chunks_are_short_again() -> None:
    chain = Chain("BIOES", strength=0.0)
    tag_in_chunks(chain.tag(entity(2000, 10, 200)), 2000, width=20, shared=4)
    assert max(end - start for start, end in chain.asked if start > 600) == 20


def test_chunks_are_joined_in_the_middle_of_their_overlap() -> None:
    """In the middle, both chunks have the most context on either side."""
    left = Chunk(0, 20, Tagging(("O",) * 20, (1.0,) * 20))
    right = Chunk(10, 30, Tagging(("O",) * 20, (1.0,) * 20))
    assert join_point(left, right) == 15


def test_chunks_are_not_joined_inside_spans_or_at_differing_tags() -> None:
    tags = ("O",) * 20
    spans = (TokenSpan(11, 18, "A", 1.0),)
    left = Chunk(0, 20, Tagging(tags, (1.0,) * 20, spans))
    assert join_point(left, Chunk(10, 30, Tagging(tags, (1.0,) * 20))) == 18
    for place in (7, 8):  # tokens 17 and 18, on both sides of the join
        otherwise = ("O",) * place + ("X",) + ("O",) * (19 - place)
        assert join_point(left, Chunk(10, 30, Tagging(otherwise, (1.0,) * 20))) == 11
    assert join_point(left, Chunk(10, 30, Tagging(("X",) * 20, (1.0,) * 20))) is None
