"""From a folder on disk to a model that is ready to be called."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from gonie.errors import BundleError, GonieError, MissingExtraError
from gonie.runtime.bundle import INDEX, read_bundle
from gonie.runtime.decoder import Decoder
from gonie.runtime.session import OnnxScorer
from gonie.runtime.smoke_test import trial_batch, trial_texts
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.tagging.bundle import TagBundle
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.rules import allowed
from gonie.text.tokenizers import Tokenizer, tokenizer

BUNDLE = "bundle"  # what a run folder calls the bundle inside it
RECIPE = "recipe.toml"


def load(path: str | PathLike[str], *, threads: int | None = None) -> Tagger | TextClassifier:
    """The model in ``path``, a bundle or a run folder with one; ``threads`` bounds what one call uses."""
    folder = find_bundle(Path(path))
    bundle = read_bundle(folder)
    try:
        if isinstance(bundle, TextBundle):
            return classifier(bundle, threads=threads)
        return predictor(bundle, threads=threads)
    except MissingExtraError:
        raise
    except GonieError as error:
        raise BundleError(f"{folder}: {error}") from error


def load_tagger(path: str | PathLike[str], *, threads: int | None = None) -> Tagger:
    """As ``load``, for whoever needs a tagger; a classifier is refused."""
    model = load(path, threads=threads)
    if isinstance(model, TextClassifier):
        raise BundleError(
            f"{path}: expected a model that tags words, got one that classifies texts. "
            f"Do: gonie classify {path}"
        )
    return model


def load_classifier(path: str | PathLike[str], *, threads: int | None = None) -> TextClassifier:
    """As ``load``, for whoever needs a classifier; a tagger is refused."""
    model = load(path, threads=threads)
    if isinstance(model, Tagger):
        raise BundleError(
            f"{path}: expected a model that classifies texts, got one that tags words. Do: gonie tag {path}"
        )
    return model


def predictor(bundle: TagBundle, *, threads: int | None = None) -> Tagger:
    """The bundle's parts put together: tokenizer, encoding, ONNX scorer and decoder."""
    encoding = bundle.encoding
    scorer = _scorer(bundle, threads, shared=bool(encoding.longest))
    scorer.scores(trial_batch(encoding))
    return Tagger(
        encoding=encoding,
        tokenizer=_tokenizer(bundle.tokenizer),
        scorer=scorer,
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
        recipe=bundle.about.recipe,
    )


def classifier(bundle: TextBundle, *, threads: int | None = None) -> TextClassifier:
    """The bundle's parts put together: encoding, ONNX scorer and temperature."""
    encoding = bundle.encoding
    scorer = _scorer(bundle, threads, shared=bool(encoding.words.longest))
    scorer.score_texts(trial_texts(encoding))
    return TextClassifier(
        encoding=encoding,
        scorer=scorer,
        temperature=bundle.temperature,
        recipe=bundle.about.recipe,
    )


def _scorer(bundle: TagBundle | TextBundle, threads: int | None, *, shared: bool) -> OnnxScorer:
    """``shared`` of a language model: so large that a single sentence is faster on all threads."""
    labels = len(bundle.encoding.labels)
    return OnnxScorer(bundle.graph, bundle.forms, labels=labels, threads=threads, shared=shared)


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
