"""The data classes of explanations, shared by the methods that compute them and the pages that show them.

A *weight* says how much a token contributes to one prediction. Attention weights are shares: at least 0, and
they sum to 1 over a text. The other methods give signed weights, which are positive if a token supports the
prediction. Each method has its own scale, so weights can be compared within a method but not across methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gonie.text.passages import Passage
from gonie.text.types import Candidate, Sentence

Method = Literal["attention", "integrated gradients", "erasure"]
RANDOM, UNIFORM = "random", "uniform attention"
"""The controls that methods are compared with."""


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """The weights that one method gives the tokens of each sentence for the prediction ``label``.

    ``sentences`` has one number per sentence: its share of the text for attention, otherwise the sum over its
    tokens. ``gap`` is set for integrated gradients. It is the difference between the sum of the weights and
    the value that they should sum to.
    """

    method: Method
    label: str
    words: tuple[tuple[float, ...], ...]
    sentences: tuple[float, ...]
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class TextExplanation:
    """One classified text: its prediction, and the weights of each method.

    ``label`` is the most probable label. ``given`` holds the predicted labels: only ``label``, or any number
    of labels for multi-label texts. ``gold`` is empty if unknown.
    """

    text: str
    passage: Passage
    label: str
    given: tuple[str, ...]
    probabilities: Mapping[str, float]
    weights: tuple[TokenWeights, ...]
    gold: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedSpan:
    """What a model has in place of a span that the user asked about.

    ``tags`` are its tags there and ``probability`` is that of exactly these tags. ``gap`` is the difference
    between their log-odds and those of the span. ``predicted`` means that the model does predict the span.
    """

    tags: tuple[str, ...]
    probability: float
    gap: float
    predicted: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        return {
            "asked": True,
            "predicted": self.predicted,
            "preferred": {"tags": list(self.tags), "score": self.probability},
            "gap": self.gap,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class SpanExplanation:
    """A span of tokens [start, end) with its probability. Its weights cover the whole sentence.

    The span is predicted, or ``asked`` about by the user.
    """

    start: int
    end: int
    label: str
    probability: float
    weights: tuple[TokenWeights, ...]
    asked: AskedSpan | None = None


@dataclass(frozen=True, slots=True)
class TagExplanation:
    """One tagged sentence: its tags, their alternatives, and the weights for each span.

    ``spans`` are predicted, and ``asked`` are those that the user asked about. ``marginals`` has the
    probability of every tag for each token. ``types`` are the labels that spans of this model can have.
    """

    sentence: Sentence
    tags: tuple[str, ...]
    marginals: tuple[Mapping[str, float], ...]
    candidates: tuple[Candidate, ...]
    spans: tuple[SpanExplanation, ...]
    types: tuple[str, ...] = ()
    asked: tuple[SpanExplanation, ...] = ()


@dataclass(frozen=True, slots=True)
class Transitions:
    """The transition scores of a CRF. ``scores[i][j]`` is the score from tag i to tag j.

    ``start`` and ``end`` have one score per tag. A forbidden transition is minus infinity.
    """

    labels: tuple[str, ...]
    scores: tuple[tuple[float, ...], ...]
    start: tuple[float, ...]
    end: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LayerShares:
    """How a model mixes the layers of its language model at one ``place``: its input or its output.

    ``shares`` has one number per layer and sums to 1. Layer 0 is the character-based word representation. The
    mixture is multiplied by ``scale``, γ. Unless the layers were ``normalized`` first, a layer with larger
    values has more influence than its share.
    """

    place: str
    shares: tuple[float, ...]
    scale: float
    normalized: bool


@dataclass(frozen=True, slots=True)
class Faithfulness:
    """How faithful the weights of a method are to the model, over ``texts`` texts (DeYoung et al. 2020).

    ``comprehensiveness`` is the drop in the probability of the prediction when the tokens of highest weight
    are removed. ``sufficiency`` is the drop when only they are kept. Both are means over shares of the tokens
    (AOPC). High comprehensiveness and low sufficiency are good. ``method`` is one of the methods, or a
    control: "random" or "uniform attention".
    """

    method: str
    comprehensiveness: float
    sufficiency: float
    texts: int
