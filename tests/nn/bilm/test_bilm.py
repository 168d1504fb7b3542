"""Tests the bidirectional language model: which words the vector of a word may depend on."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from gonie.nn.bilm import BiLM, CarriedBoth, ClippedLSTM, Direction, Filters, ProjectedLSTM, SpelledWords

P, FORMS = 4, 12


def layer(clipped: bool) -> ProjectedLSTM:
    if clipped:
        return ClippedLSTM(width=P, hidden=6, cell_clip=0.5, state_clip=0.3)
    return ProjectedLSTM(width=P, hidden=6)


@pytest.fixture(params=[False, True], ids=["free", "clipped"])
def bilm(request: pytest.FixtureRequest) -> BiLM:
    words = SpelledWords(byte_width=3, filters=[Filters(1, 4), Filters(2, 4)], highways=1, width=P)
    stacks = [
        Direction(layers=[layer(request.param) for _ in range(2)], skip=True, dropout=0.1) for _ in range(2)
    ]
    part = BiLM(words=words, ahead=stacks[0], back=stacks[1]).eval()
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_(std=0.5)
    return part


@pytest.fixture
def chars() -> Tensor:
    return torch.randint(1, 262, (FORMS, 6))


def mask_of(lengths: list[int], width: int = 0) -> Tensor:
    return torch.arange(max(*lengths, width)) < torch.tensor(lengths).unsqueeze(1)


def test_output_shape_and_lowest_layer(bilm: BiLM, chars: Tensor) -> None:
    forms = torch.randint(2, FORMS, (2, 5))
    layers = bilm(chars, forms, mask_of([5, 3]))
    assert layers.shape == (bilm.layers, 2, 5, bilm.width) == (3, 2, 5, 2 * P)
    own = bilm.words(chars)[forms]
    torch.testing.assert_close(layers[0], torch.cat([own, own], dim=2))


def test_vectors_do_not_depend_on_the_batch_or_padding(bilm: BiLM, chars: Tensor) -> None:
    lengths = [4, 1, 7]
    forms = torch.randint(2, FORMS, (3, 9))
    together = bilm(chars, forms, mask_of(lengths, 9))
    for row, length in enumerate(lengths):
        alone = bilm(chars, forms[row : row + 1, :length], mask_of([length]))
        torch.testing.assert_close(together[:, row, :length], alone[:, 0])


def test_no_direction_sees_the_word_it_predicts(bilm: BiLM, chars: Tensor) -> None:
    """If a state depended on the next word, the loss would be meaningless and the vectors useless."""
    forms = torch.randint(2, FORMS, (1, 6))
    other = forms.clone()
    at = 3
    other[0, at] = (forms[0, at] - 1) % (FORMS - 2) + 2  # another word
    assert other[0, at] != forms[0, at]
    one, two = (bilm(chars, each, mask_of([6])) for each in (forms, other))
    changed = (one != two).any(3)[1:, 0]  # (L, T)
    ahead, back = ((one != two)[1:, 0, :, half].any(2) for half in (slice(P), slice(P, None)))
    assert not ahead[:, :at].any()
    assert not back[:, at + 1 :].any()
    assert changed[:, at].all()
    assert ahead[:, at:].all()
    assert back[:, : at + 1].all()


def test_each_direction_reads_its_own_boundary_mark(bilm: BiLM, chars: Tensor) -> None:
    forms = torch.randint(2, FORMS, (1, 3))
    before = bilm(chars, forms, mask_of([3]))
    for mark, half in ((0, slice(P)), (1, slice(P, None))):
        other = chars.clone()
        other[mark] = torch.randint(1, 262, (6,))
        after = bilm(other, forms, mask_of([3]))
        changed = (before != after)[1:, 0]
        assert changed[..., half].any(2).all()
        rest = slice(P, None) if mark == 0 else slice(P)
        assert not changed[..., rest].any()


def test_the_backward_half_is_a_stack_over_the_reversed_sentence(bilm: BiLM, chars: Tensor) -> None:
    """The reversed sentence starts with the end mark."""
    forms = torch.randint(2, FORMS, (1, 4))
    vectors = bilm.words(chars)
    rows = torch.cat([vectors[[1]], vectors[forms[0].flip(0)]]).unsqueeze(1)  # (1 + T, 1, P)
    states, _ = bilm.back(rows, bilm.back.start(rows))
    layers = bilm(chars, forms, mask_of([4]))
    torch.testing.assert_close(layers[2, 0, :, P:], states[1][1:, 0].flip(0))


def test_read_on_from_the_start_equals_read(bilm: BiLM) -> None:
    x, marks = torch.randn(2, 5, P), torch.randn(2, P)
    layers, _ = bilm.read_on(x, marks, bilm.start(x))
    torch.testing.assert_close(layers, bilm.read(x, marks, mask_of([5, 5])))


def test_read_on_continues_each_direction_over_whole_sentences(bilm: BiLM) -> None:
    """Each sentence is read from begin mark to end mark, or backward from end mark to begin mark."""
    begin, end = marks = torch.randn(2, P)
    sentences = [torch.randn(1, length, P) for length in (3, 1, 4)]
    carried, got = bilm.start(sentences[0]), []
    for x in sentences:
        layers, carried = bilm.read_on(x, marks, carried)
        got.append(layers[2, 0])
    onward = torch.cat([piece for x in sentences for piece in (begin[None], x[0], end[None])])
    backward = torch.cat([piece for x in sentences for piece in (end[None], x[0].flip(0), begin[None])])
    tops = []
    for direction, stream in ((bilm.ahead, onward), (bilm.back, backward)):
        rows = stream.unsqueeze(1)
        tops.append(direction(rows, direction.start(rows))[0][1][:, 0])
    first = 0
    for x, top in zip(sentences, got, strict=True):
        last = first + x.shape[1] + 2
        torch.testing.assert_close(top[:, :P], tops[0][first + 1 : last - 1])
        torch.testing.assert_close(top[:, P:], tops[1][first + 1 : last - 1].flip(0))
        first = last


def test_detached_states_carry_no_gradient() -> None:
    weight = torch.ones(2, 3, requires_grad=True)
    carried = CarriedBoth(ahead=[(2 * weight, 3 * weight)], back=[(4 * weight, 5 * weight)])
    cut = carried.detached()
    assert [tensor.requires_grad for layers in cut for pair in layers for tensor in pair] == [False] * 4
    assert torch.equal(cut.back[0][1], carried.back[0][1])
