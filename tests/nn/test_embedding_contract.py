"""Tests that every embedding must pass. Add a new embedding to EMBEDDINGS.

If one of these fails, a word's vector depends on the rest of its batch, or a saved model differs from the
trained one.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from gonie.nn import (
    CharCNN,
    CharLSTM,
    ElmoEmbedding,
    ExternalEmbedding,
    FeatureEmbedding,
    LowRank,
    NoEmbedding,
    ScalarMix,
    Stack,
    WordEmbedding,
)
from gonie.nn.embeddings.transformer import TransformerEmbedding
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm

Batch = dict[str, Tensor]
LENGTHS = [6, 1, 4, 6, 3]


def stacked() -> nn.Module:
    return Stack([words(), EMBEDDINGS["char_lstm"](), EMBEDDINGS["features"](), NoEmbedding()])


def words() -> nn.Module:
    seen_once = torch.arange(12) % 2 == 1
    return WordEmbedding(size=12, width=6, singletons=seen_once, singleton_rate=0.5)


def changed(part: nn.Module) -> nn.Module:
    """Return a part whose low-rank changes are not 0."""
    for name, weight in part.named_parameters():
        if "change" in name:
            nn.init.normal_(weight, std=0.3)
    return part


def elmo(*, mixes: int, normalize: bool = False, tuned: bool = False) -> nn.Module:
    bilm = build_bilm(BilmConfig(byte_width=3, filters=[(1, 4), (3, 4)], width=3, hidden=5, layers=1))
    places = ("input", "output")[:mixes]
    parts = {place: ScalarMix(layers=2, normalize=normalize) for place in places}
    return ElmoEmbedding(bilm=bilm, mixes=parts, tuned=tuned, dropout=0.5, penalty=0.1)


def external(*, places: int = 1, projection: int = 0, normalize: bool = False) -> nn.Module:
    return ExternalEmbedding(
        given=5,
        places=("input", "output")[:places],
        projection=projection,
        normalize=normalize,
        dropout=0.5,
    )


def transformer(*, layers: tuple[int, ...], mixes: int = 1, tuned: bool = False) -> nn.Module:
    config = BertConfig(
        vocab_size=30,
        hidden_size=8,
        num_hidden_layers=max(layers),
        num_attention_heads=2,
        intermediate_size=6,
        max_position_embeddings=40,
        initializer_range=0.5,
    )
    encoder = BertModel(config, add_pooling_layer=False)
    places = ("input", "output")[:mixes]
    parts = {place: ScalarMix(layers=len(layers)) for place in places}
    return TransformerEmbedding(
        encoder=encoder, width=8, layers=layers, mixes=parts, tuned=tuned, dropout=0.5, penalty=0.1
    )


EMBEDDINGS: dict[str, Callable[[], nn.Module]] = {
    "words": words,
    "words_with_fixed": lambda: WordEmbedding(size=8, width=6, fixed=4),
    "words_frozen": lambda: WordEmbedding(size=12, width=6, tuned=False),
    "words_changed": lambda: changed(WordEmbedding(size=8, width=6, fixed=4, rank=2)),
    "char_cnn_changed": lambda: changed(
        LowRank(part=CharCNN(size=20, width=5, filters=7, kernel=3, dropout=0.5), rank=2)
    ),
    "char_lstm_changed": lambda: changed(
        LowRank(part=CharLSTM(size=20, width=5, hidden=4, dropout=0.5), rank=2)
    ),
    "char_cnn": lambda: CharCNN(size=20, width=5, filters=7, kernel=3, dropout=0.5),
    "char_cnn_even": lambda: CharCNN(size=20, width=5, filters=7, kernel=4, dropout=0.0),
    "char_lstm": lambda: CharLSTM(size=20, width=5, hidden=4, dropout=0.5),
    "features": lambda: FeatureEmbedding(group="spelling", size=9, width=6),
    "elmo": lambda: elmo(mixes=1),
    "elmo_normalized": lambda: elmo(mixes=1, normalize=True),
    "elmo_twice_tuned": lambda: elmo(mixes=2, tuned=True),
    "external": external,
    "external_projected": lambda: external(projection=4),
    "external_twice_normalized": lambda: external(places=2, projection=3, normalize=True),
    "transformer": lambda: transformer(layers=(0, 1, 2)),
    "transformer_twice_tuned": lambda: transformer(layers=(1, 2), mixes=2, tuned=True),
    "none": NoEmbedding,
    "stack": stacked,
}


@pytest.fixture(params=EMBEDDINGS)
def build(request: pytest.FixtureRequest) -> Callable[[], nn.Module]:
    return EMBEDDINGS[request.param]


@pytest.fixture
def batch(make_batch: Callable[..., Batch]) -> Batch:
    return make_batch(LENGTHS)


def sentence(batch: Batch, row: int) -> Batch:
    """Return one row of a batch as a batch of its own, with only its tokens, forms and features."""
    length, width = int(batch["lengths"][row]), batch["mask"].shape[1]
    forms, places = batch["forms"][row, :length].unique(return_inverse=True)
    char_lengths = batch["char_lengths"][forms]
    offsets = batch["spelling.offsets"][row * width : row * width + length + 1]
    return {
        "mask": batch["mask"][row : row + 1, :length],
        "words": batch["words"][row : row + 1, :length],
        "forms": places.unsqueeze(0),
        "chars": batch["chars"][forms, : int(char_lengths.max())],
        "char_lengths": char_lengths,
        "bytes": batch["bytes"][torch.cat([torch.arange(2), 2 + forms])],
        "external": batch["external"][row : row + 1, :length],
        "spelling.ids": batch["spelling.ids"][offsets[0] : offsets[-1]],
        "spelling.offsets": offsets - offsets[0],
        **_pieces(batch, row, length),
    }


def _pieces(batch: Batch, row: int, length: int) -> Batch:
    """Return the sub-words of one row of a batch."""
    own, (width, longest) = batch["pieces_mask"][row], (batch["mask"].shape[1], batch["pieces"].shape[1])
    offsets = batch["pieces.offsets"][row * width : row * width + length + 1]
    return {
        "pieces": batch["pieces"][row : row + 1, own],
        "pieces_mask": own[own].unsqueeze(0),
        "pieces.ids": batch["pieces.ids"][offsets[0] : offsets[-1]] - row * longest,
        "pieces.offsets": offsets - offsets[0],
    }


def on(device: str, batch: Batch) -> Batch:
    return {name: value.to(device) for name, value in batch.items()}


def test_shape_and_width(build: Callable[[], nn.Module], batch: Batch, device: str) -> None:
    part = build().to(device).eval()
    vectors = part(on(device, batch))
    assert vectors.shape == (len(LENGTHS), max(LENGTHS), part.width)
    assert vectors.dtype == torch.float32


def test_double_precision(build: Callable[[], nn.Module], batch: Batch) -> None:
    part = build().eval()
    single = part(batch)
    double = part.double()(batch)
    assert double.dtype == (torch.float64 if part.width else torch.float32)
    torch.testing.assert_close(double.float(), single, atol=1e-5, rtol=1e-5)


def test_padding_contents_do_not_matter(build: Callable[[], nn.Module], batch: Batch) -> None:
    part, mask = build().eval(), batch["mask"]
    real = torch.arange(batch["chars"].shape[1]) < batch["char_lengths"].unsqueeze(1)
    junk = dict(batch)
    junk["words"] = batch["words"].where(mask, torch.randint(0, 12, mask.shape))
    junk["forms"] = batch["forms"].where(mask, torch.randint(0, 40, mask.shape))
    junk["chars"] = batch["chars"].where(real, torch.randint(0, 20, real.shape))
    junk["external"] = batch["external"].where(mask.unsqueeze(2), torch.randn(batch["external"].shape))
    torch.testing.assert_close(part(junk)[mask], part(batch)[mask], rtol=0, atol=0)


def test_vectors_do_not_depend_on_the_batch(
    build: Callable[[], nn.Module], batch: Batch, device: str
) -> None:
    part = build().to(device).eval()
    together = part(on(device, batch))
    for row, length in enumerate(LENGTHS):
        alone = part(on(device, sentence(batch, row)))
        torch.testing.assert_close(together[row : row + 1, :length], alone, atol=1e-6, rtol=1e-5)


def test_a_saved_and_loaded_part_gives_the_same_vectors(
    build: Callable[[], nn.Module],
    batch: Batch,
    scramble: Callable[[nn.Module], nn.Module],
    through_a_file: Callable[[nn.Module, nn.Module], nn.Module],
) -> None:
    part = scramble(build()).eval()
    copy = through_a_file(part, build().eval())
    assert torch.equal(copy(batch), part(batch))


def test_gradients_reach_every_weight(build: Callable[[], nn.Module], batch: Batch) -> None:
    part = build().eval()
    learned = {name: weight for name, weight in part.named_parameters() if weight.requires_grad}
    if not learned:
        pytest.skip("nothing to learn in this part")
    vectors = part(batch)
    (vectors * torch.randn_like(vectors))[batch["mask"]].sum().backward()
    for name, weight in learned.items():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_the_same_seed_gives_the_same_part_and_the_same_vectors(
    build: Callable[[], nn.Module], batch: Batch
) -> None:
    batch["words"].clamp_(max=7)  # training has only words of the training set
    runs = []
    for _ in range(2):
        torch.manual_seed(7)
        runs.append(build().train()(batch))
    assert torch.equal(*runs)


def test_evaluation_has_no_randomness(build: Callable[[], nn.Module], batch: Batch) -> None:
    part = build().eval()
    assert torch.equal(part(batch), part(batch))
