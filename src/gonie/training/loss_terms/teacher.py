"""Distillation: the answers of a teacher to unlabelled text (``[loss.teacher]``, ``gonie distill``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.log_marginals import log_marginals
from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.multi_label import MultiLabelHead
from gonie.nn.precision import autocast, widened
from gonie.system.array_folder import Array
from gonie.tasks.classification.answers import CHANCES
from gonie.tasks.section import Section
from gonie.tasks.tagging.answers import MARGINALS, PATH_CHANCES, PATHS
from gonie.tasks.teacher import MISSING
from gonie.tasks.torch.example_batches import ExampleBatches
from gonie.tasks.torch.job import AnsweredExamples, TaughtJob
from gonie.training.loss_terms.term import TermContext, TermPart

TERM = "teacher"


class TeacherConfig(Section):
    """The answers of a teacher to unlabelled text (data.answers; Hinton et al. 2015, arXiv:1503.02531)."""

    weight: float = Field(
        default=1.0, ge=0, description="weight of the probabilities of single tags, or of the labels of texts"
    )
    paths: float = Field(
        default=1.0, ge=0, description="weight of the teacher's best tag sequences (taggers only)"
    )
    gold: float = Field(default=1.0, ge=0, description="weight of the gold labels of the training file")
    confidence: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="leave out sentences with a token, or texts, of whose most probable label the teacher is "
        "less sure",
    )
    batch: int = Field(
        default=0, ge=0, description="unlabelled examples per step; 0: as train.batch_sentences chooses"
    )


class TeacherAnswers(nn.Module):
    """w τ² Σ KL(q ‖ p) − v Σ r(y) log p(y) + (g − 1) L: what the teacher answers to unlabelled examples.

    At each step, a batch of the unlabelled examples is drawn: each of them once, then again in another order.
    q are the answers of the teacher at the temperature τ, p those of the student with its scores divided by
    τ. Sums are over the labels and the tokens, and the value is the mean over the examples, as that of L,
    the loss on the gold labels of the step. With a weight g of gold labels, L counts g times.

    * **Taggers** (Hinton, Vinyals & Dean 2015, arXiv:1503.02531; Wang et al. 2020, arXiv:2004.03846). With a
      CRF, q and p are marginals of the whole sentence. y are the teacher's best tag sequences, and r their
      probabilities at τ, which add to 1; p(y) is the probability of the student at temperature 1.
    * **Text models.** q and p are the probabilities of the labels. Of multi-label texts, each label is a
      decision of its own.
    """

    moves = ("passes", "done")
    passes: Tensor
    done: Tensor

    def __init__(self, config: TeacherConfig, context: TermContext) -> None:
        super().__init__()
        examples = _answered(context)
        if context.recipe.task != "tag":
            if config.paths and "paths" in config.model_fields_set:
                raise RecipeError([f"loss.{TERM}.paths: works only with taggers; remove it"])
            config = config.model_copy(update={"paths": 0.0})
        if not (config.weight or config.paths):
            context.note(
                f"loss.{TERM}: weight and paths are 0, so the answers of the teacher are not learned"
            )
        self._config = config
        self._temperature = examples.temperature
        self._precision = context.recipe.train.precision
        self._device = context.device
        chosen = _Chosen(examples, _confident(examples, config.confidence, context))
        size = {"batch_sentences": config.batch} if config.batch else {}
        plan = context.recipe.train.model_copy(update=size)
        self._batches = ExampleBatches(chosen, plan, context.device)
        self._iterator: Iterator[Mapping[str, Tensor]] = iter(())
        self._at = (-1, -1)  # pass and batch that ``_iterator`` yields next
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))
        self.register_buffer("done", torch.zeros((), dtype=torch.int64))

    def forward(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor | float:
        """Return the weighted loss on the next unlabelled examples. Shape: ()."""
        config = self._config
        value: Tensor | float = 0.0
        if config.gold != 1:
            value = (config.gold - 1) * model.loss_of(states, batch)
        if not (config.weight or config.paths):
            return value
        unlabelled = self._next()
        with autocast(self._precision, self._device):
            own = model.states(unlabelled)
        scores = widened(model.score(widened(own), unlabelled))
        if CHANCES in unlabelled:
            return value + config.weight * label_loss(
                model.head(), scores, unlabelled[CHANCES], temperature=self._temperature
            )
        mask = unlabelled["mask"]
        if config.weight:
            value = value + config.weight * marginal_loss(
                model.head(), scores, unlabelled[MARGINALS], mask, temperature=self._temperature
            )
        if config.paths:
            paths, chances = unlabelled[PATHS], unlabelled[PATH_CHANCES]
            value = value + config.paths * path_loss(model.head(), scores, paths, chances, mask)
        return value

    def _next(self) -> Mapping[str, Tensor]:
        """Return the next batch, the one after those of a resumed run."""
        at = (int(self.passes), int(self.done))
        if at[1] >= self._batches.size(at[0]):
            at = (at[0] + 1, 0)
        if at != self._at:
            self._iterator = (each.content for each in self._batches.batches(*at))
        self._at = (at[0], at[1] + 1)
        self.passes.fill_(self._at[0])
        self.done.fill_(self._at[1])
        return next(self._iterator)


def marginal_loss(
    head: nn.Module, scores: Tensor, teacher: Tensor, mask: Tensor, *, temperature: float
) -> Tensor:
    """Return τ² Σ KL(q ‖ p) of all tokens, mean over sentences. Shape: ().

    Shape: ``scores`` (B, T, K), ``teacher`` (B, T, K) with q, ``mask`` (B, T).
    """
    log_p = _tag_log_p(head, scores, mask, temperature)
    found = _divergence(teacher, log_p).where(mask.unsqueeze(2), 0.0)
    return temperature**2 * found.sum() / len(mask)


def path_loss(head: nn.Module, scores: Tensor, paths: Tensor, chances: Tensor, mask: Tensor) -> Tensor:
    """Return −Σ r(y) log p(y) of the tag sequences, mean over sentences. Shape: ().

    Shape: ``scores`` (B, T, K), ``paths`` (B, n, T), ``chances`` (B, n) with r, ``mask`` (B, T).
    """
    tags = paths.clamp(min=0)
    if isinstance(head, CRFHead):
        log_p = head.crf.unchecked_path_log_likelihoods(scores, tags, mask)  # (B, n)
    else:
        each = scores.log_softmax(2).unsqueeze(1).expand(-1, tags.shape[1], -1, -1)  # (B, n, T, K)
        tokens = each.gather(3, tags.unsqueeze(3)).squeeze(3)  # (B, n, T)
        log_p = tokens.where(mask.unsqueeze(1), 0.0).sum(2)
    return -(chances * log_p).where(chances > 0, 0.0).sum() / len(mask)


def label_loss(head: nn.Module, scores: Tensor, teacher: Tensor, *, temperature: float) -> Tensor:
    """Return τ² Σ KL(q ‖ p) of all labels, mean over texts. Shape: ().

    Shape: ``scores`` (N, K), ``teacher`` (N, K) with q.
    """
    heated = scores / temperature
    if isinstance(head, MultiLabelHead):
        log_p = F.logsigmoid(torch.stack([heated, -heated]))
        found = _divergence(torch.stack([teacher, 1 - teacher]), log_p)
    else:
        found = _divergence(teacher, heated.log_softmax(1))
    return temperature**2 * found.sum() / len(scores)


def _tag_log_p(head: nn.Module, scores: Tensor, mask: Tensor, temperature: float) -> Tensor:
    """Return the log-probability of each tag of the student. Shape: (B, T, K)."""
    heated = scores / temperature
    if not isinstance(head, CRFHead):
        return heated.log_softmax(2)
    return log_marginals(heated, mask, Chain(*(part / temperature for part in head.crf.learned())))


def _divergence(teacher: Tensor, log_p: Tensor) -> Tensor:
    """Return the terms q (log q − log p) of the divergence, 0 where q is 0."""
    return torch.xlogy(teacher, teacher) - (teacher * log_p).where(teacher > 0, 0.0)


class _Chosen:
    """Some of the examples that a teacher has answered, as training examples."""

    def __init__(self, examples: AnsweredExamples, rows: NDArray[np.int64]) -> None:
        self._examples = examples
        self._rows = rows
        self.lengths = examples.lengths[rows]
        self.sizes = examples.sizes[rows]
        self.heights = None if examples.heights is None else examples.heights[rows]
        self.domains = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def tokens(self) -> int:
        """The total number of tokens."""
        return int(self.sizes.sum())

    def batch(self, rows: NDArray[np.int64]) -> dict[str, Array]:
        """Return the padded batch of the examples ``rows``."""
        return self._examples.batch(self._rows[rows])


def _answered(context: TermContext) -> AnsweredExamples:
    """Return the examples that a teacher has answered, or raise an error if there are none."""
    job: Any = context.need_job(TERM)
    if not isinstance(job, TaughtJob):
        raise RecipeError(
            [f"loss.{TERM}: works only with taggers and text classifiers, not with {context.recipe.task!r}"]
        )
    found = job.answered(context.model, context.note)
    if found is None:
        raise RecipeError(
            [
                f"loss.{TERM}: needs the answers of a teacher; train with gonie distill, or set data.answers "
                "to the folder of answers of one of its runs"
            ]
        )
    return found


def _confident(examples: AnsweredExamples, least: float, context: TermContext) -> NDArray[np.int64]:
    """Return the rows of the answers of at least this confidence. Note how many others there are."""
    rows = np.flatnonzero(examples.confidences >= least)
    noun = getattr(context.job, "noun", "examples")
    missing = int((examples.confidences == MISSING).sum())
    if missing == len(examples):
        raise RecipeError(
            [f"loss.{TERM}: the teacher could not answer any of the {missing:,} unlabelled {noun}"]
        )
    if missing:
        context.note(
            f"loss.{TERM}: {missing:,} of {len(examples):,} unlabelled {noun} left out, because the teacher "
            "could not answer them"
        )
    if not len(rows):
        raise RecipeError(
            [
                f"loss.{TERM}.confidence: the teacher is not that sure of any of the {len(examples):,} "
                f"unlabelled {noun}; the highest confidence is {examples.confidences.max():.3f}"
            ]
        )
    if left_out := len(examples) - missing - len(rows):
        context.note(
            f"loss.{TERM}: {left_out:,} of {len(examples):,} unlabelled {noun} left out, because the "
            f"confidence of the teacher is under {least:g}"
        )
    return rows


PART = TermPart(help="answers of a teacher to unlabelled text", section=TeacherConfig, build=TeacherAnswers)
