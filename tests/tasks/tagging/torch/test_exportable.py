"""Exporting taggers: the bundle gives the same tags, and a failed export writes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
from gonie.features.spelling import Spelling
from gonie.nn import (
    CRF,
    LSTM,
    Bidirectional,
    CharCNN,
    CRFHead,
    Scores,
    Stack,
    VariationalDropout,
    WordEmbedding,
)
from gonie.runtime.about import About
from gonie.tasks.load import load
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.torch.exportable import TagExportable
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.scorer import TorchScorer
from gonie.text.normalize import Normalization
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import tokenizer
from gonie.text.types import Sentence

SENTENCES = [
    Sentence(
        words=("George", "lives", "in", "New", "York", "."), tags=("S-PER", "O", "O", "B-LOC", "E-LOC", "O")
    ),
    Sentence(words=("Yes",), tags=("O",)),
]


@pytest.fixture
def encoding() -> Encoding:
    normalization = Normalization(lowercase=True, digits=True)
    extractors = [Spelling()]
    counts = count(SENTENCES, normalization=normalization, jamo=False, extractors=extractors)
    return Encoding.fit(
        counts,
        scheme=Scheme(kind="BIOES"),
        normalization=normalization,
        jamo=False,
        extractors=extractors,
        min_count=1,
        min_feature_count=1,
    )


@pytest.fixture
def model(encoding: Encoding) -> TaggingNetwork:
    torch.manual_seed(1)
    size = len(encoding.labels)
    scores = Scores(width=16, num_tags=size, direct={"spelling": len(encoding.features["spelling"])})
    return TaggingNetwork(
        embedding=Stack(
            [
                WordEmbedding(size=len(encoding.words), width=10),
                CharCNN(size=len(encoding.chars), width=5, filters=6, kernel=3, dropout=0.1),
            ]
        ),
        encoder=Bidirectional(ahead=LSTM(width=16, hidden=8), back=LSTM(width=16, hidden=8)),
        heads={"tags": CRFHead(scores=scores, crf=CRF(size))},
        word_dropout=nn.Identity(),
        input_dropout=VariationalDropout(0.5),
        output_dropout=nn.Dropout(0.5),
    )


def exportable(model: TaggingNetwork, encoding: Encoding, **about: Any) -> TagExportable:
    transitions, start, end = (part.detach().numpy() for part in model.head().chain())
    bundle = TagBundle(
        encoding=encoding,
        tokenizer=tokenizer(language="en", unit="word").to_json(),
        transitions=transitions,
        start=start,
        end=end,
        about=About(model=model_summary(model), **about),
    )
    return TagExportable(model, bundle, SENTENCES)


def test_the_bundle_tags_like_the_model(tmp_path: Path, encoding: Encoding, model: TaggingNetwork) -> None:
    """Both scorers give the same tags and the same probabilities."""
    cut = tokenizer(language="en", unit="word")
    own = exportable(model, encoding, scores={"dev": {"f1": 0.25}}, recipe={"task": "tag"})
    found = export_model(own, tmp_path / "bundle")
    assert found.task == "tag"
    assert found.difference.value < 1e-5
    assert found.difference.tokens == sum(len(sentence.words) for sentence in SENTENCES)
    assert model.training  # checking an export during training must not change the mode
    shipped = load(tmp_path / "bundle")
    trained = Tagger(encoding=encoding, tokenizer=cut, scorer=TorchScorer(model), decoder=shipped.decoder)
    text = "George and New York met. Did they? Xyzzy 1999!"
    ours, theirs = shipped(text), trained(text)
    assert ours.tags == theirs.tags
    assert [t.score for t in ours.tokens] == pytest.approx([t.score for t in theirs.tokens], abs=1e-4)
    index = json.loads((tmp_path / "bundle" / "bundle.json").read_text("utf-8"))
    assert index["scores"] == {"dev": {"f1": 0.25}}
    assert index["model"]["weights"]["encoder"] == sum(p.numel() for p in model.encoder.parameters())


def test_an_export_that_fails_its_check_is_not_written(
    tmp_path: Path, encoding: Encoding, model: TaggingNetwork
) -> None:
    own = exportable(model, encoding)
    own.trained = lambda batch: {"scores": np.array(np.nan)}  # type: ignore[assignment,method-assign]
    with pytest.raises(GonieError, match="The bundle was not written"):
        export_model(own, tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("padding", [False, True])
def test_the_check_compares_tokens_but_not_padding(
    encoding: Encoding, model: TaggingNetwork, padding: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = exportable(model, encoding)
    shipped = own.shipped(float_bundle(own))
    (batch,) = own.batches(2)
    score = TorchScorer.scores

    def shifted(self: TorchScorer, batch: Any) -> np.ndarray:
        scores = score(self, batch)
        place = tuple(np.argwhere(batch["mask"] != padding)[-1])
        scores[place] += 0.01
        return scores

    monkeypatch.setattr(TorchScorer, "scores", shifted)
    if padding:
        assert prove(own.trained, shipped, [batch]).tokens == 7
    else:
        with pytest.raises(GonieError, match="the exported model's scores differ"):
            prove(own.trained, shipped, [batch])


def test_a_bundle_with_elmo_tags_without_torch(
    tmp_path: Path, encoding: Encoding, model: TaggingNetwork, elmo: Any
) -> None:
    """The core install has no torch, so the language model must run without it."""
    encoding.longest = 9
    vectors = elmo()
    model.embedding = Stack([WordEmbedding(size=len(encoding.words), width=4), vectors])
    cut = tokenizer(language="en", unit="word")
    folder = tmp_path / "bundle"
    assert export_model(exportable(model, encoding), folder).difference.value < 1e-5
    text = "George and 뉴욕 met. Xyzzy 1999! 🙂"
    program = (
        "import sys\n"
        "sys.modules['torch'] = None  # importing it is an error\n"
        "import gonie\n"
        f"print(*gonie.load({str(folder)!r})({text!r}).tags)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    trained = Tagger(
        encoding=encoding, tokenizer=cut, scorer=TorchScorer(model), decoder=load(folder).decoder
    )
    assert done.stdout.split() == list(trained(text).tags)
