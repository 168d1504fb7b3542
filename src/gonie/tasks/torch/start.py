"""A trained model as the starting point of another one: its vocabulary, its word vectors and its weights.

The new model has the vocabularies of both, and a head for its own labels. Weights of shared entries (words,
characters, features, labels) are copied, and so are all weights that belong to no vocabulary. Other words
start with the vector by which the start reads them, that of another form or of the unknown word. Other
characters start as the unknown character, and other features with zeros. So before the first step, the states
of the new model are those of the start for any text. Low-rank changes of the start are merged into its
weights. Bottleneck adapters cannot be merged, so the new model has them too (``gonie.tasks.start``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.features.vectors import PretrainedVectors
from gonie.features.vocabulary import UNKNOWN, Vocabulary
from gonie.nn.changes import BiasChange, MatrixChange, TableChange
from gonie.nn.embeddings.words import WordEmbedding
from gonie.nn.low_rank import LowRank
from gonie.nn.protocols import WrapsPart
from gonie.tasks.sections import CorpusRecipe
from gonie.tasks.torch.checkpoint import moved_buffers
from gonie.tasks.torch.layers import adapters_of, count_weights
from gonie.text.schemes import PLAIN, Scheme, type_names

LABELS = "labels"
"""The name of the labels in ``indexed`` of parts, besides the names of vocabularies."""
Ids: TypeAlias = NDArray[np.int64]
HEAD = re.compile(r"(heads\.[^.]+)\..*")
"""The name of a parameter of a head."""
NEW_AS_UNKNOWN = ("chars",)
"""Vocabularies whose new entries start as the unknown entry. New entries of others start with zeros."""


class TaskEncoding(Protocol):
    """The encoding of any task over labelled examples."""

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """The vocabularies that weights of a network belong to, by name."""
        ...

    @property
    def labels(self) -> Sequence[str]:
        """The tags or labels."""
        ...


def label_names(encoding: TaskEncoding) -> frozenset[str]:
    """Return the labels of an encoding, or the types of its tags."""
    scheme = encoding.scheme if isinstance(encoding, Encoding) else PLAIN
    return frozenset(type_names(encoding.labels, scheme))


@dataclass(frozen=True)
class Start:
    """The trained network of a run, from which another one starts."""

    folder: Path
    recipe: CorpusRecipe
    encoding: Any
    """The encoding of its task."""
    model: nn.Module
    digest: str
    """A digest of its weights. A run that starts from it resumes only with the same ones."""
    adapted: bool = False
    """Whether the new model has adapters. They change only vectors of words in the new training file."""
    earlier: tuple[tuple[Path, CorpusRecipe], ...] = ()
    """The runs that it started from itself, the latest first, with their recipes, as far as they remain."""

    @property
    def lineage(self) -> tuple[tuple[Path, CorpusRecipe], ...]:
        """Its run and all earlier ones."""
        return ((self.folder, self.recipe), *self.earlier)

    @property
    def gone(self) -> Path | None:
        """The folder of the first earlier run that can no longer be read, if any."""
        *_, (_, first) = self.lineage
        return None if first.train.start is None else Path(first.train.start)

    @property
    def word_encoding(self) -> Encoding:
        """The encoding of its words."""
        return self.encoding if isinstance(self.encoding, Encoding) else self.encoding.words

    def refuse_other_tags(self, scheme: Scheme, key: str) -> None:
        """Refuse ``key`` if the new model has tags of another kind, which are no tags of the start."""
        old = self.word_encoding.scheme
        if scheme.kind == old.kind:
            return
        both = scheme.has_spans and old.has_spans
        remedy = f"set data.model_scheme={old.kind}" if both else f"remove {key}"
        raise RecipeError(
            [f"{key}: the tags of {self.folder} are {old.kind}, those of this model {scheme.kind}; {remedy}"]
        )

    def vectors(self, encoding: Encoding) -> PretrainedVectors | None:
        """Return its word vectors for the words of ``encoding``, if it has any.

        A word that it does not have gets the vector that it reads it by: that of another form of the word
        (``Encoding.word_id``), or of the unknown word. ``found`` are those with a pretrained vector that it
        did not train, and for adapters also those that the new training file does not have.
        """
        part = next((part for part in self.model.modules() if isinstance(part, WordEmbedding)), None)
        if part is None:
            return None
        rows = self._rows_read(encoding.words)
        fixed = _fixed_words(part)[rows].numpy()  # (V,)
        if not self._may_have_pretrained_vectors:
            fixed[:] = False  # only its adapters left them as they were
        if self.adapted:
            fixed |= ~_of_new_file(encoding.words, self.word_encoding.words)
        return PretrainedVectors(part.table()[rows].detach().numpy(), fixed)

    def _rows_read(self, words: Vocabulary) -> Ids:
        """Return the id by which it reads each word of a vocabulary. Shape: (V,)."""
        return np.array([0, UNKNOWN, *map(self.word_encoding.word_id, words.strings)], dtype=np.int64)

    @property
    def _may_have_pretrained_vectors(self) -> bool:
        """Whether it or an earlier run has pretrained vectors, or an earlier run is gone."""
        return self.gone is not None or any(recipe.data.vectors for _, recipe in self.lineage)

    @torch.no_grad()
    def copy_to(self, model: nn.Module, encoding: TaskEncoding) -> Copied:
        """Copy the weights to ``model``, which has the vocabularies and labels of ``encoding``.

        It was built with the word vectors of ``vectors``.
        """
        plain_weights, plain_name = _plain_weights(self.model), _unwrapper(model)
        indices = _Indices(encoding, self.encoding)
        indexed = _indexed(model)
        adapters = _adapters(model)
        copied, fresh, problems = 0, [], []
        vocabulary = encoding.vocabularies["words"]
        words = next((part for part in model.modules() if isinstance(part, WordEmbedding)), None)
        for name, weight in model.named_parameters():
            source = plain_weights.get(plain_name(name))
            if words is not None and weight is words.weight:  # it was built with them, and with fixed ones
                copied += int((_places(vocabulary, self.word_encoding.words) >= 0).sum()) * words.width
            elif source is None:
                fresh += [] if name in adapters else [name]
            elif name in indexed:
                shared = indices.copy(weight, source, indexed[name])
                copied += shared
                fresh += [] if shared else [name]
            elif weight.shape == source.shape:
                weight.copy_(source)
                copied += weight.numel()
            else:
                problems.append(f"{name} has the shape {_shape(weight)}, and {_shape(source)} in the start")
        if problems:
            raise RecipeError([f"train.start: {self.folder} has another shape: {each}" for each in problems])
        old_name = _unwrapper(self.model)
        old_buffers = {old_name(name): buffer for name, buffer in moved_buffers(self.model).items()}
        for name, buffer in moved_buffers(model).items():
            source = old_buffers.get(plain_name(name))
            if source is None:
                fresh.append(name)
            else:
                buffer.copy_(source)
                copied += buffer.numel() if buffer.is_floating_point() else 0
        _, total = count_weights(model)
        new = _by_head(fresh, [name for name, _ in model.named_parameters()])
        read = self._rows_read(vocabulary)[UNKNOWN + 1 :] != UNKNOWN
        vectors = None if words is None else (int(read.sum()), int((~read).sum()))
        return Copied(copied, total, new, vectors)


@dataclass(frozen=True)
class Copied:
    """How many weights of a new model come from the start, out of how many.

    ``fresh`` has the names of the parameters, or whole heads, of which none comes from the start.

    Weights of entries that the start does not have are not copied.
    """

    copied: int
    total: int
    fresh: tuple[str, ...]
    words: tuple[int, int] | None = None
    """The number of words with their vector of the start, and of those that begin as the unknown word."""

    def __str__(self) -> str:
        copied = f"{self.copied:,} of {self.total:,} parameters copied{self._vectors()}"
        return f"{copied}; new: {', '.join(self.fresh)}" if self.fresh else copied

    def _vectors(self) -> str:
        known, unknown = self.words or (0, 0)
        if unknown:
            return (
                f"; word vectors: {known:,} copied, {unknown:,} of new words, which begin as the unknown word"
            )
        return f"; word vectors: {known:,} copied" if known else ""


class _Indices:
    """The place of each entry of the new vocabularies and labels in those of the start."""

    def __init__(self, new: TaskEncoding, old: TaskEncoding) -> None:
        self._new, self._old = new, old
        numbers = {label: number for number, label in enumerate(old.labels)}
        self._labels = np.array([numbers.get(label, -1) for label in new.labels], dtype=np.int64)

    def copy(self, weight: Tensor, source: Tensor, axes: Sequence[str]) -> int:
        """Copy the shared entries along each axis. Return the number of copied weights.

        Weights of new entries of a vocabulary are set too, but they do not count as copied.
        """
        table = source.to(weight.device)
        shared = written = torch.ones((), dtype=torch.bool, device=weight.device)
        for axis, name in enumerate(axes):
            old_ids = self._old_ids(name, weight.shape[axis], source.shape[axis])
            if old_ids is None:
                return 0
            places = torch.from_numpy(old_ids).to(weight.device)
            known = _along(places >= 0, axis, table.dim())
            new = UNKNOWN if name in NEW_AS_UNKNOWN else 0
            table = table.index_select(axis, places.where(places >= 0, new))
            shared = shared & known
            if name == LABELS:
                written = written & known
            elif name not in NEW_AS_UNKNOWN:
                table = table * known.to(table.dtype)
        weight.copy_(torch.where(written, table, weight))
        return int(shared.expand_as(weight).sum())

    def _old_ids(self, name: str, size: int, old_size: int) -> Ids | None:
        """Return the place of each new entry in the start, -1 if it has none; None if it does not apply."""
        if name == LABELS:
            if size == len(self._new.labels) and old_size == len(self._old.labels):
                return self._labels
            same = tuple(self._new.labels) == tuple(self._old.labels) and size == old_size
            return np.arange(size, dtype=np.int64) if same else None
        if name not in self._old.vocabularies or name not in self._new.vocabularies:
            return None
        return _places(self._new.vocabularies[name], self._old.vocabularies[name])


def _by_head(fresh: Collection[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of new parameters, and the name of a head in place of them if all of its are new."""
    matches = (HEAD.fullmatch(name) for name in names if name not in fresh)
    copied = {match[1] for match in matches if match}
    heads = ((name, HEAD.fullmatch(name)) for name in fresh)
    return tuple(
        dict.fromkeys(match[1] if match and match[1] not in copied else name for name, match in heads)
    )


