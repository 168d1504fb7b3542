"""Training examples of earlier runs: those that are replayed, and those that the new run holds out.

Replay (``train.replay``) trains on kept examples of the model that training starts from. They are drawn from
the training files of the start and of its own starts, as far as each kept the labels of the one before, or
read from ``data.replay``. A run that did not keep them knows only the labels of its file. Their annotators
knew only the labels of their own file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from gonie.errors import GonieError, RecipeError
from gonie.features.balanced_sample import balanced_sample
from gonie.features.shots import count_sample
from gonie.tasks.data_warnings import Example, ExampleKind, SharedExamples
from gonie.tasks.paths import locate, real_path
from gonie.tasks.sections import CorpusRecipe, trained_files
from gonie.tasks.torch.start import Start, label_names
from gonie.tasks.torch.word_data import Note

SHOWN = 20  # labels listed in a note


@dataclass(frozen=True)
class Memory(Generic[Example]):
    """Kept examples of one run or file, and the labels that their annotators knew."""

    source: str
    examples: Sequence[Example]
    known: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class MemoryReader(Generic[Example]):
    """How a task reads the examples of earlier runs."""

    kind: ExampleKind[Example]
    """How examples are compared."""

    training: Callable[[Any], Sequence[Example]]
    """Reads the training examples of a recipe, without those that it holds out."""
    texts: Callable[[Any], Iterable[Example]]
    """Reads the same examples for their texts. Labels may be of another kind than those of the new model."""
    mentions: Callable[[Example], Mapping[str, int]]
    """Counts the mentions of each type, or the labels, of an example."""
    labels: frozenset[str]
    """The types, or labels, of the new model."""

    @property
    def noun(self) -> str:
        """The name of its examples, such as sentences."""
        return f"{self.kind.noun}s"

    def read(self, source: str, recipe: CorpusRecipe) -> Memory[Example]:
        """Return all training examples of a recipe."""
        examples = self.training(recipe)
        found = {name for example in examples for name in self.mentions(example)}
        return Memory(source, examples, annotated(recipe, found))


def annotated(recipe: CorpusRecipe, found: Iterable[str]) -> frozenset[str]:
    """Return the labels that the training files of a recipe are annotated for.

    They are those of ``data.types``, or those that occur in the files.
    """
    return frozenset(getattr(recipe.data, "types", ()) or found)


def replayed(
    recipe: CorpusRecipe, start: Start | None, reader: MemoryReader[Example], note: Note
) -> list[Memory[Example]]:
    """Return the kept examples that the recipe asks for. ``note`` receives how many there are."""
    number, file = recipe.train.replay, recipe.data.replay
    if not number and file is None:
        return []
    if start is None:
        raise RecipeError(["train.replay: needs a trained model to start from; set train.start"])
    if file is None:
        memories = list(_of_starts(start, reader, note))
    else:
        _refuse_training_file(recipe, file)
        memories = [_of_file(file, start, reader, note)]
    if lost := sorted({name for memory in memories for name in memory.known} - reader.labels):
        raise RecipeError(
            [
                f"train.replay: the model does not have labels of the kept {reader.noun}: {', '.join(lost)}; "
                "set train.keep_labels=true"
            ]
        )
    return _drawn(memories, number, recipe.train.seed, reader, note)


def warn_learned_before(
    recipe: CorpusRecipe,
    start: Start | None,
    reader: MemoryReader[Example],
    held: Mapping[str, Sequence[Example]],
    note: Note,
) -> None:
    """Note the held-out examples that the start, or a run before it, was trained on.

    Files that the recipe itself trains on as a whole are compared elsewhere.
    """
    if start is None or not any(held.values()):
        return
    compared = set()
    if recipe.data.files("dev") and not recipe.train.shots:
        compared = trained_files(recipe.data.model_dump(mode="json"))
    for folder, earlier in start.lineage:
        if trained_files(earlier.data.model_dump(mode="json")) <= compared:
            continue
        shared = SharedExamples(reader.kind, held, run=folder)
        try:
            shared.compare(reader.texts(earlier))
        except GonieError as error:  # its files are gone, or have changed
            note(f"whether {folder} was trained on {reader.noun} of dev or test is not known: {error}")
        else:
            shared.warn(note)


def _of_starts(start: Start, reader: MemoryReader[Example], note: Note) -> Iterator[Memory[Example]]:
    """Yield the training examples of the start, and of the runs whose labels it kept. Note the other runs."""
    way_out = f"name a file of kept {reader.noun} with --set data.replay=FILE"
    for number, (folder, recipe) in enumerate(start.lineage):
        for file in recipe.data.files("train").values():
            if not locate(file).is_file():
                raise RecipeError([f"train.replay: the training file of {folder} is gone: {file}; {way_out}"])
        yield reader.read(folder.name, recipe)
        if not recipe.train.keep_labels:
            if others := [str(each) for each, _ in start.earlier[number:]]:
                note(
                    f"train.replay: no {reader.noun} of {', '.join(others)}: {folder} did not keep the "
                    "labels of its start (train.keep_labels)"
                )
            return
    if start.gone is not None:
        raise RecipeError([f"train.replay: an earlier run is gone: {start.gone}; {way_out}"])


def _refuse_training_file(recipe: CorpusRecipe, file: str) -> None:
    """Refuse to replay a training file of the recipe, whose annotators did not know the kept labels."""
    if real_path(file) in map(real_path, recipe.data.files("train").values()):
        raise RecipeError(
            [f"data.replay: {file} is the training file; name a file with the labels of train.start"]
        )


def _of_file(file: str, start: Start, reader: MemoryReader[Example], note: Note) -> Memory[Example]:
    """Return the examples of a file, which is read as the training file of the start.

    Its annotators are taken to know all labels of the start. ``note`` receives those that it does not have.
    """
    whole = {"train": file, "dev": file, "leave_out": None, "format": "auto"}
    data = start.recipe.data.model_copy(update=whole)
    train = start.recipe.train.model_copy(update={"shots": 0})
    memory = reader.read(file, start.recipe.model_copy(update={"data": data, "train": train}))
    labels = label_names(start.encoding) & reader.labels
    found = {name for example in memory.examples for name in reader.mentions(example)}
    if missing := sorted(labels - found):
        more = f" and {len(missing) - SHOWN:,} more labels" if len(missing) > SHOWN else ""
        note(
            f"warning: data.replay: {file} has no example of these labels of {start.folder.name}, which will "
            f"probably be forgotten: {', '.join(missing[:SHOWN])}{more}"
        )
    return replace(memory, known=memory.known | labels)


def _drawn(
    memories: Sequence[Memory[Example]], number: int, seed: int, reader: MemoryReader[Example], note: Note
) -> list[Memory[Example]]:
    """Return ``number`` examples of all memories together, or all of them if it is 0.

    Labels of different memories are balanced as if they were different labels.
    """
    places = [(at, example) for at, memory in enumerate(memories) for example in memory.examples]
    mentions = [
        {f"{at} {name}": times for name, times in reader.mentions(example).items()} for at, example in places
    ]
    rows = list(range(len(places)))
    if number:
        rows = balanced_sample(mentions, number, np.random.default_rng([seed, 5]))
        if len(rows) < number:
            note(
                f"train.replay: {number:,} {reader.noun} are asked for, and only {len(rows):,} of "
                f"{len(places):,} have a label"
            )
    kept = []
    for at, memory in enumerate(memories):
        examples = [places[row][1] for row in rows if places[row][0] == at]
        kept.append(replace(memory, examples=examples))
        found = count_sample([reader.mentions(example) for example in examples], range(len(examples)))
        names = sorted(found, key=lambda name: (-found[name], name))
        listed = ", ".join(f"{name} {found[name]:,}" for name in names[:SHOWN])
        more = f" and {len(names) - SHOWN:,} more labels" if len(names) > SHOWN else ""
        note(
            f"replay of {memory.source}: {len(examples):,} of {len(memory.examples):,} {reader.noun}: "
            f"{listed or 'none'}{more}"
        )
    return kept
