"""The answers of teachers that tag sentences, as arrays, and sentences with these answers as examples.

With M tokens, P stored tags and Q tag sequences, the arrays besides ``confidences`` are

    tags.sizes     (M)   how many tags of a token are stored: those with a probability of at least ``LEAST``
    tags           (P)   their numbers among the tags of the student
    tags.chances   (P)   their probabilities (float16)
    paths.sizes    (N)   how many tag sequences of a sentence are stored
    paths.chances  (Q)   their shares of the probability of all stored sequences of the sentence
    paths.tags           the tags of each sequence
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.features import ragged
from gonie.features.batching import sorted_batches
from gonie.features.corpus import Corpus
from gonie.runtime.forward_backward import Lattice
from gonie.runtime.mixture import Mixture
from gonie.system.array_folder import Array
from gonie.tasks.members import name_of
from gonie.tasks.tagging.labeller import Tagging
from gonie.tasks.tagging.tagger import Scored, Tagger
from gonie.tasks.teacher import CONFIDENCES, MISSING, TOGETHER, Answers, AnswerSettings, check_labels
from gonie.text.label_map import LabelMap
from gonie.text.schemes import OUTSIDE, Scheme, convert, type_names
from gonie.text.types import Sentence

MARGINALS, PATHS, PATH_CHANCES = "teacher.marginals", "teacher.paths", "teacher.path_chances"
"""The arrays of a batch: (B, T, K), (B, n, T) with -1 at padding, and (B, n)."""
LEAST = 1e-3
"""The least probability of a stored tag. The rest of a token is shared by its stored tags."""
TOKENS, SENTENCES = 4096, 64
"""The maximum size of a batch that is decoded at once."""

Ints = NDArray[np.int64]


class TagPath(NamedTuple):
    """A tag sequence of a sentence and its probability."""

    tags: tuple[str, ...]
    probability: float


@dataclass(frozen=True)
class TagAnswer:
    """The best tag sequences of a sentence, best first and at least one, and the marginals if known.

    ``missing`` says that the teacher could not answer, so that nothing is learned from the tags.
    """

    paths: Sequence[TagPath]
    marginals: NDArray[np.floating] | None = None
    """The probability of each tag of the teacher: (T, K). None: the teacher gives only tags."""
    missing: bool = False


class TagTeacher(Protocol):
    """A teacher that tags sentences (``gonie.tasks.teacher.Teacher``), with tags in ``scheme``."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of its tags."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """Its tags, in the order of the marginals."""
        ...

    @property
    def has_marginals(self) -> bool:
        """Whether its answers have marginals."""
        ...

    def answers(self, examples: Sequence[Sentence]) -> Iterator[TagAnswer]:
        """Yield the answer to each sentence, in order."""
        ...


class TagsSentences(Protocol):
    """A model that tags sentences and gives no probabilities of other tags, such as an in-context model."""

    @property
    def labels(self) -> Sequence[str]:
        """Its tags, or at least one tag of each of its types."""
        ...

    def tag_sentences(self, sentences: Sequence[Sentence]) -> Sequence[Tagging]:
        """Return the tags of each sentence."""
        ...


class TaggerTeacher:
    """One tagger, or an ensemble of taggers with the same tags, whose probabilities are averaged.

    Marginals are those of the calibrated taggers at another ``temperature``, which divides all scores of
    their chains. The candidates for the best tag sequences are the best ones of each tagger.
    """

    has_marginals = True

    def __init__(self, members: Sequence[Tagger], settings: AnswerSettings) -> None:
        self._members = members
        self._nbest = settings.nbest
        self._decoders = [
            each.decoder.with_temperature(each.temperature * settings.temperature) for each in members
        ]
        self.labels = members[0].labels
        self.scheme = members[0].encoding.scheme
        self.name = " + ".join(name_of(each) for each in members)
        digests = [each.origin.digest if each.origin else "" for each in members]
        self.digest = hashlib.sha256("\n".join(digests).encode()).hexdigest()

    def answers(self, examples: Sequence[Sentence]) -> Iterator[TagAnswer]:
        """Yield the answer to each sentence."""
        scores = [each.emissions(examples) for each in self._members]  # (T, K) each
        found: dict[int, TagAnswer] = {}
        lengths = np.array([len(each) for each in examples], dtype=np.int64)
        for batch in sorted_batches(lengths, tokens=TOKENS, sentences=SENTENCES):
            scored = [Scored.of([own[at] for at in batch.tolist()]) for own in scores]
            found.update(zip(batch.tolist(), self._answers(scored), strict=True))
        return (found[at] for at in range(len(examples)))

    def _answers(self, scored: Sequence[Scored]) -> Iterator[TagAnswer]:
        lattices = [
            decoder.forward_backward(*own) for decoder, own in zip(self._decoders, scored, strict=True)
        ]
        marginals = Mixture(lattices).marginals
        candidates = np.concatenate(
            [
                decoder.nbest(*own, self._nbest)[0]
                for decoder, own in zip(self._decoders, scored, strict=True)
            ],
            axis=1,
        )  # (B, M·n, T)
        chances = _path_chances(lattices, candidates)  # (B, M·n)
        for row, length in enumerate(scored[0].lengths.tolist()):
            named = [
                TagPath(tuple(self.labels[tag] for tag in path), chance)
                for path, chance in _best(candidates[row, :, :length], chances[row], self._nbest)
            ]
            yield TagAnswer(named, marginals[row, :length])


