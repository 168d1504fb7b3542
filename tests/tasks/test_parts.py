"""Every part of every table: a recipe that names it builds it, and its network is exported or refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gonie.errors import GonieError, RecipeError
from gonie.export.graph import Graph
from gonie.nn import (
    LSTM,
    AdditiveAttention,
    CharCNN,
    CharLSTM,
    Convolution,
    CRFHead,
    DotAttention,
    Elman,
    ElmoEmbedding,
    Last,
    Max,
    Mean,
    MultiLabelHead,
    NoEncoder,
    PeepholeLSTM,
    SigmoidHead,
    SoftmaxHead,
    TextSigmoidHead,
    TextSoftmaxHead,
    Window,
)
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.matching import AlignedMatching, PooledMatching
from gonie.runtime.session import OnnxScorer
from gonie.tasks import parts
from gonie.tasks.classification.torch.graph import text_graph
from gonie.tasks.pairs.encoding import PairEncoding
from gonie.tasks.pairs.parts import MATCHINGS, PAIR_HEADS
from gonie.tasks.pairs.torch.graph import pair_graph
from gonie.tasks.parts import CHARS, CONTEXTUAL, ENCODERS, POOLINGS, TAG_HEADS, TEXT_HEADS, Part, choices
from gonie.tasks.recipe import load_recipe, recipe_types
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.torch.prepare import synthetic
from gonie.tasks.torch.scorer import TorchScorer, TorchTextScorer

ONE_TYPE = ('data.types=["PER"]', "data.model_scheme=IO")  # what a sigmoid can tell apart
CLOSE = 1e-4

Kinds = Mapping[str, type[nn.Module]]
BUILT: dict[str, tuple[Mapping[str, object], Kinds]] = {
    "chars": (CHARS, {"cnn": CharCNN, "lstm": CharLSTM}),
    "encoders": (
        ENCODERS,
        {
            "lstm": LSTM,
            "peephole": PeepholeLSTM,
            "rnn": Elman,
            "cnn": Convolution,
            "window": Window,
            "none": NoEncoder,
        },
    ),
    "poolings": (
        POOLINGS,
        {"attention": AdditiveAttention, "dot": DotAttention, "mean": Mean, "max": Max, "last": Last},
    ),
    "tag_heads": (TAG_HEADS, {"crf": CRFHead, "softmax": SoftmaxHead, "sigmoid": SigmoidHead}),
    "text_heads": (
        TEXT_HEADS,
        {"softmax": TextSoftmaxHead, "sigmoid": TextSigmoidHead, "labels": MultiLabelHead},
    ),
    "contextual": (CONTEXTUAL, {"elmo": ElmoEmbedding}),
    "compositions": (
        ENCODERS,
        {
            "lstm": LSTM,
            "peephole": PeepholeLSTM,
            "rnn": Elman,
            "cnn": Convolution,
            "window": Window,
            "none": NoEncoder,
        },
    ),
    "pair_poolings": (
        POOLINGS,
        {"attention": AdditiveAttention, "dot": DotAttention, "mean": Mean, "max": Max, "last": Last},
    ),
    "matchings": (MATCHINGS, {"esim": AlignedMatching, "siamese": PooledMatching}),
    "pair_heads": (PAIR_HEADS, {"label": TextSoftmaxHead, "value": TextValueHead}),
}
"""Of each table, the classes that its names stand for."""


def naming(role: str, name: str) -> list[str]:
    """The changes by which a recipe names the part."""
    if role == "contextual":
        fields = CONTEXTUAL[name].section.model_fields.items()
        return [f"model.{name}.{key}=not-there" for key, field in fields if field.is_required()]
    keys = {
        "chars": [f"model.chars.kind={name}"],
        "encoders": [f"model.encoder.kind={name}", "model.encoder.layers=2"],
        "poolings": [f'model.pooling.kinds=["{name}"]', "model.pooling.heads=2"],
        "tag_heads": [f"model.head.kind={name}", *ONE_TYPE],
        "text_heads": [f"model.head.kind={name}", *(["data.label_separator=|"] if name == "labels" else [])],
        "compositions": [f"model.matching.composition.kind={name}"],
        "pair_poolings": [f'model.matching.pooling.kinds=["{name}"]', "model.matching.pooling.heads=2"],
        "matchings": [f"model.matching.kind={name}"],
        "pair_heads": ["data.value_column=v"] if name == "value" else [],
    }
    return keys[role]


def cases() -> list[tuple[str, str, str]]:
    """Each part under the recipes of the tasks that can have it."""
    tasks = {"tag": "ner", "classify": "subjectivity", "pair": "pairs"}
    only = {
        "poolings": ["classify"],
        "tag_heads": ["tag"],
        "text_heads": ["classify"],
        **{role: ["pair"] for role in ("compositions", "pair_poolings", "matchings", "pair_heads")},
    }
    return [
        (role, name, tasks[task])
        for role, (table, _) in BUILT.items()
        for name in table
        for task in only.get(role, tasks)
    ]


@pytest.mark.parametrize("role", BUILT)
def test_every_line_of_a_table_is_tried_here(role: str) -> None:
    table, kinds = BUILT[role]
    assert set(table) == set(kinds)


@pytest.mark.parametrize(("role", "name", "recipe"), cases(), ids=" ".join)
def test_a_part_that_a_recipe_names_is_built_and_exported(role: str, name: str, recipe: str) -> None:
    """The graph of its network gives the network's own scores."""
    specimen = synthetic(load_recipe(recipe, naming(role, name)))
    model = specimen.model.eval()
    assert any(isinstance(part, BUILT[role][1][name]) for part in model.modules())
    wanted, got = torch_and_onnx(model, specimen.encoding, specimen.batch)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, atol=CLOSE)


