"""The stateful reader of a language model: states are carried between batches, or reset."""

from __future__ import annotations

import pytest
import torch

from gonie.errors import InputError
from gonie.tasks.language_model.recipe import LanguageModelConfig
from gonie.tasks.language_model.torch.build import build_language_model
from gonie.tasks.language_model.torch.network import LanguageModel, TextStretch
from gonie.tasks.language_model.torch.stateful import LanguageBatch, StatefulReader
from gonie.tasks.torch.checkpoint import moving_tensors

CONFIG = LanguageModelConfig(
    byte_width=3, longest=8, filters=[(1, 3), (2, 4)], width=4, hidden=6, layers=2, dropout=0.0
)


def model_of() -> LanguageModel:
    torch.manual_seed(1)
    return build_language_model(CONFIG, 9)


def batch_of(seed: int, *, steps: int = 3, rows: int = 5) -> LanguageBatch:
    generator = torch.Generator().manual_seed(seed)

    def way() -> TextStretch:
        words = torch.randint(0, 9, (2, steps, rows), generator=generator)
        return TextStretch(words[0], words[1], torch.ones(steps, rows, dtype=torch.bool))

    return LanguageBatch(torch.randint(1, 262, (9, 8), generator=generator), way(), way())


def joined(one: LanguageBatch, other: LanguageBatch) -> LanguageBatch:
    """Return the two stretches as one."""
    pairs = zip(one[1:], other[1:], strict=True)
    ahead, back = (TextStretch(*map(torch.cat, zip(first, second, strict=True))) for first, second in pairs)
    return LanguageBatch(one.chars, ahead, back)


def test_two_stretches_give_the_losses_of_one_long_stretch() -> None:
    first, second = batch_of(1), batch_of(2)._replace(chars=batch_of(1).chars)
    reader, whole = (StatefulReader(model=model_of(), rows=5).eval() for _ in range(2))
    parts = torch.cat([reader(first), reader(second)], dim=1)
    torch.testing.assert_close(parts, whole(joined(first, second)))
    reader.begin()
    torch.testing.assert_close(reader(first), parts[:, :3])


def test_carried_states_are_saved_in_checkpoints_but_not_in_weights() -> None:
    reader = StatefulReader(model=model_of(), rows=5)
    reader(batch_of(1))
    moved = moving_tensors(reader)
    assert any(name.endswith("states") and tensor.abs().sum() > 0 for name, tensor in moved.items())
    assert not any("states" in name or "cells" in name for name in reader.state_dict())


def test_no_gradient_flows_into_the_previous_stretch() -> None:
    reader = StatefulReader(model=model_of(), rows=5)
    reader(batch_of(1))
    reader(batch_of(2)).sum().backward()
    assert not reader.states.requires_grad


def test_rows_are_reset_at_the_given_rate_only_in_training() -> None:
    reader = StatefulReader(model=model_of(), rows=400, forget=0.5)
    with torch.no_grad():
        reader.states.fill_(1.0)
        reader.cells.fill_(1.0)
    batch = batch_of(1, steps=1, rows=400)
    plain = StatefulReader(model=reader.model, rows=400)
    fresh = plain.eval()(batch)
    with torch.no_grad():
        plain.states.fill_(1.0)
        plain.cells.fill_(1.0)
    carried = plain(batch)
    torch.manual_seed(2)
    assert torch.allclose(reader.eval()(batch), carried), "held-out text is read as a whole"
    with torch.no_grad():
        reader.states.fill_(1.0)
        reader.cells.fill_(1.0)
    found = reader.train()(batch)
    forgot = torch.isclose(found, fresh, atol=1e-6)
    assert torch.equal(forgot, ~torch.isclose(found, carried, atol=1e-6)), "each row wholly, or not at all"
    assert 0.4 < forgot.float().mean() < 0.6
    assert not torch.equal(forgot[0], forgot[1]), "each direction on its own"


def test_a_forget_rate_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="below 1"):
        StatefulReader(model=model_of(), rows=2, forget=1.0)


def test_the_loss_is_the_mean_over_counted_words() -> None:
    batch = batch_of(1)
    counts = torch.rand(2, 3, 5, generator=torch.Generator().manual_seed(1)) < 0.6
    batch = batch._replace(
        ahead=batch.ahead._replace(counts=counts[0]), back=batch.back._replace(counts=counts[1])
    )
    reader = StatefulReader(model=model_of(), rows=5).eval()
    losses = reader(batch)
    reader.begin()
    torch.testing.assert_close(reader.loss(batch), losses[counts].mean())
