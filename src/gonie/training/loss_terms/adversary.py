"""A domain adversary: states from which the domain of a text cannot be told (``[loss.adversary]``)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import InputError, RecipeError
from gonie.features.corpus import Examples
from gonie.nn.inference import inferring, to_tensors
from gonie.nn.precision import autocast, widened
from gonie.tasks.paths import InputFile, locate
from gonie.tasks.section import Section, Size
from gonie.tasks.torch.job import ExampleJob
from gonie.training.loss_terms.term import TermContext, TermPart

STEEPNESS = 10.0
"""γ of the paper: how fast λ rises."""
RIDGE = 1e-3
"""α, the penalty of the weights of the classifier of domains, which reads standardised units."""
ROWS = 4096
"""The number of recent vectors that the classifier of domains is fitted to."""
UNUSED = -1
"""The domain of rows that hold no vector yet."""
TINY = 1e-6
"""Added to what divides, against division by 0: the variance of a unit, the error of chance."""


class AdversaryConfig(Section):
    """A classifier of domains with gradient reversal (Ganin et al. 2016, arXiv:1505.07818)."""

    text: InputFile | None = Field(
        default=None,
        description="unlabelled text of the target domain, one text per line, or a file in a format of the "
        "task, whose labels are ignored; unset: only the domains of the training examples are compared",
    )
    weight: float = Field(
        default=1.0, ge=0, description="λ at the end, the strength of the reversed gradient"
    )
    ramp: float = Field(
        default=1.0, gt=0, description="share of train.epochs in which λ rises from 0 to its full value"
    )
    hidden: Size = Field(default=100, description="random hidden units of the classifier of domains")
    per: Literal["sentence", "token"] = Field(
        default="sentence",
        description="what the classifier reads: the mean state of a sentence, or each token (taggers only)",
    )


class Adversary(nn.Module):
    """−λ times the relative squared error of a classifier of domains over states, after Ganin et al. 2016.

    The classifier learns the domain of x. The model gets −λ times the gradient of its error, so it learns
    states that have nothing to do with the domain (arXiv:1505.07818). The error is divided by that of chance,
    which predicts the share of each domain: 1 is chance, 0 is a perfect classifier.
    λ = weight · (2 / (1 + exp(−10 p)) − 1), where p rises from 0 to 1 in the first ``ramp`` of training. x is
    the mean of the states of a sentence, or each of them; of text models it is the vector of the text.

    In the paper, both sides take gradient steps. A classifier that lags behind the model pushes states where
    it saw the domain some steps ago, and the two oscillate. Here the classifier is linear in x and in random
    hidden units, so ``fit`` computes its weights exactly, from the vectors of this batch and of earlier ones.
    Its weights, and with them the reversed gradient, vanish with the difference between the domains. It reads
    standardised states, (x − mean) / deviation of each unit over the batch. So it is no way out to shrink all
    states.

    Domains are numbered by ``domains`` (N,) of a batch, and are all 0 without it. Examples with a number
    below 0 have no domain and do not count. Texts of the target are one more domain. At each step as many of
    them are drawn as the batch has examples.
    """

    moves = ("steps",)
    steps: Tensor

    def __init__(self, config: AdversaryConfig, context: TermContext) -> None:
        super().__init__()
        job = context.need_job("adversary")
        known = getattr(job, "domains", None)
        self._domains = 1 if known is None else int(known.max()) + 1
        if config.text is None and self._domains < 2:
            raise RecipeError(
                ["loss.adversary.text: needs text of another domain, or training examples of several domains"]
            )
        *places, width = _state_shape(job, context)
        if config.per == "token" and len(places) < 2:
            raise RecipeError(["loss.adversary.per: token works only with taggers; use sentence"])
        self._outputs = self._domains + (config.text is not None)
        self.recent = RecentVectors(width=width)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self._config = config
        self._total = max(1.0, config.ramp * context.steps)
        self._precision = context.recipe.train.precision
        self._device = context.device
        self._target, self._digest = None, ""
        if config.text is not None:
            self._target = _target(job, context, config.text)
            self._digest = hashlib.sha256(locate(config.text).read_bytes()).hexdigest()

    def digest(self) -> str:
        """Return a digest of the text of the target domain."""
        return self._digest

    def strength(self) -> float:
        """Return λ at the current step."""
        progress = min(1.0, int(self.steps) / self._total)
        return self._config.weight * (2 / (1 + math.exp(-STEEPNESS * progress)) - 1)

    def forward(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Fit the classifier. Return −λ times its relative error on the batch. Shape: ()."""
        strength = self.strength()
        self.steps += 1
        parts = [(states, batch, self._own_domains(states, batch))]
        if self._target is not None:
            target = self._drawn(self._target, len(states))
            with autocast(self._precision, self._device):
                others = model.states(target)
            parts.append((others, target, states.new_full((len(others),), self._domains, dtype=torch.int64)))
        read = [self._read(*part) for part in parts]
        vectors, domains = (torch.cat(each) for each in zip(*read, strict=True))  # (M, H), (M,)
        known = domains >= 0  # kept and partially tagged examples may have no domain
        if not known.any():
            return 0.0 * states.sum()
        vectors, domains = _standardised(vectors[known]), domains[known]
        self.recent.add(vectors.detach(), domains)
        classifier = fit(*self.recent.used(), outputs=self._outputs, hidden=self._config.hidden)
        return -strength * classifier.relative_error(vectors, domains)

    def _own_domains(self, states: Tensor, batch: Mapping[str, Tensor]) -> Tensor:
        """Return the domain of each example of a training batch. Shape: (N,)."""
        if "domains" in batch:
            return batch["domains"].long()
        return torch.zeros(len(states), dtype=torch.int64, device=states.device)

    def _read(self, states: Tensor, batch: Mapping[str, Tensor], domains: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is classified, and its domains. Shape: (M, H), (M,)."""
        states = widened(states)
        if states.dim() == 2:  # the vectors of texts
            return states, domains
        mask = batch["mask"]  # (B, T)
        if self._config.per == "token":
            return states[mask], domains.unsqueeze(1).expand_as(mask)[mask]
        inside = states.where(mask.unsqueeze(2), 0.0)
        return inside.sum(1) / mask.sum(1, keepdim=True), domains

    def _drawn(self, examples: Examples, size: int) -> dict[str, Tensor]:
        """Return a batch of examples, drawn uniformly."""
        rows = torch.randint(len(examples), (size,)).numpy()
        return to_tensors(examples.batch(rows), self._device)


class RecentVectors(nn.Module):
    """The last vectors that were added and their domains, which are ``UNUSED`` in rows without a vector."""

    moves = ("vectors", "domains")
    vectors: Tensor  # (R, H)
    domains: Tensor  # (R,)

    def __init__(self, *, width: int, rows: int = ROWS) -> None:
        super().__init__()
        self.register_buffer("vectors", torch.zeros(rows, width))
        self.register_buffer("domains", torch.full((rows,), UNUSED))

    def add(self, vectors: Tensor, domains: Tensor) -> None:
        """Replace the oldest rows by vectors (M, H) and domains (M,), or all rows by a sample of them."""
        rows = len(self.domains)
        if len(vectors) > rows:
            chosen = torch.randperm(len(vectors))[:rows].to(vectors.device)
            vectors, domains = vectors[chosen], domains[chosen]
        self.vectors.copy_(torch.cat([vectors, self.vectors])[:rows])
        self.domains.copy_(torch.cat([domains, self.domains])[:rows])

    def used(self) -> tuple[Tensor, Tensor]:
        """Return the vectors that were added, and their domains. Shape: (M, H), (M,)."""
        rows = self.domains != UNUSED
        return self.vectors[rows], self.domains[rows]


@dataclass(frozen=True, kw_only=True)
class DomainClassifier:
    """Predicts p + V (f(x) − m), where f(x) = (x, relu(W x + b)): the share of each domain at x."""

    inner: Tensor  # W, (hidden, H)
    bias: Tensor  # b, (hidden,)
    middle: Tensor  # m, (F,)
    outer: Tensor  # V, (D, F)
    shares: Tensor  # p, (D,)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the predictions: (M, H) -> (M, D)."""
        return self.shares + F.linear(_features(x, self.inner, self.bias) - self.middle, self.outer)

    def relative_error(self, x: Tensor, domains: Tensor) -> Tensor:
        """Return the squared error for vectors (M, H) with domains (M,), divided by that of p. Shape: ()."""
        gold = F.one_hot(domains, len(self.shares)).to(x.dtype)  # (M, D)
        return (gold - self(x)).square().sum() / ((gold - self.shares).square().sum() + TINY)


def fit(x: Tensor, domains: Tensor, *, outputs: int, hidden: int) -> DomainClassifier:
    """Fit a classifier to vectors (M, H) with domains (M,), with new random W and b.

    V minimises the mean of ‖y − p − V (f(x) − m)‖² plus α ‖V‖² (ridge regression). y is 1 for the domain of x
    and 0 for others. p and m are the means of y and f(x).
    """
    width = x.shape[1]
    inner = (torch.randn(hidden, width) / width**0.5).to(x)
    bias = torch.randn(hidden).to(x)
    gold, features = F.one_hot(domains, outputs).to(x.dtype), _features(x, inner, bias)  # (M, D), (M, F)
    shares, middle = gold.mean(0), features.mean(0)
    features = features - middle
    squares = features.t() @ features / len(x) + RIDGE * torch.eye(features.shape[1]).to(x)  # (F, F)
    outer = torch.linalg.solve(squares, features.t() @ (gold - shares) / len(x)).t()
    return DomainClassifier(inner=inner, bias=bias, middle=middle, outer=outer, shares=shares)


def _features(x: Tensor, inner: Tensor, bias: Tensor) -> Tensor:
    """Return x and the hidden units relu(W x + b): (M, H) -> (M, F)."""
    return torch.cat([x, F.linear(x, inner, bias).relu()], 1)


def _standardised(vectors: Tensor) -> Tensor:
    """Return the vectors (M, H) with mean 0 and variance 1 of each unit. Constant units are 0."""
    centred = vectors - vectors.mean(0)
    return centred / (centred.square().mean(0) + TINY).sqrt()


def _state_shape(job: ExampleJob, context: TermContext) -> tuple[int, ...]:
    """Return the shape of the states of a training example: (1, T, H) of a tagger, (1, P) of a text model."""
    model: Any = context.model
    row = torch.zeros(1, dtype=torch.int64).numpy()
    with inferring(model):
        return tuple(model.states(to_tensors(job.train.batch(row), context.device)).shape)


def _target(job: ExampleJob, context: TermContext, name: str) -> Examples:
    """Return the encoded texts of the target domain, with the vectors of frozen sources."""
    examples = job.encode_file(context.model, name, context.note)
    if not len(examples):
        raise InputError("no texts of the target domain", path=name, fix="Set loss.adversary.text to others")
    return examples


PART = TermPart(
    help="states that do not reveal the domain of a text", section=AdversaryConfig, build=Adversary
)
