"""The table of formats: all modules of this package with a value ``TAGGED`` or ``LABELLED``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

import gonie.formats
from gonie.formats.format import LabelledFormat, TaggedFormat


def _modules() -> list[ModuleType]:
    own = {"format", "table", "tagged", "labelled", "inspect", "text_stats", "text_rows"}
    found = (module.name for module in iter_modules(gonie.formats.__path__))
    return [import_module(f"gonie.formats.{name}") for name in found if name not in own]


FORMATS: dict[str, TaggedFormat] = {
    format.name: format
    for format in sorted(
        (module.TAGGED for module in _modules() if hasattr(module, "TAGGED")), key=lambda each: each.rank
    )
}
"""Formats of tagged sentences by name, in the order in which they are tried on a file."""

TEXT_FORMATS: dict[str, LabelledFormat] = {
    format.name: format
    for format in sorted(
        (each for module in _modules() for each in getattr(module, "LABELLED", ())),
        key=lambda each: each.rank,
    )
}
"""Formats of labelled texts by name, in the order in which they are tried."""
