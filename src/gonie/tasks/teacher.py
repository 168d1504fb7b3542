"""Teachers, whose answers to unlabelled examples a student learns, and the folder of their answers.

A teacher answers examples in order. Its answers are written in blocks to an ``array_folder`` with the index
``answers.json``, so that an interrupted teacher goes on where it stopped. The index says what the answers
depend on: the teacher, the examples and the settings. With N examples the folder has

    confidences   (N)   the confidence of each answer, from 0 to 1, or -1 without an answer

and the arrays of the task (``tagging.answers``, ``classification.answers``).
"""

from __future__ import annotations

import hashlib
import json
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError, ResumeError
from gonie.system.array_folder import Array, ArrayWriter, open_arrays
from gonie.text.schemes import OUTSIDE

INDEX = "answers.json"
NOUN = "the answers of a teacher"
CONFIDENCES = "confidences"
MISSING = -1.0
"""The confidence of an example that the teacher could not answer. It is never learned."""
TOGETHER = 16
"""Examples that a model without probabilities is asked for at once; more would be lost by Ctrl-C."""
BLOCK = 256
"""Examples that are answered together."""
SAVED_EVERY = 10.0
"""Seconds after which answers are saved at the latest, if a teacher yields them one by one."""

Advance = Callable[[int, int], None]
"""Receives how many examples are answered, and how many there are."""


