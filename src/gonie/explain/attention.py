"""What a model looks at: the shares of the words in the vector that its answer is made from.

Attention is part of the computation, not an account of it: a state that is looked at already holds its
neighbours, and what is made of it may speak for the answer or against it (Jain & Wallace 2019,
arXiv:1902.10186; Wiegreffe & Pinter 2019, arXiv:1908.04626). How far it can be trusted on a model is
measured, in ``faithfulness``. A pooling without attention has shares too: those of the mean are all the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gonie.explain.flat import by_sentence
from gonie.explain.odds import Floats
from gonie.reports.explanation import TokenWeights
from gonie.tasks.classification.reading import Reading


def attention(reading: Reading, label: str) -> TokenWeights:
    """Each token's share of the whole text: that of its sentence, times its own within the sentence.

    The shares are the same whatever the answer; ``label`` only says which one they stand beside.
    """
    shares = [
        share * words.astype(np.float64)
        for share, words in zip(reading.sentences.tolist(), reading.words, strict=True)
    ]
    lengths = [len(words) for words in reading.words]
    return by_sentence(np.concatenate(shares), lengths, method="attention", label=label)


def uniform_attention(lengths: Sequence[int]) -> Floats:
    """The shares of attention that prefers nothing: all sentences the same, and all tokens of a sentence.

    A control for ``attention``. In a flat model all tokens weigh the same; in a hierarchical one a token of a
    short sentence weighs more than one of a long one.

    Shape: S sentences of these ``lengths`` -> (M,), 1 in sum.
    """
    sizes = np.array(lengths, dtype=np.int64)
    return np.repeat(1.0 / (len(sizes) * sizes), sizes)
