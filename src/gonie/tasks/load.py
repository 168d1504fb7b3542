"""From a folder on disk to a model that is ready to be called, whatever its task."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gonie.errors import BundleError, GonieError, MissingExtraError
from gonie.runtime.bundle import INDEX, Contents, read_bundle
from gonie.tasks.table import TASKS

if TYPE_CHECKING:
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.tagging.tagger import Tagger

BUNDLE = "bundle"  # what a run folder calls the bundle inside it
RECIPE = "recipe.toml"


def load(path: str | PathLike[str], *, threads: int | None = None, task: str | None = None) -> Any:
    """The model in ``path``, a bundle or a run folder with one; ``threads`` bounds what one call uses.

    With ``task``, a model of another task is refused.
    """
    folder = find_bundle(Path(path))
    bundle = read_bundle(folder, bundle_kinds())
    found = TASKS[bundle.task]
    if task not in (None, found.name):
        raise BundleError(f"{path} is a {found.model}; {found.describe_use(path)}")
    try:
        return found.load(bundle, threads)
    except MissingExtraError:
        raise
    except GonieError as error:
        raise BundleError(f"{folder}: {error}") from error


def load_tagger(path: str | PathLike[str], *, threads: int | None = None) -> Tagger:
    """As ``load``, for whoever needs a tagger."""
    tagger: Tagger = load(path, threads=threads, task="tag")
    return tagger


def load_classifier(path: str | PathLike[str], *, threads: int | None = None) -> TextClassifier:
    """As ``load``, for whoever needs a classifier."""
    classifier: TextClassifier = load(path, threads=threads, task="classify")
    return classifier


def bundle_kinds() -> dict[str, type[Contents]]:
    """What the bundles of each task hold, by the name of the task."""
    return {task.name: task.bundle for task in TASKS.values() if task.bundle is not None}


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
