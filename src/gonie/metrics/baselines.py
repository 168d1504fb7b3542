"""Two baseline taggers.

``exact_match`` memorises the most frequent label of each word. ``capitalised`` looks only at the first letter
of a word. A network that does not beat the first has not learned from context. One that does not beat the
second has learned nothing.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby

from gonie.metrics.spans import read_spans
from gonie.text.schemes import OUTSIDE, Scheme, TokenSpan, from_spans, to_spans
from gonie.text.types import Sentence

Label = str | None
"""The entity type of a token, or None outside entities. In a scheme without entities, the tag itself."""


class Baseline:
    """A tagger that labels each word on its own with ``label``.

    Adjacent words with the same label become one entity of ``scheme``, so the tags are always well formed.
    """

    def __init__(self, *, label: Callable[[str], Label], scheme: Scheme) -> None:
        self._label = label
        self._scheme = scheme

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return one tag per word, in the scheme of the training tags."""
        labels = [self._label(word) for word in words]
        if not self._scheme.has_spans:
            return tuple(OUTSIDE if label is None else label for label in labels)
        return tuple(from_spans(_runs(labels), len(labels), self._scheme))


def exact_match(train: Iterable[Sentence], *, scheme: Scheme) -> Baseline:
    """Return a baseline that gives each word its most frequent label in training (exact match).

    Words that are not in the training data are outside any entity. In a scheme without entities they get the
    most frequent tag.
    """
    known: dict[str, Counter[Label]] = {}
    total: Counter[Label] = Counter()
    for sentence in train:
        labels = _labels(sentence, scheme)
        total.update(labels)
        for word, label in zip(sentence.words, labels, strict=False):
            known.setdefault(word, Counter())[label] += 1
    best = {word: _most_frequent(counts) for word, counts in known.items()}
    otherwise = None if scheme.has_spans else _most_frequent(total)
    return Baseline(label=lambda word: best.get(word, otherwise), scheme=scheme)


def capitalised(train: Iterable[Sentence], *, scheme: Scheme) -> Baseline:
    """Return a baseline that gives capitalised words of any script the most frequent type, and others none.

    If the tags have no O (parts of speech), capitalised words get the most frequent tag of capitalised words.
    The other words get the most frequent tag of the other words.
    """
    types: Counter[Label] = Counter()
    large: Counter[Label] = Counter()
    small: Counter[Label] = Counter()
    for sentence in train:
        for start, _, label in read_spans(sentence.tags or (), scheme):
            types[label] += 1
            (large if is_capitalised(sentence.words[start]) else small)[label] += 1
    name, other = _most_frequent(large), _most_frequent(small)
    if scheme.has_spans or OUTSIDE in types:
        types.pop(OUTSIDE, None)
        name, other = _most_frequent(types), None
    return Baseline(label=lambda word: name if is_capitalised(word) else other, scheme=scheme)


BASELINES = {"every capitalised word": capitalised, "most frequent label of each word": exact_match}
"""By name; each learns from the training sentences and their scheme."""


def is_capitalised(word: str) -> bool:
    """Return whether the word begins with an upper-case or title-case letter."""
    return unicodedata.category(word[:1] or " ") in ("Lu", "Lt")


def _labels(sentence: Sentence, scheme: Scheme) -> list[Label]:
    """Return the label of each word, or an empty list if the sentence has no tags."""
    tags = sentence.tags or ()
    if not scheme.has_spans:
        return list(tags)
    labels: list[Label] = [None] * len(tags)
    for start, end, label in to_spans(tags, scheme):
        labels[start:end] = [label] * (end - start)
    return labels


def _most_frequent(labels: Counter[Label]) -> Label:
    """Return the label with the highest count, or None if there is none. Ties: None first, then by name."""
    return min(labels, key=lambda label: (-labels[label], label or ""), default=None)


def _runs(labels: Sequence[Label]) -> Iterator[TokenSpan]:
    at = 0
    for label, run in groupby(labels):
        start, at = at, at + len(list(run))
        if label is not None:
            yield start, at, label
