"""How well a language model predicts text it has not seen, each way on its own, over its whole vocabulary."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import torch

from gonie.features.batching import sorted_batches
from gonie.features.lm_text import BEGIN, END, TextRows
from gonie.nn.inference import evaluating
from gonie.nn.precision import autocast
from gonie.tasks.language_model.torch.data import Note, RunningText
from gonie.tasks.language_model.torch.feed import Numbers, put
from gonie.tasks.language_model.torch.network import LanguageModel
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.sections import LearningConfig

NOTE_SECONDS = 5.0  # seconds between two progress notes
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


def measure(
    model: LanguageModel, text: RunningText, config: LearningConfig, note: Note | None = None
) -> Perplexity:
    """The perplexity of every word of ``text``, which the model reads onward and backward as a whole.

    ``note`` is told how far it is, where it takes long.
    """
    reader = StatefulReader(model=model, rows=ROWS).to(_device(model))
    return _measured(model, text, config, ((reader, batch) for batch in _whole(text)), note)


def measure_alone(
    model: LanguageModel, text: RunningText, config: LearningConfig, note: Note | None = None
) -> Perplexity:
    """The same of sentences each read from nothing, as a model is used."""
    readers = (
        (StatefulReader(model=model, rows=batch.ahead_inputs.shape[1]).to(_device(model)), batch)
        for batch in _sentences(text)
    )
    return _measured(model, text, config, readers, note)


def _measured(
    model: LanguageModel,
    text: RunningText,
    config: LearningConfig,
    batches: Iterable[tuple[StatefulReader, TextRows]],
    note: Note | None,
) -> Perplexity:
    device = _device(model)
    spelled = torch.from_numpy(text.spelled).to(device)
    total = torch.zeros(2, dtype=torch.float64, device=device)
    counted = torch.zeros(2, dtype=torch.int64, device=device)
    done, noted = 0, time.monotonic()
    with evaluating(model), torch.inference_mode(), autocast(config.precision, device):
        for reader, batch in batches:
            ready = put(Numbers.of(batch, text.targets), spelled)
            total += reader(ready).double().sum((1, 2))
            counted += torch.stack([ready.ahead.counts.sum(), ready.back.counts.sum()])
            done += batch.ahead_targets.size
            if note and time.monotonic() - noted > NOTE_SECONDS:
                note(f"held-out text: {min(done, len(text.tokens)):,} of {len(text.tokens):,} tokens scored")
                noted = time.monotonic()
    ahead, back = (total / counted).exp().tolist()
    return Perplexity(ahead, back)


def _device(model: LanguageModel) -> torch.device:
    return next(model.parameters()).device


def _whole(text: RunningText) -> Iterator[TextRows]:
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
        yield TextRows(
            ahead_inputs=ahead[:-1],
            ahead_targets=ahead[1:],
            ahead_counts=(onward[1:] < len(tokens)) & (ahead[1:] != BEGIN),
            back_inputs=back[:-1],
            back_targets=back[1:],
            back_counts=(backward[1:] < len(tokens)) & (back[1:] != END),
        )


def _sentences(text: RunningText) -> Iterator[TextRows]:
    """Whole sentences, those of like length together: each word, and the mark of the far end, as a target."""
    tokens = np.asarray(text.tokens)
    ends = np.flatnonzero(tokens == END)
    lengths = np.diff(ends, prepend=-1)  # (N,) tokens of each, with both marks
    for rows in sorted_batches(lengths, tokens=ROWS * STEPS, sentences=4 * ROWS):
        steps = np.arange(lengths[rows].max())[:, None]  # (T + 1, 1)
        real = steps < lengths[rows]
        ahead = tokens[np.where(real, ends[rows] - lengths[rows] + 1 + steps, 0)]  # (T + 1, B)
        back = tokens[np.where(real, ends[rows] - steps, 0)]
        yield TextRows(
            ahead_inputs=ahead[:-1],
            ahead_targets=ahead[1:],
            ahead_counts=real[1:],
            back_inputs=back[:-1],
            back_targets=back[1:],
            back_counts=real[1:],
        )
