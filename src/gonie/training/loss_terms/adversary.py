"""A domain adversary: states from which the domain of a text cannot be told (``[loss.adversary]``)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
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
DECAY = 1e-3
"""Weight decay of the classifier of domains."""
MEMORY = 0.99
"""β₂ of Adam: the share of the mean squared gradients that is kept at each gradient step."""
ROWS = 1024
"""The number of recent vectors that the classifier of domains learns from."""
WEIGHTS = ("inner", "inner_bias", "outer", "outer_bias")
"""The weights W, b, V and c of the classifier of domains."""
UNUSED = -1
"""The domain of rows that hold no vector yet."""
TINY = 1e-6
"""Added to what divides, against division by 0: the variance of a unit, the size of a gradient."""


class AdversaryConfig(Section):
    """A domain classifier with gradient reversal (Ganin et al. 2016, arXiv:1505.07818)."""

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
    updates: Size = Field(
        default=3,
        description="gradient steps of the classifier of domains in each step of the model, so that it keeps "
        "up with the model",
    )
    rate: float = Field(
        default=0.1,
        gt=0,
        description="learning rate of the classifier of domains, relative to the size of its initial weights",
    )
    hidden: Size = Field(default=100, description="hidden units of the classifier of domains")
    per: Literal["sentence", "token"] = Field(
        default="sentence",
        description="what the classifier reads: the mean state of a sentence, or each token (taggers only)",
    )


class Adversary(nn.Module):
    """−λ times the cross-entropy of a classifier of domains over states: Ganin et al. 2016.

    The classifier, log softmax(V relu(W x + b) + c), learns the domain of x. The model gets −λ times the
    gradient of its cross-entropy, so it learns states that have nothing to do with the domain
    (arXiv:1505.07818). λ = weight · (2 / (1 + exp(−10 p)) − 1), where p rises from 0 to 1 in the first
    ``ramp`` of training. x is the mean of the states of a sentence, or each of them; of text models it is the
    vector of the text.

    The classifier learns from a buffer of the last 1024 vectors, which are those of earlier batches. So it
    cannot memorise the batch of the step, whose reversed gradient would then vanish. A classifier that lags
    behind the model pushes states where it saw the domain some steps ago, and the two oscillate. So it takes
    several gradient steps in each step of the model, as the critic of Arjovsky, Chintala & Bottou 2017
    (arXiv:1701.07875). It reads standardised states, (x − mean) / deviation of each unit over the batch. So
    the domain cannot hide in units of low variance, nor is it a way out to shrink all states.

    Domains are numbered by ``domains`` (N,) of a batch, and are all 0 without it. Texts of the target are
    one more domain. At each step as many of them are drawn as the batch has examples.
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
        width = _state_width(job, context)
        outputs = self._domains + (config.text is not None)
        self.classifier = DomainClassifier(width=width, hidden=config.hidden, outputs=outputs)
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
        """Train the classifier on earlier batches. Return −λ times its mean cross-entropy. Shape: ()."""
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
        vectors = _standardised(vectors)
        self.classifier.learn(
            self.recent.vectors, self.recent.domains, updates=self._config.updates, rate=self._config.rate
        )
        self.recent.add(vectors.detach(), domains)
        return -strength * F.cross_entropy(self.classifier(vectors), domains)

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


class DomainClassifier(nn.Module):
    """V relu(W x + b) + c. Only ``learn`` changes its weights, which are buffers: no optimizer sees them.

    A gradient step is that of Adam without momentum. It divides each gradient by the root of the mean of its
    squares, so the size of a step depends neither on the width of x nor on the number of vectors. A weight
    moves by about ``rate`` / √n, where n is the number of its layer's inputs: initial weights have the size
    1 / √n.
    """

    moves = (*WEIGHTS, *(f"{name}_squares" for name in WEIGHTS), "updates")
    updates: Tensor

    def __init__(self, *, width: int, hidden: int, outputs: int) -> None:
        super().__init__()
        layers = nn.Linear(width, hidden), nn.Linear(hidden, outputs)  # for their initial weights
        weights = [weight.detach() for layer in layers for weight in (layer.weight, layer.bias)]
        for name, weight in zip(WEIGHTS, weights, strict=True):
            self.register_buffer(name, weight)
            self.register_buffer(f"{name}_squares", torch.zeros_like(weight))
        self.register_buffer("updates", torch.zeros(()))
        self._scales = [layer.in_features**-0.5 for layer in layers for _ in range(2)]

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of each domain: (M, H) -> (M, D)."""
        return _classify(x, *self._weights())

    def learn(self, x: Tensor, domains: Tensor, *, updates: int, rate: float) -> None:
        """Take gradient steps on the mean cross-entropy of vectors (M, H) with domains (M,).

        Vectors of the domain ``UNUSED`` do not count.
        """
        used = (domains != UNUSED).sum().clamp(min=1)
        for _ in range(updates):
            weights = [weight.detach().requires_grad_() for weight in self._weights()]
            scores = _classify(x, *weights)
            loss = F.cross_entropy(scores, domains, ignore_index=UNUSED, reduction="sum") / used
            self._step(torch.autograd.grad(loss, weights), rate)

    def _step(self, gradients: Sequence[Tensor], rate: float) -> None:
        """Change the weights by one step of Adam without momentum, with weight decay."""
        self.updates += 1
        correction = 1 - MEMORY**self.updates  # of means that start at 0
        for name, gradient, scale in zip(WEIGHTS, gradients, self._scales, strict=True):
            weight, squares = self.get_buffer(name), self.get_buffer(f"{name}_squares")
            decayed = gradient + DECAY * weight
            squares.lerp_(decayed.square(), 1 - MEMORY)
            weight.sub_(rate * scale * decayed / ((squares / correction).sqrt() + TINY))

    def _weights(self) -> list[Tensor]:
        return [self.get_buffer(name) for name in WEIGHTS]


def _classify(x: Tensor, inner: Tensor, inner_bias: Tensor, outer: Tensor, outer_bias: Tensor) -> Tensor:
    return F.linear(F.linear(x, inner, inner_bias).relu(), outer, outer_bias)


def _standardised(vectors: Tensor) -> Tensor:
    """Return the vectors (M, H) with mean 0 and variance 1 of each unit. Constant units are 0."""
    centred = vectors - vectors.mean(0)
    return centred / (centred.square().mean(0) + TINY).sqrt()


def _state_width(job: ExampleJob, context: TermContext) -> int:
    """Return the width of the states, from those of a training example."""
    model: Any = context.model
    row = torch.zeros(1, dtype=torch.int64).numpy()
    with inferring(model):
        return int(model.states(to_tensors(job.train.batch(row), context.device)).shape[-1])


def _target(job: ExampleJob, context: TermContext, name: str) -> Examples:
    """Return the encoded texts of the target domain, with the vectors of frozen sources."""
    examples = job.encode_file(context.model, name, context.note)
    if not len(examples):
        raise InputError("no texts of the target domain", path=name, fix="Set loss.adversary.text to others")
    return examples


PART = TermPart(
    help="states that do not reveal the domain of a text", section=AdversaryConfig, build=Adversary
)
