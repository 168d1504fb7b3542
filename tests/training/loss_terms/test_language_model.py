"""Tests the language model as an auxiliary task of taggers, against a naive loop."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.errors import RecipeError
from gonie.nn.inference import to_tensors
from gonie.training.fit import begin_training

from .conftest import Bench

CPU = torch.device("cpu")
TERM = "language-model"


def begun(bench: Bench, *changes: str) -> tuple[Any, Any, Any, dict[str, Tensor]]:
    """Return a job, its session, its term and a batch, with dropout off."""
    job = bench.job("tag", "train.start=none", *changes, term=TERM)
    session = begin_training(job)
    batch = to_tensors(job.train.batch(np.arange(6)), CPU)
    session.model.eval()
    return job, session, session.terms[TERM], batch


def naive(term: Any, states: Tensor, batch: dict[str, Tensor], width: int) -> float:
    """Return the sum of −log p of the word after and before each token, divided by the sentences."""
    total = 0.0
    for row, length in enumerate(batch["lengths"].tolist()):
        words = [int(term.classes[word]) for word in batch["words"][row, :length]]
        for at in range(length):
            for way, other in ((0, at + 1), (1, at - 1)):
                if 0 <= other < length:
                    state = states[row, at, way * width : (way + 1) * width]
                    scores = term.output[way](term.hidden[way](state).tanh())
                    total -= scores.log_softmax(0)[words[other]].item()
    return total / len(states)


@pytest.mark.parametrize("kind", ["lstm", "rnn"])
def test_the_term_is_that_of_a_naive_loop(bench: Bench, kind: str) -> None:
    changes = [f"model.encoder.kind={kind}", "loss.language-model.weight=0.3"]
    _, session, term, batch = begun(bench, *changes)
    states = session.model.states(batch)
    found = term(session.model, batch, states)
    width = session.model.encoder.ahead.width
    assert found.item() == pytest.approx(0.3 * naive(term, states, batch, width), rel=1e-5)


def test_of_several_layers_the_bottom_one_predicts(bench: Bench) -> None:
    """The higher ones have seen the words that would be predicted."""
    _, session, term, batch = begun(bench, "model.encoder.layers=2")
    model = session.model
    bottom = model.encoder.layers[0]
    states = bottom(model.embed(batch), batch["mask"])
    found = term(model, batch, model.states(batch))
    assert found.item() == pytest.approx(0.1 * naive(term, states, batch, bottom.ahead.width), rel=1e-5)
    found.backward()
    assert all(weight.grad is None for weight in model.encoder.layers[1].parameters())
    assert any("layers.0" in name for name, weight in model.named_parameters() if weight.grad is not None)


def test_a_state_has_not_seen_the_word_that_it_predicts(bench: Bench) -> None:
    """Forward states come first in a state, then backward states."""
    _, session, _, batch = begun(bench)
    model, width = session.model, session.model.encoder.ahead.width
    changed = {**batch, "words": batch["words"].clone()}
    changed["words"][:, 2] = 3 + changed["words"][:, 2] % 5
    assert not torch.equal(changed["words"], batch["words"])
    before, after = model.states(batch), model.states(changed)
    assert torch.equal(before[:, :2, :width], after[:, :2, :width])
    assert torch.equal(before[:, 3:, width:], after[:, 3:, width:])


def test_rare_words_are_one_word(bench: Bench) -> None:
    job, _, term, _ = begun(bench, "loss.language-model.vocabulary=4")
    arrays = job.train.arrays
    counts = Counter(arrays["form_words"][arrays["forms"]].tolist())
    for word, times in counts.items():
        assert (term.classes[word] > 0) <= (times >= sorted(counts.values())[-4])
    assert sorted(set(term.classes.tolist())) == [0, 1, 2, 3, 4]
    assert term.output[0].out_features == 5


def test_a_small_vocabulary_has_an_output_for_each_word(bench: Bench) -> None:
    job, _, term, _ = begun(bench, "loss.language-model.vocabulary=7500")
    assert term.output[0].out_features == job.encoding.words.trained - 1


@pytest.mark.parametrize("change", ["model.encoder.kind=cnn", "model.encoder.bidirectional=false"])
def test_other_encoders_are_refused(bench: Bench, change: str) -> None:
    with pytest.raises(RecipeError, match=r"loss\.language-model: needs a bidirectional recurrent encoder"):
        begun(bench, change)


@pytest.mark.parametrize("task", ["classify", "pair"])
def test_other_tasks_are_refused(bench: Bench, task: str) -> None:
    job = bench.job(task, "train.start=none", term=TERM)
    with pytest.raises(RecipeError, match=r"loss\.language-model: works only with taggers"):
        begin_training(job)


def test_input_that_knows_the_words_around_is_noted(bench: Bench) -> None:
    notes: list[str] = []
    job = bench.job("tag", "train.start=none", 'model.features.groups=["context"]', term=TERM)
    begin_training(job, notes.append)
    assert any("loss.language-model learns little: context features" in note for note in notes)
