"""Tests the public names of ``gonie.nn``, and that the library sets no threads."""

from __future__ import annotations

from pathlib import Path

import torch

import gonie.nn
from gonie.nn import (
    CRF,
    LSTM,
    Adapted,
    Adapter,
    AdditiveAttention,
    BatchNorm,
    CRFHead,
    LowRank,
    Scores,
    TextScores,
    TextSoftmaxHead,
    WordEmbedding,
)
from gonie.nn.changes import BiasChange, MatrixChange, TableChange
from gonie.nn.protocols import (
    AdaptsPart,
    Embedding,
    Encoder,
    Head,
    MovesBuffers,
    Pooling,
    TextHead,
    WrapsPart,
)

SOURCE = Path(gonie.nn.__file__).parent


def test_every_exported_name_exists_and_is_listed_once() -> None:
    assert len(set(gonie.nn.__all__)) == len(gonie.nn.__all__)
    assert all(hasattr(gonie.nn, name) for name in gonie.nn.__all__)


def test_parts_satisfy_their_protocols() -> None:
    """mypy checks the protocols in full. This test calls each part through its protocol."""
    embedding: Embedding = WordEmbedding(size=3, width=2)
    encoder: Encoder = LSTM(width=2, hidden=2)
    head: Head = CRFHead(scores=Scores(width=2, num_tags=2, direct={}), crf=CRF(2))
    batch = {
        "words": torch.tensor([[2, 1]]),
        "mask": torch.ones(1, 2, dtype=torch.bool),
        "tags": torch.tensor([[0, 1]]),
    }
    states = encoder(embedding(batch), batch["mask"])
    assert head.loss(head.score(states, batch), batch).item() > 0
    pooling: Pooling = AdditiveAttention(width=2, hidden=2)
    text_head: TextHead = TextSoftmaxHead(scores=TextScores(width=2, num_labels=2, direct={}))
    texts = {"labels": torch.tensor([1])}
    assert text_head.loss(text_head.score(pooling(states, batch["mask"])[0], texts), texts).item() > 0


def test_parts_say_what_training_must_know_about_them() -> None:
    """A checkpoint would lack running averages, or a start with adapters would find none of its weights."""
    norm: MovesBuffers = BatchNorm(width=2)
    assert isinstance(norm, MovesBuffers)
    assert {norm.get_buffer(name).shape for name in norm.moves} == {(2,)}
    encoder = LSTM(width=2, hidden=2)
    wrappers: list[WrapsPart] = [LowRank(part=encoder, rank=1), Adapted(encoder=encoder, hidden=1)]
    for wrapper in wrappers:
        assert isinstance(wrapper, WrapsPart)
        assert wrapper.get_submodule(wrapper.wraps) is encoder
    changes: list[AdaptsPart] = [
        Adapter(width=2, hidden=1),
        MatrixChange(rows=2, columns=2, rank=1),
        TableChange(rows=2, columns=2, rank=1),
        BiasChange(size=2),
    ]
    assert all(isinstance(change, AdaptsPart) and change.adapts for change in changes)
    for role in (MovesBuffers, WrapsPart, AdaptsPart):
        assert not isinstance(encoder, role), "an ordinary part has none of them"


def test_the_library_sets_no_threads_and_packs_no_sequences() -> None:
    """The caller sets the number of threads. Packed sequences are 2-3 times slower on a CPU."""
    texts = {str(path.relative_to(SOURCE)): path.read_text("utf-8") for path in SOURCE.rglob("*.py")}
    assert "crf/layer.py" in texts
    names = ("set_num_threads", "pack_padded_sequence")
    assert not [path for path, text in texts.items() if any(name in text for name in names)]
