"""If these break, the weights of a span do not add up to its log-odds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit

from gonie.explaining.methods import Gradients
from gonie.explaining.torch.path_integral import STEPS, integrate
from gonie.features.context import Context
from gonie.features.encoding import Encoding, count
from gonie.features.spelling import Spelling
from gonie.nn.inference import evaluating
from gonie.runtime.chain import ChainWeights
from gonie.runtime.forward_backward import Lattice
from gonie.runtime.forward_backward_sums import ForwardBackward
from gonie.tasks.load import load
from gonie.tasks.tagging.explanation import SpanAnswer
from gonie.tasks.tagging.recipe import TaggerConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.gradients import span_log_odds, span_odds_path
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.trained import load_trained
from gonie.text.normalize import Normalization
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

SENTENCE = Sentence(("Anna", "Kim", "lives", "in", "Seoul"), ("B-PER", "E-PER", "O", "O", "S-LOC"))
FEATURES = ["spelling", "context"]
MODELS = {
    "network": {"words": {"width": 3}, "encoder": {"hidden": 3}},
    "network and direct features": {
        "words": {"width": 3},
        "encoder": {"hidden": 3},
        "features": {"groups": ["spelling"], "width": 2},
        "head": {"direct": FEATURES},
    },
    "features alone": {"encoder": {"kind": "none"}, "head": {"direct": FEATURES}},
    "softmax": {"words": {"width": 3}, "encoder": {"hidden": 3}, "head": {"kind": "softmax"}},
}


@pytest.fixture
def encoding() -> Encoding:
    normalization, extractors = Normalization(lowercase=True, digits=True), [Spelling(), Context(window=1)]
    return Encoding.fit(
        count([SENTENCE], normalization=normalization, jamo=False, extractors=extractors),
        scheme=Scheme(kind="BIOES"),
        normalization=normalization,
        jamo=False,
        extractors=extractors,
        min_count=1,
        min_feature_count=1,
    )


def built(kind: str, encoding: Encoding) -> tuple[TaggingNetwork, ChainWeights]:
    """Return a tagger with random weights, and its chain."""
    torch.manual_seed(1)
    model = build_tagger(TaggerConfig.model_validate(MODELS[kind]), encoding)
    for name, parameter in model.named_parameters():
        if "direct" in name or "crf" in name:
            torch.nn.init.normal_(parameter)
    transitions, start, end = (part.detach().numpy() for part in model.head().chain())
    return model, ChainWeights(transitions=transitions, start=start, end=end)


def span_gradients(
    model: TaggingNetwork, encoding: Encoding, chain: ChainWeights, answer: SpanAnswer, *, steps: int = STEPS
) -> Gradients:
    """Return the gradients as ``explain.torch.gradients`` computes them."""
    with evaluating(model):
        path = span_odds_path(model, encoding, chain, answer)
        integral = integrate(path.function, path.inputs, steps=steps)
    words = path.words(integral.weights)
    return Gradients(words, integral.rise - float(words.sum()))


def odds(scores: np.ndarray, chain: ChainWeights, answer: SpanAnswer) -> float:
    lattice = Lattice(
        chain=chain, engine=ForwardBackward(chain), emissions=scores, lengths=np.array([scores.shape[1]])
    )
    p = lattice.path_probability(0, answer.start, answer.end, answer.tags)
    return float(logit(np.array(p)))


@pytest.mark.parametrize("kind", MODELS)
def test_weights_sum_to_the_log_odds_minus_the_baseline(kind: str, encoding: Encoding) -> None:
    model, chain = built(kind, encoding)
    answer = SpanAnswer(SENTENCE, 0, (encoding.label_ids["B-PER"], encoding.label_ids["E-PER"]))
    found = span_gradients(model.train(), encoding, chain, answer, steps=200)
    assert model.training
    batch = encoding.encode([SENTENCE]).batch(np.array([0]))
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    bare = tensors | {
        f"{group}.{part}": torch.zeros(size, dtype=torch.int64)
        for group in encoding.groups
        for part, size in (("ids", 0), ("offsets", 6))
    }
    with torch.no_grad():
        model.eval()
        zero = torch.zeros_like(model.embed(tensors))
        without = model.score(model.encode(zero, tensors["mask"]), bare).numpy()
        rise = odds(model(tensors).numpy(), chain, answer) - odds(without, chain, answer)
    assert found.words.sum() + found.gap == pytest.approx(rise, abs=1e-4)
    assert abs(found.gap) < 0.01
    assert found.words.shape == (5,)


def test_words_that_cannot_affect_a_span_have_zero_weight(encoding: Encoding) -> None:
    """Without transitions and an encoder, the tokens are independent."""
    model, _ = built("features alone", encoding)
    nothing = np.zeros((len(encoding.labels), len(encoding.labels)))
    chain = ChainWeights(transitions=nothing, start=nothing[0], end=nothing[0])
    found = span_gradients(model, encoding, chain, SpanAnswer(SENTENCE, 2, (0,)))
    assert found.words[[0, 1, 3, 4]].tolist() == pytest.approx([0, 0, 0, 0], abs=1e-6)
    assert abs(found.words[2]) > 0.01


def test_a_name_has_the_highest_weight_for_its_span(toy_run: Path) -> None:
    trained, tagger = load_trained(toy_run), load(toy_run)
    sentence = Sentence(("we", "met", "Anna", "and", "Dora", "."))
    (tagging,) = tagger.tag_sentences([sentence])
    span = tagging.spans[0]
    answer = SpanAnswer(
        sentence, span.start, tuple(tagger.encoding.label_ids[t] for t in tagging.tags[span.start : span.end])
    )
    found = span_gradients(trained.model, trained.encoding, tagger.decoder.chain, answer)
    assert sentence.words[int(found.words.argmax())] == "Anna"


# --- the log-odds of a span


def chain_of(tags: int, seed: int, *, rules: bool) -> ChainWeights:
    chance = np.random.default_rng(seed)
    allowed: Any = None
    if rules:
        allowed = tuple(chance.random(shape) < 0.7 for shape in ((tags, tags), tags, tags))
        allowed[0][:, 0], allowed[0][0], allowed[1][0], allowed[2][0] = True, True, True, True
    weights = {name: chance.normal(size=size) for name, size in (("start", tags), ("end", tags))}
    return ChainWeights(transitions=chance.normal(size=(tags, tags)), **weights, allowed=allowed)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 4), st.integers(1, 5), st.booleans(), st.integers(0, 99), st.data())
def test_log_odds_match_the_probability_of_the_span(
    tags: int, length: int, rules: bool, seed: int, data: st.DataObject
) -> None:
    chain = chain_of(tags, seed, rules=rules).tempered(data.draw(st.sampled_from([1.0, 2.0])))
    scores = np.random.default_rng(seed + 1).normal(size=(2, length, tags)) * 3
    start = data.draw(st.integers(0, length - 1))
    span = data.draw(st.lists(st.integers(0, tags - 1), min_size=1, max_size=length - start))
    found = span_log_odds(torch.from_numpy(scores), chain, start, span)
    lattice = Lattice(
        chain=chain, engine=ForwardBackward(chain), emissions=scores, lengths=np.array([length, length])
    )
    for row, odds in enumerate(found.sigmoid().tolist()):
        assert odds == pytest.approx(lattice.path_probability(row, start, start + len(span), span), abs=1e-9)


def test_certain_spans_have_nonzero_gradients() -> None:
    """Otherwise all words of a certain span would have weight zero."""
    chain = chain_of(3, 0, rules=True)
    scores = torch.tensor([[[60.0, 0.0, 0.0]] * 4], requires_grad=True)
    odds = span_log_odds(scores, chain, 1, [0, 0])
    odds.sum().backward()
    assert float(odds.detach()) > 50
    assert scores.grad is not None
    assert scores.grad.isfinite().all()
    assert float(scores.grad[0, 1:3, 0].sum()) == pytest.approx(1.0, abs=0.1), "either tag may give way"
