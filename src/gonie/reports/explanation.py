"""What an explanation holds, whoever made it and whoever shows it.

A *weight* says how much a token did for one answer. Attention gives shares: at least 0, and 1 in sum over a
text. The other methods give signed weights, positive where a token speaks for the answer; their scale is the
method's own, so weights are compared within a method, never across.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gonie.text.passages import Passage
from gonie.text.types import Candidate, Sentence

Method = Literal["attention", "integrated gradients", "erasure"]
RANDOM, UNIFORM = "random", "uniform attention"
"""The controls that methods are compared with."""


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """The weights that one method gives the tokens of each sentence, for the answer ``label``.

    ``sentences`` has one number a sentence: of attention its share in the text, else the sum over its tokens.
    ``gap``, of integrated gradients, is what the weights leave unexplained: how far their sum falls short of
    what they should sum to.
    """

    method: Method
    label: str
    words: tuple[tuple[float, ...], ...]
    sentences: tuple[float, ...]
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class TextExplanation:
    """One classified text: what the model says of it, and what each method says about why.

    ``label`` is the most probable one. ``given`` are those that the text gets: ``label`` alone, or, where a
    text may have several, any number of them. ``gold`` is empty where it is not known.
    """

    text: str
    passage: Passage
    label: str
    given: tuple[str, ...]
    probabilities: Mapping[str, float]
    weights: tuple[TokenWeights, ...]
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpanExplanation:
    """Tokens [start, end) carry ``label`` with this probability; the weights are over the whole sentence."""

    start: int
    end: int
    label: str
    probability: float
    weights: tuple[TokenWeights, ...]


@dataclass(frozen=True, slots=True)
class TagExplanation:
    """One tagged sentence: its tags, what else they might have been, and what each span rests on.

    ``marginals`` has, for each token, every tag's probability.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    marginals: tuple[Mapping[str, float], ...]
    candidates: tuple[Candidate, ...]
    spans: tuple[SpanExplanation, ...]


@dataclass(frozen=True, slots=True)
class Transitions:
    """What a chain has learned of sequences: a score for each move, ``scores[i][j]`` from tag i to tag j.

    ``start`` and ``end`` have a score for each tag. A move that no sequence may make is minus infinity.
    """

    labels: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    start: tuple[float, ...]
    end: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LayerShares:
    """How a model mixes the layers of its language model at one ``place``: its input, or its output.

    ``shares`` has one number a layer, 1 in sum; layer 0 is the words by their spelling. The whole is
    multiplied by ``scale``, γ. Unless the layers were ``normalized`` first, one of larger numbers has more
    to say than its share.
    """

    place: str
    shares: tuple[float, ...]
    scale: float
    normalized: bool


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """How well a method's weights say what this model really uses, over so many texts (DeYoung et al. 2020).

    ``comprehensiveness`` is how much the answer's probability falls when the tokens of highest weight are
    taken out, ``sufficiency`` how much it falls when only they are kept; both are means over shares of the
    tokens (AOPC). High comprehensiveness and low sufficiency are good. ``method`` is one of the methods, or a
    control: "random" or "uniform attention".
    """

    method: str
    comprehensiveness: float
    sufficiency: float
    texts: int
