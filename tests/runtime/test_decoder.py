"""Compares the decoder with enumeration of all tag sequences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gonie.errors import GonieError
from gonie.runtime import chain
from gonie.runtime.decoder import Decoder
from gonie.runtime.forward_backward_sums import EVERY

SETTINGS = settings(deadline=None, max_examples=60)


def floats(shape: tuple[int, ...], size: float) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.float64, shape, elements=st.floats(-size, size, width=32))


@st.composite
def chains(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a chain, masks that always allow a path (through tag 0), and a ragged batch."""
    K, B, T = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    size = draw(st.sampled_from([1.0, 20.0, 3000.0]))
    allowed = None
    if draw(st.booleans()):
        allowed = tuple(draw(hnp.arrays(bool, shape)) for shape in [(K, K), (K,), (K,)])
        allowed[0][:, 0], allowed[0][0, :], allowed[1][0], allowed[2][0] = True, True, True, True
    return {
        "transitions": draw(floats((K, K), size)),
        "start": draw(floats((K,), size)),
        "end": draw(floats((K,), size)),
        "allowed": allowed,
        "emissions": draw(floats((B, T, K), size)),
        "lengths": np.array(draw(st.lists(st.integers(1, T), min_size=B, max_size=B))),
    }


def decoder_of(case: dict[str, Any]) -> Decoder:
    return Decoder(**{name: case[name] for name in ("transitions", "start", "end", "allowed")})


def enumerate_paths(case: dict[str, Any], row: int) -> dict[tuple[int, ...], float]:
    """Return every allowed path of one sentence with its score, by the formula."""
    transitions, start, end = case["transitions"], case["start"], case["end"]
    may = case["allowed"] or (
        np.ones_like(transitions, bool),
        np.ones_like(start, bool),
        np.ones_like(end, bool),
    )
    n, emissions = int(case["lengths"][row]), case["emissions"][row]
    paths = {}
    for path in itertools.product(range(len(start)), repeat=n):
        pairs = list(itertools.pairwise(path))
        if may[1][path[0]] and may[2][path[-1]] and all(may[0][i, j] for i, j in pairs):
            paths[path] = (
                start[path[0]]
                + end[path[-1]]
                + sum(emissions[t, k] for t, k in enumerate(path))
                + sum(transitions[i, j] for i, j in pairs)
            )
    return paths


