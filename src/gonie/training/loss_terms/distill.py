"""Distillation of the model that training starts from (``[loss.distill]``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from gonie.errors import RecipeError
from gonie.features.encoding import Encoding
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.log_marginals import IMPOSSIBLE, log_marginals
from gonie.nn.heads.crf import CRFHead
from gonie.nn.heads.multi_label import MultiLabelHead
from gonie.nn.heads.objectives import AnyOf
from gonie.nn.heads.text_value import TextValueHead
from gonie.nn.precision import widened
from gonie.tasks.section import Section
from gonie.tasks.torch.start import label_names
from gonie.training.loss_terms.frozen_copy import FrozenCopy
from gonie.training.loss_terms.term import TermContext, TermPart


class DistillConfig(Section):
    """Distillation of the old labels from train.start (Hinton et al. 2015; Monaikul et al. 2021)."""

    weight: float = Field(default=1.0, ge=0, description="weight of the divergence from the start")
    temperature: float = Field(
        default=1.0, gt=0, description="τ, by which scores are divided; higher is softer"
    )


class Distill:
    """w τ² Σ KL(q ‖ p): the labels of the start are learned from its probabilities q, not from the new file.

    Hinton, Vinyals & Dean 2015 (arXiv:1503.02531), for new labels Li & Hoiem 2016 (arXiv:1606.09282), for
    new entity types ExtendNER of Monaikul et al. 2021 (AAAI). q and p are the probabilities of the old labels
    with scores divided by τ; the new labels are left out and the rest renormalised. The sum is over the
    labels, and over the tokens of a sentence; the value is the mean over the sentences, as that of the loss.
    At τ = 1 (the default), q and p are the probabilities of the models, as the factorisation below needs.

    * **Taggers.** With ``train.keep_labels``, O of the new file means "no type of this file": O, or any tag
      of a kept type. Tokens for which the file leaves several old tags are distilled, over these tags. Tokens
      of entities keep their gold tags, and in kept sentences (``train.replay``) O is no old type. With a CRF,
      q and p are marginals, given what the file says about all tokens. Then p(y) = p(the file is right) ·
      p(y | the file is right). The loss with open O trains the first factor, and this term the second. The
      start does not know the new types, so for it, a token of a new type may have any old tag.
    * If the file leaves no old tag open, because it has all types of the start or plain tags, every token is
      distilled over all old tags, as by Li & Hoiem: so the start is remembered on text of another domain.
    * **Text models.** Every text is distilled. Of multi-label texts, each label counts as a decision.
    """

    def __init__(self, config: DistillConfig, context: TermContext) -> None:
        start = context.need_start("distill")
        encoding = context.need_job("distill").encoding
        labels = list(encoding.labels)
        if isinstance(encoding, Encoding):
            start.refuse_other_tags(encoding.scheme, "loss.distill")
        if lost := sorted(label_names(start.encoding) - label_names(encoding)):
            raise RecipeError(
                [
                    f"loss.distill: labels of train.start are not kept: {', '.join(lost)}; "
                    "set train.keep_labels=true"
                ]
            )
        if any(isinstance(part, TextValueHead) for part in context.model.modules()):
            raise RecipeError(["loss.distill: works only with labels, not with values"])
        self._config = config
        self._teacher = FrozenCopy(context.model)
        self._old = torch.tensor([label in set(start.encoding.labels) for label in labels])  # (K,)
        self._old = self._old.to(context.device)

    def __call__(self, model: Any, batch: Mapping[str, Tensor], states: Tensor) -> Tensor:
        """Return the weighted divergence. Shape: ()."""
        scores, gold = model.score(widened(states), batch), self._teacher.scores(batch)
        if "tags" in batch and "labels" not in batch:
            value = self._of_tokens(model.head(), scores, gold, batch)
        else:
            value = self._of_texts(model.head(), scores, gold)
        return self._config.weight * self._config.temperature**2 * value

    def _of_texts(self, head: nn.Module, scores: Tensor, gold: Tensor) -> Tensor:
        """Return the divergence, from scores (N, K), mean over texts. Shape: ()."""
        own, teacher = (each[:, self._old] / self._config.temperature for each in (scores, gold))
        if isinstance(head, MultiLabelHead):
            own, teacher = (F.logsigmoid(torch.stack([each, -each])) for each in (own, teacher))
            return _divergence(teacher, own).sum() / scores.shape[0]
        return _divergence(teacher.log_softmax(1), own.log_softmax(1)).sum() / len(scores)

    def _of_tokens(
        self, head: nn.Module, scores: Tensor, gold: Tensor, batch: Mapping[str, Tensor]
    ) -> Tensor:
        """Return the divergence, from scores (B, T, K), mean over sentences. Shape: ()."""
        mask = batch["mask"]
        options = self._options(head, batch["tags"].where(mask, 0), scores)  # (B, T, K)
        known = options & self._old
        several = (known.sum(2) > 1).unsqueeze(2)  # (B, T, 1)
        student = self._log_p(head, scores, mask, known.where(several, options))
        with torch.no_grad():
            given = known.where(known.any(2, keepdim=True), self._old)
            teacher = self._log_p(self._teacher.model.head(), gold, mask, given)
        found = _divergence(teacher, student).where(known & several & mask.unsqueeze(2), 0.0)
        return found.sum() / len(mask)

    def _options(self, head: nn.Module, tags: Tensor, scores: Tensor) -> Tensor:
        """Return which of the K tags each token may have: by the file, or all old ones. Shape: (B, T, K)."""
        objective = getattr(head, "objective", None)
        return objective.options[tags] if isinstance(objective, AnyOf) else self._old.expand_as(scores)

    def _log_p(self, head: nn.Module, scores: Tensor, mask: Tensor, options: Tensor) -> Tensor:
        """Return the log-probability of each tag among the options (B, T, K). Shape: (B, T, K)."""
        fitting = (scores / self._config.temperature).masked_fill(~options, IMPOSSIBLE)
        if not isinstance(head, CRFHead):
            return fitting.log_softmax(2)
        chain = Chain(*(part / self._config.temperature for part in head.crf.learned()))
        return log_marginals(fitting, mask, chain)


def _divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """Return the terms q (log q − log p) of the divergence, from log q and log p."""
    return teacher.exp() * (teacher - student)


PART = TermPart(
    help="distillation of the old labels from train.start",
    section=DistillConfig,
    build=Distill,
    needs_start=True,
)