class HardTagTeacher:
    """A model that gives only tags, such as an in-context model. Each answer has one tag sequence."""

    has_marginals = False

    def __init__(
        self,
        model: TagsSentences,
        *,
        scheme: Scheme,
        name: str,
        digest: str,
        together: int = TOGETHER,
    ) -> None:
        self._model = model
        self._together = together
        self.labels = tuple(model.labels)
        self.scheme = scheme
        self.name = name
        self.digest = digest

    def answers(self, examples: Sequence[Sentence]) -> Iterator[TagAnswer]:
        """Yield the answer to each sentence. A few are asked for together."""
        for first in range(0, len(examples), self._together):
            for tagging in self._model.tag_sentences(examples[first : first + self._together]):
                yield TagAnswer([TagPath(tuple(tagging.tags), 1.0)], missing=tagging.failed)


def _path_chances(lattices: Sequence[Lattice], candidates: Ints) -> NDArray[np.float64]:
    """Return the mean probability of candidates (B, C, T), of which some are -1: (B, C)."""
    lengths = lattices[0].lengths
    rows, starts = np.arange(len(lengths)), np.zeros_like(lengths)
    found = [
        [each.path_probabilities(rows, starts, lengths, np.maximum(tags, 0)) for each in lattices]
        for tags in candidates.transpose(1, 0, 2)
    ]  # (C, M, B)
    return np.asarray(np.mean(found, axis=1).T)


def _best(candidates: Ints, chances: NDArray[np.float64], n: int) -> list[tuple[tuple[int, ...], float]]:
    """Return the n most probable of the candidates (C, T) without repeats. Their probabilities: (C,)."""
    paths = zip(map(tuple, candidates.tolist()), chances.tolist(), strict=True)
    distinct = {path: chance for path, chance in paths if path[0] >= 0}
    return sorted(distinct.items(), key=lambda item: -item[1])[:n]


class TagConversion:
    """From the tags of a teacher to those of a student.

    Tag sequences may be of another scheme, but marginals may not: that of B is not that of S. ``rules``
    rename the types of the teacher (plain tags: its tags). A teacher whose types are not those of
    the student is refused.
    """

    def __init__(
        self, teacher: TagTeacher, labels: Sequence[str], scheme: Scheme, rules: Mapping[str, str]
    ) -> None:
        self.labels, self.scheme = tuple(labels), scheme
        self._source, self._rules = teacher.scheme, LabelMap(rules)
        self._ids = {label: number for number, label in enumerate(labels)}
        if teacher.scheme.has_spans != scheme.has_spans:
            raise InputError(
                f"the teacher has {_kind(teacher.scheme)}, and the training file {_kind(scheme)}",
                fix="Use a training file with tags of the same kind",
            )
        check_labels(type_names(teacher.labels, teacher.scheme), type_names(labels, scheme), rules)
        self._places = np.zeros(0, dtype=np.int64)
        if teacher.has_marginals:
            if teacher.scheme.kind != scheme.kind:
                raise InputError(
                    f"the teacher has tags in {teacher.scheme}, and the student in {scheme}",
                    fix=f"Train the student with --set data.model_scheme={teacher.scheme.kind}",
                )
            self._places = np.array([self._place(tag) for tag in teacher.labels])

    def paths(self, answer: TagAnswer) -> list[tuple[tuple[int, ...], float]]:
        """Return the tag sequences in the tags of the student, and their shares, which add to 1.

        Sequences that are equal in these tags are one.
        """
        found: dict[tuple[int, ...], float] = {}
        for tags, chance in answer.paths:
            own = self._rules.rename(tags, self._source) if self._rules else tags
            if self._source != self.scheme:
                own = convert(own, self._source, self.scheme)
            path = tuple(self._ids[tag] for tag in own)
            found[path] = found.get(path, 0.0) + chance
        total = sum(found.values())
        return [(path, chance / total if total else 1 / len(found)) for path, chance in found.items()]

    def marginals(self, answer: TagAnswer, path: Sequence[int]) -> NDArray[np.float64]:
        """Return the marginals in the tags of the student, (T, K), or the tags of ``path`` if unknown."""
        found = np.zeros((len(path), len(self.labels)))
        if answer.marginals is None:
            found[np.arange(len(path)), list(path)] = 1.0
            return found
        np.add.at(found.T, self._places, answer.marginals.T)
        return found

    def _place(self, tag: str) -> int:
        """Return the number of a tag of the teacher among those of the student."""
        if tag == OUTSIDE and self.scheme.has_spans:
            return self._ids[OUTSIDE]
        split = self._source.split(tag) if self.scheme.has_spans else None
        if split is None or split[1] is None:
            return self._ids[self._rules[tag]]
        name = self._rules[split[1]]
        return self._ids[OUTSIDE if name == OUTSIDE else self.scheme.join(split[0], name)]


