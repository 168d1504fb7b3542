"""Load a model of any task from a folder."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeGuard

from gonie.errors import BundleError, GonieError, InputError, MissingExtraError
from gonie.runtime.bundle import INDEX, Contents, read_bundle
from gonie.tasks.bundled import BundleOrigin, index_digest
from gonie.tasks.ensemble import combine
from gonie.tasks.run_files import RUNS
from gonie.tasks.table import TASKS

if TYPE_CHECKING:
    from gonie.client.client import Client
    from gonie.tasks.classification.classifier import TextClassifier
    from gonie.tasks.tagging.tagger import Tagger

BUNDLE = "bundle"  # the folder of the bundle inside a run folder
RECIPE = "recipe.toml"
LANGUAGE_MODEL = "llm:"  # the beginning of the address of an in-context model
URL = re.compile(r"(?<=^llm:)(https?):/+")  # the beginning of a URL, which a Path writes with one slash
HOST_AND_PORT = re.compile(r"[\w.-]+:\d+(/|$)")  # the beginning of a URL without its scheme


ModelPath = str | PathLike[str]


def load(
    path: ModelPath | Sequence[ModelPath],
    *,
    threads: int | None = None,
    task: str | None = None,
    **options: Any,
) -> Any:
    """Load the model in ``path``, a bundle or a run folder. ``threads`` limits the CPU threads of a call.

    Several paths return an ensemble, the URL of a service a ``Client``, and ``llm:`` with the address of a
    language model an in-context model, which ``options`` are for. With ``task``, a model of another task
    raises an error.
    """
    if is_in_context(path):
        return _open_in_context(path, threads, task, options)
    if options:
        raise InputError(
            f"{', '.join(options)}: only for in-context models",
            fix="Leave it out, or pass llm:http://HOST:PORT/v1 or llm:FILE.gguf",
        )
    if isinstance(path, list | tuple):
        return combine([load(each, threads=threads, task=task) for each in path])
    if not isinstance(path, str | PathLike):
        raise InputError(
            f"not the folder of a model: {path!r}", fix="Pass the path of a run folder or a bundle"
        )
    from gonie.client.address import is_url

    if is_url(path):
        return _connect(path, task)
    folder = find_bundle(Path(path))
    bundle = read_bundle(folder, bundle_kinds())
    found = TASKS[bundle.task]
    if task not in (None, found.name):
        raise BundleError(f"{path} is a {found.model}; {found.describe_use(path)}")
    try:
        model = found.load(bundle, threads)
        digest = index_digest((folder / INDEX).read_bytes())
        model.origin = BundleOrigin(Path(path).absolute(), folder.absolute(), digest, threads, restore)
        return model
    except MissingExtraError:
        raise
    except GonieError as error:
        raise BundleError(f"{folder}: {error}") from error


def _open_in_context(
    place: ModelPath, threads: int | None, task: str | None, options: Mapping[str, Any]
) -> Any:
    """Return a language model that is shown labelled examples."""
    from gonie.in_context.open_model import open_model

    own = {} if threads is None else {"threads": threads}
    return open_model(place, task=task, **{**own, **options})


def try_in_context(place: ModelPath, *, task: str, **options: Any) -> None:
    """Raise an error if an in-context model of a task cannot be opened later with these options."""
    from gonie.in_context.open_model import try_model

    try_model(place, task=task, **options)


def _connect(url: str | PathLike[str], task: str | None) -> Client:
    """Return a client of a service, whose model is checked now."""
    from gonie.client.client import Client

    client = Client(fspath(url))
    found = TASKS.get(client.task)
    if found is not None and task not in (None, found.name):
        raise BundleError(f"{url} is a {found.model}; {found.describe_use(url)}")
    return client


def restore(files: Mapping[str, bytes], path: Path, threads: int | None, settings: Mapping[str, Any]) -> Any:
    """Load a pickled model from the files of its bundle. ``path`` may not exist on this machine."""
    with TemporaryDirectory(prefix="gonie-") as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        model = load(folder, threads=threads)
    model.origin = replace(model.origin, path=path, bundle=path, contents=files)
    return model.with_settings(settings)


def load_tagger(path: str | PathLike[str], *, threads: int | None = None) -> Tagger:
    """Load a tagger, as ``load`` does."""
    tagger: Tagger = load(path, threads=threads, task="tag")
    return tagger


def load_classifier(path: str | PathLike[str], *, threads: int | None = None) -> TextClassifier:
    """Load a classifier, as ``load`` does."""
    classifier: TextClassifier = load(path, threads=threads, task="classify")
    return classifier


def bundle_kinds() -> dict[str, type[Contents]]:
    """Return the bundle class of each task, by the name of the task."""
    return {task.name: task.bundle for task in TASKS.values() if task.bundle is not None}


def is_model(path: Path) -> bool:
    """Return whether there is a bundle or a finished run at this path."""
    return any((folder / INDEX).exists() for folder in (path, path / BUNDLE))


def _shipped_recipe(name: Path) -> str | None:
    """Return the task of the shipped recipe of this name, if there is one. Needs no pydantic."""
    file = Path(str(resources.files("gonie") / "recipes")) / f"{name}.toml"
    return tomllib.loads(file.read_text("utf-8")).get("task", "tag") if file.is_file() else None


def is_in_context(path: object) -> TypeGuard[ModelPath]:
    """Return whether this is the address of a language model."""
    return isinstance(path, str | PathLike) and fspath(path).startswith(LANGUAGE_MODEL)


def refuse_in_context(path: object) -> None:
    """Raise an error if this is the address of a language model, where a trained model is needed."""
    if is_in_context(path):
        place = URL.sub(r"\1://", fspath(path))
        raise BundleError(
            f"{place} is an in-context model, but this needs a trained one. Pass its run folder or bundle"
        )


def find_bundle(path: Path) -> Path:
    """Return the folder of the bundle: ``path`` itself, or the bundle inside a run folder."""
    from gonie.client.address import ServiceAddress, is_url

    inside = path / BUNDLE
    if is_url(path):
        url = ServiceAddress.parse(path)
        raise BundleError(
            f"{url} is a service, but this needs the model itself. Pass its run folder or bundle"
        )
    refuse_in_context(path)
    if not path.exists() and is_model(RUNS / path):
        raise BundleError(f"{path}: folder not found. Did you mean {RUNS / path}?")
    if not path.exists() and (task := _shipped_recipe(path)) is not None:
        raise BundleError(
            f"{path} is a recipe, not a model. Train a model with it: gonie {TASKS[task].command} {path} "
            f"FILE. Then use its run folder: {RUNS / path}"
        )
    if not path.exists() and HOST_AND_PORT.match(str(path)):
        raise BundleError(f"{path}: folder not found. Did you mean http://{path}?")
    if (path / INDEX).exists() or not path.is_dir():
        return path
    if inside.is_dir():
        return inside
    if (path / RECIPE).exists():
        raise BundleError(
            f"{path}: training has not finished, so there is no bundle. "
            f"Resume with: gonie train {path / RECIPE} --out {path} --resume"
        )
    raise BundleError(
        f"{path}: not a bundle or a run folder: it has neither {INDEX} nor {BUNDLE}/. "
        "Pass a folder that `gonie train` or `gonie export` wrote."
    )
