"""Held-out perplexity beside a loop that reads the text word by word."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from gonie.features.byte_spelling import spell_bytes
from gonie.features.lm_text import BEGIN, END, UNKNOWN
from gonie.tasks.language_model.recipe import LanguageModelConfig, PretrainConfig
from gonie.tasks.language_model.torch import perplexity
from gonie.tasks.language_model.torch.build import build_language_model
from gonie.tasks.language_model.torch.data import RunningText
from gonie.tasks.language_model.torch.network import LanguageModel, TextStretch
from gonie.tasks.language_model.torch.perplexity import measure, measure_alone

WORDS = 9
CONFIG = LanguageModelConfig(
    byte_width=3, longest=8, filters=[(1, 3), (2, 4)], width=4, hidden=6, layers=2, dropout=0.3
)


def text_of(tokens: list[int], *, vocabulary: int = WORDS) -> RunningText:
    spelled = spell_bytes([f"word{i}" for i in range(WORDS)], longest=8)
    numbers = np.arange(WORDS)
    return RunningText(np.array(tokens, np.int32), spelled, np.where(numbers < vocabulary, numbers, UNKNOWN))


def model_of(size: int = WORDS) -> LanguageModel:
    torch.manual_seed(3)
    return build_language_model(CONFIG, size).eval()


@torch.inference_mode()
def naive(model: LanguageModel, text: RunningText, *, onward: bool) -> float:
    """One row, one word at a time, what came before carried on; the marks as the ring has them."""
    tokens = text.tokens.tolist()
    order = tokens if onward else tokens[::-1]
    trivial = BEGIN if onward else END
    chars = torch.from_numpy(text.spelled).long()
    carried = model.start(1)
    losses = []
    for given, wanted in zip([order[-1], *order[:-1]], order, strict=True):
        one = torch.tensor([[given]])
        target = torch.tensor([[int(text.targets[wanted])]])
        stretch = TextStretch(one, target, torch.ones(1, 1, dtype=torch.bool))
        both, carried = model(chars, stretch, stretch, carried)
        if wanted != trivial:
            losses.append(float(both[0 if onward else 1, 0, 0]))
    return math.exp(sum(losses) / len(losses))


def test_it_is_that_of_a_loop_over_words(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(perplexity, "ROWS", 1)
    monkeypatch.setattr(perplexity, "STEPS", 4)
    chance = np.random.default_rng(1)
    sentences = [[BEGIN, *chance.integers(3, WORDS, size=n).tolist(), END] for n in (3, 1, 6, 2)]
    text, model = text_of([token for sentence in sentences for token in sentence]), model_of()
    found = measure(model, text, PretrainConfig(precision="float32"))
    np.testing.assert_allclose(found.ahead, naive(model, text, onward=True), rtol=1e-5)
    np.testing.assert_allclose(found.back, naive(model, text, onward=False), rtol=1e-5)


def test_every_word_counts_once_however_the_text_is_cut(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """A model that predicts each word by its bias alone does not care what a row has read before."""
    model = model_of()
    with torch.no_grad():
        model.softmax.weight.zero_()
        model.softmax.bias.copy_(torch.randn(WORDS))
    chance = np.random.default_rng(2)
    tokens = [t for n in (5, 9, 2, 7, 7) for t in (BEGIN, *chance.integers(3, WORDS, size=n).tolist(), END)]
    text = text_of(tokens)
    logs = model.softmax.bias.log_softmax(0).tolist()
    for rows, steps in ((1, 100), (3, 4), (7, 3), (64, 64)):
        monkeypatch.setattr(perplexity, "ROWS", rows)
        monkeypatch.setattr(perplexity, "STEPS", steps)
        found = measure(model, text, PretrainConfig(precision="float32"))
        for value, trivial in zip(found, (BEGIN, END), strict=True):
            kept = [logs[token] for token in tokens if token != trivial]
            np.testing.assert_allclose(value, math.exp(-sum(kept) / len(kept)), rtol=1e-5)


def test_a_model_that_knows_nothing_is_as_perplexed_as_its_vocabulary_is_large() -> None:
    model = model_of(7)
    with torch.no_grad():
        model.softmax.weight.zero_()
    found = measure(model, text_of([BEGIN, 3, 4, 8, END] * 5, vocabulary=7), PretrainConfig())
    np.testing.assert_allclose(found, (7.0, 7.0), rtol=1e-5)
    np.testing.assert_allclose(found.mean, 7.0, rtol=1e-5)


def test_the_whole_vocabulary_is_summed_even_where_training_samples() -> None:
    sampled = LanguageModelConfig(**{**CONFIG.model_dump(), "softmax": {"exact": 3, "sampled": 2}})
    torch.manual_seed(3)
    model = build_language_model(sampled, WORDS).train()
    full = model_of()
    full.load_state_dict(model.state_dict())
    text = text_of([BEGIN, 3, 4, 8, 5, END] * 4)
    assert measure(model, text, PretrainConfig()) == measure(full, text, PretrainConfig())
    assert model.training


@torch.inference_mode()
def test_sentences_on_their_own_start_from_nothing() -> None:
    chance = np.random.default_rng(5)
    sentences = [[BEGIN, *chance.integers(3, WORDS, size=n).tolist(), END] for n in (4, 1, 7, 2, 2)]
    text, model = text_of([token for sentence in sentences for token in sentence]), model_of()
    chars = torch.from_numpy(text.spelled).long()
    sums = np.zeros(2)
    for sentence in sentences:
        ways = []
        for order in (sentence, sentence[::-1]):
            row = torch.tensor(order).unsqueeze(1)
            ways.append(TextStretch(row[:-1], row[1:], torch.ones_like(row[1:], dtype=torch.bool)))
        losses, _ = model(chars, *ways, model.start(1))
        sums += losses.sum((1, 2)).numpy()
    targets = sum(len(sentence) - 1 for sentence in sentences)
    found = measure_alone(model, text, PretrainConfig(precision="float32"))
    np.testing.assert_allclose(found, np.exp(sums / targets), rtol=1e-5)


def test_long_scoring_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over a large vocabulary on a CPU it takes minutes."""
    monkeypatch.setattr(perplexity, "NOTE_SECONDS", -1.0)
    text, model = text_of([BEGIN, 3, 4, 8, 5, END] * 40), model_of()
    for ask in (measure, measure_alone):
        notes: list[str] = []
        ask(model, text, PretrainConfig(), notes.append)
        assert notes
        assert all("of 240 tokens scored" in note for note in notes)