def probabilities(paths: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    top = max(paths.values())
    weights = {path: np.exp(score - top) for path, score in paths.items()}
    total = sum(weights.values())
    return {path: weight / total for path, weight in weights.items()}


@SETTINGS
@given(chains())
def test_viterbi_returns_the_best_path(case: dict[str, Any]) -> None:
    tags, scores = decoder_of(case).viterbi(case["emissions"], case["lengths"])
    for row, n in enumerate(case["lengths"]):
        paths = enumerate_paths(case, row)
        found = tuple(tags[row, :n].tolist())
        assert found in paths
        best = max(paths.values())
        assert scores[row] == pytest.approx(paths[found])
        # the search is in float32, so a path with nearly the same score may be returned
        assert paths[found] == pytest.approx(
            best, abs=1e-5 * max(1.0, abs(best), np.abs(case["emissions"]).max())
        )
        assert (tags[row, n:] == -1).all()


@SETTINGS
@given(chains())
def test_the_best_path_from_forward_backward_sums_is_the_same(case: dict[str, Any]) -> None:
    """The path is read from the marginals if they are certain enough, and searched for otherwise."""
    decoder = decoder_of(case)
    scores, lengths = decoder.checked(case["emissions"], case["lengths"])
    tags = decoder.best_of(decoder.lattice(scores, lengths))
    wanted, best = decoder.viterbi(scores, lengths)
    assert ((tags == -1) == (wanted == -1)).all()
    np.testing.assert_allclose(decoder.chain.path_scores(scores, lengths, tags), best, rtol=1e-12)


@pytest.mark.parametrize("largest", [1, 30, 100])
def test_decoding_in_small_batches_gives_the_same_results(
    monkeypatch: pytest.MonkeyPatch, largest: int
) -> None:
    """With 1,000 tags, 64 sentences at once would take half a gigabyte per step."""
    generator = np.random.default_rng(0)
    K, B, T = 5, 7, 6
    decoder = Decoder(
        transitions=generator.normal(size=(K, K)), start=np.zeros(K), end=generator.normal(size=K)
    )
    # so far apart that sums are computed in logarithms
    emissions, lengths = generator.normal(size=(B, T, K)) * 1000, generator.integers(1, T + 1, B)

    def found() -> list[np.ndarray]:
        best, listed = decoder.viterbi(emissions, lengths), decoder.nbest(emissions, lengths, 3)
        return [*best, *listed, decoder.marginals(emissions, lengths)]

    wanted = found()
    monkeypatch.setattr(chain, "LARGEST", largest)
    for own, other in zip(found(), wanted, strict=True):
        np.testing.assert_array_equal(own, other)


def test_only_uncertain_sentences_need_a_search() -> None:
    """The tags of a sentence are read from the marginals only if the model is certain."""
    decoder = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    sure, torn = np.tile([9.0, 0.0], (6, 1)), np.tile([0.1, 0.0], (6, 1))
    tags, found = decoder.forward_backward([sure, torn], [6, 6]).likeliest()
    assert found.tolist() == [True, False]
    assert tags[0].tolist() == [0] * 6


@SETTINGS
@given(chains(), st.integers(1, 6))
def test_nbest_equals_the_ranked_list_of_all_paths(case: dict[str, Any], n: int) -> None:
    tags, scores = decoder_of(case).nbest(case["emissions"], case["lengths"], n)
    for row, length in enumerate(case["lengths"]):
        paths = enumerate_paths(case, row)
        ranked = sorted(paths.values(), reverse=True)[:n]
        found = [tuple(path) for path in tags[row, : len(ranked), :length].tolist()]
        assert len(set(found)) == len(found), "no path is given twice"
        assert scores[row, : len(ranked)] == pytest.approx(ranked, abs=1e-9)
        assert [paths[path] for path in found] == pytest.approx(ranked, abs=1e-9)
        assert (scores[row, len(ranked) :] == -np.inf).all()
        assert (tags[row, len(ranked) :] == -1).all()
        assert (tags[row, :, length:] == -1).all()


def test_nbest_returns_all_paths_of_equal_score() -> None:
    decoder = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    tags, scores = decoder.nbest(np.zeros((1, 2, 2)), [2], 5)
    assert sorted(tags[0, :4].tolist()) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert scores[0].tolist() == [0, 0, 0, 0, -np.inf]
    with pytest.raises(GonieError, match="at least 1, got 0"):
        decoder.nbest(np.zeros((1, 2, 2)), [2], 0)


@SETTINGS
@given(chains())
def test_marginals_sum_over_all_paths(case: dict[str, Any]) -> None:
    lattice = decoder_of(case).forward_backward(case["emissions"], case["lengths"])
    marginals = lattice.marginals()
    for row, n in enumerate(case["lengths"]):
        scores = np.array(list(enumerate_paths(case, row).values()))
        partition = np.log(np.exp(scores - scores.max()).sum()) + scores.max()
        assert lattice.log_partition()[row] == pytest.approx(partition, abs=1e-9)
        wanted = np.zeros_like(marginals[row])
        for path, chance in probabilities(enumerate_paths(case, row)).items():
            for t, k in enumerate(path):
                wanted[t, k] += chance
        np.testing.assert_allclose(marginals[row], wanted, atol=1e-9)
        assert (marginals[row, n:] == 0).all()


@SETTINGS
@given(chains(), st.data())
def test_the_probability_of_a_tag_is_its_marginal(case: dict[str, Any], data: st.DataObject) -> None:
    lattice = decoder_of(case).forward_backward(case["emissions"], case["lengths"])
    tags = data.draw(
        hnp.arrays(np.int64, case["emissions"].shape[:2], elements=st.integers(0, len(case["start"]) - 1))
    )
    wanted = np.take_along_axis(lattice.marginals(), tags[..., None], axis=2)[..., 0]
    np.testing.assert_allclose(lattice.chances(tags), wanted, atol=1e-12)


def test_sums_that_nearly_underflow_stay_precise() -> None:
    """At a token where sums are rescaled, the allowed tags score far below the forbidden one: 1e-319."""
    may = np.array([True, True, False])
    allowed = (np.outer(may, may), may, may)
    decoder = Decoder(transitions=np.zeros((3, 3)), start=np.zeros(3), end=np.zeros(3), allowed=allowed)
    emissions = np.zeros((1, 2 * EVERY + 1, 3))
    emissions[0, EVERY] = (-735.0, -735.5, 0.0)
    found = decoder.marginals(emissions, [2 * EVERY + 1])[0]
    wanted = 1 / (1 + np.exp(-0.5))
    np.testing.assert_allclose(found[EVERY], [wanted, 1 - wanted, 0.0], atol=1e-12)


def test_sums_that_underflow_are_recomputed_for_that_sentence_only() -> None:
    """Only a tag far below the best may end the sentence. Plain probabilities would underflow to 0."""
    allowed = (np.ones((2, 2), bool), np.ones(2, bool), np.array([False, True]))
    keep = [[0.0, -50_000.0], [-50_000.0, 0.0]]
    decoder = Decoder(transitions=keep, start=np.zeros(2), end=np.zeros(2), allowed=allowed)
    far, near = np.tile([900.0, -900.0], (4, 1)), np.tile([0.1, 0.3], (4, 1))
    together = decoder.forward_backward(np.stack([far, near]), [4, 4])
    assert together.marginals()[0, :, 1].tolist() == [1.0] * 4
    alone = decoder.forward_backward(near[None], [4])
    assert np.array_equal(together.marginals()[1], alone.marginals()[0])
    assert together.log_partition()[0] == pytest.approx(-3600.0)


@SETTINGS
@given(chains(), st.data())
def test_the_probability_of_a_segment_sums_all_paths_through_it(
    case: dict[str, Any], data: st.DataObject
) -> None:
    lattice = decoder_of(case).forward_backward(case["emissions"], case["lengths"])
    row = data.draw(st.integers(0, len(case["lengths"]) - 1))
    n, K = int(case["lengths"][row]), len(case["start"])
    start = data.draw(st.integers(0, n - 1))
    end = data.draw(st.integers(start + 1, n))
    tags = data.draw(st.lists(st.integers(0, K - 1), min_size=end - start, max_size=end - start))
    through = [
        chance
        for path, chance in probabilities(enumerate_paths(case, row)).items()
        if list(path[start:end]) == tags
    ]
    assert lattice.path_probability(row, start, end, tags) == pytest.approx(sum(through), abs=1e-9)


@SETTINGS
@given(chains(), st.floats(-1e30, 1e30))
def test_results_do_not_depend_on_the_batch_or_padding(case: dict[str, Any], junk: float) -> None:
    decoder, lengths = decoder_of(case), case["lengths"]
    padded = np.pad(case["emissions"], ((0, 0), (0, 2), (0, 0)), constant_values=np.nan)
    padded[np.arange(padded.shape[1]) >= lengths[:, None]] = junk
    tags, scores = decoder.viterbi(padded, lengths)
    marginals = decoder.marginals(padded, lengths)
    for row, n in enumerate(lengths):
        alone = case["emissions"][row : row + 1, :n]
        own_tags, own_scores = decoder.viterbi(alone, [n])
        assert tags[row, :n].tolist() == own_tags[0].tolist()
        assert scores[row] == own_scores[0]
        np.testing.assert_allclose(marginals[row, :n], decoder.marginals(alone, [n])[0], atol=1e-9)


def naive_float64_viterbi(case: dict[str, Any]) -> list[int]:
    emissions = case["emissions"][0]
    score, back = case["start"] + emissions[0], []
    for t in range(1, len(emissions)):
        reached = score[:, None] + case["transitions"]
        back.append(reached.argmax(axis=0))
        score = reached.max(axis=0) + emissions[t]
    path = [int((score + case["end"]).argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return path[::-1]


@pytest.mark.parametrize("size", [1.0, 100.0])
def test_thousands_of_tokens_lose_no_precision(size: float) -> None:
    """Rounding in float32 must not change the tags of a long document."""
    random = np.random.default_rng(0)
    case = {
        "transitions": random.normal(size=(5, 5)) * size,
        "start": random.normal(size=5),
        "end": random.normal(size=5),
        "allowed": None,
        "emissions": random.normal(size=(1, 5000, 5)) * size + 40 * size,
        "lengths": np.array([5000]),
    }
    decoder = decoder_of(case)
    assert decoder.viterbi(case["emissions"], [5000])[0][0].tolist() == naive_float64_viterbi(case)
    marginals = decoder.marginals(case["emissions"], [5000])
    np.testing.assert_allclose(marginals.sum(axis=2), 1.0, atol=1e-9)


def test_forbidden_transitions_stay_forbidden_at_any_score() -> None:
    """A model that is certain of a forbidden tag must still give allowed tags and valid probabilities."""
    allowed = np.array([[True, False], [True, True]])  # tag 1 may not follow tag 0
    decoder = Decoder(
        transitions=np.zeros((2, 2)),
        start=np.zeros(2),
        end=np.zeros(2),
        allowed=(allowed, np.array([True, False]), np.ones(2, bool)),
    )
    emissions = np.array([[[-1e4, 1e4]] * 3], dtype=np.float32)
    tags, _ = decoder.viterbi(emissions, [3])
    assert tags.tolist() == [[0, 0, 0]]
    np.testing.assert_allclose(decoder.marginals(emissions, [3])[0], [[1, 0]] * 3)


def test_zero_transitions_give_a_softmax_per_token() -> None:
    random = np.random.default_rng(1)
    emissions = random.normal(size=(4, 6, 3)).astype(np.float32)
    decoder = Decoder(transitions=np.zeros((3, 3)), start=np.zeros(3), end=np.zeros(3))
    tags, _ = decoder.viterbi(emissions, [6] * 4)
    chances = np.exp(emissions.astype(np.float64))
    np.testing.assert_array_equal(tags, emissions.argmax(axis=2))
    np.testing.assert_allclose(
        decoder.marginals(emissions, [6] * 4), chances / chances.sum(axis=2, keepdims=True), atol=1e-12
    )


def test_a_sentence_without_an_allowed_path_is_an_error() -> None:
    decoder = Decoder(
        transitions=np.zeros((1, 1)),
        start=np.zeros(1),
        end=np.zeros(1),
        allowed=(np.zeros((1, 1), bool), np.ones(1, bool), np.ones(1, bool)),
    )
    assert decoder.viterbi(np.zeros((1, 1, 1)), [1])[0].tolist() == [[0]]
    for method in (decoder.viterbi, decoder.marginals, lambda *of: decoder.nbest(*of, 2)):
        with pytest.raises(GonieError, match="no tag sequence is allowed for a sentence of 2 tokens"):
            method(np.zeros((2, 2, 1)), [1, 2])


@pytest.mark.parametrize(
    ("emissions", "lengths", "message"),
    [
        (np.zeros((1, 2, 3)), [2], r"expected emissions \(B, T, 2\)"),
        (np.zeros((1, 2, 2)), [2, 1], "and lengths"),
        (np.zeros((2, 2, 2)), [2, 0], "expected lengths from 1 to 2, got 0 to 2"),
        (np.zeros((2, 2, 2)), [2, 3], "got 2 to 3"),
        (np.full((1, 2, 2), np.nan), [2], "finite scores"),
    ],
)
def test_input_that_cannot_be_decoded_is_refused(
    emissions: np.ndarray, lengths: list[int], message: str
) -> None:
    decoder = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2))
    with pytest.raises(GonieError, match=message):
        decoder.viterbi(emissions, lengths)


def test_invalid_chain_weights_are_refused() -> None:
    with pytest.raises(GonieError, match=r"expected transitions \(K, K\)"):
        Decoder(transitions=np.zeros((2, 3)), start=np.zeros(2), end=np.zeros(2))
    with pytest.raises(GonieError, match="transition scores contain nan"):
        Decoder(transitions=np.full((2, 2), np.nan), start=np.zeros(2), end=np.zeros(2))


def test_a_range_outside_the_sentence_is_refused() -> None:
    lattice = Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2)).forward_backward(
        np.zeros((1, 3, 2)), [2]
    )
    with pytest.raises(GonieError, match="in a sentence of 2 tokens"):
        lattice.path_probability(0, 1, 3, [0, 0])


