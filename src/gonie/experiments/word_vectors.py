"""The word vectors of a run before training and at its best epoch.

The initial vectors are not saved because they can be reproduced: the same recipe, files and seed give the
same model. So the files of the run must still exist and be unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from gonie.errors import GonieError, InputError
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.features.vocabulary import RESERVED, UNKNOWN
from gonie.nn.embeddings.words import WordEmbedding
from gonie.system.files import lines
from gonie.tasks.recipe import load_recipe
from gonie.tasks.table import TASKS
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.data import TagData, read_tag_data
from gonie.tasks.tagging.torch.job import TagJob
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.torch.checkpoint import load_weights
from gonie.tasks.torch.trained import need_run
from gonie.tasks.torch.word_data import Note
from gonie.text.schemes import OUTSIDE, to_spans
from gonie.training.fit import build_model
from gonie.training.folder import RunFolder

EACH = 40
"""The number of words per label that are shown by default."""

SHOWN = 10  # unknown words named in an error

UNSEEN = "not in training"
"""The label of a word that has its own vector but is in no training sentence."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the vocabulary, its id, and its most frequent label in training."""

    text: str
    id: int
    label: str


@dataclass(frozen=True)
class WordVectors:
    """The tables before and after training, and the words of the training text by id.

    Shape: ``before`` and ``after`` (V, D).
    """

    encoding: Encoding
    before: NDArray[np.float32]
    after: NDArray[np.float32]
    words: Mapping[int, Word]

    def of(self, words: Sequence[Word]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the vectors of ``words`` before and after. Shape: (N, D), (N, D)."""
        ids = [word.id for word in words]
        return self.before[ids], self.after[ids]

    def find(self, forms: Iterable[str]) -> tuple[list[Word], list[str]]:
        """Return the words of these forms, without duplicates, and the forms that have no vector.

        Forms are normalised as in training.
        """
        found: dict[int, Word] = {}
        missing: dict[str, None] = {}
        for form in forms:
            id = self.encoding.word_id(form)
            if id == UNKNOWN:
                missing[form] = None
            else:
                found[id] = self.words.get(id) or Word(self.encoding.words.string(id), id, UNSEEN)
        return list(found.values()), list(missing)

    def choose(self, forms: Sequence[str]) -> tuple[list[Word], list[str]]:
        """Find ``forms``, of which one must have a vector. Without forms, return the ``typical`` words."""
        if not forms:
            return self.typical(), []
        found, missing = self.find(forms)
        if not found:
            raise InputError(
                "no word has a vector: "
                f"{', '.join(missing[:SHOWN]) + (' …' if len(missing) > SHOWN else '')}",
                fix="Pass words of the training text, or none to see the most frequent words of each label",
            )
        return found, missing

    def typical(self, each: int = EACH) -> list[Word]:
        """Return the most frequent words of each label. A word counts for its most frequent label.

        Labels are sorted by name, with O last. Within a label the most frequent word is first.
        """
        groups: dict[str, list[Word]] = {}
        for word in self.words.values():  # the most frequent first
            groups.setdefault(word.label, []).append(word)
        ordered = sorted(groups, key=lambda label: (label == OUTSIDE, label))
        return [word for label in ordered for word in groups[label][:each]]


def read_word_vectors(folder: Path, note: Note) -> WordVectors:
    """Read the word vectors of a run before and after training. ``note`` receives progress messages."""
    need_run(folder)
    run = RunFolder(folder)
    recipe = load_recipe(run.recipe)
    if not isinstance(recipe, TagRecipe) or recipe.model.words is None:
        found = (
            "the tagger has no word vectors"
            if isinstance(recipe, TagRecipe)
            else f"a {TASKS[recipe.task].model}, not a tagger"
        )
        raise InputError(found, path=folder, fix="Train a tagger with model.words in its recipe")
    with TemporaryDirectory(prefix="gonie-", ignore_cleanup_errors=True) as scratch:
        prepared = _prepared(recipe, run, Path(scratch), note)
        model = build_model(TagJob(recipe, prepared))
        assert isinstance(model, TaggingNetwork)  # the job is a tagger's
        before = word_table(model)
        load_weights(run.best, model)
        words = {word.id: word for word in _words(prepared.train, prepared.encoding)}
        return WordVectors(prepared.encoding, before, word_table(model), words)


def word_table(model: TaggingNetwork) -> NDArray[np.float32]:
    """Return a copy of the vectors of all words by word id. Shape: (V, D)."""
    found = next((part for part in model.modules() if isinstance(part, WordEmbedding)), None)
    if found is None:
        raise InputError("the model has no word vectors", fix="Train one with model.words in its recipe")
    return np.array(found.table().detach().cpu().numpy(), dtype=np.float32)


def read_words(path: Path) -> list[str]:
    """Return the words of a file, one per line, without empty lines."""
    words = [text for _, line in lines(path) if (text := line.strip())]
    if not words:
        raise InputError("the file has no words", path=path, fix="Write one word per line")
    return words


def _prepared(recipe: TagRecipe, run: RunFolder, scratch: Path, note: Note) -> TagData:
    """Read the files of the run again. A corpus cached by the run is not changed."""
    if recipe.data.cache is not None:
        data = recipe.data.model_copy(update={"cache": str(scratch)})
        recipe = recipe.model_copy(update={"data": data})
    try:
        prepared = read_tag_data(recipe, note)
    except InputError as error:
        raise GonieError(
            f"{error}\n{run.root}: the vectors before training are rebuilt from the data files of the run, "
            "which must still be in the same place."
        ) from error
    if json.loads(json.dumps(prepared.encoding.to_json())) != json.loads(run.encoding.read_bytes()):
        raise InputError(
            "the data files changed since the run was trained",
            path=run.recipe,
            fix="Restore them, or train again",
        )
    return prepared


def _words(corpus: Corpus, encoding: Encoding) -> Iterator[Word]:
    """Yield the words of a corpus, ordered by the count of their most frequent label."""
    types = [_type(encoding, tag) for tag in encoding.labels]
    names = sorted(set(types))
    kinds = np.array([names.index(name) for name in types], dtype=np.int64)  # (K,)
    words = corpus.arrays["form_words"][corpus.arrays["forms"]].astype(np.int64)  # (M,)
    tags = corpus.arrays["tags"]  # (M,)
    known = (words >= len(RESERVED)) & (tags >= 0) & (tags < len(types))  # without partly known tags
    pairs, times = np.unique(words[known] * len(names) + kinds[tags[known]], return_counts=True)
    ids, labels = pairs // len(names), pairs % len(names)
    best = np.lexsort((labels, -times, ids))  # the most frequent label of a word first
    best = best[np.diff(ids[best], prepend=-1) != 0]
    for at in best[np.lexsort((ids[best], -times[best]))].tolist():
        yield Word(encoding.words.string(int(ids[at])), int(ids[at]), names[labels[at]])


def _type(encoding: Encoding, tag: str) -> str:
    """Return the entity label of a tag, or the tag itself if it has none."""
    return next((label for _, _, label in to_spans([tag], encoding.scheme)), tag)
