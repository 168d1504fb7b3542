"""Layers computed once: those of the language model for that very token, and never those of another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from gonie.tasks.torch.contextual_cache import with_layers
from torch import nn

from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.nn import ElmoEmbedding, ScalarMix, Stack, WordEmbedding
from gonie.nn.bilm import BiLM
from gonie.tasks.language_model.recipe import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.embedder import Embedder
from gonie.tasks.language_model.torch.folder import SavedBilm
from gonie.tasks.torch import contextual_cache as elmo_cache
from gonie.text.types import Sentence

SHAPE = BilmConfig(byte_width=3, longest=10, filters=[(1, 4), (3, 4)], width=3, hidden=5)
TEXT = ["Anna Kim lives in Seoul .", "far", "Seoul is far", "서울 은 멀다", "antidisestablishmentarianism"]
SENTENCES = [Sentence(tuple(line.split())) for line in TEXT]


@pytest.fixture
def bilm() -> BiLM:
    part = build_bilm(SHAPE)
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_(std=0.5)
    return part


@pytest.fixture
def corpus(fitted: Callable[..., Encoding]) -> Corpus:
    return encoded(fitted, SENTENCES)


def encoded(fitted: Callable[..., Encoding], sentences: list[Sentence]) -> Corpus:
    encoding = fitted()
    encoding.longest = SHAPE.longest
    return encoding.encode(sentences)


def model_of(bilm: BiLM, *, tuned: bool = False) -> nn.Module:
    """A model somewhere in which is the language model."""
    mix = ScalarMix(layers=bilm.layers)
    elmo = ElmoEmbedding(bilm=bilm, mixes=[mix], tuned=tuned, dropout=0.0, penalty=0.0)
    return nn.Sequential(Stack([WordEmbedding(size=3, width=2), elmo]))


def layers_of(corpus: Corpus) -> np.ndarray:
    return np.asarray(corpus.arrays["elmo"])


@pytest.fixture(params=[1, 7, 8000])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of so many tokens."""
    monkeypatch.setitem(elmo_cache.BATCH, "cpu", (request.param, 256))


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("folder", [None, "kept"])
def test_every_token_has_what_the_language_model_gives_it(
    bilm: BiLM, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str | None
) -> None:
    """Whatever comes with it in a batch, in the order of the corpus; up to the digits that are kept."""
    monkeypatch.setattr(elmo_cache, "AT_ONCE", 3)
    model = model_of(bilm).train()
    found = layers_of(with_layers(model, corpus, None if folder is None else str(tmp_path / folder)))
    saved = SavedBilm(bilm=bilm, shape=SHAPE, language="en", unit="word")
    direct = Embedder(saved).layers([sentence.words for sentence in SENTENCES])  # (L, T, D) each
    wanted = np.concatenate([layers.transpose(1, 0, 2) for layers in direct])
    np.testing.assert_allclose(found, wanted, atol=2e-3, rtol=2e-3)
    assert found.dtype == np.float16
    assert model.training, "the model is left as it was"


def test_what_is_kept_is_used_again_for_the_same_alone(
    bilm: BiLM, corpus: Corpus, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    folder, calls = str(tmp_path), []
    bilm.words.register_forward_hook(lambda *_: calls.append(1))
    one = layers_of(with_layers(model_of(bilm), corpus, folder))
    computed = len(calls)
    again = layers_of(with_layers(model_of(bilm), encoded(fitted, SENTENCES), folder))
    assert len(calls) == computed
    np.testing.assert_array_equal(one, again)

    fewer = layers_of(with_layers(model_of(bilm), encoded(fitted, SENTENCES[:2]), folder))
    assert len(fewer) == 7
    turned = layers_of(with_layers(model_of(bilm), encoded(fitted, SENTENCES[::-1]), folder))
    assert not np.array_equal(turned, one)
    with torch.no_grad():
        next(bilm.back.parameters())[0] += 0.5  # another language model, by a hair
    other = layers_of(with_layers(model_of(bilm), corpus, folder))
    assert not np.array_equal(other, one)
    assert len(list(tmp_path.iterdir())) == 4


def test_words_of_another_spelling_are_other_words(
    bilm: BiLM, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    """Two corpora of as many sentences and words differ by the words alone."""
    near, far = (
        layers_of(with_layers(model_of(bilm), encoded(fitted, [Sentence(words)]), str(tmp_path)))
        for words in (("near", "by"), ("away", "by"))
    )
    assert not np.array_equal(near, far)


@pytest.mark.parametrize(
    "change",
    [{"skip": False}, {"cell_clip": 0.01, "state_clip": 9.0}, {"cell_clip": 9.0, "state_clip": 0.01}],
)
def test_the_same_weights_used_otherwise_are_another_language_model(
    bilm: BiLM, corpus: Corpus, tmp_path: Path, change: dict[str, float]
) -> None:
    """As when published weights are imported again with options that were put right."""
    other = build_bilm(SHAPE.model_copy(update=change))
    other.load_state_dict(bilm.state_dict())
    found, wanted = (with_layers(model_of(other), corpus, folder) for folder in (str(tmp_path), None))
    before = with_layers(model_of(bilm), corpus, str(tmp_path))
    np.testing.assert_array_equal(layers_of(found), layers_of(wanted))
    assert not np.array_equal(layers_of(before), layers_of(wanted))


def test_one_that_is_damaged_is_computed_again(bilm: BiLM, corpus: Corpus, tmp_path: Path) -> None:
    first = layers_of(with_layers(model_of(bilm), corpus, str(tmp_path))).copy()
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for damaged in (content[:-9], bytes(len(content))):
        path.write_bytes(damaged)
        np.testing.assert_array_equal(layers_of(with_layers(model_of(bilm), corpus, str(tmp_path))), first)
        assert path.read_bytes() == content


def test_stopped_in_the_middle_it_leaves_nothing(bilm: BiLM, corpus: Corpus, tmp_path: Path) -> None:
    class Stop(BaseException):
        pass

    def stop(*_: object) -> None:
        raise Stop

    bilm.back.register_forward_hook(stop)
    with pytest.raises(Stop):
        with_layers(model_of(bilm), corpus, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_stays_as_it_is_where_there_is_nothing_to_compute(
    bilm: BiLM, corpus: Corpus, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    assert with_layers(WordEmbedding(size=3, width=2), corpus, str(tmp_path)) is corpus
    assert with_layers(model_of(bilm, tuned=True), corpus, str(tmp_path)) is corpus
    empty = encoded(fitted, [])
    assert with_layers(model_of(bilm), empty, str(tmp_path)) is empty
    nothing = encoded(fitted, [Sentence(()), Sentence(())])
    assert with_layers(model_of(bilm), nothing, None) is nothing
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("batches")
def test_sentences_without_words_are_no_trouble(bilm: BiLM, fitted: Callable[..., Encoding]) -> None:
    """A text of white space is such a sentence."""
    some = [Sentence(()), SENTENCES[0], Sentence(()), SENTENCES[2]]
    found = layers_of(with_layers(model_of(bilm), encoded(fitted, some), None))
    plain = layers_of(with_layers(model_of(bilm), encoded(fitted, [SENTENCES[0], SENTENCES[2]]), None))
    np.testing.assert_allclose(found, plain, atol=2e-3)


def test_what_takes_long_is_told(bilm: BiLM, corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elmo_cache, "SPOKEN", -1.0)
    notes: list[str] = []
    with_layers(model_of(bilm), corpus, None, notes.append)
    assert notes[-1] == f"vectors in context of {corpus.tokens} of {corpus.tokens} tokens"