# --- temperature -----------------------------------------------------------------------------------------

TEMPERATURES = st.sampled_from([0.3, 0.8, 1.0, 1.7, 6.0])


@SETTINGS
@given(chains(), TEMPERATURES)
def test_probabilities_at_a_temperature_are_those_of_divided_scores(
    case: dict[str, Any], temperature: float
) -> None:
    """Marginals, path probabilities and log Z, against the enumeration of all paths."""
    decoder = decoder_of(case).with_temperature(temperature)
    assert decoder.temperature == temperature
    lattice = decoder.forward_backward(case["emissions"], case["lengths"])
    for row, length in enumerate(case["lengths"].tolist()):
        scores = {path: score / temperature for path, score in enumerate_paths(case, row).items()}
        exact = probabilities(scores)
        top = max(scores.values())
        total = top + np.log(sum(np.exp(score - top) for score in scores.values()))
        assert lattice.log_partition()[row] == pytest.approx(total, rel=1e-9, abs=1e-9)
        best = max(exact, key=exact.__getitem__)
        for start, end in itertools.combinations(range(length + 1), 2):
            chance = sum(p for path, p in exact.items() if path[start:end] == best[start:end])
            found = lattice.path_probability(row, start, end, best[start:end])
            assert found == pytest.approx(chance, rel=1e-6, abs=1e-9)
        marginal = sum(p for path, p in exact.items() if path[0] == best[0])
        assert lattice.marginals()[row, 0, best[0]] == pytest.approx(marginal, rel=1e-6, abs=1e-9)


