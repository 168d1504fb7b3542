"""What a tagger's chain has learned of sequences, to look at."""

from __future__ import annotations

from gonie.reports.explanation import Transitions
from gonie.tasks.tagging.tagger import Tagger


def transitions(predictor: Tagger) -> Transitions:
    """The scores of all moves as decoding uses them, what may not be at minus infinity."""
    chain = predictor.decoder.chain
    return Transitions(
        labels=predictor.labels,
        scores=tuple(tuple(row) for row in chain.transitions.tolist()),
        start=tuple(chain.start.tolist()),
        end=tuple(chain.end.tolist()),
    )
