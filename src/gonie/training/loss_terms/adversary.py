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
from gonie.nn.inference import to_tensors
from gonie.nn.precision import autocast, widened
from gonie.tasks.paths import InputFile, locate
from gonie.tasks.section import Section, Size
from gonie.tasks.torch.job import ExampleJob
from gonie.training.loss_terms.term import TermContext, TermPart

STEEPNESS = 10.0
"""γ of the paper: how fast λ rises."""
RIDGE = 0.1
"""α, the penalty of the weights of the classifier of domains, as a multiple of F, the number of features."""
ROWS = 4096
"""The number of recent vectors that the classifier of domains is fitted to."""
UNUSED = -1
"""The domain of rows that hold no vector yet. Vectors of examples without a domain are never added."""
TINY = 1e-6
"""Added to what divides, against division by 0: the variance of a unit, the error of chance."""


class AdversaryConfig(Section):
    """A classifier of domains with gradient reversal (Ganin et al. 2016, arXiv:1505.07818)."""

    text: InputFile | None = Field(
        default=None,
        description="unlabelled text of the target domain, one text per line, or a file with the columns of "
        "the training file, whose labels are ignored; unset: only the domains of the training examples are "
        "compared",
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
    which predicts the share of each domain: 0 is a perfect classifier, 1 is chance, and more is misled.
    λ = weight · (2 / (1 + exp(−10 p)) − 1), where p rises from 0 to 1 in the first ``ramp`` of training. x is
    the mean of the states of a sentence, or each of them; of text models it is the vector of the text.

    In the paper, both sides take gradient steps. A classifier that lags behind the model pushes states where
    it saw the domain some steps ago, and the two oscillate. Here the classifier is linear in x and in random
    hidden units, so ``fit`` computes its weights exactly, from the vectors of this batch and of earlier ones.
    Each vector is judged by the weights that follow from all others. So a classifier that memorises few
    vectors is hardly mistaken for one that tells their domains, except where the earlier batches had the same
    sentences (``ROWS`` is more than an epoch), in other states. It reads standardised states, (x − mean) /
    deviation of each unit over the batch, so that smaller states are not harder to classify.

    Domains are numbered by ``domains`` (N,) of a batch, and are all 0 without it. Examples with a number
    below 0 have no domain and do not count. Texts of the target are one more domain. At each step as many of
    them are drawn as the batch has examples.
    """

    moves = ("steps",)
    steps: Tensor

    def __init__(self, config: AdversaryConfig, context: TermContext) -> None:
        super().__init__()
        job = context.need_job("adversary")
        found = context.domains or [0]
        if config.text is None and len(found) < 2:
            if left_out := context.recipe.data.leave_out:
                raise RecipeError(
                    [
                        f"loss.adversary: there is only one domain, because data.leave_out = {left_out}; "
                        "name the files of three or more domains with --set data.train.NAME=FILE, or add "
                        "text of another domain with --set loss.adversary.text=FILE"
                    ]
                )
            raise RecipeError(
                [
                    "loss.adversary: there is only one domain; add text of another one with "
                    "--set loss.adversary.text=FILE, or name the file of each domain with "
                    "--set data.train.NAME=FILE"
                ]
            )
        *places, width = context.need_states("adversary").shape
        if config.per == "token" and len(places) < 2:
            raise RecipeError(["loss.adversary.per: token works only with taggers; use sentence"])
        self._domains = max(found) + 1
        self._outputs = self._domains + (config.text is not None)
        self.recent = RecentVectors(width=width)
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self._config = config
        self._total = max(1.0, config.ramp * context.steps)
        self._precision = context.recipe.train.precision
        self._device = context.device
        self._target: Examples | None = None
        self._digest = ""
        if config.text is not None:
            self._target = _target(job, context, config.text)
            with locate(config.text).open("rb") as file:
                self._digest = hashlib.file_digest(file, "sha256").hexdigest()

    def digest(self) -> str:
        """Return a digest of the text of the target domain."""
        return self._digest

    def strength(self) -> float:
        """Return λ at the current step."""
        progress = min(1.0, int(self.steps) / self._total)
        return self._config.weight * (2 / (1 + math.exp(-STEEPNESS * progress)) - 1)

    def forward(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Fit the classifier. Return −λ times its error on the batch relative to chance. Shape: ()."""
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
        vectors, domains = _sampled(vectors[known], domains[known], size=ROWS)
        vectors = _standardised(vectors)
        self.recent.add(vectors.detach(), domains)
        classifier = fit(*self.recent.used(), outputs=self._outputs, hidden=self._config.hidden)
        predicted = classifier.held_out(vectors, domains)
        return -strength * relative_error(predicted, domains, classifier.shares)

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
        """Replace the oldest rows by vectors (M, H) and domains (M,), at most as many as there are rows."""
        rows = len(self.domains)
        self.vectors.copy_(torch.cat([vectors, self.vectors])[:rows])
        self.domains.copy_(torch.cat([domains, self.domains])[:rows])

    def used(self) -> tuple[Tensor, Tensor]:
        """Return the vectors that were added, and their domains. Shape: (M, H), (M,)."""
        rows = self.domains != UNUSED
        return self.vectors[rows], self.domains[rows]


@dataclass(frozen=True, kw_only=True)
class DomainClassifier:
    """Predicts p + V φ(x), where φ(x) = (x, relu(W x + b)) − m: the share of each domain at x."""

    inner: Tensor  # W, (hidden, H)
    bias: Tensor  # b, (hidden,)
    middle: Tensor  # m, (F,)
    outer: Tensor  # V, (D, F)
    shares: Tensor  # p, (D,)
    inverse: Tensor  # A⁻¹ of ``fit``, (F, F)
    size: int  # M, the number of vectors that it is fitted to

    def __call__(self, x: Tensor) -> Tensor:
        """Return the predictions: (N, H) -> (N, D)."""
        return self.shares + F.linear(self._centred(x), self.outer)

    def held_out(self, x: Tensor, domains: Tensor) -> Tensor:
        """Return the prediction for each of some fitted vectors, by the classifier fitted to all others.

        Without vector i, (p, V) is (p − r / M, V − r (A⁻¹ φᵢ)ᵀ), where r = (yᵢ − p − V φᵢ) / (1 − hᵢ) is its
        error there and hᵢ = 1 / M + φᵢᵀ A⁻¹ φᵢ. r and A⁻¹ φᵢ are constants in the gradient, as are p and V.
        Shape: (N, H), (N,) -> (N, D).
        """
        predicted, features = self(x), self._centred(x)
        solved = (features @ self.inverse).detach()  # A⁻¹ φᵢ, (N, F)
        leverage = 1 / self.size + (features * solved).sum(1, keepdim=True)  # hᵢ, (N, 1)
        gold = F.one_hot(domains, len(self.shares)).to(x.dtype)  # (N, D)
        errors = ((gold - predicted) / (1 - leverage).clamp(min=TINY)).detach()
        return predicted - errors * leverage

    def _centred(self, x: Tensor) -> Tensor:
        """Return φ(x): (N, H) -> (N, F)."""
        return _features(x, self.inner, self.bias) - self.middle


def fit(x: Tensor, domains: Tensor, *, outputs: int, hidden: int) -> DomainClassifier:
    """Fit a classifier to vectors (M, H) with domains (M,), with new random W and b.

    V minimises the sum of ‖y − p − V φ(x)‖² plus α F ‖V‖² (ridge regression), so V = (A⁻¹ Σ φ(x) (y − p)ᵀ)ᵀ
    with A = Σ φ(x) φ(x)ᵀ + α F I. y is 1 for the domain of x and 0 for others. p and m are the means of y
    and of the features. The penalty has as much weight as α F vectors.
    """
    width = x.shape[1]
    inner = (torch.randn(hidden, width) / width**0.5).to(x)
    bias = torch.randn(hidden).to(x)
    gold, features = F.one_hot(domains, outputs).to(x.dtype), _features(x, inner, bias)  # (M, D), (M, F)
    shares, middle = gold.mean(0), features.mean(0)
    features = features - middle
    number = features.shape[1]
    squares = features.t() @ features + RIDGE * number * torch.eye(number).to(x)  # A, (F, F)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(squares))
    outer = (inverse @ (features.t() @ (gold - shares))).t()
    return DomainClassifier(
        inner=inner,
        bias=bias,
        middle=middle,
        outer=outer,
        shares=shares,
        inverse=inverse,
        size=len(x),
    )


def relative_error(predicted: Tensor, domains: Tensor, shares: Tensor) -> Tensor:
    """Return the squared error of predictions (N, D) for domains (N,), divided by that of shares (D,)."""
    gold = F.one_hot(domains, len(shares)).to(predicted.dtype)  # (N, D)
    return (gold - predicted).square().sum() / ((gold - shares).square().sum() + TINY)


def _features(x: Tensor, inner: Tensor, bias: Tensor) -> Tensor:
    """Return x and the hidden units relu(W x + b): (M, H) -> (M, F)."""
    return torch.cat([x, F.linear(x, inner, bias).relu()], 1)


def _sampled(vectors: Tensor, domains: Tensor, *, size: int) -> tuple[Tensor, Tensor]:
    """Return vectors (M, H) and domains (M,), or a random sample of ``size`` of them if there are more."""
    if len(vectors) <= size:
        return vectors, domains
    chosen = torch.randperm(len(vectors))[:size].to(vectors.device)
    return vectors[chosen], domains[chosen]


def _standardised(vectors: Tensor) -> Tensor:
    """Return the vectors (M, H) with mean 0 and variance 1 of each unit. Constant units are 0."""
    centred = vectors - vectors.mean(0)
    return centred / (centred.square().mean(0) + TINY).sqrt()


def _target(job: ExampleJob, context: TermContext, name: str) -> Examples:
    """Return the encoded texts of the target domain, with the vectors of frozen sources."""
    examples = job.encode_file(context.model, name, context.note)
    if not len(examples):
        raise InputError(
            "no texts of the target domain", path=name, fix="Set loss.adversary.text to a file with text"
        )
    return examples


PART = TermPart(
    help="states that do not reveal the domain of a text", section=AdversaryConfig, build=Adversary
)
