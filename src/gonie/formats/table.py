"""The tables of formats, by the kind of their examples: all modules of this package that describe one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

import gonie.formats
from gonie.formats.format import Format, LabelledFormat, PairFormat, RowFormat, TaggedFormat
from gonie.formats.labelled_rows import labelled_format
from gonie.formats.pair_rows import pair_format
from gonie.formats.tagged_rows import tagged_format

_OWN = {
    *("format", "content", "detect", "table", "tagged", "labelled", "pairs"),
    *("inspect", "meta", "text_stats", "text_rows", "units", "writing"),
}
"""Modules that describe no format."""
Kind = TypeVar("Kind", bound=Format)


def _modules() -> list[ModuleType]:
    found = (module.name for module in iter_modules(gonie.formats.__path__))
    return [import_module(f"gonie.formats.{name}") for name in found if name not in _OWN]


def _ordered(formats: Iterable[Kind]) -> dict[str, Kind]:
    return {each.name: each for each in sorted(formats, key=lambda each: each.rank)}


_MODULES = _modules()
ROW_FORMATS: Mapping[str, RowFormat] = {
    each.name: each for module in _MODULES for each in getattr(module, "ROWS", ())
}
"""Forms of tables by name."""

FORMATS: dict[str, TaggedFormat] = _ordered(
    [module.TAGGED for module in _MODULES if hasattr(module, "TAGGED")]
    + [tagged_format(each) for each in ROW_FORMATS.values() if each.nested]
)
"""Formats of tagged sentences by name, in the order in which they are tried on a file."""

TEXT_FORMATS: dict[str, LabelledFormat] = _ordered(
    [each for module in _MODULES for each in getattr(module, "LABELLED", ())]
    + [labelled_format(each) for each in ROW_FORMATS.values()]
)
"""Formats of labelled texts by name, in the order in which they are tried."""

PAIR_FORMATS: dict[str, PairFormat] = _ordered(
    [each for module in _MODULES for each in getattr(module, "PAIRS", ())]
    + [pair_format(each) for each in ROW_FORMATS.values()]
)
"""Formats of text pairs by name, in the order in which they are tried."""
