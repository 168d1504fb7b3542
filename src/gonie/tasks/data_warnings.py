"""Warnings about the data of a run: held-out examples that are also in training, and rare or new labels.

An example of dev or test that is also in the training data is learned by heart, so it makes the score too
high. Short ones, such as "Yes ." or "Thank you !", occur more than once in any corpus. So a warning counts
all shared examples, but is given only if some have more than ``SHORT`` words. Below a share of ``MATTERS``,
these are listed without a warning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar

from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.report import count
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence
from gonie.text.units import has_hangul, is_korean

Note = Callable[[str], None]

SHORT = 5
"""Examples of at most this many words may occur in several files by chance."""
MATTERS = 0.01
"""The share of long shared examples in a split that raises its score noticeably."""
RARE = 2
"""Labels of at most this many training examples are listed."""
SAMPLE = 500
"""The number of first texts from which a language is detected."""
SHOWN_EXAMPLES = 3
SHOWN_LABELS = 8
WIDTH = 70  # characters of a listed example


Example = TypeVar("Example", bound=Sentence | LabelledText | LabelledPair)


@dataclass(frozen=True)
class ExampleKind(Generic[Example]):
    """How examples of a task are compared and shown: ``key`` is equal for examples with the same text."""

    noun: str
    words: str
    key: Callable[[Example], Hashable]
    length: Callable[[Example], int]
    show: Callable[[Example], str]


SENTENCES: ExampleKind[Sentence] = ExampleKind(
    "sentence", "token", attrgetter("words"), len, lambda each: " ".join(each.words)
)
TEXTS: ExampleKind[LabelledText] = ExampleKind(
    "text",
    "word",
    lambda each: (each.text, each.marks) if each.marks else each.text,
    lambda each: len(each.text.split()),
    lambda each: each.text,
)
PAIRS: ExampleKind[LabelledPair] = ExampleKind(
    "pair",
    "word",
    attrgetter("first", "second"),
    lambda each: len(each.first.split()) + len(each.second.split()),
    lambda each: f"{each.first} / {each.second}",
)


def warn_language(
    name: str, texts: Sequence[LabelledText | LabelledPair], language: str, korean: str, note: Note
) -> None:
    """Note that training texts are of another language than the words into which they are cut.

    ``korean`` says what to do about Korean texts.
    """
    first = [each.text for each in texts[:SAMPLE]]
    if language == "en" and is_korean(first):
        note(f"{name}: most letters are Hangul, but data.language is en; {korean}")
    if warning := warning_without_hangul(first, language):
        note(f"{name}: {warning}")


def warning_without_hangul(texts: Iterable[str], language: str) -> str | None:
    """Return a warning if the language is Korean, but no letter of the texts is Hangul."""
    if language != "ko" or has_hangul(texts):
        return None
    return (
        "warning: no letter is Hangul, but data.language is ko. For English text, use an English recipe, and "
        "with train.start an English model"
    )


def warn_not_held_out(noun: str, holdout: float, reason: str, note: Note) -> None:
    """Note that the training examples are also the dev examples. ``reason`` is that of a share above 0."""
    cause = reason if holdout else "data.holdout = 0"
    note(
        f"warning: no dev file, and {cause}: the training {noun}s are used as dev {noun}s, so the dev score "
        "says nothing about new data. Name a dev file"
    )


class SharedExamples(Generic[Example]):
    """Finds the held-out examples that are also in the training data, by the hashes of their keys.

    The training examples are compared while they are read for something else, so that no pass is added.
    ``run`` is the run that was trained on them, if it is an earlier one.
    """

    def __init__(
        self, kind: ExampleKind[Example], held: Mapping[str, Sequence[Example]], *, run: Path | None = None
    ) -> None:
        self._kind = kind
        self._run = run
        self._held = held
        self._marks = {name: [hash(kind.key(each)) for each in part] for name, part in held.items()}
        self._found: dict[int, Example] = {}

    def watch(self, train: Iterable[Example]) -> Iterator[Example]:
        """Yield the training examples, and remember which of them are held out too."""
        key, found = self._kind.key, self._found
        hashes = {mark for marks in self._marks.values() for mark in marks}
        for example in train:
            mark = hash(key(example))
            if mark in hashes:
                found.setdefault(mark, example)
            yield example

    def compare(self, train: Iterable[Example]) -> None:
        """Remember which training examples are held out too."""
        for _ in self.watch(train):
            pass

    def warn(self, note: Note) -> None:
        """Note the number of shared examples of each split, and list the first long ones."""
        kind = self._kind
        for name, part in self._held.items():
            marked = zip(part, self._marks[name], strict=True)
            shared = [each for each, mark in marked if mark in self._found]
            long = [each for each in shared if kind.length(each) > SHORT]
            if self._run is None and len(shared) == len(part) and self._is_training_file(shared):
                note(
                    f"warning: {name} is {part[0].path}, which is also trained on, so the {name} score says "
                    "nothing about new data. Name another file"
                )
                continue
            if not long:
                continue
            verb = "is" if len(shared) == 1 else "are"
            place = "the training data" if self._run is None else f"the training data of {self._run}"
            fact = (
                f"{len(shared):,} of {count(len(part), kind.noun)} in {name} {verb} also in {place} "
                f"({len(long):,} of more than {SHORT} {kind.words}s)"
            )
            if len(long) >= MATTERS * len(part):
                fact = f"warning: {fact}, which makes the {name} score too high. {self._advice(long)}"
            lines = [f"{fact}:"]
            for each in long[:SHOWN_EXAMPLES]:
                same = self._found[hash(kind.key(each))]
                lines.append(
                    f"{each.path}:{each.line} and {same.path}:{same.line}: {_shortened(kind.show(each))}"
                )
            rest = len(long) - SHOWN_EXAMPLES
            note("\n  ".join([*lines, *([f"and {rest:,} more"] if rest > 0 else [])]))

    def _is_training_file(self, shared: Sequence[Example]) -> bool:
        """Return whether the first held-out example is at the same place as the one in training."""
        if not shared or not shared[0].path:
            return False
        first, same = shared[0], self._found[hash(self._kind.key(shared[0]))]
        return first.line == same.line and Path(first.path).resolve() == Path(same.path).resolve()

    def _advice(self, shared: Sequence[Example]) -> str:
        """Say where the duplicates are: in two files, or in one that gonie itself has split."""
        if self._run is not None:
            return "Training starts from it: name another file, or another start"
        path = shared[0].path
        if path != self._found[hash(self._kind.key(shared[0]))].path:
            return "Remove the duplicates"
        return f"{path} has duplicates, and gonie held out only some of them. Remove them from the file"


class Watched(Generic[Example]):
    """Training examples whose first pass ``shared`` watches."""

    def __init__(self, train: Iterable[Example], shared: SharedExamples[Example]) -> None:
        self._train = train
        self._shared: SharedExamples[Example] | None = shared

    def __iter__(self) -> Iterator[Example]:
        shared, self._shared = self._shared, None
        return iter(self._train) if shared is None else shared.watch(self._train)


def warn_rare_labels(name: str, labels: Mapping[str, int], note: Note) -> None:
    """Note the labels that occur only once or twice in the training file ``name``."""
    rare = Counter({label: number for label, number in labels.items() if number <= RARE})
    if rare:
        verb = "occurs" if len(rare) == 1 else "occur"
        listed = sorted(rare.items(), key=lambda item: (item[1], item[0]))
        note(
            f"warning: {count(len(rare), 'label')} {verb} only once or twice in the training data of {name}, "
            f"too rarely to be learned well: {_listed(listed)}"
        )


def warn_new_labels(parts: Mapping[str, Iterable[str]], known: Container[str], note: Note) -> None:
    """Note the labels of each held-out split that are not in the training data."""
    for name, labels in parts.items():
        unmet = Counter(label for label in labels if label not in known)
        if unmet:
            verb = "is" if len(unmet) == 1 else "are"
            note(
                f"warning: {count(len(unmet), 'label')} in {name} {verb} not in the training data, so the "
                f"model cannot predict {'it' if len(unmet) == 1 else 'them'}: {_listed(unmet.most_common())}"
            )


def note_dropped_types(key: str, types: Counter[str], note: Note) -> None:
    """Note the number of mentions of types that the setting ``key`` does not list, if there are any."""
    if types:
        mentions = count(types.total(), "mention")
        note(f"{key}: {mentions} of other types read as O: {_listed(types.most_common())}")


def count_types(tags: Mapping[str, int], scheme: Scheme) -> Counter[str]:
    """Count the entities of each type, given the number of each tag. Without entities, count the tags.

    In the scheme IO, the tokens of each type are counted.
    """
    if not scheme.has_spans:
        return Counter(tags)
    types: Counter[str] = Counter()
    for tag, number in tags.items():
        marker, label = scheme.split(tag) or ("O", None)
        if label:
            types[label] += number if marker in ("B", "S") or scheme.kind == "IO" else 0
    return types


def name_new_tags(tags: Iterable[str], scheme: Scheme, types: Container[str]) -> Iterator[str]:
    """Yield the tags, but for entities whose type is not among ``types`` yield that type, once per entity."""
    for tag in tags:
        marker, label = (scheme.split(tag) if scheme.has_spans else None) or ("O", None)
        if not label or label in types:
            yield tag
        elif marker in ("B", "S") or scheme.kind == "IO":
            yield label


def _listed(labels: Sequence[tuple[str, int]]) -> str:
    shown = ", ".join(f"{label} ({times:,})" for label, times in labels[:SHOWN_LABELS])
    rest = len(labels) - SHOWN_LABELS
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
