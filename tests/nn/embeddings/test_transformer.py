"""The embedding of a transformer: which sub-words and layers a token has, and what is trained."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from gonie.nn.embeddings.scalar_mix import ScalarMix
from gonie.nn.embeddings.transformer import CACHED, TransformerEmbedding, encoder_blocks

Batch = dict[str, Tensor]


def bert(layers: int = 3) -> nn.Module:
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 6}
    return BertModel(
        BertConfig(vocab_size=30, num_hidden_layers=layers, max_position_embeddings=40, **sizes),
        add_pooling_layer=False,
    )


def part_of(
    encoder: nn.Module, *, layers: tuple[int, ...] = (1, 3), tuned: bool = False, **more: float
) -> TransformerEmbedding:
    mixes = {"input": ScalarMix(layers=len(layers))}
    return TransformerEmbedding(
        encoder=encoder, width=8, layers=layers, mixes=mixes, tuned=tuned, dropout=0.0, penalty=0.5, **more
    )


def test_a_token_has_the_mean_of_its_sub_words_in_each_layer(make_batch: Callable[..., Batch]) -> None:
    """Compared with a loop over tokens; a token without sub-words has zeros."""
    batch = make_batch([5, 2, 4])
    encoder = bert().eval()
    found = part_of(encoder).eval().layers(batch)  # (K, B, T, H)
    states = encoder(
        input_ids=batch["pieces"], attention_mask=batch["pieces_mask"], output_hidden_states=True
    ).hidden_states
    empty = 0
    for at, (start, end) in enumerate(batch["pieces.offsets"].unfold(0, 2, 1).tolist()):
        sentence, token = divmod(at, batch["mask"].shape[1])
        own = batch["pieces.ids"][start:end]
        empty += start == end
        for number, layer in enumerate((1, 3)):
            table = states[layer].flatten(0, 1)
            wanted = table[own].mean(0) if len(own) else torch.zeros(8)
            torch.testing.assert_close(found[number, sentence, token], wanted, atol=1e-6, rtol=1e-5)
    assert empty


def test_precomputed_layers_give_the_same_vectors(make_batch: Callable[..., Batch]) -> None:
    batch = make_batch([3, 6])
    part = part_of(bert()).eval()
    cached = {"mask": batch["mask"], CACHED: part.layers(batch).permute(1, 2, 0, 3)}
    torch.testing.assert_close(part(cached), part(batch))


def test_a_frozen_encoder_gets_no_gradient_and_no_dropout(make_batch: Callable[..., Batch]) -> None:
    batch = make_batch([4])
    part = part_of(bert()).train()
    assert not part.encoder.training
    part(batch).sum().backward()
    assert all(weight.grad is None for weight in part.encoder.parameters())
    assert all(mix.weights.grad is not None for mix in part.mixes.each())


def test_rates_fall_from_the_top_layer_to_the_input() -> None:
    part = part_of(bert(), tuned=True, rate=0.5, layer_rate=0.1)
    blocks = encoder_blocks(part.encoder)
    assert [round(float(block.rate_scale), 6) for block in blocks] == [0.005, 0.05, 0.5]
    assert round(float(part.encoder.rate_scale), 6) == 0.0005


def test_fixed_layers_are_not_tuned() -> None:
    for number, trained in ((0, 4), (1, 3), (2, 2), (4, 0)):
        part = part_of(bert(), tuned=True, fixed=number)
        layers = [part.encoder.embeddings, *encoder_blocks(part.encoder)]
        tuned = [any(weight.requires_grad for weight in layer.parameters()) for layer in layers]
        assert tuned == [False] * (4 - trained) + [True] * trained


def test_the_penalty_is_that_of_the_mixing_weights() -> None:
    part = part_of(bert())
    with torch.no_grad():
        next(part.mixes.each()).weights.copy_(torch.tensor([1.0, 2.0]))
    assert part.penalty().item() == 2.5
    (report,) = part.report()
    assert report["place"] == "input"
    assert len(report["shares"]) == 2
