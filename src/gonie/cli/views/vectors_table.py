"""Tables of word vectors: the words that moved most, and neighbours before and after training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.reports.terminal import safe

if TYPE_CHECKING:
    from gonie.experiments.word_vectors import Word, WordVectors

MOVED, COMPARED, NEIGHBOURS, NAMED = 10, 5, 5, 20
"""Rows of the first table, rows of the second, neighbours per word, and missing words to name."""


def print_vectors(
    console: Console, vectors: WordVectors, words: Sequence[Word], *, asked: bool, missing: Sequence[str]
) -> None:
    """Print both tables. The second one has the first requested words, or those that moved most."""
    from gonie.experiments.vector_map import cosines

    if missing:
        more = f" and {len(missing) - NAMED:,} more" if len(missing) > NAMED else ""
        named = ", ".join(map(safe, missing[:NAMED]))
        console.print(Text(f"Words without a vector: {named}{more}", style="yellow"))
    before, after = vectors.of(words)
    similar = cosines(before, after)
    moved = np.argsort(similar, kind="stable")[:MOVED].tolist()
    if np.array_equal(before, after):
        console.print("No word moved: the vectors are not trained (model.words.tuned).")
    else:
        grid = _grid("moved most", "label", "cosine")
        for at in moved:
            grid.add_row(Text(safe(words[at].text)), Text(safe(words[at].label)), f"{similar[at]:.3f}")
        console.print(grid)
    compared = words[:COMPARED] if asked else [words[at] for at in moved[:COMPARED]]
    console.print(_neighbours(vectors, compared))


def _neighbours(vectors: WordVectors, words: Sequence[Word]) -> Table:
    from gonie.experiments.vector_map import nearest

    grid = _grid("nearest neighbours", "before", "after")
    among = np.array(sorted(vectors.words), dtype=np.int64)
    for word in words:
        found = [nearest(table, word.id, among, NEIGHBOURS) for table in (vectors.before, vectors.after)]
        named = [", ".join(safe(vectors.words[id].text) for id in ids.tolist()) for ids in found]
        grid.add_row(*map(Text, (safe(word.text), *named)))
    return grid


def _grid(*columns: str) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for name in columns:
        grid.add_column(name, overflow="fold")
    return grid