def _kind(scheme: Scheme) -> str:
    return "entities" if scheme.has_spans else "a plain tag for each token"


def pack(
    conversion: TagConversion, sentences: Sequence[Sentence], answers: Sequence[TagAnswer]
) -> dict[str, Array]:
    """Return the arrays of a block of answers."""
    confidences, sizes, tags, chances = [], [], [], []
    path_sizes, path_chances, path_tags = [], [], []
    for sentence, answer in zip(sentences, answers, strict=True):
        if wrong := [path for path in answer.paths if len(path.tags) != len(sentence)]:
            raise InputError(
                f"the teacher gave {len(wrong[0].tags)} tags to a sentence of {len(sentence)} tokens"
            )
        paths = conversion.paths(answer)
        marginals = conversion.marginals(answer, paths[0][0])  # (T, K)
        best = marginals.max(axis=1, keepdims=True)
        stored = (marginals >= LEAST) | (marginals == best)
        confidences.append(MISSING if answer.missing else float(best.min()))
        sizes.append(stored.sum(axis=1))
        tags.append(np.nonzero(stored)[1])
        chances.append(marginals[stored])
        path_sizes.append(len(paths))
        path_chances += [chance for _, chance in paths]
        path_tags += [tag for path, _ in paths for tag in path]
    return {
        CONFIDENCES: np.array(confidences, dtype=np.float32),
        "tags.sizes": np.concatenate(sizes).astype(np.uint16),
        "tags": np.concatenate(tags).astype(np.uint16),
        "tags.chances": np.concatenate(chances).astype(np.float16),
        "paths.sizes": np.array(path_sizes, dtype=np.uint16),
        "paths.chances": np.array(path_chances, dtype=np.float32),
        "paths.tags": np.array(path_tags, dtype=np.uint16),
    }


class AnsweredSentences:
    """Encoded sentences with the answers of a teacher, as training examples (``features.corpus.Examples``).

    Row i of ``corpus`` is sentence i of the answers. Tags are numbered as in ``labels``.
    """

    def __init__(self, corpus: Corpus, answers: Answers, labels: Sequence[str]) -> None:
        self._corpus = corpus
        self._arrays = answers.arrays
        self._labels = len(labels)
        numbers = {label: number for number, label in enumerate(labels)}
        self._numbers = np.array([numbers[label] for label in answers.labels], dtype=np.int64)
        arrays = answers.arrays
        self._tokens: Ints = corpus.arrays["offsets"]
        self._tags = ragged.offsets(arrays["tags.sizes"].astype(np.int64))
        self._paths = ragged.offsets(arrays["paths.sizes"].astype(np.int64))
        tokens = np.repeat(corpus.lengths, arrays["paths.sizes"])  # of each tag sequence
        self._path_tags = ragged.offsets(tokens)
        self.lengths = corpus.lengths
        self.sizes = corpus.sizes
        self.heights = None
        self.domains = None
        self.confidences = answers.confidences
        self.temperature = answers.settings.temperature

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return self._corpus.tokens

    def batch(self, rows: Ints) -> dict[str, Array]:
        """Return the padded batch of the sentences ``rows``, with the answers of the teacher."""
        batch = self._corpus.batch(rows)
        batch[MARGINALS] = self._marginals(rows, batch["mask"])
        batch[PATHS], batch[PATH_CHANCES] = self._best_paths(rows, batch["mask"])
        return batch

    def _marginals(self, rows: Ints, mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the probabilities of the tags of each token, which add to 1: (B, T, K), 0 at padding."""
        tokens = ragged.positions(self._tokens[rows], self.lengths[rows])
        sizes = self._tags[tokens + 1] - self._tags[tokens]
        places = ragged.positions(self._tags[tokens], sizes)
        flat = np.zeros((len(tokens), self._labels), dtype=np.float32)
        tags = self._numbers[self._arrays["tags"][places]]
        flat[np.repeat(np.arange(len(tokens)), sizes), tags] = self._arrays["tags.chances"][places]
        found = np.zeros((*mask.shape, self._labels), dtype=np.float32)
        found[mask] = flat / flat.sum(axis=1, keepdims=True)
        return found

    def _best_paths(self, rows: Ints, mask: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.float32]]:
        """Return the best tag sequences (B, n, T) and their shares (B, n), which add to 1."""
        counts = self._paths[rows + 1] - self._paths[rows]  # (B,)
        most = int(counts.max())
        paths = np.full((len(rows), most, mask.shape[1]), -1, dtype=np.int64)
        shares = np.zeros((len(rows), most), dtype=np.float32)
        for at, row in enumerate(rows.tolist()):
            own = slice(self._paths[row], self._paths[row + 1])
            number, length = int(counts[at]), int(self.lengths[row])
            first = self._path_tags[own.start]
            tags = self._arrays["paths.tags"][first : first + number * length]
            paths[at, :number, :length] = self._numbers[tags].reshape(number, length)
            shares[at, :number] = self._arrays["paths.chances"][own]
        return paths, shares
