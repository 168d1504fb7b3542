"""Decoding options: posterior decoding, and biases for or against entities."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.nn import CRF
from gonie.nn.crf.chain import Constraints
from gonie.runtime.decoder import Decoder
from gonie.tasks.tagging.decoding import Decoding
from gonie.tasks.tagging.labeller import Labeller
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.schemes import IOB2, PLAIN, Scheme, allowed, to_spans

LABELS = ("O", "B-PER", "I-PER", "B-LOC", "I-LOC")
SETTINGS = settings(deadline=None, max_examples=40)


def chain_of(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    K = len(LABELS)
    return {
        "transitions": random.normal(size=(K, K)),
        "start": random.normal(size=K),
        "end": random.normal(size=K),
    }


@SETTINGS
@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(0.1, 3.0))
def test_posterior_decoding_maximises_the_expected_number_of_correct_tags(
    seed: int, length: int, size: float
) -> None:
    """Compares with enumeration and with the CRF layer in torch."""
    masks = allowed(LABELS, IOB2)
    chain, emissions = chain_of(seed), size * np.random.default_rng(seed).normal(size=(1, length, 5))
    decoder = Decoder(**chain, allowed=masks)
    tags, expected_right = decoder.posterior(emissions, [length])
    p = decoder.marginals(emissions, [length])[0]

    def legal(path: tuple[int, ...]) -> bool:
        moves, first, last = masks
        return bool(
            first[path[0]] and last[path[-1]] and all(moves[i, j] for i, j in itertools.pairwise(path))
        )

    values = {
        path: sum(p[t, k] for t, k in enumerate(path))
        for path in itertools.product(range(5), repeat=length)
        if legal(path)
    }
    assert legal(tuple(tags[0].tolist()))
    assert expected_right[0] == pytest.approx(max(values.values()), abs=1e-6)
    assert values[tuple(tags[0].tolist())] == pytest.approx(max(values.values()), abs=1e-6)
    crf = CRF(5, allowed=Constraints(*map(torch.from_numpy, masks))).double()
    with torch.no_grad():
        for name, value in chain.items():
            getattr(crf, name).copy_(torch.from_numpy(value))
    _, theirs = crf.posterior(torch.from_numpy(emissions), torch.ones(1, length, dtype=torch.bool))
    assert theirs.item() == pytest.approx(expected_right[0], abs=1e-6)


def test_viterbi_and_posterior_decoding_may_differ() -> None:
    """A A is the best sequence with p = 0.4, but B is the most likely first tag with p = 0.6."""
    transitions = np.full((3, 3), -50.0)
    transitions[0, 0], transitions[1, 1], transitions[1, 2] = np.log([0.4, 0.3, 0.3])
    decoder = Decoder(transitions=transitions, start=np.zeros(3), end=np.zeros(3))
    found = {}
    for by in ("viterbi", "posterior"):
        label = Labeller(decoder=decoder, labels=("A", "B", "C"), scheme=PLAIN, decoding=Decoding(by))  # type: ignore[arg-type]
        (tagging,) = label(np.zeros((1, 2, 3), np.float32), np.array([2]))
        found[by] = tagging.tags
    assert found == {"viterbi": ("A", "A"), "posterior": ("B", "A")}


@SETTINGS
@given(st.integers(0, 10_000), st.sampled_from(["viterbi", "posterior"]))
def test_more_bias_never_finds_fewer_entities_by_viterbi(seed: int, by: str) -> None:
    """With both methods, an extreme bias finds no entities at all, or entities everywhere."""
    decoder = Decoder(**chain_of(seed), allowed=allowed(LABELS, IOB2))
    emissions = 2 * np.random.default_rng(seed).normal(size=(2, 7, 5)).astype(np.float32)
    found = []
    for bias in (-60.0, -2.0, -0.5, 0.0, 0.5, 2.0, 60.0):
        decoding = Decoding(by, {"*": bias})  # type: ignore[arg-type]
        label = Labeller(decoder=decoder, labels=LABELS, scheme=IOB2, decoding=decoding)
        found.append(sum(len(tagging.spans) for tagging in label(emissions, np.array([7, 4]))))
    assert found[0] == 0
    assert found[-1] == 11
    if by == "viterbi":
        assert found == sorted(found)


def test_the_bias_of_a_type_applies_only_to_its_first_tags() -> None:
    for scheme, labels, begin in (
        (IOB2, LABELS, {"B-PER": 1.5}),
        (
            Scheme(kind="BIOES"),
            ("O", "B-PER", "I-PER", "E-PER", "S-PER", "S-LOC"),
            {"B-PER": 1.5, "S-PER": 1.5},
        ),
        (PLAIN, ("PER", "LOC"), {"PER": 1.5}),
    ):
        tag_biases = Decoding(bias={"PER": 1.5}).tag_biases(labels, scheme)
        assert dict(zip(labels, tag_biases.tolist(), strict=True)) == {k: begin.get(k, 0.0) for k in labels}
    both = Decoding(bias={"PER": 1.5, "*": -1.0}).tag_biases(LABELS, IOB2)
    assert both.tolist() == [0.0, 1.5, 0.0, -1.0, 0.0]


def test_an_entity_is_found_if_the_bias_exceeds_its_gap() -> None:
    """With bias b, an entity is found if its score is less than b below that of O."""
    random = np.random.default_rng(0)
    emissions = np.zeros((1, 1, 5), np.float32)
    zero = {"transitions": np.zeros((5, 5)), "start": np.zeros(5), "end": np.zeros(5)}
    decoder = Decoder(**zero, allowed=allowed(LABELS, IOB2))
    for gap in random.uniform(0.1, 3.0, size=20):
        emissions[0, 0] = [gap, 0.0, -9.0, -9.0, -9.0]  # O leads B-PER by ``gap``
        for bias, expected in ((gap - 0.01, 0), (gap + 0.01, 1)):
            label = Labeller(
                decoder=decoder, labels=LABELS, scheme=IOB2, decoding=Decoding(bias={"PER": bias})
            )
            (tagging,) = label(emissions, np.array([1]))
            assert len(tagging.spans) == expected
            assert len(to_spans(tagging.tags, IOB2)) == expected


def test_token_scores_do_not_depend_on_decoding_options() -> None:
    decoder = Decoder(**chain_of(3), allowed=allowed(LABELS, IOB2))
    emissions = np.random.default_rng(3).normal(size=(1, 5, 5)).astype(np.float32)
    p = decoder.marginals(emissions, [5])[0]
    for decoding in (Decoding(), Decoding("posterior"), Decoding(bias={"*": 2.0})):
        label = Labeller(decoder=decoder, labels=LABELS, scheme=IOB2, decoding=decoding)
        (tagging,) = label(emissions, np.array([5]))
        for t, (tag, score) in enumerate(zip(tagging.tags, tagging.scores, strict=True)):
            assert score == pytest.approx(p[t, LABELS.index(tag)])


def test_with_decoding_does_not_change_the_original_tagger(tagger: Tagger) -> None:
    before = tagger("George sleeps .")
    eager = tagger.with_decoding(bias={"*": 60.0})
    assert len(eager("George sleeps .").spans) > len(before.spans)
    assert tagger("George sleeps .") == before
    assert eager.with_decoding()("George sleeps .") == before


def test_invalid_decoding_options_are_refused(tagger: Tagger) -> None:
    with pytest.raises(InputError, match="viterbi or posterior"):
        tagger.with_decoding("best")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"unknown type: 'PERSON'.*LOC, PER"):
        tagger.with_decoding(bias={"PERSON": 1.0})
    with pytest.raises(InputError, match="bias of PER must be finite"):
        tagger.with_decoding(bias={"PER": float("nan")})
