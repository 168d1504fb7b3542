"""Contextual embeddings: all layers of each sentence, in order and independent of the batch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from gonie.errors import GonieError, InputError
from gonie.features.byte_spelling import begin_row, end_row, spell_bytes
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch import embedder as embed
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.embedder import Embedder, pick_device
from gonie.tasks.language_model.torch.folder import SavedBilm

SENTENCES = [
    ["They", "play", "."],
    [],
    ["집에서"],
    ["a"] * 40,
    ["They", "play", "in", "the", "play", "."],
    ["word" * 30, "\u2028", "é"],
]


@pytest.fixture(params=[0.0, 0.4], ids=["free", "clipped"])
def saved(request: pytest.FixtureRequest) -> SavedBilm:
    shape = BilmConfig(
        byte_width=3,
        longest=20,
        filters=[(1, 4), (3, 6)],
        width=4,
        hidden=8,
        cell_clip=request.param,
        state_clip=request.param,
    )
    bilm = build_bilm(shape)
    with torch.no_grad():
        for weight in bilm.parameters():
            weight.normal_(std=0.5)
    return SavedBilm(bilm=bilm, shape=shape, language="en", unit="word")


def test_embeddings_are_those_of_the_model(saved: SavedBilm) -> None:
    found = Embedder(saved).layers(SENTENCES)
    assert [array.shape for array in found] == [(3, len(words), 8) for words in SENTENCES]
    assert {array.dtype for array in found} == {np.dtype(np.float32)}
    for words, array in zip(SENTENCES, found, strict=True):
        if not words:
            continue
        rows = [begin_row(20)[None], end_row(20)[None], spell_bytes(words, longest=20)]
        chars = torch.from_numpy(np.concatenate(rows)).long()
        forms, mask = torch.arange(2, 2 + len(words))[None], torch.ones(1, len(words), dtype=torch.bool)
        with torch.no_grad():
            expected = saved.bilm.eval()(chars, forms, mask)[:, 0].numpy()
        np.testing.assert_allclose(array, expected, rtol=1e-4, atol=1e-5)


def test_embeddings_depend_only_on_their_own_sentence(
    saved: SavedBilm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In older ELMo code, the same sentence gets other vectors the second time."""
    embedder = Embedder(saved)
    together = embedder.layers(SENTENCES)
    again = embedder.layers(SENTENCES[::-1])[::-1]
    monkeypatch.setattr(embed, "BATCH_TOKENS", 1)
    alone = embedder.layers(SENTENCES)
    for one, two, three in zip(together, again, alone, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(one, three, rtol=1e-4, atol=1e-6)


def test_embeddings_of_a_word_depend_on_its_context(saved: SavedBilm) -> None:
    (layers,) = Embedder(saved).layers([["play", "the", "play"]])
    np.testing.assert_array_equal(layers[0, 0], layers[0, 2])
    assert np.abs(layers[1:, 0] - layers[1:, 2]).min(axis=1).max() > 0


def test_a_very_long_sentence_is_read_whole(saved: SavedBilm) -> None:
    words = [f"w{number % 50}" for number in range(5000)]
    embedder = Embedder(saved)
    (layers,) = embedder.layers([words])
    assert layers.shape == (3, 5000, 8)
    (first,) = embedder.layers([words[:60]])
    np.testing.assert_allclose(
        layers[:, :50, :4], first[:, :50, :4], rtol=1e-4, atol=1e-5
    )  # the forward half depends only on earlier words


def test_a_stream_is_embedded_lazily_and_in_order(saved: SavedBilm) -> None:
    taken = 0

    def endless() -> object:
        nonlocal taken
        while True:
            yield SENTENCES[taken % len(SENTENCES)]
            taken += 1

    expected = Embedder(saved).layers(SENTENCES)
    for number, array in enumerate(Embedder(saved).pipe(endless())):  # type: ignore[arg-type]
        np.testing.assert_allclose(array, expected[number % len(SENTENCES)], rtol=1e-4, atol=1e-5)
        if number == 200:
            break
    assert taken < 2000


def test_embedding_turns_off_dropout_and_keeps_the_training_mode(saved: SavedBilm) -> None:
    saved.bilm.train()
    embedder = Embedder(saved)
    one, two = (embedder.layers([["a", "b"]])[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert saved.bilm.training


def test_no_sentences_give_no_vectors(saved: SavedBilm) -> None:
    assert Embedder(saved).layers([]) == []


@pytest.mark.parametrize(
    ("sentence", "message"),
    [("They play.", "list of words"), (["a\ud800"], "surrogate"), ([""], "empty word")],
)
def test_invalid_sentences_are_refused(saved: SavedBilm, sentence: list[str], message: str) -> None:
    """Otherwise each letter of a text would silently be read as a word."""
    with pytest.raises(InputError, match=message):
        Embedder(saved).layers([sentence])
    with pytest.raises(InputError, match=message):
        list(Embedder(saved).pipe([sentence]))


def test_an_unavailable_device_is_refused() -> None:
    assert pick_device("cpu").type == "cpu"
    if torch.cuda.is_available():
        assert pick_device("auto").type == "cuda"
    else:
        assert pick_device("auto").type == "cpu"
        with pytest.raises(GonieError, match="PyTorch finds no CUDA GPU"):
            pick_device("cuda")
