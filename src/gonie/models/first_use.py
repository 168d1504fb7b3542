"""Whether a model's first step will take seconds, because its loops are not compiled yet."""

from __future__ import annotations

from gonie.models.tagger import Tagger
from gonie.nn.available import has_numba
from gonie.nn.encoders import LSTM


def must_compile(model: Tagger) -> bool:
    """Whether this model's compiled loops are still to be made on this machine."""
    if not has_numba() or not next(model.parameters()).is_cpu:
        return False
    from gonie.nn.compiled import is_on_disk
    from gonie.nn.crf.loops import run_ahead
    from gonie.nn.encoders.packed import run_back

    has_lstm = any(isinstance(part, LSTM) for part in model.modules())
    return not (is_on_disk(run_ahead) and (is_on_disk(run_back) or not has_lstm))
