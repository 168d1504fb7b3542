"""Recall by whether a mention occurred in the training data.

A tagger that scores well on names from its training data may still miss new ones. Taillé, Guigue & Gallinari
2020 ("Contextualized Embeddings in Named-Entity Recognition: An Empirical Study on Generalization") split
recall by lexical overlap with the training set. The classes of a gold mention in the evaluated file are:

- ``seen``: its exact surface form is a training mention with the same type (Taillé's exact match);
- ``seen_other_type``: its surface form is a training mention, but only with other types;
- ``partly_seen``: otherwise, one of its content words, case-folded, is in some training mention of any type
  (Taillé requires the same type);
- ``unseen``: none of these.

A *content word* has at least two letters or digits and is not a function word ("the", "of", "에서"). The
words of a mention are its tokens. If all its tokens are single characters, as in Korean text cut into
syllables, its words are its eojeols: the parts of its text between spaces. So 서울대학교 병원 is partly seen
after 서울대학교, and 서울역 is unseen after 서울시. Without the text, such a mention is one word.

For plain (part-of-speech) tags each token is a mention. Then ``partly_seen`` is a word known only in another
casing and ``unseen`` an out-of-vocabulary word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from gonie.errors import InputError
from gonie.metrics.aligned import Aligned, align_spans
from gonie.metrics.counts import SentenceCounts, ratio
from gonie.metrics.spans import read_spans
from gonie.text.fold import fold_text
from gonie.text.schemes import Scheme, TokenSpan
from gonie.text.types import Sentence

_ENGLISH = "a an the of and or in on at to for from by with as is it its be this that no not"
_NAMES = "de la le el du van von der"
_KOREAN = "에서 으로 에게 까지 부터 에는 에도 이다 그리고"
FUNCTION_WORDS = frozenset(" ".join((_ENGLISH, _NAMES, _KOREAN)).split())


class Novelty(StrEnum):
    """How a mention relates to the training mentions."""

    SEEN = "seen"
    SEEN_OTHER_TYPE = "seen_other_type"
    PARTLY_SEEN = "partly_seen"
    UNSEEN = "unseen"


def is_content(token: str) -> bool:
    """Return whether the token has at least two letters or digits and is not a function word."""
    return sum(map(str.isalnum, token)) >= 2 and token.casefold() not in FUNCTION_WORDS


def _content_words(sentence: Sentence | Sequence[str], span: TokenSpan) -> set[str]:
    """Return the content words of a mention, folded and case-folded (see the module docstring)."""
    start, end, _ = span
    words = _words(sentence)[start:end]
    tokens = [fold_text(word) for word in words]
    if all(len(token) == 1 for token in tokens):
        placed = isinstance(sentence, Sentence) and sentence.text is not None
        edges = sentence.offsets()[start:end] if isinstance(sentence, Sentence) and placed else []
        cuts = [at for at, (before, after) in enumerate(pairwise(edges), 1) if before[1] < after[0]]
        tokens = ["".join(tokens[first:last]) for first, last in pairwise([0, *cuts, len(tokens)])]
    return {token.casefold() for token in tokens if is_content(token)}


def _words(sentence: Sentence | Sequence[str]) -> Sequence[str]:
    return sentence.words if isinstance(sentence, Sentence) else sentence


def surface(words: Sequence[str], span: TokenSpan) -> str:
    """Return the words of a span, folded and joined by spaces. Mentions are compared in this form."""
    return fold_text(" ".join(words[span[0] : span[1]]))


@dataclass(frozen=True)
class SeenMentions:
    """The mentions of a training set: each surface form and the types it had there, and all content words."""

    types: Mapping[str, frozenset[str]]
    words: frozenset[str]

    @classmethod
    def from_types(
        cls, types: Mapping[str, Iterable[str]], words: Iterable[str] | None = None
    ) -> SeenMentions:
        """Build from a mapping of surface form to types. Content words that are not given are its tokens."""
        if words is None:
            split = (form.split() for form in types)
            words = (word for form in split for word in _content_words(form, (0, len(form), "")))
        return cls({form: frozenset(known) for form, known in types.items()}, frozenset(words))

    @classmethod
    def from_spans(
        cls, sentences: Iterable[tuple[Sentence | Sequence[str], Iterable[TokenSpan]]]
    ) -> SeenMentions:
        """Build from pairs of a training sentence, or only its words, and its spans."""
        types: dict[str, set[str]] = {}
        content: set[str] = set()
        for sentence, spans in sentences:
            for span in spans:
                types.setdefault(surface(_words(sentence), span), set()).add(span[2])
                content |= _content_words(sentence, span)
        return cls.from_types(types, content)

    @classmethod
    def from_sentences(cls, sentences: Iterable[Sentence], scheme: Scheme) -> SeenMentions:
        """Build from training sentences with gold tags, skipping sentences without tags."""
        tagged = ((s, read_spans(s.tags, scheme), ()) for s in sentences if s.tags is not None)
        aligned = (align_spans(*each) if scheme.has_spans else Aligned(*each) for each in tagged)
        return cls.from_spans((each.sentence, each.gold) for each in aligned)

    def merged(self, other: SeenMentions) -> SeenMentions:
        """Return the mentions and words of both."""
        empty: frozenset[str] = frozenset()
        forms = {*self.types, *other.types}
        types = {form: self.types.get(form, empty) | other.types.get(form, empty) for form in forms}
        return SeenMentions(types, self.words | other.words)

    def novelty(self, sentence: Sentence | Sequence[str], span: TokenSpan) -> Novelty:
        """Return the novelty class of one mention of a sentence, or of words (see the module docstring)."""
        known = self.types.get(surface(_words(sentence), span))
        if known is not None:
            return Novelty.SEEN if span[2] in known else Novelty.SEEN_OTHER_TYPE
        return Novelty.PARTLY_SEEN if _content_words(sentence, span) & self.words else Novelty.UNSEEN

    @property
    def labels(self) -> frozenset[str]:
        """All types of the training set."""
        return frozenset().union(*self.types.values())

    def to_json(self) -> dict[str, object]:
        """Return ``{"mentions": {surface: [types]}, "words": […]}``, sorted, to be saved in a run folder."""
        mentions = {form: sorted(types) for form, types in sorted(self.types.items())}
        return {"mentions": mentions, "words": sorted(self.words)}

    @classmethod
    def from_json(cls, data: object) -> SeenMentions:
        """Read the output of ``to_json``; older files have no words. Raise InputError for anything else."""
        mentions, words = (
            (data.get("mentions"), data.get("words")) if isinstance(data, Mapping) else (None,) * 2
        )
        valid = isinstance(mentions, Mapping) and all(map(_is_texts, mentions.values()))
        if not isinstance(mentions, Mapping) or not valid or not (words is None or _is_texts(words)):
            raise InputError(
                'invalid seen mentions: not {"mentions": {surface: [types]}}',
                fix="Train again to write the file",
            )
        return cls.from_types(mentions, words)


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


@dataclass(frozen=True, slots=True)
class Recall:
    """The number of gold mentions of a novelty class and how many were found."""

    gold: int
    correct: int

    @property
    def recall(self) -> float:
        """correct / gold, or 0 if there is no gold."""
        return ratio(self.correct, self.gold)

    def to_json(self) -> dict[str, float | int]:
        """Return the fraction and its counts."""
        return {"recall": self.recall, "gold": self.gold, "correct": self.correct}


def novelty_counts(
    sentences: Sequence[Sentence | Sequence[str]],
    gold: Sequence[Iterable[TokenSpan]],
    predicted: Sequence[Iterable[TokenSpan]],
    seen: SeenMentions,
) -> SentenceCounts:
    """Count gold and correct mentions per sentence: two columns per ``Novelty`` class in order, (N, 8).

    A sentence may be given by its words only.
    """
    column = {kind: 2 * at for at, kind in enumerate(Novelty)}

    def events() -> Iterator[tuple[int, int, int]]:
        for row, (sentence, truth, guess) in enumerate(zip(sentences, gold, predicted, strict=True)):
            given = set(guess)
            for span in truth:
                at = column[seen.novelty(sentence, span)]
                yield row, at, 1
                yield row, at + 1, int(span in given)

    return SentenceCounts.from_events(events(), sentences=len(gold), columns=2 * len(Novelty))


def novelty_recall(counts: SentenceCounts) -> dict[Novelty, Recall]:
    """Return the recall per class from the table of ``novelty_counts``."""
    total = counts.total().reshape(len(Novelty), 2)
    return {
        kind: Recall(int(gold), int(correct)) for kind, (gold, correct) in zip(Novelty, total, strict=True)
    }