def _along(flags: Tensor, axis: int, dims: int) -> Tensor:
    """Return flags (n,) with their size at ``axis`` of ``dims`` axes."""
    return flags.view([-1 if each == axis else 1 for each in range(dims)])


def _places(new: Vocabulary, old: Vocabulary) -> Ids:
    """Return the id in ``old`` of each id of ``new``, -1 if it has none. Both have padding and unknown."""
    places = old.ids(new.strings).astype(np.int64)
    return np.concatenate([[0, UNKNOWN], np.where(places == UNKNOWN, -1, places)])


def _of_new_file(merged: Vocabulary, old: Vocabulary) -> NDArray[np.bool_]:
    """Return which ids of a merged vocabulary stand for words of the new file; also padding and unknown.

    ``Vocabulary.merged`` adds the counts, so those are the words with more counts than in ``old``.
    """
    places = _places(merged, old)
    new: NDArray[np.bool_] = merged.counts > np.where(places < 0, 0, old.counts[places])
    new[: UNKNOWN + 1] = True
    return new


def _fixed_words(part: WordEmbedding) -> Tensor:
    """Return which word ids have a fixed vector. Shape: (V,)."""
    size = part.weight.shape[0]
    rows = torch.arange(size + (0 if part.fixed is None else len(part.fixed)))
    return (rows if part.rows is None else part.rows.cpu()) >= size


