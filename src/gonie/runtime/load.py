"""From a folder on disk to a tagger that is ready to be called."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.data.rules import allowed
from gonie.data.tokenize import Tokenizer, tokenizer
from gonie.errors import BundleError
from gonie.runtime.bundle import INDEX, Bundle, read_bundle
from gonie.runtime.decoder import Decoder
from gonie.runtime.predictor import Predictor
from gonie.runtime.session import OnnxScorer

BUNDLE = "bundle"  # what a run folder calls the bundle inside it
RECIPE = "recipe.toml"
TASK = "tag"


def load(path: str | PathLike[str], *, threads: int | None = None) -> Predictor:
    """The tagger in ``path``, a bundle or a run folder with one; ``threads`` bounds what one call uses."""
    return predictor(read_bundle(find_bundle(Path(path))), threads=threads)


def predictor(bundle: Bundle, *, threads: int | None = None) -> Predictor:
    """The bundle's parts put together: tokenizer, encoding, ONNX scorer and decoder."""
    if bundle.task != TASK:
        raise BundleError(f"expected a bundle that can {TASK}, got one for the task {bundle.task!r}.")
    encoding = bundle.encoding
    return Predictor(
        encoding=encoding,
        tokenizer=_tokenizer(bundle.tokenizer),
        scorer=OnnxScorer(bundle.graph, threads=threads),
        decoder=Decoder(
            transitions=bundle.transitions,
            start=bundle.start,
            end=bundle.end,
            allowed=allowed(
                encoding.labels,
                encoding.scheme,
                constrained=bundle.constrained,
                forbidden=bundle.forbidden,
            ),
        ),
        recipe=bundle.recipe,
    )


def _tokenizer(described: Mapping[str, Any]) -> Tokenizer:
    try:
        return tokenizer(**described)
    except TypeError as error:
        raise BundleError(f"expected a tokenizer's language and unit, got {dict(described)}.") from error


def find_bundle(path: Path) -> Path:
    """The bundle that ``path`` means: itself, or the one inside a run folder."""
    inside = path / BUNDLE
    if (path / INDEX).exists() or not path.is_dir():
        return path
    if inside.is_dir():
        return inside
    if (path / RECIPE).exists():
        raise BundleError(
            f"{path}: expected a run folder with a bundle, got one whose training has not finished. "
            f"Do: gonie train {path / RECIPE} --out {path} --resume"
        )
    raise BundleError(
        f"{path}: expected a bundle or a run folder, got a folder with neither {INDEX} nor {BUNDLE}/. "
        "Give what `gonie train` or `gonie export` wrote."
    )
