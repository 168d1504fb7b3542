"""The uncertainty of an ensemble in two parts: that of the data, and that about the model.

Each of M members gives probabilities p_m over K answers. With the entropy H(p) = -Σ_k p_k ln p_k in nats,

    total entropy       H(1/M Σ_m p_m)      how uncertain the ensemble is
    data entropy        1/M Σ_m H(p_m)      how uncertain its members are, on average
    mutual information  total - data        how much they disagree; 0 if all are the same

Mutual information between the answer and the model (BALD, Houlsby et al. 2011, arXiv:1112.5745) is high where
each member is certain, but of another answer: for texts unlike the training data. For an ambiguous text, all
members are uncertain alike.
"""

from __future__ import annotations

import numpy as np

from gonie.metrics.bootstrap import Floats
from gonie.text.entropies import Entropies


def entropy(chances: Floats) -> Floats:
    """Return the entropy over the last axis, in nats: (..., K) -> (...)."""
    logs = np.log(chances, out=np.zeros_like(chances), where=chances > 0)
    return np.asarray(-(chances * logs).sum(axis=-1))


def entropies(chances: Floats) -> list[Entropies]:
    """Return the entropies of the answers of M members to N questions. Shape: (M, N, K)."""
    total, data = entropy(chances.mean(axis=0)), entropy(chances).mean(axis=0)  # (N,)
    values = np.stack([total, data, np.maximum(total - data, 0.0)], axis=1)  # (N, 3)
    return [Entropies(*each) for each in values.tolist()]
