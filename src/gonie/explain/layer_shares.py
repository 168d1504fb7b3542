"""What a model has learned about the layers of its language model, to look at."""

from __future__ import annotations

from pathlib import Path

from gonie.errors import BundleError
from gonie.reports.explanation import LayerShares
from gonie.runtime.bundle import read_about
from gonie.tasks.load import find_bundle


def layer_shares(folder: Path) -> tuple[LayerShares, ...]:
    """Of the model in a bundle or run folder, each place where it uses them; none where it has none."""
    bundle = find_bundle(folder)
    try:
        return tuple(
            LayerShares(
                place=str(each["place"]),
                shares=tuple(map(float, each["shares"])),
                scale=float(each["scale"]),
                normalized=bool(each["normalized"]),
            )
            for each in read_about(bundle).layers
        )
    except (LookupError, TypeError, ValueError) as error:
        raise BundleError(
            f"{bundle}: expected shares of layers, got a damaged description "
            f"({type(error).__name__}: {error}). Export it again: gonie export MODEL --out DIR."
        ) from error
