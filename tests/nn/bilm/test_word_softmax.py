"""Compares the softmax over words with plain sums, and its sampled estimate with the exact loss."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from gonie.errors import InputError
from gonie.nn.bilm import WordSoftmax, word_softmax

V, P, N = 11, 4, 9


def softmax_of(*, exact: int = 0, sampled: int = 0) -> WordSoftmax:
    part = WordSoftmax(size=V, width=P, exact=exact, sampled=sampled).double()
    torch.nn.init.normal_(part.bias)
    return part


def case() -> tuple[Tensor, Tensor]:
    return torch.randn(N, P, dtype=torch.float64), torch.arange(N) % V


@torch.no_grad()
def plain(part: WordSoftmax, states: Tensor, targets: Tensor) -> Tensor:
    """Return -log p of each target, by a plain sum over words."""
    losses = []
    for state, target in zip(states, targets, strict=True):
        scores = [float(part.weight[word] @ state + part.bias[word]) for word in range(V)]
        losses.append(math.log(sum(map(math.exp, scores))) - scores[int(target)])
    return torch.tensor(losses, dtype=torch.float64)


def test_without_sampling_the_loss_equals_the_plain_sum() -> None:
    part, (states, targets) = softmax_of(), case()
    torch.testing.assert_close(part(states, targets), plain(part, states, targets))


@pytest.mark.parametrize("chunk", [1, 4, 9])
def test_chunks_do_not_change_the_loss(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    part, (states, targets) = softmax_of(), case()
    whole = part.full(states, targets)
    monkeypatch.setattr(word_softmax, "CHUNK", chunk)
    torch.testing.assert_close(part.full(states, targets), whole)


@pytest.mark.parametrize("exact", [0, 3, V - 1])
def test_the_estimate_is_exact_if_all_rare_words_are_sampled(exact: int) -> None:
    part, (states, targets) = softmax_of(exact=exact, sampled=V), case()
    assert part.sampled == V - exact
    drawn = part.draw()
    assert sorted(drawn.tolist()) == list(range(exact, V))
    torch.testing.assert_close(part.estimate(states, targets, drawn), plain(part, states, targets))


@pytest.mark.parametrize("sampled", [1, 3])
def test_the_estimated_sum_is_unbiased(sampled: int) -> None:
    """A biased sum would raise or lower all rare words. The mean must be within four standard errors."""
    exact, draws = 4, 4000
    part, (states, targets) = softmax_of(exact=exact, sampled=sampled), case()
    own = (part.weight[targets] * states).sum(1) + part.bias[targets]
    with torch.no_grad():
        sums = torch.stack(
            [(part.estimate(states, targets, part.draw()) + own).exp() for _ in range(draws)]
        )  # (draws, N) estimates of Z
        expected = (plain(part, states, targets) + own).exp()
    error = sums.std(0) / math.sqrt(draws)
    assert sums.std(0).min() > 0
    assert ((sums.mean(0) - expected).abs() < 4 * error).all()


def test_samples_are_distinct_rare_words_and_vary() -> None:
    part = softmax_of(exact=3, sampled=4)
    draws = [part.draw().tolist() for _ in range(20)]
    assert all(len(set(drawn)) == 4 and min(drawn) >= 3 and max(drawn) < V for drawn in draws)
    assert len({tuple(drawn) for drawn in draws}) > 1


class Fixed(nn.Module):
    """The loss with the same words drawn in every call, or over all words."""

    def __init__(self, part: WordSoftmax, drawn: list[int]) -> None:
        super().__init__()
        self.part = part
        self.drawn = torch.tensor(drawn)

    def forward(self, states: Tensor, targets: Tensor) -> Tensor:
        if len(self.drawn):
            return self.part.estimate(states, targets, self.drawn)
        return self.part.full(states, targets)


@pytest.mark.parametrize("drawn", [[], [3, 7, 8]], ids=["full", "sampled"])
def test_gradients_equal_finite_differences(drawn: list[int]) -> None:
    part, (states, targets) = softmax_of(exact=3, sampled=3), case()
    loss = Fixed(part, drawn)

    def losses(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        named = {"part.weight": weight, "part.bias": bias}
        return torch.func.functional_call(loss, named, (states, targets))

    weights = [weight.detach().clone().requires_grad_() for weight in (part.weight, part.bias)]
    assert torch.autograd.gradcheck(losses, (states.requires_grad_(), *weights))


def test_one_word_has_no_loss_and_an_empty_vocabulary_is_refused() -> None:
    part = WordSoftmax(size=1, width=P, exact=4096, sampled=4096)
    assert part(torch.randn(3, P), torch.zeros(3, dtype=torch.long)).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(InputError, match="vocabulary size must be at least 1: 0"):
        WordSoftmax(size=0, width=P)


def test_half_precision_is_summed_in_float32() -> None:
    part = WordSoftmax(size=V, width=P, exact=3, sampled=4).to(torch.bfloat16)
    losses = part(torch.randn(N, P, dtype=torch.bfloat16), torch.arange(N) % V)
    assert losses.dtype == torch.float32
