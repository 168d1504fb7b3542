"""The kinds of augmentation that need nothing but text, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from gonie.text.augment.case import OtherCase
from gonie.text.augment.copies import Augment
from gonie.text.augment.mentions import ReplacedMentions
from gonie.text.augment.shuffle import ShuffledSegments
from gonie.text.augment.shuffled_text import ShuffledText
from gonie.text.augment.tokens import ReplacedTokens
from gonie.text.augment.typos import Typos
from gonie.text.augment.words import RespelledSentence, RespelledText
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


class SentenceKind(NamedTuple):
    """A kind for tagged sentences: built from the training sentences, their tag scheme and the rate."""

    build: Callable[[Iterable[Sentence], Scheme, float], Augment[Sentence]]
    needs_spans: bool = False


TextKind = Callable[[float], Augment[LabelledText]]
"""A kind for labelled texts, built from the rate."""


SENTENCE_KINDS: Mapping[str, SentenceKind] = MappingProxyType(
    {
        "mentions": SentenceKind(
            lambda sentences, scheme, rate: ReplacedMentions(sentences, scheme=scheme, rate=rate),
            needs_spans=True,
        ),
        "tokens": SentenceKind(lambda sentences, scheme, rate: ReplacedTokens(sentences, rate=rate)),
        "shuffle": SentenceKind(lambda sentences, scheme, rate: ShuffledSegments(scheme=scheme, rate=rate)),
        "typos": SentenceKind(lambda sentences, scheme, rate: RespelledSentence(Typos(rate=rate))),
        "case": SentenceKind(lambda sentences, scheme, rate: RespelledSentence(OtherCase())),
    }
)
"""The kinds for tagged sentences by name."""
TEXT_KINDS: Mapping[str, TextKind] = MappingProxyType(
    {
        "shuffle": lambda rate: ShuffledText(rate=rate),
        "typos": lambda rate: RespelledText(Typos(rate=rate)),
        "case": lambda rate: RespelledText(OtherCase()),
    }
)
"""The kinds for labelled texts by name."""
