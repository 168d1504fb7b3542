"""From a trained model to a bundle on disk, proved equal to it before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from torch import nn

from gonie.export.graph import Graph
from gonie.export.proof import MaxDifference, prove
from gonie.features.encoding import Encoding
from gonie.runtime.about import About
from gonie.runtime.bundle import write_bundle
from gonie.runtime.session import OnnxScorer
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.torch.exporter import tag_batches
from gonie.tasks.tagging.torch.graph import onnx_graph
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence


def export_bundle(
    model: TaggingNetwork,
    *,
    encoding: Encoding,
    tokenizer: Tokenizer,
    folder: str | PathLike[str],
    samples: Sequence[Sentence],
    constrained: bool = True,
    forbidden: Sequence[str] = (),
    scores: Mapping[str, Any] | None = None,
    recipe: Mapping[str, Any] | None = None,
    layers: Sequence[Mapping[str, Any]] = (),
) -> MaxDifference:
    """Write ``model`` as a bundle to ``folder``; returns how far its ONNX scores are from torch's.

    ``samples`` are real sentences to prove the export on: a few dozen do. ``constrained`` keeps decoding to
    what the tag scheme allows, ``forbidden`` are further rules (``gonie.text.rules``). ``scores``,
    ``recipe`` and ``layers`` (``gonie.runtime.about``) are kept for people. Nothing is written
    unless the proof holds.
    """
    graphs = onnx_graph(model, graph=Graph(longest=encoding.longest))
    difference = prove(model, OnnxScorer(*graphs), tag_batches(encoding, samples))
    transitions, start, end = (part.detach().float().cpu().numpy() for part in model.head().chain())
    bundle = TagBundle(
        encoding=encoding,
        tokenizer=tokenizer.to_json(),
        **graphs._asdict(),
        transitions=transitions,
        start=start,
        end=end,
        constrained=constrained,
        forbidden=forbidden,
        about=About(model=summary(model), scores=scores or {}, recipe=recipe or {}, layers=layers),
    )
    write_bundle(folder, bundle)
    return difference


def summary(model: nn.Module) -> dict[str, Any]:
    """The model for people: its parts as torch prints them, and how many weights each has."""
    return {
        "parts": {name: type(part).__name__ for name, part in model.named_children()},
        "weights": {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()},
        "description": str(model),
    }
