"""Compares the held-out perplexity with a loop that reads the text word by word."""

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
    """Return the perplexity of one row, read word by word with carried states; the text is a ring."""
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


def test_perplexity_matches_a_loop_over_words(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(perplexity, "ROWS", 1)
    monkeypatch.setattr(perplexity, "STEPS", 4)
    chance = np.random.default_rng(1)
    sentences = [[BEGIN, *chance.integers(3, WORDS, size=n).tolist(), END] for n in (3, 1, 6, 2)]
    text, model = text_of([token for sentence in sentences for token in sentence]), model_of()
    found = measure(model, text, PretrainConfig(precision="float32"))
    np.testing.assert_allclose(found.ahead, naive(model, text, onward=True), rtol=1e-5)
    np.testing.assert_allclose(found.back, naive(model, text, onward=False), rtol=1e-5)


def test_every_word_counts_once_for_any_batch_shape(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """The model predicts each word by its bias alone, so the context of a row does not matter."""
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


def test_the_perplexity_of_a_uniform_model_is_the_vocabulary_size() -> None:
    model = model_of(7)
    with torch.no_grad():
        model.softmax.weight.zero_()
    found = measure(model, text_of([BEGIN, 3, 4, 8, END] * 5, vocabulary=7), PretrainConfig())
    np.testing.assert_allclose(found, (7.0, 7.0), rtol=1e-5)
    np.testing.assert_allclose(found.mean, 7.0, rtol=1e-5)


def test_perplexity_uses_the_full_softmax_even_if_training_samples() -> None:
    sampled = LanguageModelConfig(**{**CONFIG.model_dump(), "softmax": {"exact": 3, "sampled": 2}})
    torch.manual_seed(3)
    model = build_language_model(sampled, WORDS).train()
    full = model_of()
    full.load_state_dict(model.state_dict())
    text = text_of([BEGIN, 3, 4, 8, 5, END] * 4)
    assert measure(model, text, PretrainConfig()) == measure(full, text, PretrainConfig())
    assert model.training


@torch.inference_mode()
def test_measure_alone_starts_every_sentence_without_carried_states() -> None:
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


def test_slow_scoring_reports_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large vocabulary on a CPU, scoring takes minutes."""
    monkeypatch.setattr(perplexity, "NOTE_SECONDS", -1.0)
    text, model = text_of([BEGIN, 3, 4, 8, 5, END] * 40), model_of()
    for ask in (measure, measure_alone):
        notes: list[str] = []
        ask(model, text, PretrainConfig(), notes.append)
        assert notes
        assert all("of 240 tokens scored" in note for note in notes)
