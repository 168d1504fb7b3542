"""Streams of tagged sentences, which can be iterated several times."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from gonie.errors import InputError
from gonie.features.external_vectors import VectorFile
from gonie.formats.tagged import TaggedSource
from gonie.text import schemes
from gonie.text.domains import in_domain
from gonie.text.label_map import LabelMap
from gonie.text.partial_tags import TagSets
from gonie.text.rules import Allowed, cut_ends
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


class TagStream:
    """The sentences of one file with tags in the model's scheme, which can be iterated several times.

    Labels are renamed first. If ``types`` is not empty, entities of other types become O. With ``keep``, the
    sentences of the first pass are kept in memory, for words that are slow to find. ``domain`` is that of the
    file, if it has a name. ``section`` is the section of the recipe that names the file. ``vectors`` are the
    external vectors of its tokens or texts.
    """

    def __init__(
        self,
        source: TaggedSource,
        *,
        scheme: Scheme,
        target: Scheme,
        labels: LabelMap,
        types: Collection[str] = (),
        keep: bool = False,
        domain: str = "",
        section: str = "data",
        vectors: VectorFile | None = None,
    ) -> None:
        self.source = source
        self._vectors = vectors
        self._section = section
        self._domain = domain
        self._keep = keep
        self._kept: list[Sentence] | None = None
        self._scheme = scheme
        self._target = target
        self._labels = labels
        self._types = types
        self.has_labels = False
        """Whether a sentence that was read has a tag other than O."""
        self.dropped: Counter[str] = Counter()
        """How many entities of each type became O in the last pass, because they are not of ``types``."""

    def __iter__(self) -> Iterator[Sentence]:
        if not self._keep:
            return self._read()
        if self._kept is None:
            self._kept = list(self._read())
        return iter(self._kept)

    def _read(self) -> Iterator[Sentence]:
        self.dropped.clear()
        for plain in self.source if self._vectors is None else self._vectors.attach(self.source):
            sentence = in_domain(plain, self._domain)
            if sentence.tags is None:
                raise InputError(
                    "sentence without tags",
                    path=sentence.path,
                    line=sentence.line,
                    fix=f"Set the tag column: --set {self._section}.tag_column=N",
                )
            tags: Sequence[str] = sentence.tags
            self.has_labels = self.has_labels or any(tag != schemes.OUTSIDE for tag in tags)
            if self._scheme == self._target and not self._types and not self._labels:
                yield sentence
                continue
            if self._labels:
                tags = self._labels.rename(tags, self._scheme)
            tags = schemes.convert(tags, self._scheme, self._target)
            others = self._labels.rename_spans(sentence.unreachable)
            if self._types:
                labels = (label for _, _, label in schemes.to_spans(tags, self._target))
                self.dropped.update(label for label in labels if label not in self._types)
                tags = schemes.keep_types(tags, self._target, self._types)
                others = tuple(span for span in others if span[2] in self._types)
            yield dataclasses.replace(sentence, tags=tuple(tags), unreachable=others)


class Chained:
    """Several streams, one after the other."""

    def __init__(self, *streams: Iterable[Sentence]) -> None:
        self._streams = streams

    def __iter__(self) -> Iterator[Sentence]:
        return chain.from_iterable(self._streams)


class WithWords:
    """The sentences of a stream that have words. Others have only gold spans, which count as missed."""

    def __init__(self, stream: Iterable[Sentence]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Sentence]:
        return (sentence for sentence in self._stream if sentence.words)


class Untagged:
    """The sentences of a stream without tags."""

    def __init__(self, stream: Iterable[Sentence]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[Sentence]:
        return (dataclasses.replace(sentence, tags=None) for sentence in self._stream)


class Selected:
    """The sentences of a stream at the places ``rows``."""

    def __init__(self, stream: Iterable[Sentence], rows: Collection[int]) -> None:
        self._stream = stream
        self._rows = frozenset(rows)

    def __iter__(self) -> Iterator[Sentence]:
        return (sentence for row, sentence in enumerate(self._stream) if row in self._rows)


class HoldOut:
    """One side of a reproducible random split of a stream: the held-out sentences, or all others."""

    def __init__(self, stream: Iterable[Sentence], *, share: float, seed: int, held_out: bool) -> None:
        self._stream = stream
        self._share = share
        self._seed = seed
        self._held_out = held_out

    def __iter__(self) -> Iterator[Sentence]:
        generator = np.random.default_rng([self._seed, 1])
        return (s for s in self._stream if (generator.random() < self._share) == self._held_out)


class Pieces:
    """Sentences with those of more than ``longest`` tokens split.

    Sentences are split between entities. A piece whose tags ``rules`` forbid would have probability 0. The
    tags are names of ``sets``. ``read`` and ``cut`` are the numbers of all sentences and of split ones in the
    last pass.
    """

    def __init__(self, sentences: Iterable[Sentence], longest: int, *, sets: TagSets, rules: Allowed) -> None:
        self._sentences = sentences
        self._longest = longest
        self._sets = sets
        self._rules = rules
        self.read = self.cut = 0

    def __iter__(self) -> Iterator[Sentence]:
        self.read = self.cut = 0
        for sentence in self._sentences:
            self.read += 1
            if len(sentence) <= self._longest:
                yield sentence
                continue
            self.cut += 1
            ends = cut_ends(self._sets.options(sentence.tags or ()), self._rules, self._longest)
            for first, end in pairwise([0, *ends]):
                yield sentence.part(first, end)
