"""Every part in the tables is built by a recipe that names it, and is exported to ONNX or refused."""

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
    ExternalEmbedding,
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
from gonie.nn.embeddings.transformer import TransformerEmbedding
from gonie.nn.heads import SupportHead, TextSupportHead
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

ONE_TYPE = ('data.types=["PER"]', "data.model_scheme=IO")  # a sigmoid head distinguishes two tags
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
    "tag_heads": (
        TAG_HEADS,
        {
            "crf": CRFHead,
            "softmax": SoftmaxHead,
            "parts": SoftmaxHead,
            "sigmoid": SigmoidHead,
            "prototypes": SupportHead,
            "nearest": SupportHead,
        },
    ),
    "text_heads": (
        TEXT_HEADS,
        {
            "softmax": TextSoftmaxHead,
            "sigmoid": TextSigmoidHead,
            "labels": MultiLabelHead,
            "prototypes": TextSupportHead,
            "nearest": TextSupportHead,
        },
    ),
    "contextual": (
        CONTEXTUAL,
        {"elmo": ElmoEmbedding, "external": ExternalEmbedding, "transformer": TransformerEmbedding},
    ),
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
"""The classes that the names of each table stand for."""


def naming(role: str, name: str) -> list[str]:
    """Return the ``--set`` changes that select the part in a recipe."""
    if role == "contextual":
        fields = CONTEXTUAL[name].section.model_fields.items()
        return [f"model.{name}.{key}=not-there" for key, field in fields if field.is_required()]
    keys = {
        "chars": [f"model.chars.kind={name}"],
        "encoders": [f"model.encoder.kind={name}", "model.encoder.layers=2"],
        "poolings": [f'model.pooling.kinds=["{name}"]', "model.pooling.heads=2"],
        "tag_heads": [f"model.head.kind={name}", *ONE_TYPE],
        "text_heads": [
            f"model.head.kind={name}",
            *(["data.label_separator=|"] if name == "labels" else []),
            *(["model.bag=none"] if name in TEXT_HEADS and TEXT_HEADS[name].fitted else []),
        ],
        "compositions": [f"model.matching.composition.kind={name}"],
        "pair_poolings": [f'model.matching.pooling.kinds=["{name}"]', "model.matching.pooling.heads=2"],
        "matchings": [f"model.matching.kind={name}"],
        "pair_heads": ["data.value_column=v"] if name == "value" else [],
    }
    return keys[role]


def cases() -> list[tuple[str, str, str]]:
    """Return each part with the recipes of the tasks that support it."""
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
        if (name, task) != ("external", "pair")  # refused, see test_external.py
    ]


@pytest.mark.parametrize("role", BUILT)
def test_every_entry_of_a_table_is_tested(role: str) -> None:
    table, kinds = BUILT[role]
    assert set(table) == set(kinds)


@pytest.mark.parametrize(("role", "name", "recipe"), cases(), ids=" ".join)
def test_a_part_that_a_recipe_names_is_built_and_exported(role: str, name: str, recipe: str) -> None:
    """The exported graph gives the same scores as the network."""
    specimen = synthetic(load_recipe(recipe, naming(role, name)))
    model = specimen.model.eval()
    assert any(isinstance(part, BUILT[role][1][name]) for part in model.modules())
    wanted, got = torch_and_onnx(model, specimen.encoding, specimen.batch)
    assert got.shape == wanted.shape
    np.testing.assert_allclose(got, wanted, atol=CLOSE)


def torch_and_onnx(model: Any, encoding: Any, batch: Mapping[str, Tensor]) -> tuple[np.ndarray, np.ndarray]:
    """Return the scores of a network and of its graph; for a tagger, without padding."""
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
def test_recurrent_encoders_are_bidirectional_unless_disabled(name: str) -> None:
    two_way = synthetic(load_recipe("ner", [f"model.encoder.kind={name}"])).model
    one_way = synthetic(
        load_recipe("ner", [f"model.encoder.kind={name}", "model.encoder.bidirectional=false"])
    ).model
    assert two_way.encoder.width == 2 * one_way.encoder.width


# --- an added part ---------------------------------------------------------------------------------------


class Halved(nn.Module):
    """An encoder without an ONNX export: x / 2."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.input_width = self.width = width

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return x * mask[:, :, None] / 2


def test_an_added_part_can_be_named_but_not_exported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(RecipeError, match=r"model\.encoder\.kind: unknown name: 'halved'; use one of "):
        load_recipe("bilstm-crf", ["model.encoder.kind=halved"])
    part = Part("half of its input", lambda width, config, dropout: Halved(width))
    monkeypatch.setitem(ENCODERS, "halved", part)
    specimen = synthetic(load_recipe("bilstm-crf", ["model.encoder.kind=halved"]))
    assert isinstance(specimen.model.encoder, Halved)
    assert specimen.model.loss(specimen.batch).isfinite()
    with pytest.raises(GonieError, match="cannot export the encoder Halved"):
        onnx_graph(specimen.model)


# --- descriptions ----------------------------------------------------------------------------------------


def test_a_part_can_be_imported_from_a_submodule() -> None:
    assert parts._nn("encoders.lstm").LSTM is parts._nn().LSTM


def test_choices_lists_every_part_with_its_description() -> None:
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
def test_the_description_of_a_key_lists_all_its_parts(task: str, key: str, table: dict[str, Part]) -> None:
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