def _indexed(model: nn.Module) -> dict[str, tuple[str, ...]]:
    """Return the vocabulary of each axis of the weights that belong to one, by parameter name."""
    return {
        f"{name}.{key}" if name else key: tuple(axes)
        for name, part in model.named_modules()
        for key, axes in getattr(part, "indexed", {}).items()
    }


def _plain_weights(model: nn.Module) -> dict[str, Tensor]:
    """Return the weights with low-rank changes merged, under the names of a model without adapters."""
    weights: dict[str, Tensor] = dict(model.named_parameters())
    for place, part in model.named_modules():
        if isinstance(part, LowRank):
            weights |= {f"{place}.{part.wraps}.{name}": w for name, w in part.merged_weights().items()}
        if isinstance(part, MatrixChange | TableChange | BiasChange):
            weights = {name: w for name, w in weights.items() if not name.startswith(f"{place}.")}
    plain_name = _unwrapper(model)
    return {plain_name(name): weight for name, weight in weights.items()}


def _adapters(model: nn.Module) -> set[str]:
    """Return the names of the weights of adapters."""
    return {
        f"{place}.{name}" for place, part in adapters_of(model).items() for name, _ in part.named_parameters()
    }


def _unwrapper(model: nn.Module) -> Callable[[str], str]:
    """Return a function from names of weights to those without parts around others (``WrapsPart``)."""
    parts = [(place, part) for place, part in model.named_modules() if isinstance(part, WrapsPart)]
    wrappers = sorted(
        ((f"{place}.{part.wraps}.", f"{place}.") for place, part in parts), key=lambda pair: -len(pair[0])
    )

    def unwrapped(name: str) -> str:
        for wrapped, plain in wrappers:
            if name.startswith(wrapped):
                name = plain + name.removeprefix(wrapped)
        return name

    return unwrapped


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape))
