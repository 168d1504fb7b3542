"""Resolved recipes: keys that depend on other files, such as the network of a model to start from.

``gonie.tasks.torch.start`` has the torch half: vocabularies, vectors and weights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from gonie.errors import RecipeError
from gonie.tasks.contextual import SourceConfig
from gonie.tasks.lineage import earlier_runs
from gonie.tasks.parts import TAG_HEADS, TEXT_HEADS
from gonie.tasks.paths import locate, real_path, run_problem
from gonie.tasks.recipe import load_recipe
from gonie.tasks.run_files import RECIPE
from gonie.tasks.sections import CorpusConfig, CorpusRecipe, Recipe, trained_files
from gonie.tasks.table import TASKS
from gonie.tasks.written_recipe import toml_value
from gonie.text.typos import corrections

OWN_PARTS = frozenset({"head", "dropout", "adapter"})
"""Keys of ``model`` that a new model does not take from its start."""
LOOKUP = ("language", "unit", "fold_text", "lowercase", "digits", "backoff", "user_dictionary")
"""Keys of ``data`` that determine the words of a text. They are those of the start."""
FEATURES = ("context_window", "context_grams", "gazetteers", "columns")
"""Keys of ``data`` that determine features, likewise."""
UNLESS_SET = ("correct_typos", "model_scheme")
"""Keys of ``data`` on which no weights below the head depend. The recipe may set others than the start."""
WHOLE = ("gazetteers", "columns")
"""Sections with keys of the user's own, which are named as one setting."""
BOTTLENECKS = ("bottleneck", "both")
"""The kinds of adapters with bottlenecks."""

Type = TypeVar("Type", bound=CorpusRecipe)


def resolve_recipe(recipe: Recipe, note: Callable[[str], None]) -> Recipe:
    """Fill in the keys that depend on other files: the start, and what the task resolves (``Task.resolve``).

    ``note`` receives notes for the user. Resolving a recipe twice changes nothing.
    """
    if isinstance(recipe, CorpusRecipe):
        recipe = with_shape_of_start(recipe, note)
        if problems := list(_ruled_out(recipe)):
            raise RecipeError(problems)
        for text in _doubts(recipe):
            note(text)
    return TASKS[recipe.task].resolve(recipe, note)


def with_shape_of_start(recipe: Type, note: Callable[[str], None]) -> Type:
    """Return the recipe with the network and the words of the model that it starts from, if any.

    ``note`` receives the keys that change. The head, dropout and adapters stay as they are.
    """
    name = recipe.train.start
    if name is None:
        return recipe
    if problem := run_problem(name):
        raise RecipeError([f"train.start: {problem}"])
    start: CorpusRecipe = load_recipe(locate(name) / RECIPE)
    if start.task != recipe.task:
        return recipe  # refused when the start is loaded
    _refuse_other_language(recipe, start)
    if problems := list(_lost_adapters(recipe, start)):
        raise RecipeError(problems)
    parts = {key: getattr(start.model, key) for key in _keys(start.model) if key not in OWN_PARTS}
    parts |= _with_own_files(recipe, start)
    lookup = (*LOOKUP, *FEATURES, *(key for key in UNLESS_SET if key not in recipe.data.model_fields_set))
    words = {key: getattr(start.data, key) for key in lookup if key in _keys(start.data)}
    changed = recipe.model_copy(
        update={
            "model": recipe.model.model_copy(update=parts),
            "data": recipe.data.model_copy(update=words),
        }
    )
    own, new = recipe.model_dump(mode="json"), changed.model_dump(mode="json")
    if found := [f"{key} = {toml_value(value)}" for key, value in _changes(own, new)]:
        note(f"train.start: these settings are those of {name}, not of the recipe: {', '.join(found)}")
    optional = not (recipe.train.keep_labels or _is_fitted(recipe))  # both are of no use without a start
    for key, source in recipe.model.contextual.items():
        if optional and source.undecided and getattr(changed.model, key) is None:
            note(
                f"{Path(name).name} has no language model, so this model has none either. With a small "
                "training file, a language model is usually worth more than a start; to have both, train the "
                f"start with --set model.{key}.{source.decided_setting}"
            )
    return changed


def _with_own_files(recipe: CorpusRecipe, start: CorpusRecipe) -> dict[str, SourceConfig]:
    """Return the sources of the start that read files, with the files of the recipe."""
    found: dict[str, SourceConfig] = {}
    for key, source in start.model.contextual.items():
        own = recipe.model.contextual.get(key)
        if source.of_files and own is None:
            raise RecipeError(
                [
                    f"model.{key}: {recipe.train.start} reads vectors from files, and the recipe names none "
                    f"for its data; set model.{key}.{source.of_files[0]}=FILE"
                ]
            )
        if source.of_files:
            found[key] = source.model_copy(update={name: getattr(own, name) for name in source.of_files})
    return found


def _refuse_other_language(recipe: CorpusRecipe, start: CorpusRecipe) -> None:
    """Refuse a start of another language than the recipe sets. One that sets none takes that of the start."""
    own, other = recipe.data, start.data
    if own.language == other.language or "language" not in own.model_fields_set:
        return
    raise RecipeError(
        [
            f"train.start: {recipe.train.start} reads another language: data.language = {other.language}, "
            f"data.unit = {other.token_unit}, but the recipe has data.language = {own.language}, "
            f"data.unit = {own.token_unit}. Start from a model of the same language, or remove train.start"
        ]
    )


