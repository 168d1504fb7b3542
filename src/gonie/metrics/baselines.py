"""Two taggers that learn next to nothing, for a learned one to beat.

``exact_match`` knows by heart what each word was, ``capitalised`` looks at a word's first letter. A network
that is no better than the first has not learned from context; one no better than the second, nothing at all.
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
"""The type of a token's entity, None outside of any; under a scheme without entities, the tag itself."""


class Baseline:
    """A tagger that sees one word at a time: ``label`` says what it is taken for.

    Neighbours with one label become one entity of ``scheme``, so the tags are always well formed.
    """

    def __init__(self, *, label: Callable[[str], Label], scheme: Scheme) -> None:
        self._label = label
        self._scheme = scheme

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        """A tag for each word, in the scheme of the training tags."""
        labels = [self._label(word) for word in words]
        if not self._scheme.has_spans:
            return tuple(OUTSIDE if label is None else label for label in labels)
        return tuple(from_spans(_runs(labels), len(labels), self._scheme))


def exact_match(train: Iterable[Sentence], *, scheme: Scheme) -> Baseline:
    """Each word gets the label it had most often in training, letter for letter.

    A word that training never had is in no entity; where there are no entities it gets the most frequent tag.
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
    """Each word that begins with a capital letter, of any script, gets the most frequent type; others none.

    Tags without an O among them (parts of speech) know no outside: then words with a capital and words
    without each get the tag that is the most frequent among their like.
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


def is_capitalised(word: str) -> bool:
    """Does the word begin with an upper-case or title-case letter?"""
    return unicodedata.category(word[:1] or " ") in ("Lu", "Lt")


def _labels(sentence: Sentence, scheme: Scheme) -> list[Label]:
    """The label of each word; none of a sentence without tags."""
    tags = sentence.tags or ()
    if not scheme.has_spans:
        return list(tags)
    labels: list[Label] = [None] * len(tags)
    for start, end, label in to_spans(tags, scheme):
        labels[start:end] = [label] * (end - start)
    return labels


def _most_frequent(labels: Counter[Label]) -> Label:
    """The label with the highest count, outside before the first by name of equals; None if there is none."""
    return min(labels, key=lambda label: (-labels[label], label or ""), default=None)


def _runs(labels: Sequence[Label]) -> Iterator[TokenSpan]:
    at = 0
    for label, run in groupby(labels):
        start, at = at, at + len(list(run))
        if label is not None:
            yield start, at, label