class Teacher(Protocol):
    """A model, an ensemble or any other source of answers.

    The answers are those of a task: ``tagging.answers.TagAnswer`` or ``classification.answers.LabelAnswer``.
    They must not depend on the other examples.
    """

    @property
    def name(self) -> str:
        """The name of the teacher, for messages and tables."""
        ...

    @property
    def digest(self) -> str:
        """A digest that changes if the answers may change."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """The tags or labels that it knows."""
        ...

    def answers(self, examples: Sequence[Any]) -> Iterator[Any]:
        """Yield the answer to each example, in order."""
        ...


@dataclass(frozen=True, kw_only=True)
class AnswerSettings:
    """The unlabelled text that a teacher answers, and the settings of its answers."""

    files: tuple[str, ...]
    """The files of unlabelled text."""
    most: int | None = None
    """The most examples that are read, None: all."""
    temperature: float = 1.0
    """The temperature of the answers."""
    nbest: int = 5
    """The number of best tag sequences (taggers)."""
    map: Mapping[str, str] = field(default_factory=dict)
    """New names of the labels of the teacher; O drops a label."""

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {
            "files": list(self.files),
            "most": self.most,
            "temperature": self.temperature,
            "nbest": self.nbest,
            "map": dict(self.map),
        }

    def effective(self) -> dict[str, Any]:
        """Return the settings that answers depend on: all but the paths, since the text itself counts."""
        return {name: value for name, value in self.to_json().items() if name != "files"}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> AnswerSettings:
        """Return the settings that ``to_json`` has written."""
        return cls(
            files=tuple(saved["files"]),
            most=saved["most"],
            temperature=float(saved["temperature"]),
            nbest=int(saved["nbest"]),
            map=dict(saved["map"]),
        )


class Answers:
    """The complete answers of a teacher, memory-mapped from their folder."""

    def __init__(self, folder: Path, arrays: Mapping[str, Array], facts: Mapping[str, Any]) -> None:
        self.folder = folder
        self.arrays = arrays
        self.settings = AnswerSettings.from_json(facts["settings"])
        self.task = str(facts["task"])
        self.teacher = str(facts["teacher"])
        self.labels: tuple[str, ...] = tuple(facts["labels"])
        self.examples = str(facts["examples"])
        self.digest = str(facts["digest"])
        self.complete = bool(facts["complete"])
        self.total = int(facts["total"])

    def __len__(self) -> int:
        return len(self.confidences)

    @property
    def confidences(self) -> NDArray[np.float32]:
        """The confidence of each answer. Shape: (N,)."""
        return self.arrays.get(CONFIDENCES, np.zeros(0, dtype=np.float32))

    @classmethod
    def open(cls, folder: Path) -> Answers:
        """Open the answers in a folder, complete or not."""
        return open_arrays(
            folder,
            lambda arrays, facts: cls(folder, arrays, facts),
            index=INDEX,
            noun=NOUN,
            fix="Pass a folder that gonie distill wrote",
        )

    @classmethod
    def complete_in(cls, folder: Path, *, task: str) -> Answers:
        """Open the complete answers of a teacher of a task, or raise an error."""
        found = cls.open(folder)
        if not found.complete:
            raise InputError(
                f"the teacher has answered {len(found):,} of {found.total:,} examples",
                path=folder,
                fix="Let it finish: run gonie distill with --resume",
            )
        if found.task != task:
            raise InputError(
                f"the answers are those of the task {found.task!r}, not of {task!r}",
                path=folder,
                fix="Use the answers of a teacher of the same task",
            )
        return found

    def missing(self) -> NDArray[np.int64]:
        """Return the numbers of the examples that the teacher could not answer."""
        return np.flatnonzero(self.confidences == MISSING)

    def key(self) -> str:
        """Return a digest of what the answers depend on: the teacher, the text and the settings."""
        facts = [self.digest, self.examples, self.labels, self.settings.effective()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def check_examples(self, digest: str) -> None:
        """Raise an error if the unlabelled text has changed since the teacher answered it."""
        if digest != self.examples:
            raise InputError(
                f"the text has changed since the teacher answered it: {', '.join(self.settings.files)}",
                path=self.folder,
                fix="Undo the change (of the text or of the recipe's tokens), or run gonie distill again "
                "with another --out",
            )


@dataclass(frozen=True, kw_only=True)
class Request:
    """A teacher, the examples that it is to answer, and the settings of its answers."""

    task: str
    teacher: Teacher
    examples: Sequence[Any]
    digest: str
    """A digest of the examples."""
    labels: Sequence[str]
    """The labels that the arrays count."""
    settings: AnswerSettings
    pack: Callable[[Sequence[Any], Sequence[Any]], Mapping[str, Array]]
    """Examples and their answers -> the arrays of a block."""

    def facts(self) -> dict[str, Any]:
        """Return what the answers depend on."""
        return {
            "task": self.task,
            "teacher": self.teacher.name,
            "digest": self.teacher.digest,
            "examples": self.digest,
            "labels": list(self.labels),
            "settings": self.settings.to_json(),
            "total": len(self.examples),
        }


def write_answers(request: Request, folder: Path, advance: Advance) -> Answers:
    """Ask the teacher for the answers that the folder does not have yet, and return all of them.

    Answers are saved after each block, and also if the teacher is interrupted or fails. The folder is made
    with the first ones. A folder with answers of another teacher, of other examples or with other settings is
    refused.
    """
    facts = request.facts()
    writer: ArrayWriter | None = None
    done, total = 0, len(request.examples)
    if (folder / INDEX).exists():
        complete = _check_same(folder, request)
        writer = ArrayWriter.reopened(folder, index=INDEX, noun=NOUN)
        writer.finish(**facts, complete=complete)  # the paths of the text may have changed
        if complete:
            return Answers.open(folder)
        done = len(Answers.open(folder))
    advance(done, total)
    for block in _blocks(request, done):
        arrays = request.pack(request.examples[done : done + len(block)], block)
        writer = writer or ArrayWriter(folder, index=INDEX, noun=NOUN)
        for name, array in arrays.items():
            writer.append(name, array)
        done += len(block)
        writer.finish(**facts, complete=done == total)
        advance(done, total)
    return Answers.open(folder)


def _blocks(request: Request, done: int) -> Iterator[list[Any]]:
    """Yield the answers from number ``done`` on in blocks. The last block may be cut short by an error."""
    for first in range(done, len(request.examples), BLOCK):
        answers = request.teacher.answers(request.examples[first : first + BLOCK])
        yield from _saved_in_time(answers)


def _saved_in_time(answers: Iterator[Any]) -> Iterator[list[Any]]:
    """Yield answers in lists, one at the end, after ``SAVED_EVERY`` seconds, and before an error."""
    pending: list[Any] = []
    began = time.monotonic()
    while True:
        try:
            found = list(islice(answers, 1))
        except BaseException:
            if pending:
                yield pending
            raise
        pending += found
        if pending and (not found or time.monotonic() - began > SAVED_EVERY):
            yield pending
            pending, began = [], time.monotonic()
        if not found:
            return


def _check_same(folder: Path, request: Request) -> bool:
    """Return whether the answers in the folder are complete.

    Answers that depend on something else are refused, and what it is is named. The text may have moved.
    """
    facts = {**request.facts(), "settings": request.settings.effective()}
    try:
        saved = json.loads((folder / INDEX).read_text("utf-8"))
        complete = bool(saved["complete"])
        saved["settings"] = AnswerSettings.from_json(saved["settings"]).effective()
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(
            f"cannot read {NOUN}: {INDEX} is damaged ({error})",
            path=folder,
            fix="Start a new run with another --out",
        ) from error
    nouns = {
        "task": "the task",
        "digest": "the teacher",
        "examples": "the text",
        "labels": "the labels of the training file or the teacher",
        "settings": "the settings of the answers",
    }
    if changed := [noun for key, noun in nouns.items() if saved.get(key) != facts[key]]:
        raise ResumeError(
            f"{folder}: changed since the teacher began to answer: {', '.join(changed)}. "
            "Undo the change, or start a new run with another --out."
        )
    return complete


def check_labels(
    teacher: Sequence[str], student: Sequence[str], rules: Mapping[str, str], *, droppable: bool = True
) -> None:
    """Refuse a teacher whose labels, or types, renamed by the rules, are not those of the student.

    ``droppable`` says that labels of the teacher can be dropped.
    """
    if unknown := sorted(set(rules) - set(teacher)):
        raise InputError(
            f"the teacher has no label {unknown[0]!r}, which --map renames",
            fix=f"Use its labels: {', '.join(sorted(teacher))}",
        )
    renamed = {rules.get(name, name) for name in teacher} - {OUTSIDE}
    if more := sorted(renamed - set(student)):
        raise InputError(
            f"the training file does not have these labels of the teacher: {', '.join(more)}",
            fix=_renaming(
                [name for name in teacher if rules.get(name, name) in more],
                sorted(set(student) - renamed - {OUTSIDE}),
                droppable=droppable,
            ),
        )
    if missing := sorted(set(student) - renamed - {OUTSIDE}):
        raise InputError(
            f"the teacher does not know these labels of the training file: {', '.join(missing)}; it would "
            "teach that they never occur",
            fix="Rename labels of the teacher with --map OLD=NEW, or use a teacher with all labels",
        )


def _renaming(names: Sequence[str], free: Sequence[str], *, droppable: bool) -> str:
    """Return what to do about labels that the student does not have.

    They may be other names of the labels ``free``, which the teacher does not have.
    """
    renamed = _rules(closest_names(names, free))
    dropped = _rules(dict.fromkeys(names, OUTSIDE))
    if not renamed:
        return f"Drop them with {dropped}" if droppable else "Rename them with --map OLD=NEW"
    if not droppable:
        return f"Rename them with {renamed}"
    return f"Rename them with {renamed} or drop them with {dropped}"


def _rules(renamed: Mapping[str, str]) -> str:
    return " ".join(f"--map {shlex.quote(f'{old}={new}')}" for old, new in renamed.items())


def closest_names(names: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Pair names with other ones, each at most once, the most similar pair first."""
    pairs = sorted(
        ((name, other) for name in names for other in others),
        key=lambda pair: (-_similarity(*pair), pair),
    )
    found: dict[str, str] = {}
    for name, other in pairs:
        if name not in found and other not in found.values():
            found[name] = other
    return found


def _similarity(name: str, other: str) -> float:
    return SequenceMatcher(None, name.casefold(), other.casefold()).ratio()