def _lost_adapters(recipe: CorpusRecipe, start: CorpusRecipe) -> Iterator[str]:
    """Yield a problem if the start has bottleneck adapters that the new model would not have."""
    own, old = recipe.model.adapter, start.model.adapter
    if old is None or old.kind not in BOTTLENECKS:
        return
    if own is None or own.kind not in BOTTLENECKS:
        kind = "bottleneck" if own is None else "both"
        yield (
            f"train.start: {recipe.train.start} has bottleneck adapters, which cannot be merged; set "
            f"model.adapter.kind={kind} and model.adapter.hidden={old.hidden}"
        )
    elif own.hidden != old.hidden:
        yield f"model.adapter.hidden: the start has {old.hidden}; set model.adapter.hidden={old.hidden}"


def _ruled_out(recipe: CorpusRecipe) -> Iterator[str]:
    """Yield a problem for each setting that the start, or the lack of one, rules out."""
    train, adapter = recipe.train, recipe.model.adapter
    left_out = recipe.data.leave_out
    learned = (
        folder
        for folder, earlier in earlier_runs(train.start)
        if left_out in recipe.data.domains_learned_by(earlier.data)
    )
    if folder := next(learned, None):
        yield (
            f"data.leave_out: {folder}, from which training starts, was trained on {left_out}; start from a "
            "model that was not, or remove data.leave_out"
        )
    if train.start is None and adapter is not None:
        yield "model.adapter: adapters need a trained model; set train.start=RUN"
    if train.start is None and train.keep_labels:
        yield "train.keep_labels: there is no model whose labels could be kept; set train.start=RUN"
    if _is_fitted(recipe):
        untrained = [f"loss.{name}" for name in recipe.loss]
        if train.l2:
            untrained.append("train.l2")
        if adapter is not None:
            untrained.append("model.adapter")
        for key in untrained:
            yield (
                f"{key}: no step trains the model, because the head {_head_kind(recipe)} is computed in one "
                f"pass; remove {key}, or set train.episodes.number"
            )


def _doubts(recipe: CorpusRecipe) -> Iterator[str]:
    """Yield a note for each setting that is allowed but rarely what is meant."""
    train, data = recipe.train, recipe.data
    for split in ("dev", "test"):
        named = data.named_files(split)
        for name in named:
            if meant := _meant_domain(name, data.named_files("train").keys() - (named.keys() - {name})):
                yield f"data.{split}.{name}: no training file has this name. Did you mean {meant}?"
        used = data.files(split)
        if unused := [_split_key(split, name) for name in named if name not in used]:
            yield f"data.leave_out = {data.leave_out}: {', '.join(unused)} not used"
    yield from _scored_dev_files(data)
    if train.start is None and train.unfreeze:
        yield "train.unfreeze: without train.start, the head is trained first on layers with random weights"
    if train.start is None and train.freeze:
        yield (
            "train.freeze: without train.start, these layers keep random weights: " + ", ".join(train.freeze)
        )
    if train.start is None and _is_fitted(recipe):
        yield (
            f"model.head.kind = {_head_kind(recipe)}: without train.start, the encoder has random weights, "
            "and no step trains it; set train.start=RUN, or train.episodes.number"
        )
    if train.keep_labels and "distill" not in recipe.loss and not train.replay and recipe.data.replay is None:
        yield (
            "train.keep_labels: a model usually forgets the labels that it keeps; add "
            "--set loss.distill.weight=1 or --set train.replay=200"
        )


def _scored_dev_files(data: CorpusConfig) -> Iterator[str]:
    """Yield a warning for each test file that is also a dev file. Those trained on are noted elsewhere."""
    trained = trained_files(data.model_dump(mode="json"))
    dev = {real_path(file): _split_key("dev", name) for name, file in data.files("dev").items()}
    for name, file in data.files("test").items():
        path = real_path(file)
        if path in dev.keys() - trained:
            yield (
                f"warning: {_split_key('test', name)} is {file}, which is also {dev[path]}. That selects the "
                "epoch, so the test score says little about new data. Name another file"
            )


def _split_key(split: str, domain: str) -> str:
    """Return the key of a file, such as ``data.test`` or ``data.test.news``."""
    return f"data.{split}.{domain}".rstrip(".")


def _meant_domain(name: str, domains: Collection[str]) -> str | None:
    """Return the one of the domains that ``name`` is a misspelling of, if any."""
    if name in domains:
        return None
    by_case = {domain.casefold(): domain for domain in domains}
    own = name.casefold()
    return next((by_case[each] for each in (own, *corrections(own)) if each in by_case), None)


def _is_fitted(recipe: CorpusRecipe) -> bool:
    """Return whether the head is computed in one pass, without any step that trains the model."""
    head = {**TAG_HEADS, **TEXT_HEADS}.get(_head_kind(recipe))
    return head is not None and head.fitted and recipe.train.episodes is None


def _head_kind(recipe: CorpusRecipe) -> str:
    """Return the kind of the head, empty if it has none."""
    head = getattr(recipe.model, "head", None)
    return str(getattr(head, "kind", ""))


def _keys(section: BaseModel) -> list[str]:
    return list(type(section).model_fields)


def _changes(own: Any, new: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the keys of ``new`` that differ, with their values."""
    for key, value in new.items():
        before = own.get(key)
        if isinstance(value, dict) and value and key not in WHOLE:
            yield from _changes(before or {}, value, f"{prefix}{key}.")
        elif before != value:
            yield f"{prefix}{key}", value
