"""A picture of word vectors before and after training: two panels with the same words and axes."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gonie.errors import OutputError
from gonie.experiments.drawing import OKABE_ITO, find_fonts
from gonie.experiments.vector_map import Floats
from gonie.experiments.word_vectors import UNSEEN, Word
from gonie.text.schemes import OUTSIDE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

*COLORS, GREY = OKABE_ITO
MARKERS = "os^DvPX*"
FAINT = {OUTSIDE: (GREY, "."), UNSEEN: (GREY, "x")}
SIZE, DOTS = (14.0, 7.6), 150  # inches, and dots per inch
TEXT = 7.0  # points
LONGEST = 20  # characters shown of a word
IN_A_ROW = 9  # labels per row of the legend

Formats = Mapping[str, dict[str, None]]
FORMATS: Formats = {".png": {"Software": None}, ".svg": {"Date": None, "Creator": None}}
"""The formats, and the metadata left out of them, so that the same picture gives the same bytes."""


def picture_files(path: Path) -> list[Path]:
    """Return the files to draw: the given one, or one per format if it has no suffix."""
    if not path.suffix:
        return [path.with_name(path.name + suffix) for suffix in FORMATS]
    if path.suffix.lower() not in FORMATS:
        raise OutputError(
            f"{path}: unknown image format {path.suffix}. Use {' or '.join(FORMATS)}, or no suffix for both."
        )
    return [path]


class VectorPicture:
    """Draws words at ``before`` and ``after``, (N, 2) each. ``note`` says how the places were computed.

    ``unknown`` are characters that no installed font has. A PNG shows boxes for them; an SVG uses the fonts
    of its viewer.
    """

    def __init__(
        self, words: Sequence[Word], *, before: Floats, after: Floats, title: str, note: str
    ) -> None:
        self._words = list(words)
        self._panels = {"before training": before, "after training": after}
        self._title = title
        self._note = note
        self._styles = styles([word.label for word in words])
        shown = [*(word.text for word in words), *self._styles, title, note]
        self._fonts, self.unknown = find_fonts(shown)

    def draw(self, suffix: str) -> bytes:
        """Return the picture in the format of a suffix in ``FORMATS``."""
        import matplotlib

        settings: dict[Any, Any] = {
            "svg.fonttype": "none",
            "svg.hashsalt": "gonie",
            "font.family": self._fonts,
        }
        buffer = io.BytesIO()
        with matplotlib.rc_context(settings), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph .* missing from")  # reported as ``unknown``
            self._figure().savefig(
                buffer, format=suffix.removeprefix("."), dpi=DOTS, metadata=dict(FORMATS[suffix])
            )
        return buffer.getvalue()

    def _figure(self) -> Figure:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=SIZE)
        FigureCanvasAgg(figure)
        panels = figure.subplots(1, 2, sharex=True, sharey=True)
        legend = 0.03 * -(-len(self._styles) // IN_A_ROW)
        figure.subplots_adjust(left=0.01, right=0.99, bottom=0.05 + legend, top=0.91, wspace=0.02)
        figure.suptitle(self._title, parse_math=False)
        figure.text(0.5, 0.012, self._note, ha="center", fontsize=TEXT + 1, parse_math=False)
        low, high = limits(np.concatenate(list(self._panels.values())))
        for panel, (name, places) in zip(panels, self._panels.items(), strict=True):
            panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
            panel.set_title(name, fontsize=TEXT + 4)
            self._scatter(panel, places)
            self._write(panel, places)
        self._legend(figure)
        return figure

    def _scatter(self, panel: Axes, places: Floats) -> None:
        labels = np.array([word.label for word in self._words])
        for label, (color, marker) in self._styles.items():
            mine = places[labels == label]
            panel.scatter(mine[:, 0], mine[:, 1], s=14, color=color, marker=marker, linewidths=0.8)

    def _write(self, panel: Axes, places: Floats) -> None:
        """Write words beside their points, in order, skipping those that do not fit."""
        spots = panel.transData.transform(places)  # (N, 2) in pixels
        taken = Room(panel, spots)
        for word, place, spot in zip(self._words, places, spots, strict=True):
            text = word.text if len(word.text) <= LONGEST else word.text[: LONGEST - 1] + "…"
            drawn = panel.annotate(
                text,
                place,
                textcoords="offset points",
                xytext=(0, 0),
                fontsize=TEXT,
                color=self._styles[word.label][0],
                parse_math=False,
            )
            offset = taken.place(spot, drawn.get_window_extent())
            if offset is None:
                drawn.remove()
            else:
                drawn.set_position(offset)

    def _legend(self, figure: Figure) -> None:
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], linestyle="", color=color, marker=marker)
            for color, marker in self._styles.values()
        ]
        legend = figure.legend(
            handles=handles,
            labels=["label"] * len(handles),  # set below, so that labels are not parsed
            loc="lower center",
            bbox_to_anchor=(0.5, 0.025),
            ncols=min(IN_A_ROW, len(handles)),
            frameon=False,
        )
        for text, label in zip(legend.get_texts(), self._styles, strict=True):
            text.set_parse_math(False)
            text.set_text(label)


class Room:
    """The areas of a panel covered by words and by the centres of points at ``spots`` (N, 2), in pixels."""

    GAP = 2.0  # points between a point and its word

    def __init__(self, panel: Axes, spots: NDArray[np.float64]) -> None:
        self._points = panel.figure.dpi / 72  # pixels per point
        box = panel.get_window_extent()
        self._panel = np.array([box.x0, box.y0, box.x1, box.y1])
        self._taken = [np.concatenate([spot - 1, spot + 1]) for spot in spots]

    def place(self, spot: NDArray[Any], box: Any) -> tuple[float, float] | None:
        """Return where a text of this size fits beside ``spot``, as an offset in points, or None."""
        for offset in self._offsets(box.width / self._points, box.height / self._points):
            x, y = spot + np.array(offset) * self._points
            wanted = np.array([x, y, x + box.width, y + box.height])
            if self._free(wanted):
                self._taken.append(wanted)
                return offset
        return None

    def _offsets(self, width: float, height: float) -> Iterator[tuple[float, float]]:
        """Yield the candidates: right above, right below, left above, left below."""
        for x in (self.GAP, -self.GAP - width):
            for y in (0.0, -height):
                yield x, y

    def _free(self, box: NDArray[np.float64]) -> bool:
        if (box[:2] < self._panel[:2]).any() or (box[2:] > self._panel[2:]).any():
            return False
        taken = np.stack(self._taken)  # (A, 4)
        return not ((taken[:, :2] < box[2:]) & (box[:2] < taken[:, 2:])).all(axis=1).any()


def limits(places: Floats) -> tuple[Floats, Floats]:
    """Return the corners of a panel that shows all places (N, 2) with a margin. Shape: (2,), (2,)."""
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.where(high > low, 0.06 * (high - low), 1.0)
    return low - room, high + room


def styles(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker per label, in order. Words outside any label are faint and come last."""
    named = [label for label in dict.fromkeys(labels) if label not in FAINT]
    chosen = {label: (COLORS[at % len(COLORS)], MARKERS[at % len(MARKERS)]) for at, label in enumerate(named)}
    return chosen | {label: style for label, style in FAINT.items() if label in labels}