def torch_and_onnx(model: Any, encoding: Any, batch: Mapping[str, Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a network and of its graph, at tokens alone where it is a tagger."""
    arrays = {key: value.numpy() for key, value in batch.items()}
    if isinstance(encoding, PairEncoding):
        graph = Graph(longest=encoding.texts.words.longest)
        exported = OnnxScorer(*pair_graph(model, graph=graph), threads=1)
        return TorchTextScorer(model).score_texts(arrays).scores, exported.score_texts(arrays).scores
    if hasattr(encoding, "passages"):
        exported = OnnxScorer(*text_graph(model, graph=Graph(longest=encoding.words.longest)), threads=1)
        return TorchTextScorer(model).score_texts(arrays).scores, exported.score_texts(arrays).scores
    exported = OnnxScorer(*onnx_graph(model, graph=Graph(longest=encoding.longest)), threads=1)
    return TorchScorer(model).scores(arrays)[arrays["mask"]], exported.scores(arrays)[arrays["mask"]]


@pytest.mark.parametrize("name", [name for name, part in ENCODERS.items() if part.recurrent])
def test_recurrent_encoders_are_read_both_ways_and_others_are_not(name: str) -> None:
    two_way = synthetic(load_recipe("ner", [f"model.encoder.kind={name}"])).model
    one_way = synthetic(
        load_recipe("ner", [f"model.encoder.kind={name}", "model.encoder.bidirectional=false"])
    ).model
    assert two_way.encoder.width == 2 * one_way.encoder.width


# --- a part that is added --------------------------------------------------------------------------------


class Halved(nn.Module):
    """An encoder that no export knows: x / 2."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return x * mask[:, :, None] / 2


def test_a_part_that_is_added_to_its_table_can_be_named_and_is_refused_where_it_has_no_graph(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RecipeError, match=r"model\.encoder\.kind: unknown name: 'halved'; use one of "):
        load_recipe("ner", ["model.encoder.kind=halved"])
    part = Part("half of its input", lambda width, config, dropout: Halved(width))
    monkeypatch.setitem(ENCODERS, "halved", part)
    specimen = synthetic(load_recipe("ner", ["model.encoder.kind=halved"]))
    assert isinstance(specimen.model.encoder, Halved)
    assert specimen.model.loss(specimen.batch).isfinite()
    with pytest.raises(GonieError, match="cannot export the encoder Halved"):
        onnx_graph(specimen.model)


# --- what tables say -------------------------------------------------------------------------------------


def test_a_part_need_not_be_public() -> None:
    assert parts._nn("encoders.lstm").LSTM is parts._nn().LSTM


def test_a_description_names_every_part_with_what_it_is() -> None:
    table = {"a": Part("first", torch.nn.Identity), "b": Part("second", torch.nn.Identity)}
    assert choices(table) == "a: first; b: second"


@pytest.mark.parametrize(
    ("task", "key", "table"),
    [
        ("tag", "chars.kind", CHARS),
        ("tag", "encoder.kind", ENCODERS),
        ("tag", "head.kind", TAG_HEADS),
        ("classify", "pooling.kinds", POOLINGS),
        ("classify", "head.kind", TEXT_HEADS),
        ("pair", "matching.kind", MATCHINGS),
    ],
)
def test_a_key_tells_of_all_parts_that_it_may_name(task: str, key: str, table: dict[str, Part]) -> None:
    section: Any = recipe_types("train")[task].model_fields["model"].annotation
    outer, inner = key.split(".")
    annotation = section.model_fields[outer].annotation
    options = [annotation, *getattr(annotation, "__args__", ())]
    found = next(option for option in options if inner in getattr(option, "model_fields", {}))
    description = found.model_fields[inner].description
    assert choices(table) in description


def test_tables_and_recipes_are_read_without_torch() -> None:
    """The core install has no torch, and `gonie --help` should not wait for it."""
    program = (
        "import sys; from gonie.tasks import parts, recipe; "
        "recipe.load_recipe('ner', ['model.elmo.bilm=x']); "
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
