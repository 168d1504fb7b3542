"""If these break, a label depends on other texts, or a sentence is lost."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn import LSTM, AdditiveAttention, Bidirectional, TextScores, TextSoftmaxHead, WordEmbedding
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level

Batch = dict[str, Tensor]
TEXTS = [[3, 5, 1], [4], [2, 2]]  # tokens of each sentence of each text


def level(width: int) -> Level:
    encoder = Bidirectional(ahead=LSTM(width=width, hidden=3), back=LSTM(width=width, hidden=3))
    return Level(encoder=encoder, pooling=AdditiveAttention(width=6, hidden=4))


def classifier(*, upper: bool = True) -> ClassifyingNetwork:
    torch.manual_seed(0)
    return ClassifyingNetwork(
        embedding=WordEmbedding(size=20, width=5),
        words=level(5),
        sentences=level(6) if upper else None,
        heads={LABEL: TextSoftmaxHead(scores=TextScores(width=6, num_labels=3, direct={}))},
        word_dropout=nn.Identity(),
        dropout=nn.Identity(),
    ).eval()


def batch_of(texts: list[list[int]], first: int = 0) -> Batch:
    """Return a batch of random texts; a text is the same in every batch."""
    lengths = [length for text in texts for length in text]
    words = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    row = 0
    for number, text in enumerate(texts, start=first):
        for place, length in enumerate(text):
            generator = np.random.default_rng([number, place])
            words[row, :length] = torch.from_numpy(generator.integers(2, 20, length))
            row += 1
    heights = [len(text) for text in texts]
    starts = np.cumsum([0, *heights[:-1]])
    mask = torch.arange(max(heights)) < torch.tensor(heights).unsqueeze(1)
    places = torch.where(mask, torch.from_numpy(starts).unsqueeze(1) + torch.arange(max(heights)), 0)
    return {
        "words": words,
        "mask": torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1),
        "places": places,
        "places_mask": mask,
        "labels": torch.arange(len(texts)) % 3,
    }


def test_scores_of_a_text_do_not_depend_on_its_batch() -> None:
    model = classifier()
    together = model(batch_of(TEXTS))
    for number, text in enumerate(TEXTS):
        torch.testing.assert_close(model(batch_of([text], number))[0], together[number], atol=1e-6, rtol=1e-5)


def test_attention_matches_computing_the_sentences_one_by_one() -> None:
    """Runs each sentence alone through the lower level, then their vectors through the upper level."""
    model = classifier()
    batch = batch_of(TEXTS)
    pooled = model.pool(model.embed(batch), batch)
    row = 0
    for number, text in enumerate(TEXTS):
        vectors = []
        for length in text:
            words = batch["words"][row : row + 1, :length]
            mask = torch.ones(1, length, dtype=torch.bool)
            vector, weights = model.words(model.embedding({"words": words, "mask": mask}), mask)
            torch.testing.assert_close(pooled.words[row, :length], weights[0], atol=1e-6, rtol=1e-5)
            vectors.append(vector)
            row += 1
        assert model.sentences is not None
        above = torch.stack(vectors, dim=1)  # (1, S, P)
        vector, weights = model.sentences(above, torch.ones(1, len(text), dtype=torch.bool))
        torch.testing.assert_close(pooled.vectors[number], vector[0], atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(pooled.sentences[number, : len(text)], weights[0], atol=1e-6, rtol=1e-5)


def test_attention_over_padding_is_exactly_zero() -> None:
    batch = batch_of(TEXTS)
    pooled = classifier().pool(classifier().embed(batch), batch)
    assert not pooled.words[~batch["mask"]].any()
    assert not pooled.sentences[~batch["places_mask"]].any()
    torch.testing.assert_close(pooled.words.sum(1), torch.ones(len(batch["words"])))
    torch.testing.assert_close(pooled.sentences.sum(1), torch.ones(len(TEXTS)))


def test_without_an_upper_level_a_text_is_one_sentence() -> None:
    model, batch = classifier(upper=False), batch_of([[3], [5], [1]])
    pooled = model.pool(model.embed(batch), batch)
    rows, _ = model.words(model.embed(batch), batch["mask"])
    assert torch.equal(pooled.vectors, rows)
    assert torch.equal(pooled.sentences, torch.ones(3, 1))


def test_the_network_learns_the_labels() -> None:
    model, batch = classifier().train(), batch_of(TEXTS)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    first = float(model.loss(batch).detach())
    for _ in range(40):
        optimizer.zero_grad()
        model.loss(batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    assert float(model.loss(batch).detach()) < 0.1 * first
    assert torch.equal(model.eval()(batch).argmax(1), batch["labels"])


def test_levels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="a pooling of states of width 3"):
        Level(encoder=LSTM(width=5, hidden=3), pooling=AdditiveAttention(width=4, hidden=2))
    with pytest.raises(InputError, match="an upper level of input width 6"):
        ClassifyingNetwork(
            embedding=WordEmbedding(size=20, width=5),
            words=level(5),
            sentences=level(5),
            heads={},
            word_dropout=nn.Identity(),
            dropout=nn.Identity(),
        )
    with pytest.raises(InputError, match="no such head"):
        classifier().head("other")
