"""Fixtures for tests of pages and terminal output: hand-made explanations of every kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from gonie.reports.explanation import (
    Faithfulness,
    Method,
    SpanExplanation,
    TagExplanation,
    TextExplanation,
    TokenWeights,
    Transitions,
)
from gonie.text.passages import Passage
from gonie.text.types import Candidate, Sentence

SIGNED: tuple[Method, ...] = ("integrated gradients", "erasure")
HOSTILE = (
    '<script>document.title = "owned"</script> </style><style>* { display: none } '
    '" onmouseover="document.title=1" <img src=x onerror=alert(1)> a\0b \u202eRTL\u202c \u200f שלום '
    "https://evil.example/x"
)
ENGLISH = "Not a bad film at all.\n\n  The second half drags, but the ending is wonderful!"
KOREAN = "정말 재미있는 영화 ㅋㅋㅋ 배우들의 연기가 훌륭하고 끝까지 지루하지 않았다."


def cut(text: str, *, by: str | None = None) -> tuple[Sentence, ...]:
    """Return sentences with offsets. Tokens in ``by`` end a sentence; None gives one sentence."""
    tokens = [(found.start(), found.end()) for found in re.finditer(r"\w+|[^\w\s]", text)]
    groups: list[list[tuple[int, int]]] = [[]]
    for start, end in tokens:
        groups[-1].append((start, end))
        if by is not None and text[start:end] in by:
            groups.append([])
    return tuple(
        Sentence(
            words=tuple(text[start:end] for start, end in group),
            text=text,
            starts=tuple(start for start, _ in group),
            ends=tuple(end for _, end in group),
        )
        for group in groups
        if group
    )


def attention(sentences: Sequence[Sentence], label: str) -> TokenWeights:
    """Return attention shares that grow with word length and along the text."""
    shares = [1.0 + at for at in range(len(sentences))]
    shares = [share / sum(shares) for share in shares]
    rows = []
    for sentence, share in zip(sentences, shares, strict=True):
        raw = [float(1 + len(word) ** 2) for word in sentence.words]
        rows.append(tuple(share * value / sum(raw) for value in raw))
    return TokenWeights("attention", label, tuple(rows), tuple(shares))


def signed(sentences: Sequence[Sentence], method: Method, label: str) -> TokenWeights:
    """Return weights of both signs; every seventh word has weight 0."""
    rows = tuple(tuple(map(_weight, range(len(each)), each.words)) for each in sentences)
    return TokenWeights(method, label, rows, tuple(map(sum, rows)))


def _weight(at: int, word: str) -> float:
    return ((7 * at + 3 * len(word)) % 13 - 6) / 10 if at % 7 != 6 else 0.0


def explained(text: str, *, by: str | None = None, label: str = "positive") -> TextExplanation:
    """Return the explanation of a text with all three methods."""
    sentences = cut(text, by=by)
    weights = (attention(sentences, label), *(signed(sentences, method, label) for method in SIGNED))
    chances = {label: 0.8125, f"not {label}": 0.1875}
    passage = Passage(sentences, text, path="a.tsv", line=3)
    return TextExplanation(text, passage, label, (label,), chances, weights, (label,))


@pytest.fixture
def explain_text() -> Callable[..., TextExplanation]:
    """The function that makes an explanation of a text."""
    return explained


@pytest.fixture
def texts() -> list[TextExplanation]:
    """A flat English text, a hierarchical one, a Korean one, and a hostile one."""
    return [
        explained(ENGLISH),
        explained(ENGLISH, by=".!"),
        explained(KOREAN, label="긍정"),
        explained(HOSTILE, label='"><script>document.title=2</script>'),
    ]


@pytest.fixture
def figures() -> list[Faithfulness]:
    """Measurements in which erasure is faithful and attention is not."""
    return [
        Faithfulness("attention", 0.125, 0.25, 200),
        Faithfulness("integrated gradients", 0.25, 0.125, 200),
        Faithfulness("erasure", 0.5, 0.0625, 200),
        Faithfulness("random", 0.125, 0.3125, 200),
        Faithfulness("uniform attention", 0.1, 0.3125, 200),
    ]


TAGS = ("O", "B-PER", "I-PER", "B-LOC")


def tagging(
    sentence: Sentence, tags: tuple[str, ...], spans: Sequence[tuple[int, int, str]], *others: Candidate
) -> TagExplanation:
    """Return a tagged sentence whose spans all have weights."""
    return TagExplanation(
        sentence,
        tags,
        tuple({tag: 0.91 if tag == given else 0.03 for tag in TAGS} for given in tags),
        (Candidate(tags, 0.75), *others),
        tuple(
            SpanExplanation(
                start, end, label, 0.9, tuple(signed([sentence], method, label) for method in SIGNED)
            )
            for start, end, label in spans
        ),
    )


@pytest.fixture
def tagged() -> list[TagExplanation]:
    """Two sentences of one text: one without spans, one with Hangul and three spans."""
    first, second = cut("It rains. 서울에 Anna Kim lives in Oslo .", by=".")
    tags = ("B-LOC", "B-PER", "I-PER", "O", "O", "B-LOC", "O")
    spans = [(1, 3, "PER"), (5, 6, "LOC"), (0, 1, "LOC")]
    return [
        tagging(first, ("O",) * len(first), []),
        tagging(second, tags, spans, Candidate(("O", *tags[1:]), 0.125)),
    ]


@pytest.fixture
def moves() -> Transitions:
    """Transitions in which an entity cannot begin with an I tag."""
    never = float("-inf")
    return Transitions(
        TAGS,
        ((0.5, 1.25, never, 0.25), (-0.5, -2.0, 2.5, 0.0), (0.5, -1.0, 1.0, 0.0), (0.75, 0.0, never, -1.5)),
        (0.25, 0.5, never, 0.125),
        (1.0, -0.25, 0.0, 0.125),
    )


@pytest.fixture
def hostile() -> str:
    """A text with scripts, markup and control characters."""
    return HOSTILE