@SETTINGS
@given(chains(), TEMPERATURES)
def test_a_temperature_changes_no_decision(case: dict[str, Any], temperature: float) -> None:
    """Calibration would change tags, and with them F1."""
    plain = decoder_of(case)
    decoder = plain.with_temperature(temperature)
    batch = case["emissions"], case["lengths"]
    expected = plain.viterbi(*batch)
    for one, other in zip(decoder.viterbi(*batch), expected, strict=True):
        assert np.array_equal(one, other)
    for one, other in zip(decoder.nbest(*batch, 3), plain.nbest(*batch, 3), strict=True):
        assert np.array_equal(one, other)
    for one, other in zip(decoder.posterior(*batch), plain.posterior(*batch), strict=True):
        assert np.array_equal(one, other)
    # by the sums of the chain at the temperature; equal scores may be decided either way
    found = decoder.best_of(decoder.lattice(*decoder.checked(*batch)))
    emissions, lengths = decoder.checked(*batch)
    reached = plain.chain.path_scores(emissions, lengths, found)
    assert reached == pytest.approx(expected[1], rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("inf"), float("nan")])
def test_a_temperature_must_be_positive(temperature: float) -> None:
    with pytest.raises(GonieError, match="temperature must be positive and finite"):
        Decoder(transitions=np.zeros((2, 2)), start=np.zeros(2), end=np.zeros(2), temperature=temperature)


def test_a_temperature_is_set_again_from_the_weights_of_the_model() -> None:
    """Otherwise temperatures would multiply."""
    weights = np.array([[1.0, -2.0], [0.5, 3.0]])
    decoder = Decoder(transitions=weights, start=weights[0], end=weights[1], temperature=2.0)
    again = decoder.with_temperature(4.0)
    assert np.array_equal(again.calibrated.transitions, weights / 4)
    assert np.array_equal(again.chain.transitions, weights)
    assert decoder.with_temperature(1.0).calibrated is decoder.chain
