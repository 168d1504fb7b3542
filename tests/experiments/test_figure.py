"""Tests the figure of a comparison: panels, lines, labels of any text, and identical files."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from gonie.experiments.comparison import Comparison, ComparisonRow
from gonie.experiments.figure import MOST_CURVES, MOST_PANELS, build, draw, mean_curve, missing_fonts, short
from gonie.experiments.grid import read_grid
from gonie.experiments.outcome import CellScores, Failure, Outcome, Point
from gonie.metrics.significance import Tally

TEXT = "{http://www.w3.org/2000/svg}text"


def scores(at: int, epochs: int = 4, train: bool = True) -> CellScores:
    dev = [0.3 + 0.02 * at + 0.1 * epoch for epoch in range(epochs)]
    curve = tuple(Point(n, s, s + 0.05 * n if train else None) for n, s in enumerate(dev, 1))
    best = curve[-1]
    return CellScores(
        "F1", best.dev, best.train, None, epochs, 1.0, curve, Tally("d", np.ones((3, 3), np.int64))
    )


def comparison(*changes: str, seeds: int = 1, train: bool = True, failed: tuple[int, ...] = ()) -> Comparison:
    grid = read_grid(["ner"], list(changes))
    rows = []
    for at, cell in enumerate(grid.cells):
        outcomes: tuple[Outcome, ...] = tuple(
            Failure("x") if at in failed else scores(at % 7, 3 + at % 2, train) for _ in range(seeds)
        )
        rows.append(
            ComparisonRow(grid.name(cell), cell.values, ("f",) * seeds, tuple(range(seeds)), outcomes)
        )
    return Comparison.from_rows(grid.axes, rows)


def texts(svg: bytes) -> list[str]:
    return ["".join(node.itertext()) for node in ET.fromstring(svg).iter(TEXT)]


def styles(panel: Any) -> list[str]:
    return [line.get_linestyle() for line in panel.get_lines()]


def test_png_and_svg_are_drawn_with_searchable_text() -> None:
    png, svg = draw(comparison("train.lr=0.1,0.2", "model.encoder.kind=lstm,rnn"))
    image = imread(io.BytesIO(png))
    assert image.shape[0] > 500
    assert image.shape[1] > 1000
    found = texts(svg)
    for words in ("lr", "kind", "lstm", "F1 (%)", "epoch", "dev", "train"):
        assert words in found, "text in the SVG is text, which can be searched"


def test_each_key_has_a_column_of_two_panels() -> None:
    figure = build(comparison("train.lr=0.1,0.2,0.3", "model.encoder.kind=lstm,rnn"))
    above, below = figure.axes[:2], figure.axes[2:]
    assert [panel.get_xlabel() for panel in above] == ["lr", "kind"]
    assert [panel.get_xlabel() for panel in below] == ["epoch", "epoch"]
    for panel in above:  # for dev and train: a line of means, and dots for the cells
        assert styles(panel) == ["-", "None", "--", "None"]
    assert styles(below[0]) == ["-", "--"] * 3
    assert styles(below[1]) == ["-", "--"] * 2
    legend = below[0].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["0.1", "0.2", "0.3"]
    assert legend.get_title().get_text() == "lr"


def test_the_line_shows_the_mean_of_each_value() -> None:
    made = comparison("train.lr=0.1,0.2", "train.epochs=1,2,3")
    line = build(made).axes[0].get_lines()[0]
    expected = [
        100 * np.mean([row.dev.mean for row in made.rows_with(made.axes[0], value) if row.dev])
        for value in ("0.1", "0.2")
    ]
    assert line.get_xdata().tolist() == [0.1, 0.2]
    assert line.get_ydata() == pytest.approx(expected)


def test_numbers_are_sorted_on_the_axis() -> None:
    line = build(comparison("train.lr=0.3,0.1,0.2")).axes[0].get_lines()[0]
    assert line.get_xdata().tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("values", "scale"), [("0.001,0.1", "log"), ("1,2,3", "linear"), ("0,100", "linear"), ("a,b", "linear")]
)
def test_numbers_with_a_wide_range_get_a_logarithmic_axis(values: str, scale: str) -> None:
    assert build(comparison(f"train.lr={values}")).axes[0].get_xscale() == scale


def test_seeds_without_axes_give_one_panel_of_curves() -> None:
    figure = build(comparison(seeds=3))
    (panel,) = figure.axes
    assert len(panel.get_lines()) == 2 * (3 + 1), "each seed, and the mean; dev and train"
    (single,) = build(comparison()).axes
    assert len(single.get_lines()) == 2


def test_without_a_train_score_only_dev_is_drawn() -> None:
    figure = build(comparison("train.lr=0.1,0.2", train=False))
    assert styles(figure.axes[0]) == ["-", "None"]
    assert styles(figure.axes[1]) == ["-", "-"]


def test_many_keys_and_values_are_limited() -> None:
    keys = [f"train.{key}=1,2" for key in ("lr", "epochs", "patience", "clip", "decay", "seed", "warmup")]
    figure = build(comparison(*keys))
    assert len(figure.axes) == 2 * MOST_PANELS
    assert "1 more swept keys" in figure.get_suptitle()
    many = build(comparison("train.seed=" + ",".join(map(str, range(40)))))
    legend = many.axes[1].get_legend()
    assert len(legend.get_texts()) == MOST_CURVES
    assert "32 more" in legend.get_title().get_text()


def test_failed_cells_are_left_out_of_the_figure() -> None:
    figure = build(comparison("train.lr=0.1,0.2,0.3", failed=(1,)))
    assert figure.axes[0].get_lines()[0].get_xdata().tolist() == [0.1, 0.3]
    png, svg = draw(comparison("train.lr=0.1,0.2", failed=(0, 1)))
    assert png
    assert "lr" in texts(svg)


@pytest.mark.parametrize(
    "value",
    [
        "한국어.conll",
        "$\\alpha_{x$",
        "_hidden",
        "\U0001f600",
        "ᄀᅠ",
        "a" * 300,
        "/deep/path/말뭉치.txt",
        "<&>",
        "\U000e0041",
    ],
)
def test_any_text_can_be_drawn(value: str) -> None:
    """Matplotlib warns about letters without a font, and warnings are errors in these tests."""
    png, svg = draw(comparison(f"data.vectors=none,{value}"))
    assert png
    assert short(value) in texts(svg)


def test_letters_without_a_font_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gonie.experiments.figure.find_fonts", lambda texts: (["DejaVu Sans"], "말뭉치"))
    assert "3 characters" in missing_fonts(comparison("data.vectors=none,말뭉치.txt"))
    monkeypatch.setattr("gonie.experiments.figure.find_fonts", lambda texts: (["DejaVu Sans"], ""))
    assert missing_fonts(comparison("train.lr=0.1,0.2")) == ""


def test_the_same_comparison_gives_identical_files() -> None:
    assert draw(comparison("train.lr=0.1,0.2")) == draw(comparison("train.lr=0.1,0.2"))


def test_settings_of_matplotlib_are_not_changed() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    draw(comparison("train.lr=0.1,0.2"))
    assert dict(matplotlib.rcParams) == before


def test_the_mean_curve_extends_runs_that_stopped_early() -> None:
    assert mean_curve([[1.0, 3.0], [1.0, 1.0, 5.0]]) == [1.0, 2.0, 4.0]
    assert mean_curve([]) == []


def test_long_labels_keep_their_end() -> None:
    assert short("/a/very/long/path/to/some/vectors.txt.gz").endswith("vectors.txt.gz")
    assert len(short("x" * 99)) == 24
    assert short("as it is") == "as it is"
