"""The kinds of augmentation that need nothing but text, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from gonie.text.augment.case import Case
from gonie.text.augment.copies import Augment
from gonie.text.augment.mentions import Mentions
from gonie.text.augment.shuffle import Shuffle
from gonie.text.augment.shuffled_text import ShuffledText
from gonie.text.augment.tokens import Tokens
from gonie.text.augment.typos import Typos
from gonie.text.augment.words import RespelledSentence, RespelledText
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


class SentenceKind(NamedTuple):
    """A kind for tagged sentences: built from the training sentences, their tag scheme and the rate."""

    description: str
    build: Callable[[Iterable[Sentence], Scheme, float], Augment[Sentence]]
    needs_spans: bool = False


class TextKind(NamedTuple):
    """A kind for labelled texts, built from the rate."""

    description: str
    build: Callable[[float], Augment[LabelledText]]


SENTENCE_KINDS: Mapping[str, SentenceKind] = MappingProxyType(
    {
        "mentions": SentenceKind(
            "entities become others of the same type",
            lambda sentences, scheme, rate: Mentions(sentences, scheme=scheme, rate=rate),
            needs_spans=True,
        ),
        "tokens": SentenceKind(
            "words become others with the same tag",
            lambda sentences, scheme, rate: Tokens(sentences, rate=rate),
        ),
        "shuffle": SentenceKind(
            "words change places inside a mention, or between two mentions",
            lambda sentences, scheme, rate: Shuffle(scheme=scheme, rate=rate),
        ),
        "typos": SentenceKind(
            "typing errors on the English or Korean keyboard",
            lambda sentences, scheme, rate: RespelledSentence(Typos(rate=rate)),
        ),
        "case": SentenceKind(
            "the sentence in lower, upper or title case",
            lambda sentences, scheme, rate: RespelledSentence(Case()),
        ),
    }
)
TEXT_KINDS: Mapping[str, TextKind] = MappingProxyType(
    {
        "shuffle": TextKind(
            "words change places inside a clause",
            lambda rate: ShuffledText(rate=rate),
        ),
        "typos": TextKind(
            "typing errors on the English or Korean keyboard",
            lambda rate: RespelledText(Typos(rate=rate)),
        ),
        "case": TextKind(
            "the text in lower, upper or title case",
            lambda rate: RespelledText(Case()),
        ),
    }
)
