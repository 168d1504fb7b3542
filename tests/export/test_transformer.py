"""Exported transformers equal torch, with float and int8 weights, whatever else is in the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.errors import GonieError
from gonie.export.embeddings import embedding
from gonie.export.graph import Graph, GraphOutput
from gonie.export.int8_graph import Int8Graph
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding, count
from gonie.nn.embeddings.transformer import TransformerEmbedding
from gonie.nn.inference import inferring, to_tensors
from gonie.runtime.session import OnnxScorer
from gonie.runtime.smoke_test import smoke_test_batch
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.torch.transformer import LoadedTransformer
from gonie.tasks.transformer import TransformerConfig
from gonie.text.normalize import Normalization
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence
from support.tiny_encoders import TINY, bert, real_encoder

TEXT = ["Anna Kim lives in Seoul .", "far", "\u0000 \u00ad", "삼성 전자 는 좋다", "an " * 60, "x" * 90]
SENTENCES = [Sentence(tuple(line.split(" "))) for line in TEXT]


def loaded(folder: Path, **settings: object) -> tuple[TransformerEmbedding, Encoding]:
    """Return an embedding with a learned mix, and an encoding with its sub-words."""
    config = TransformerConfig.model_validate({"path": str(folder), "at": "both", **settings})
    source = LoadedTransformer.load(config, CorpusConfig(train="x"), print)
    part = source.build(config).eval()
    with torch.no_grad():
        for mix in part.mixes.each():
            mix.weights.normal_()
            mix.scale.fill_(1.3)
    normal = Normalization(lowercase=True, digits=True)
    counts = count(SENTENCES, normalization=normal, jamo=False, extractors=[])
    encoding = Encoding.fit(
        counts,
        scheme=PLAIN,
        normalization=normal,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
        pieces=source.pieces,
    )
    return part, encoding


def exported(part: TransformerEmbedding, graph: Graph) -> OnnxScorer:
    vectors = embedding(graph, part)
    assert vectors is not None
    return OnnxScorer(graph.serialize("part", {"scores": GraphOutput(vectors, ("B", "T", part.width))}))


def in_torch(part: TransformerEmbedding, corpus: Corpus, rows: list[int]) -> np.ndarray:
    with inferring(part) as device:
        return part(to_tensors(corpus.batch(np.array(rows)), device)).numpy()


@pytest.mark.parametrize("pooling", ["first", "mean"])
@pytest.mark.parametrize("kind", TINY)
def test_the_graph_equals_torch(kind: str, pooling: str, tmp_path: Path) -> None:
    """Also for long sentences in windows, for tokens without sub-words, and for one sentence alone."""
    part, encoding = loaded(TINY[kind](tmp_path / "encoder"), pooling=pooling, layers=[0, 1, -1])
    corpus = encoding.encode(SENTENCES)
    scorer = exported(part, Graph())
    together = corpus.batch(np.arange(len(SENTENCES)))
    assert len(together["pieces"]) > len(SENTENCES), "some sentence is read in windows"
    (found,) = scorer.outputs(together, ["scores"])
    wanted = in_torch(part, corpus, list(range(len(SENTENCES))))
    mask = together["mask"]
    assert np.abs(found - wanted)[mask].max() < 1e-4
    assert np.abs(wanted[mask]).max() > 0.1
    for row, sentence in enumerate(SENTENCES):
        (alone,) = scorer.outputs(corpus.batch(np.array([row])), ["scores"])
        assert np.abs(alone[0] - found[row, : len(sentence)]).max() < 1e-5


@pytest.mark.parametrize("kind", TINY)
def test_int8_weights_change_little(kind: str, tmp_path: Path) -> None:
    part, encoding = loaded(TINY[kind](tmp_path / "encoder", hidden_size=64, num_attention_heads=4))
    corpus = encoding.encode(SENTENCES)
    batch = corpus.batch(np.arange(len(SENTENCES)))
    (found,) = exported(part, Int8Graph()).outputs(batch, ["scores"])
    wanted = in_torch(part, corpus, list(range(len(SENTENCES))))
    difference = np.abs(found - wanted)[batch["mask"]]
    assert 0 < difference.mean() < 0.03 * np.abs(wanted[batch["mask"]]).mean()


def test_the_smoke_test_reads_the_last_sub_word(tmp_path: Path) -> None:
    """A graph with a smaller table would fail only at a text with one of its last sub-words."""
    part, encoding = loaded(bert(tmp_path / "encoder"))
    assert encoding.pieces is not None
    batch = smoke_test_batch(encoding)
    assert batch["pieces"].max() == encoding.pieces.size - 1
    assert exported(part, Graph()).outputs(batch, ["scores"])[0].shape == (1, 2, part.width)


def test_encoders_without_a_graph_are_refused(tmp_path: Path) -> None:
    part, _ = loaded(bert(tmp_path / "encoder"))
    part.encoder.config.hidden_act = "silu"
    with pytest.raises(GonieError, match="cannot export the activation silu"):
        embedding(Graph(), part)
    part.encoder = torch.nn.Linear(2, 2)
    with pytest.raises(GonieError, match=r"cannot export the transformer Linear\. Use one of BertModel"):
        embedding(Graph(), part)


@pytest.mark.parametrize("name", ["minilm", "me5"])
def test_real_weights_equal_torch(name: str) -> None:
    part, encoding = loaded(real_encoder(name), layers=[0, 3, -1])
    corpus = encoding.encode(SENTENCES)
    batch = corpus.batch(np.arange(len(SENTENCES)))
    (found,) = exported(part, Graph()).outputs(batch, ["scores"])
    wanted = in_torch(part, corpus, list(range(len(SENTENCES))))
    assert np.abs(found - wanted)[batch["mask"]].max() < 1e-4
