"""The perplexity of a language model on held-out text, in each direction, with the full softmax."""

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
from gonie.tasks.language_model.torch.feed import BatchIds, to_device
from gonie.tasks.language_model.torch.network import LanguageModel
from gonie.tasks.language_model.torch.stateful import StatefulReader
from gonie.tasks.sections import LearningConfig

NOTE_SECONDS = 5.0  # seconds between two progress notes
ROWS, STEPS = 64, 64
"""Rows of a batch, and words per row. The result does not depend on them."""


class Perplexity(NamedTuple):
    """exp of the mean -log p of a word, including the end (backward: the beginning) of sentences."""

    ahead: float
    back: float

    @property
    def mean(self) -> float:
        """The geometric mean of both directions."""
        return math.sqrt(self.ahead * self.back)


def measure(
    model: LanguageModel, text: RunningText, config: LearningConfig, note: Note | None = None
) -> Perplexity:
    """Return the perplexity of ``text``, read as continuous text in both directions.

    ``note`` receives progress notes.
    """
    reader = StatefulReader(model=model, rows=ROWS).to(_device(model))
    return _score_batches(model, text, config, ((reader, batch) for batch in _text_rows(text)), note)


def measure_alone(
    model: LanguageModel, text: RunningText, config: LearningConfig, note: Note | None = None
) -> Perplexity:
    """Return the perplexity of the sentences of ``text``, each read from zero states, as at inference."""
    readers = (
        (StatefulReader(model=model, rows=batch.ahead_inputs.shape[1]).to(_device(model)), batch)
        for batch in _sentence_rows(text)
    )
    return _score_batches(model, text, config, readers, note)


def _score_batches(
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
            ready = to_device(BatchIds.of(batch, text.targets), spelled)
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


def _text_rows(text: RunningText) -> Iterator[TextRows]:
    """Yield every token as a target once per direction, in rows of equal length. Padding is not scored."""
    tokens = np.asarray(text.tokens)
    length = -(-len(tokens) // ROWS)
    firsts = length * np.arange(ROWS)  # (R,)
    for start in range(0, length, STEPS):
        # (T + 1, 1), because targets are shifted by one
        passed = start + np.arange(min(STEPS, length - start) + 1)[:, None]
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


def _sentence_rows(text: RunningText) -> Iterator[TextRows]:
    """Yield whole sentences, batched by length. Targets are the words and the mark of the last end."""
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
