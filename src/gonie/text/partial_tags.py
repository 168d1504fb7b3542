"""Sentences with partial tags.

In a partially tagged file, a tag may be ``?`` for unknown. It may also be several alternatives separated by
bars, as in ``B-ORG|B-LOC``. A tag in the scheme of the files becomes the set of possible tags in the model's
scheme: ``B-PER`` of IOB2 is ``B-PER`` or ``S-PER`` of BIOES until the next tag decides.

Annotators who do not know a type tag its entities as O. Their O is open: O, or any tag of such a type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.text.label_map import LabelMap
from gonie.text.rules import Allowed
from gonie.text.schemes import OUTSIDE, Scheme
from gonie.text.types import Sentence

ANY, OR = "?", "|"

_MEANINGS: Mapping[str, Mapping[str, str]] = {
    "IOB1": {"B": "BS", "I": "BIES"},
    "IOB2": {"B": "BS", "I": "IE"},
    "BIOES": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "BILOU": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "BMES": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "IO": {"I": "BIES"},
}
"""The BIOES markers that a marker of each scheme may stand for. BIOES is the most exact scheme."""


class TagSets:
    """Numbered sets of tags. The first K are the single tags; new sets are numbered as they occur."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self.ids = {label: i for i, label in enumerate(self.labels)}
        self._options = [np.eye(len(self.labels), dtype=bool)[i] for i in range(len(self.labels))]

    def name(self, options: NDArray[np.bool_]) -> str:
        """Return the name of a tag set, which is its key in ``ids``.

        ``options`` flags its members. Shape: (K,).
        """
        chosen = np.flatnonzero(options)
        name = OR.join(self.labels[i] for i in chosen)
        if name not in self.ids:
            self.ids[name] = len(self._options)
            self._options.append(options)
        return name

    def options(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """Return a row of tag flags for each of the named sets. Shape: (T, K)."""
        return np.stack([self._options[self.ids[name]] for name in names])

    def table(self) -> NDArray[np.bool_]:
        """Return a row of tag flags for each set so far. Shape: (S, K)."""
        return np.stack(self._options)


class PartialStream:
    """Iterate over sentences in which each word has a set of the model's tags, by its name in ``sets``.

    ``source`` yields sentences as read, with unchecked tags of ``scheme``, whose labels ``labels`` renames.
    The model's tags are of ``target``. Each sentence must permit at least one sequence that ``rules`` allow.
    """

    def __init__(
        self,
        source: Iterable[Sentence],
        *,
        scheme: Scheme,
        target: Scheme,
        sets: TagSets,
        rules: Allowed,
        labels: LabelMap | None = None,
    ) -> None:
        self._source = source
        self._scheme = scheme
        self._labels = labels or LabelMap({})
        self._sets = sets
        self._rules = rules
        self._marks = [target.split(label) if target.has_spans else None for label in sets.labels]
        self._meanings = _MEANINGS.get(target.kind, {})
        self._known: dict[str, NDArray[np.bool_]] = {ANY: np.ones(len(sets.labels), bool)}

    def __iter__(self) -> Iterator[Sentence]:
        for sentence in self._source:
            cells = sentence.tags or (ANY,) * len(sentence)
            options = [self._options(cell, sentence) for cell in cells]
            if options and not _possible(options, self._rules):
                raise InputError(
                    f"no valid tag sequence matches {' '.join(cells)}",
                    path=sentence.path,
                    line=sentence.line,
                    fix=f"Write {ANY} where the tag is unknown",
                )
            yield replace(sentence, tags=tuple(map(self._sets.name, options)))

    def _options(self, cell: str, sentence: Sentence) -> NDArray[np.bool_]:
        """Return which of the model's tags a cell may be. Shape: (K,)."""
        if cell not in self._known:
            single = cell in self._sets.ids or OR not in cell
            found = [self._fitting(tag) for tag in ([cell] if single else cell.split(OR))]
            if not all(tags.any() for tags in found):
                raise InputError(
                    f"unknown tag {cell!r}",
                    path=sentence.path,
                    line=sentence.line,
                    fix=f"Use tags of the training file, {ANY}, or alternatives separated by {OR}",
                )
            self._known[cell] = np.logical_or.reduce(found)
        return self._known[cell]

    def _fitting(self, tag: str) -> NDArray[np.bool_]:
        if not self._scheme.has_spans:
            return np.array([label == self._labels[tag] for label in self._sets.labels], bool)
        mark = self._scheme.split(tag)
        if mark is not None and mark[1] is not None:
            label = self._labels[mark[1]]
            mark = (OUTSIDE, None) if label == OUTSIDE else (mark[0], label)
        return np.array([mark is not None and self._fits(mark, i) for i in range(len(self._marks))], bool)

    def _fits(self, mark: tuple[str, str | None], tag: int) -> bool:
        """Return whether a tag of the files, as marker and label, may be this tag of the model."""
        own = self._marks[tag]
        if own is None or "O" in (mark[0], own[0]):
            return own is not None and own[0] == mark[0]
        same_type = mark[1] is None or mark[1] == own[1]
        meant = _MEANINGS[self._scheme.kind][mark[0]]
        return same_type and bool(set(meant) & set(self._meanings[own[0]]))


class OpenOutside:
    """Iterate over sentences in which O also stands for any tag of the types that ``known`` does not have.

    The tags are names of ``sets``, of ``scheme``. ``known`` are the types that the annotators of the
    sentences knew. A set of tags with O in it, of a partially tagged sentence, is opened likewise.
    """

    def __init__(
        self, sentences: Iterable[Sentence], *, sets: TagSets, scheme: Scheme, known: Collection[str]
    ) -> None:
        self._sentences = sentences
        self._sets = sets
        marks = [scheme.split(label) if scheme.has_spans else None for label in sets.labels]
        types = [None if mark is None else mark[1] for mark in marks]
        self._open = np.array([bool(name) and name not in known for name in types], bool)  # (K,)
        self._outside = sets.ids.get(OUTSIDE)
        self._names: dict[str, str] = {}

    @property
    def changes(self) -> bool:
        """Whether there is a type that the annotators did not know."""
        return self._outside is not None and bool(self._open.any())

    def __iter__(self) -> Iterator[Sentence]:
        if not self.changes:
            return iter(self._sentences)
        return (replace(each, tags=tuple(map(self._opened, each.tags or ()))) for each in self._sentences)

    def _opened(self, name: str) -> str:
        """Return the name of a tag set, with the open tags if O is one of its tags."""
        if name not in self._names:
            (options,) = self._sets.options([name])  # (K,)
            opened = options | self._open if options[self._outside] else options
            self._names[name] = self._sets.name(opened)
        return self._names[name]


def _possible(options: list[NDArray[np.bool_]], rules: Allowed) -> bool:
    """Return whether the rules allow some sequence with each tag taken from its options."""
    moves, first, last = rules
    reached = first & options[0]  # (K,)
    for here in options[1:]:
        reached = moves[reached].any(axis=0) & here
    return bool((reached & last).any())
