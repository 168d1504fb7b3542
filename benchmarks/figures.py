"""Draws the curves of docs/generalisation.md from the records in benchmarks/results.

    python benchmarks/figures.py              writes docs/assets/transfer.svg, noise.svg and augmentation.svg

Lines are means, and bands are one standard deviation over seeds (and subsets or targets).
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gonie.experiments.drawing import BASE, OKABE_ITO
from runs import Record, read
from transfer import MAPPED

RESULTS = Path(__file__).parent / "results"
ASSETS = Path(__file__).parents[1] / "docs" / "assets"
DEVICES = {"uner cuda": "GPU", "uner cpu": "CPU"}
Curve = dict[float, list[float]]
"""Scores by place on the horizontal axis."""


def transfer() -> Any:
    """Draw F1 by training sentences, with and without a start, for each source with several sizes."""
    names = {"alone": "alone", "start": "start", "adapters": "start, adapters"}
    panels: dict[str, dict[str, Curve]] = {}
    for record in _good("transfer"):
        ncbi = record["corpus"].startswith("ncbi")
        model = record["model"] if ncbi else _mapped(record["model"])
        if model in names:
            curves = panels.setdefault("BC5CDR → NCBI" if ncbi else "UNER → CrossNER", {})
            curve = curves.setdefault(names[model], {})
            curve.setdefault(record["sentences"], []).append(100 * record["test"])
    drawn = {title: curves for title, curves in panels.items() if len(curves["alone"]) > 1}
    figure, axes = _panels(len(drawn))
    for axis, (title, curves) in zip(axes, drawn.items(), strict=True):
        _draw(axis, curves, title=title, x="sentences", log=True)
    return figure


def _mapped(model: str) -> str:
    """Return the name of a method of CrossNER, whose types are mapped. Starts without a map have none."""
    return model.removesuffix(MAPPED) if model == "alone" or model.endswith(MAPPED) else ""


def noise() -> Any:
    """Draw F1 by the share of words with a typing error."""
    panels: dict[str, dict[str, Curve]] = {}
    for record in _good("adversarial"):
        curve = panels.setdefault(record["corpus"], {}).setdefault(record["model"], {})
        for level, score in record["noise"].items():
            kind, rate = level.rsplit(maxsplit=1)
            if kind in ("none", "typos"):
                curve.setdefault(100 * float(rate), []).append(100 * score)
    figure, axes = _panels(len(panels))
    for axis, (corpus, curves) in zip(axes, panels.items(), strict=True):
        _draw(axis, curves, title=f"UNER, test, {DEVICES[corpus]}", x="% of words with a typing error")
    return figure


def augmentation() -> Any:
    """Draw F1 by training sentences, with and without copies."""
    curves: dict[str, Curve] = {}
    for record in _good("augmentation"):
        size, bilm = record["corpus"].split()
        if bilm == "none":
            kind = record["model"].partition(":")[0]
            curves.setdefault(kind, {}).setdefault(float(size), []).append(100 * record["test"])
    figure, (axis,) = _panels(1)
    longest = max(map(len, curves.values()))
    whole = {name: curve for name, curve in curves.items() if len(curve) == longest}
    _draw(axis, whole, title="UNER, no language model", x="sentences", log=True)
    return figure


def _good(name: str) -> list[Record]:
    return [record for record in read(RESULTS / f"{name}.jsonl") if "error" not in record]


def _panels(number: int) -> tuple[Any, Sequence[Any]]:
    """Return a figure with panels side by side."""
    from matplotlib import pyplot

    pyplot.rcParams.update(
        {"font.family": BASE, "svg.hashsalt": "gonie", "svg.fonttype": "none", "font.size": 9}
    )
    figure, axes = pyplot.subplots(1, number, figsize=(4.2 * number, 3.2), squeeze=False)
    return figure, axes[0]


def _draw(axis: Any, curves: Mapping[str, Curve], *, title: str, x: str, log: bool = False) -> None:
    """Draw the mean of each curve, and its spread."""
    for (name, curve), colour in zip(curves.items(), OKABE_ITO, strict=False):
        places = sorted(curve)
        means = [statistics.fmean(curve[place]) for place in places]
        spreads = [statistics.stdev(curve[place]) if len(curve[place]) > 1 else 0.0 for place in places]
        axis.plot(places, means, marker="o", markersize=3, color=colour, label=name)
        low = [mean - spread for mean, spread in zip(means, spreads, strict=True)]
        high = [mean + spread for mean, spread in zip(means, spreads, strict=True)]
        axis.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
    if log:
        ticks = sorted({place for curve in curves.values() for place in curve})
        axis.set_xscale("log")
        axis.set_xticks(ticks, [f"{tick:,.0f}" for tick in ticks])
        axis.minorticks_off()
    axis.set(title=title, xlabel=x, ylabel="F1")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)


FIGURES = {"transfer": transfer, "noise": noise, "augmentation": augmentation}


def main() -> None:
    """Draw all figures, or those that are named."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("names", nargs="*", default=list(FIGURES), metavar="NAME", help=", ".join(FIGURES))
    for name in parser.parse_args().names:
        figure = FIGURES[name]()
        figure.tight_layout()
        figure.savefig(ASSETS / f"{name}.svg", metadata={"Date": None})
        print(f"wrote {ASSETS / name}.svg")


if __name__ == "__main__":
    main()
