"""A trained model becomes a bundle that tags as it did, and a bad export leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gonie.errors import GonieError
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
from gonie.tasks.load import load
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.torch import export as module
from gonie.tasks.tagging.torch.export import export_bundle
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


def test_the_bundle_tags_as_the_model_does(tmp_path: Path, encoding: Encoding, model: TaggingNetwork) -> None:
    """Both scorers behind the one predictor: same tags, same probabilities."""
    cut = tokenizer(language="en", unit="word")
    difference = export_bundle(
        model,
        encoding=encoding,
        tokenizer=cut,
        folder=tmp_path / "bundle",
        samples=SENTENCES,
        scores={"dev": {"f1": 0.25}},
        recipe={"task": "tag"},
    )
    assert difference.value < 1e-5
    shipped = load(tmp_path / "bundle")
    trained = Tagger(encoding=encoding, tokenizer=cut, scorer=TorchScorer(model), decoder=shipped.decoder)
    text = "George and New York met. Did they? Xyzzy 1999!"
    ours, theirs = shipped(text), trained(text)
    assert ours.tags == theirs.tags
    assert [t.score for t in ours.tokens] == pytest.approx([t.score for t in theirs.tokens], abs=1e-4)
    index = json.loads((tmp_path / "bundle" / "bundle.json").read_text("utf-8"))
    assert index["scores"] == {"dev": {"f1": 0.25}}
    assert index["model"]["weights"]["encoder"] == sum(p.numel() for p in model.encoder.parameters())


def test_an_export_that_is_not_proved_is_not_written(
    tmp_path: Path, encoding: Encoding, model: TaggingNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise GonieError("not equal")

    monkeypatch.setattr(module, "prove", refuse)
    with pytest.raises(GonieError, match="not equal"):
        export_bundle(
            model,
            encoding=encoding,
            tokenizer=tokenizer(language="en", unit="word"),
            folder=tmp_path / "bundle",
            samples=SENTENCES,
        )
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_with_elmo_tags_where_there_is_no_torch(
    tmp_path: Path, encoding: Encoding, model: TaggingNetwork, elmo: Any
) -> None:
    """The core install has no torch; nothing of the language model may need it."""
    encoding.longest = 9
    vectors = elmo()
    model.embedding = Stack([WordEmbedding(size=len(encoding.words), width=4), vectors])
    cut = tokenizer(language="en", unit="word")
    folder = tmp_path / "bundle"
    difference = export_bundle(model, encoding=encoding, tokenizer=cut, folder=folder, samples=SENTENCES)
    assert difference.value < 1e-5
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
