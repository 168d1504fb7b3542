"""The kinds of augmentation that need nothing but text, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from gonie.text.augment.case import OtherCase
from gonie.text.augment.copies import Augment
from gonie.text.augment.crop import CroppedSentence
from gonie.text.augment.mentions import ReplacedMentions
from gonie.text.augment.shuffle import ShuffledSegments
from gonie.text.augment.shuffled_text import ShuffledText
from gonie.text.augment.tokens import ReplacedTokens
from gonie.text.augment.typos import Typos
from gonie.text.augment.where import Where
from gonie.text.augment.words import RespelledSentence, RespelledText
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence


class Fit(NamedTuple):
    """What a kind for tagged sentences is built from."""

    sentences: Sequence[Sentence]
    scheme: Scheme
    rate: float
    where: Where = "all"


class SentenceKind(NamedTuple):
    """A kind for tagged sentences."""

    build: Callable[[Fit], Augment[Sentence]]
    needs_spans: bool = False


TextKind = Callable[[float], Augment[LabelledText]]
"""A kind for labelled texts, built from the rate."""


SENTENCE_KINDS: Mapping[str, SentenceKind] = MappingProxyType(
    {
        "mentions": SentenceKind(
            lambda fit: ReplacedMentions(fit.sentences, scheme=fit.scheme, rate=fit.rate), needs_spans=True
        ),
        "tokens": SentenceKind(
            lambda fit: ReplacedTokens(fit.sentences, scheme=fit.scheme, rate=fit.rate, where=fit.where)
        ),
        "shuffle": SentenceKind(lambda fit: ShuffledSegments(scheme=fit.scheme, rate=fit.rate)),
        "crop": SentenceKind(lambda fit: CroppedSentence(scheme=fit.scheme, rate=fit.rate)),
        "typos": SentenceKind(
            lambda fit: RespelledSentence(Typos(rate=fit.rate), scheme=fit.scheme, where=fit.where)
        ),
        "case": SentenceKind(lambda fit: RespelledSentence(OtherCase(), scheme=fit.scheme)),
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
