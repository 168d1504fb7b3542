"""The tagging network: its stages fit together, and scores do not depend on the batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from gonie.errors import InputError
from gonie.features.encoding import Encoding
from gonie.tasks.tagging.recipe import TaggerConfig as ModelConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.tagging.torch.network import TaggingNetwork

Tensors = Callable[..., dict[str, Tensor]]

FULL = {
    "words": {"width": 6},
    "chars": {"width": 4, "hidden": 4},
    "features": {"groups": ["spelling"], "width": 3},
    "encoder": {"kind": "peephole", "hidden": 5, "layers": 2},
    "head": {"kind": "crf", "direct": ["context"]},
    "dropout": {"input": 0.5, "output": 0.5, "between": 0.5, "word": 0.5},
}


@pytest.fixture
def model(encoding: Encoding) -> TaggingNetwork:
    return build_tagger(ModelConfig.model_validate(FULL), encoding)


def test_the_stages_together_give_the_scores_of_the_model(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    """Attribution, caching and adversarial training each use some of the stages."""
    model.eval()
    batch = tensors_of(encoding)
    scores = model.score(model.encode(model.embed(batch), batch["mask"]), batch)
    torch.testing.assert_close(model(batch), scores)
    torch.testing.assert_close(model.loss(batch), model.head().loss(scores, batch))


def test_scores_of_a_sentence_do_not_depend_on_its_batch(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    """Otherwise the tags of a text would depend on the other texts."""
    model.eval()
    together = model(tensors_of(encoding))
    for row in range(4):
        alone = model(tensors_of(encoding, [row]))
        torch.testing.assert_close(together[row : row + 1, : alone.shape[1]], alone)


def test_the_loss_of_a_batch_is_the_mean_of_its_sentences(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    model.eval()
    alone = torch.stack([model.loss(tensors_of(encoding, [row])) for row in range(4)])
    torch.testing.assert_close(model.loss(tensors_of(encoding)), alone.mean())


def test_dropout_is_active_only_in_training(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    batch = tensors_of(encoding)
    model.train()
    assert not torch.equal(model(batch), model(batch))
    model.eval()
    assert torch.equal(model(batch), model(batch))


def test_loading_the_weights_reproduces_the_scores(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    other = build_tagger(ModelConfig.model_validate(FULL), encoding)
    other.load_state_dict(model.state_dict())
    batch = tensors_of(encoding)
    assert torch.equal(model.eval()(batch), other.eval()(batch))


def test_an_unknown_head_is_refused_by_name(model: TaggingNetwork) -> None:
    with pytest.raises(InputError, match="no such head: 'chunks'"):
        model.head("chunks")


def test_several_heads_share_the_encoder(
    model: TaggingNetwork, encoding: Encoding, tensors_of: Tensors
) -> None:
    """A second head computes its own scores from the same states."""
    twin = build_tagger(ModelConfig.model_validate({**FULL, "head": {"kind": "softmax"}}), encoding)
    both = TaggingNetwork(
        embedding=model.embedding,
        encoder=model.encoder,
        heads={"tags": model.head(), "other": twin.head()},
        word_dropout=model.word_dropout,
        input_dropout=model.input_dropout,
        output_dropout=model.output_dropout,
    ).eval()
    batch = tensors_of(encoding)
    assert torch.equal(both(batch), model.eval()(batch))
    assert not torch.equal(both(batch), both(batch, "other"))
    assert both.loss(batch, "other").isfinite()


def test_a_part_that_is_not_a_module_is_refused(model: TaggingNetwork) -> None:
    """Its weights would be neither trained nor saved."""
    with pytest.raises(InputError, match="expected a torch module"):
        TaggingNetwork(
            embedding=model.embedding,
            encoder=model.encoder,
            heads={"tags": object()},  # type: ignore[dict-item]
            word_dropout=model.word_dropout,
            input_dropout=model.input_dropout,
            output_dropout=model.output_dropout,
        )
