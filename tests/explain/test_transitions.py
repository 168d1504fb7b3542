"""If this breaks, the table of moves names the wrong tags, or shows a forbidden move as a likely one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gonie.explain.transitions import transitions
from gonie.tasks.load import load


def test_the_table_is_what_decoding_uses(toy_run: Path) -> None:
    tagger = load(toy_run)
    found = transitions(tagger)
    assert found.labels == tagger.labels
    np.testing.assert_array_equal(found.scores, tagger.decoder.chain.transitions)
    np.testing.assert_array_equal(found.end, tagger.decoder.chain.end)
    outside, inside = found.labels.index("O"), found.labels.index("I-PER")
    assert found.scores[outside][inside] == found.start[inside] == -np.inf
    assert found.scores[inside][outside] == -np.inf
    assert np.isfinite(found.scores[outside][outside])
