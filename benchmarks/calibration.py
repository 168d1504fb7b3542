"""Measures the calibration of the spans of taggers, before and after the temperature of their bundles.

    python benchmarks/calibration.py runs/ner-1 runs/ner-2 runs/ner-3 --test test.conll
    python benchmarks/calibration.py runs/ner-* --test test.conll --out wnut.conll --map wnut

The runs are models of the same data with several seeds. The predicted spans of all of them are pooled, and
sorted by probability into 15 bins of equal size. For each file the table has

    F1        the mean over the runs; it is checked that the temperature changes no prediction
    ECE       the expected calibration error of the pooled spans
    perfect   the error that a perfectly calibrated model would show on as many spans: each span is right with
              its probability, independently
    excess    ECE minus perfect
    shared    as perfect, but a span that several runs predict is right or wrong for all, as it is in truth
    NLL       the mean negative log-likelihood of the spans being right or wrong
    AURC      the area under the curve of risk and coverage
    AUROC     in files of --out: how well the least certain tag tells their sentences from those of --test

All values but NLL are in percent. With --dev, the table also has the maps that were considered, each fitted
to this file: the temperature, a line on log-odds, both, and a monotone function (isotonic regression).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import gonie
from gonie.metrics.calibration import decision_calibration
from gonie.metrics.decision_temperature import platt_targets
from gonie.metrics.evaluation import Evaluation
from gonie.metrics.log_odds import to_probabilities
from gonie.metrics.reliability import BINS, equal_mass
from gonie.metrics.risk_coverage import risk_coverage
from gonie.metrics.separation import measure_separation
from gonie.tasks.tagging.evaluation import TagEvaluator, read_sentences
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.tagging.uncertainty import sentence_uncertainties

DRAWS = 300
Floats = NDArray[np.float64]


class Decisions(NamedTuple):
    """The spans that several runs predict: probabilities (M,), right or wrong (M,), and their places."""

    confidences: Floats
    right: NDArray[np.bool_]
    places: list[tuple[int, tuple[int, int, str]]]


def pooled(evaluations: Iterable[Evaluation]) -> Decisions:
    """Return the decisions of all runs together."""
    found = [each.decisions for each in evaluations if each.decisions is not None]
    return Decisions(
        np.concatenate([each.confidences for each in found]),
        np.concatenate([each.right for each in found]),
        [place for each in found for place in each.places],
    )


def shared_error(decisions: Decisions) -> float:
    """Return the error of a perfect model whose runs are right or wrong together about the same span."""
    numbers: dict[object, int] = {}
    owner = np.array([numbers.setdefault(place, len(numbers)) for place in decisions.places])
    ends = equal_mass(decisions.confidences, BINS)
    bins = np.minimum(np.searchsorted(ends, decisions.confidences), len(ends) - 1)
    given = np.bincount(bins, decisions.confidences, len(ends))
    generator = np.random.default_rng(0)
    errors = []
    for _ in range(DRAWS):
        right = generator.random(len(numbers))[owner] < decisions.confidences
        errors.append(np.abs(np.bincount(bins, right, len(ends)) - given).sum() / len(owner))
    return float(np.mean(errors))


def row(name: str, f1: float, decisions: Decisions) -> str:
    """Return one line of the table."""
    found = decision_calibration(decisions.confidences, decisions.right)
    error, perfect = found.mass.error, found.mass.perfect_error
    area = risk_coverage(decisions.confidences, decisions.right).area
    values = (f1, error, perfect, error - perfect, shared_error(decisions))
    cells = "".join(f"{100 * value:9.2f}" for value in values)
    return f"{name:<34}{cells}{found.nll:9.4f}{100 * area:9.2f}"


def evaluate(tagger: Tagger, file: Path, folder: Path, labels: Sequence[str]) -> Evaluation:
    """Return the evaluation of a file, without resamples that are not needed."""
    options = {"map": list(labels)} if labels else {}
    return TagEvaluator().score(tagger, file, folder=folder, options=options).evaluation


def compare_files(runs: Sequence[Path], file: Path, labels: Sequence[str]) -> None:
    """Print the lines of a file before and after calibration."""
    before, after = [], []
    for run in runs:
        tagger = gonie.load(run)
        after.append(evaluate(tagger, file, run, labels))
        before.append(evaluate(tagger.with_temperature(1.0), file, run, labels))
        if before[-1].spans != after[-1].spans:
            raise SystemExit(f"{run}: the temperature changes predictions in {file}")
    f1 = float(np.mean([each.spans.micro.f1 for each in after]))
    spans = sum(each.spans.micro.predicted for each in after)
    print(f"{file.name}: {spans:,} spans of {len(runs)} runs")
    print(row("  temperature 1", f1, pooled(before)))
    print(row("  calibrated", f1, pooled(after)))


def separate_files(runs: Sequence[Path], inside: Path, outside: Path) -> None:
    """Print how well uncertainty tells the sentences of two files apart, for each run."""
    areas = []
    for run in runs:
        tagger = gonie.load(run)
        sides = [sentence_uncertainties(tagger, read_sentences(tagger, file)) for file in (inside, outside)]
        areas.append(measure_separation(*sides, bootstrap=0).auroc)
    print(f"  AUROC {100 * float(np.mean(areas)):.2f}")


# --- other maps ------------------------------------------------------------------------------------------


def log_odds(chances: Floats) -> Floats:
    """Return log p / (1 - p), within bounds."""
    kept = np.clip(chances, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(kept) - np.log1p(-kept))


def line_on_log_odds(chances: Floats, right: NDArray[np.bool_]) -> tuple[float, float]:
    """Fit p -> sigmoid(a · logit p + b) (Platt 1999)."""
    from scipy.optimize import minimize

    x, targets = log_odds(chances), platt_targets(right)

    def loss(weights: Floats) -> float:
        z = weights[0] * x + weights[1]
        return float((np.logaddexp(0, z) - targets * z).mean())

    slope, shift = minimize(loss, [1.0, 0.0], method="Nelder-Mead").x
    return float(slope), float(shift)


def compare_maps(runs: Sequence[Path], dev: Path, test: Path) -> None:
    """Print the lines of test for each map, fitted to dev."""
    from sklearn.isotonic import IsotonicRegression

    results: dict[str, list[Decisions]] = {}
    scores = []
    for run in runs:
        own = gonie.load(run)
        sides = {}
        for name, tagger in (("raw", own.with_temperature(1.0)), ("temperature", own)):
            both = [evaluate(tagger, file, run, ()) for file in (dev, test)]
            sides[name] = [pooled([each]) for each in both]
        scores.append(both[1].spans.micro.f1)
        for name, (known, asked) in sides.items():
            slope, shift = line_on_log_odds(known.confidences, known.right)
            straight = to_probabilities(slope * log_odds(asked.confidences) + shift)
            results.setdefault(name, []).append(asked)
            results.setdefault(f"{name} + line", []).append(asked._replace(confidences=straight))
        known, asked = sides["raw"]
        steps = IsotonicRegression(out_of_bounds="clip").fit(known.confidences, platt_targets(known.right))
        stepped = asked._replace(confidences=steps.predict(asked.confidences))
        results.setdefault("isotonic", []).append(stepped)
    print(f"{test.name}: maps fitted to {dev.name}")
    for name, found in results.items():
        together = Decisions(
            np.concatenate([each.confidences for each in found]),
            np.concatenate([each.right for each in found]),
            [place for each in found for place in each.places],
        )
        print(row(f"  {name}", float(np.mean(scores)), together))


def main() -> None:
    """Read the options and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, help="run folders of taggers with the same test file")
    parser.add_argument("--test", type=Path, required=True, help="file of the same kind as the training data")
    parser.add_argument("--out", type=Path, nargs="*", default=[], help="files of other kinds")
    parser.add_argument(
        "--map", action="append", default=[], help="label map of --out, as for gonie evaluate"
    )
    parser.add_argument("--dev", type=Path, help="compare other maps, fitted to this file")
    options = parser.parse_args()
    heads = "".join(f"{name:>9}" for name in ("F1", "ECE", "perfect", "excess", "shared", "NLL", "AURC"))
    print(f"{'':<34}{heads}")
    for run in options.runs:
        print(f"{run}: temperature {gonie.load(run).temperature:.3f}")
    compare_files(options.runs, options.test, ())
    for file in options.out:
        compare_files(options.runs, file, options.map)
        separate_files(options.runs, options.test, file)
    if options.dev is not None:
        compare_maps(options.runs, options.dev, options.test)


if __name__ == "__main__":
    main()
