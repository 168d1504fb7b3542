"""Exporting classifiers: the bundle gives the same answers, and a failed export writes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gonie.errors import GonieError
from gonie.export.driver import export_model, float_bundle
from gonie.export.exportable import model_summary
from gonie.export.proof import prove
from gonie.features.encoding import Encoding, count
from gonie.features.ngrams import NGramBag, NGrams
from gonie.features.text_encoding import TextEncoding
from gonie.nn import LSTM, AdditiveAttention, Bidirectional, Max, TextScores, TextSoftmaxHead, WordEmbedding
from gonie.runtime.about import About
from gonie.runtime.scorer import ScoredTexts
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.torch.exportable import TextExportable
from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level
from gonie.tasks.load import load_classifier
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText
from gonie.text.normalize import Normalization
from gonie.text.passages import Passages
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import EnglishTokenizer

TEXTS = [
    LabelledText("A good film. I like it!", ("pos",)),
    LabelledText("bad", ("neg",)),
    LabelledText("It is not good. No. Never.", ("neg",)),
]


@pytest.fixture
def encoding() -> TextEncoding:
    passages = Passages(tokenizer=EnglishTokenizer(), by="sentence")
    normalization = Normalization(lowercase=True, digits=True)
    words = Encoding.fit(
        count(
            (sentence for text in TEXTS for sentence in passages(text).sentences),
            normalization=normalization,
            jamo=False,
            extractors=(),
        ),
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=(),
        min_count=1,
        min_feature_count=1,
    )
    bag = NGramBag.fit([text.text for text in TEXTS], ngrams=NGrams(chars=(1, 2)))
    return TextEncoding(passages=passages, words=words, labels=("neg", "pos"), multi_label=False, bag=bag)


def level(width: int) -> Level:
    encoder = Bidirectional(ahead=LSTM(width=width, hidden=3), back=LSTM(width=width, hidden=3))
    return Level(encoder=encoder, pooling=AdditiveAttention(width=6, hidden=4))


@pytest.fixture
def model(encoding: TextEncoding) -> ClassifyingNetwork:
    torch.manual_seed(1)
    assert encoding.bag is not None
    scores = TextScores(width=6, num_labels=2, direct={"bag": len(encoding.bag.vocabulary)})
    nn.init.normal_(scores.direct["bag"].weight)  # type: ignore[arg-type]
    return ClassifyingNetwork(
        embedding=WordEmbedding(size=len(encoding.words.words), width=5),
        words=level(5),
        sentences=level(6),
        heads={LABEL: TextSoftmaxHead(scores=scores)},
        word_dropout=nn.Identity(),
        dropout=nn.Dropout(0.5),
    )


def exportable(
    model: ClassifyingNetwork, encoding: TextEncoding, *, temperature: float = 1.0, **about: Any
) -> TextExportable:
    told = About(model=model_summary(model), **about)
    return TextExportable(model, TextBundle(encoding=encoding, temperature=temperature, about=told), TEXTS)


def test_the_bundle_answers_like_the_model(
    tmp_path: Path, encoding: TextEncoding, model: ClassifyingNetwork
) -> None:
    """Both scorers give the same labels, probabilities and attention."""
    own = exportable(
        model, encoding, temperature=1.5, scores={"dev": {"accuracy": 0.25}}, recipe={"task": "classify"}
    )
    found = export_model(own, tmp_path / "bundle")
    difference = found.difference
    assert found.task == "classify"
    assert difference.value < 1e-5
    assert model.training  # checking an export during training must not change the mode
    assert difference.tokens == sum(len(each) for text in TEXTS for each in encoding.passages(text).sentences)
    shipped = load_classifier(tmp_path / "bundle")
    trained = TextClassifier(encoding=encoding, scorer=TorchTextScorer(model), temperature=1.5)
    text = "Good! I did not like it. Xyzzy 1999."
    ours, theirs = shipped(text), trained(text)
    assert ours.label == theirs.label
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-5)
    one, other = (each.read([each.passage(text)])[0] for each in (shipped, trained))
    np.testing.assert_allclose(one.sentences, other.sentences, atol=1e-5)
    for got, wanted in zip(one.words, other.words, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-5)
    index = json.loads((tmp_path / "bundle" / "bundle.json").read_text("utf-8"))
    assert (index["task"], index["temperature"]) == ("classify", 1.5)
    assert index["scores"] == {"dev": {"accuracy": 0.25}}
    assert index["model"]["weights"]["words"] == sum(p.numel() for p in model.words.parameters())


def test_an_export_that_fails_its_check_is_not_written(
    tmp_path: Path, encoding: TextEncoding, model: ClassifyingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, "scores", 0.001)
    with pytest.raises(GonieError, match="The bundle was not written"):
        export_model(exportable(model, encoding), tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


def spoil(monkeypatch: pytest.MonkeyPatch, name: str, by: float, *, padding: bool = False) -> None:
    """Change the first value of this output of the torch scorer, in the text or in the padding."""
    score = TorchTextScorer.score_texts

    def changed(self: TorchTextScorer, batch: Any) -> ScoredTexts:
        scored = score(self, batch)
        mask = {"words": batch["mask"], "sentences": batch["places_mask"]}.get(name)
        place = (0, 0) if mask is None else tuple(np.argwhere(mask != padding)[0])
        getattr(scored, name)[place] += by
        return scored

    monkeypatch.setattr(TorchTextScorer, "score_texts", changed)


@pytest.mark.parametrize("by", [0.001, np.nan])
@pytest.mark.parametrize("name", ScoredTexts._fields)
def test_wrong_scores_or_attention_fail_the_export_check(
    encoding: TextEncoding, model: ClassifyingNetwork, name: str, by: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an explanation by attention would show weights that the trained model does not have."""
    own = exportable(model, encoding)
    spoil(monkeypatch, name, by)
    with pytest.raises(GonieError, match="the exported model's scores differ from the trained model's"):
        prove(own.trained, own.shipped(float_bundle(own)), own.batches(3), discontinuous=own.discontinuous)


@pytest.mark.parametrize("name", ["words", "sentences"])
def test_attention_of_padding_is_not_compared(
    encoding: TextEncoding, model: ClassifyingNetwork, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = exportable(model, encoding)
    spoil(monkeypatch, name, 9.0, padding=True)
    assert prove(own.trained, own.shipped(float_bundle(own)), own.batches(3)).value < 1e-5


def test_attention_is_discontinuous_only_with_max_pooling(
    encoding: TextEncoding, model: ClassifyingNetwork
) -> None:
    assert exportable(model, encoding).discontinuous == ()
    model.words.pooling = Max(width=6)
    assert exportable(model, encoding).discontinuous == ("words", "sentences")
