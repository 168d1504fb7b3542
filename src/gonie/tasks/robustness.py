"""Scores of a model on texts with noise: typos, another case, lost spaces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gonie.errors import InputError
from gonie.metrics.robustness import NoiseCurve, NoiseScore
from gonie.tasks.evaluation import PredictedExamples
from gonie.text.noise_levels import LEVELS, NONE, NoiseLevel

Progress = Callable[[int, int], None]
"""Is told how many of how many runs are done."""


def noise_curve(
    files: Sequence[PredictedExamples], *, limit: int, progress: Progress | None = None
) -> NoiseCurve:
    """Score examples with noise of every level. The same examples always give the same scores.

    ``limit`` is the most examples, spread evenly over the files; 0 takes all. A kind of noise that changes no
    text is skipped.
    """
    if limit < 0:
        raise InputError(f"negative limit of examples: {limit}", fix="Use 0 for all examples")
    total = sum(map(len, files))
    share = min(1.0, limit / total) if limit else 1.0
    samples = [file.sample(max(1, round(share * len(file)))) if share < 1 else file for file in files]
    runs = sum(level.draws for level in LEVELS)
    done = 0
    found: dict[NoiseLevel, NoiseScore] = {}
    unchanged: set[str] = set()
    clean = {NONE: 0.0}
    for level in LEVELS:
        scores: list[float] = []
        for draw in range(level.draws):
            if progress is not None:
                progress(done, runs)
            done += 1
            changed = [sample.changed(level, draw) for sample in samples]
            if level.rate and _same_texts(samples, changed):
                unchanged.add(level.kind)
                continue
            measure, score = changed[0].joined(changed[1:]).evaluate(bootstrap=0).headline
            scores.append(score)
        if scores:
            clean = clean | {level.kind: scores[0]} if not level.rate else clean
            own = clean.get(level.kind, clean[NONE])
            found[level] = NoiseScore(level.kind, level.rate, measure, tuple(scores), own)
    noisy = {level.kind for level in found if level.rate}
    base = next(iter(found.values())).scores  # a level without noise that changes nothing is not shown twice
    kept = [
        score
        for level, score in found.items()
        if level.kind == NONE or (level.kind in noisy and (level.rate or score.scores != base))
    ]
    skipped = [kind for kind in dict.fromkeys(level.kind for level in LEVELS) if kind in unchanged - noisy]
    return NoiseCurve(tuple(kept), sum(map(len, samples)), total, tuple(skipped))


def _same_texts(before: Sequence[PredictedExamples], after: Sequence[PredictedExamples]) -> bool:
    return all(one.texts == other.texts for one, other in zip(before, after, strict=True))
