"""How well a language model predicts text it has not seen, each way on its own, over its whole vocabulary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from gonie.data.running import BEGIN, END, Batch
from gonie.models.config import LearningConfig
from gonie.models.evaluating import evaluating
from gonie.nn.bilm.language_model import LanguageModel
from gonie.nn.bilm.reader import Reader
from gonie.training.pretrain_data import Text
from gonie.training.pretrain_feed import Numbers, put
from gonie.training.updates import precision

ROWS, STEPS = 64, 64
"""Places of the text read at once, and words of each before the next batch; only time depends on them."""


class Perplexity(NamedTuple):
    """exp of the mean -log p of a word, the end (backward: the beginning) of a sentence being one too."""

    ahead: float
    back: float

    @property
    def mean(self) -> float:
        """Of both ways together."""
        return math.sqrt(self.ahead * self.back)


def measure(model: LanguageModel, text: Text, config: LearningConfig) -> Perplexity:
    """The perplexity of every word of ``text``, which the model reads onward and backward."""
    device = next(model.parameters()).device
    spelled = torch.from_numpy(text.spelled).to(device)
    reader = Reader(model=model, rows=ROWS).to(device)
    total = torch.zeros(2, dtype=torch.float64, device=device)
    counted = torch.zeros(2, dtype=torch.int64, device=device)
    with evaluating(reader), torch.inference_mode(), precision(config, device):
        for batch in _whole(text):
            ready = put(Numbers.of(batch, text.targets), spelled)
            total += reader(ready).double().sum((1, 2))
            counted += _count(ready.ahead.counts, ready.back.counts)
    ahead, back = (total / counted).exp().tolist()
    return Perplexity(ahead, back)


def _count(*counts: Tensor) -> Tensor:
    return torch.stack([way.sum() for way in counts])


def _whole(text: Text) -> Iterator[Batch]:
    """Every token as a target once each way, in rows of equal length; what fills up the last counts not."""
    tokens = np.asarray(text.tokens)
    length = -(-len(tokens) // ROWS)
    firsts = length * np.arange(ROWS)  # (R,)
    for start in range(0, length, STEPS):
        passed = (
            start + np.arange(min(STEPS, length - start) + 1)[:, None]
        )  # (T + 1, 1): targets follow inputs
        onward, backward = firsts - 1 + passed, firsts + length - passed  # (T + 1, R) places
        ahead, back = (tokens[places % len(tokens)] for places in (onward, backward))
        yield Batch(
            ahead_inputs=ahead[:-1],
            ahead_targets=ahead[1:],
            ahead_counts=(onward[1:] < len(tokens)) & (ahead[1:] != BEGIN),
            back_inputs=back[:-1],
            back_targets=back[1:],
            back_counts=(backward[1:] < len(tokens)) & (back[1:] != END),
        )
