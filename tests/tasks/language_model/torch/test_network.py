"""The language model in training: loss, gradients and carried states against reference computations."""

from __future__ import annotations

import torch
from torch import Tensor

from gonie.nn.bilm import BiLM, Direction, Filters, ProjectedLSTM, SpelledWords, WordSoftmax
from gonie.tasks.language_model.torch.network import LanguageModel, TextStretch

P, V, FORMS = 3, 5, 6


def model_of(*, layers: int = 2, dropout: float = 0.0) -> LanguageModel:
    words = SpelledWords(byte_width=2, filters=[Filters(1, 2), Filters(2, 3)], highways=1, width=P)
    ahead, back = (
        Direction(
            layers=[ProjectedLSTM(width=P, hidden=4) for _ in range(layers)], skip=True, dropout=dropout
        )
        for _ in range(2)
    )
    softmax = WordSoftmax(size=V, width=P)
    model = LanguageModel(bilm=BiLM(words=words, ahead=ahead, back=back), softmax=softmax, dropout=dropout)
    with torch.no_grad():
        for weight in model.parameters():
            weight.normal_(std=0.5)
    return model.double()


def stretch(steps: int = 4, rows: int = 2) -> TextStretch:
    return TextStretch(
        inputs=torch.randint(0, FORMS, (steps, rows)),
        targets=torch.randint(0, V, (steps, rows)),
        counts=torch.rand(steps, rows) < 0.7,
    )


def chars() -> Tensor:
    return torch.randint(1, 262, (FORMS, 5))


def test_the_loss_of_a_direction_uses_its_own_top_states() -> None:
    model, letters, ahead, back = model_of(), chars(), stretch(), stretch()
    losses, _ = model(letters, ahead, back, model.start(2))
    vectors = model.bilm.words(letters)
    for loss, part, direction in (
        (losses[0], ahead, model.bilm.ahead),
        (losses[1], back, model.bilm.back),
    ):
        x = vectors[part.inputs]
        states, _ = direction(x, direction.start(x))
        for step in range(4):
            for row in range(2):
                scores = model.softmax.weight @ states[-1][step, row] + model.softmax.bias
                expected = -scores.log_softmax(0)[part.targets[step, row]] * part.counts[step, row]
                torch.testing.assert_close(loss[step, row], expected)


def test_directions_are_independent() -> None:
    model, letters, ahead, back = model_of(), chars(), stretch(), stretch()
    one, _ = model(letters, ahead, back, model.start(2))
    two, _ = model(letters, ahead, stretch(), model.start(2))
    torch.testing.assert_close(one[0], two[0])


def test_a_stretch_continues_from_the_carried_states() -> None:
    model, letters, ahead, back = model_of(), chars(), stretch(6), stretch(6)
    whole, _ = model(letters, ahead, back, model.start(2))
    carried, pieces = model.start(2), []
    for part in (slice(0, 2), slice(2, 6)):
        cut = [TextStretch(*(tensor[part] for tensor in each)) for each in (ahead, back)]
        losses, carried = model(letters, *cut, carried.detached())
        pieces.append(losses)
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole)


def test_gradients_match_numerical_gradients() -> None:
    model, letters, ahead, back = model_of(), chars(), stretch(3), stretch(3)
    names = [name for name, _ in model.named_parameters()]

    def losses(*weights: Tensor) -> Tensor:
        named = dict(zip(names, weights, strict=True))
        found, _ = torch.func.functional_call(model, named, (letters, ahead, back, model.start(2)))
        return found.sum()

    weights = [weight.detach().clone().requires_grad_() for weight in model.parameters()]
    assert torch.autograd.gradcheck(losses, weights, fast_mode=True)


def test_dropout_is_active_only_in_training() -> None:
    model, letters, ahead, back = model_of(dropout=0.5), chars(), stretch(), stretch()
    one, two = (model(letters, ahead, back, model.start(2))[0] for _ in range(2))
    assert not torch.equal(one, two)
    model.eval()
    one, two = (model(letters, ahead, back, model.start(2))[0] for _ in range(2))
    assert torch.equal(one, two)
