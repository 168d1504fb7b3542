"""A cache of faithfulness figures in the run folder, since measuring them takes a minute.

``faithfulness.json`` contains the ``figures`` of each method and control, the ``bundle`` they belong to, and
the ``digest`` of everything they depend on: the model, the texts and the measure. If the digest differs, they
are measured again. An unreadable file counts as missing. If the folder is not writable, they are measured
each time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gonie.errors import OutputError
from gonie.explaining.faithfulness import DRAWS, SHARES
from gonie.reports.explanation import RANDOM, UNIFORM, Faithfulness, Method
from gonie.system.files import atomic_write
from gonie.tasks.run_files import FAITHFULNESS

Measure = Callable[[Sequence[Method]], list[Faithfulness]]
"""Measures methods and the controls."""


def digest(parts: Iterable[bytes]) -> str:
    """Return a digest of these parts and the current measure."""
    made = hashlib.sha256(f"{SHARES} {DRAWS}".encode())
    for part in parts:
        made.update(hashlib.sha256(part).digest())
    return made.hexdigest()


@dataclass(frozen=True)
class FaithfulnessCache:
    """The figures in a run folder for one digest."""

    folder: Path
    digest: str
    bundle: str = ""

    def read(self) -> dict[str, Faithfulness]:
        """Return the cached figures by method or control."""
        return {each.method: each for each in _read(self.folder, "digest", self.digest)}

    def write(self, figures: Iterable[Faithfulness]) -> None:
        """Replace the file atomically."""
        own = {"bundle": self.bundle, "digest": self.digest}
        saved = {**own, "figures": [asdict(each) for each in figures]}
        atomic_write(self.folder / FAITHFULNESS, json.dumps(saved, indent=1) + "\n")

    def complete(self, methods: Sequence[Method], measure: Measure) -> list[Faithfulness]:
        """Return the figures of ``methods`` and the controls. Missing ones are measured and cached."""
        known = self.read()
        missing = [method for method in methods if method not in known]
        if missing:
            known |= {each.method: each for each in measure(missing)}
            with suppress(OutputError):
                self.write(known.values())
        return [known[name] for name in (*methods, RANDOM, UNIFORM) if name in known]


def last_figures(folder: Path, bundle: str) -> list[Faithfulness]:
    """Return the figures that were measured last for this bundle, on whatever texts. May be empty."""
    return _read(folder, "bundle", bundle)


def _read(folder: Path, key: str, wanted: str) -> list[Faithfulness]:
    """Return the figures in a run folder if the value of ``key`` is as wanted."""
    try:
        saved = json.loads((folder / FAITHFULNESS).read_text("utf-8"))
        return [_figures(each) for each in saved["figures"]] if saved[key] == wanted else []
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _figures(saved: Any) -> Faithfulness:
    """Return figures written by ``asdict``. Anything else raises an error."""
    return Faithfulness(
        method=str(saved["method"]),
        comprehensiveness=float(saved["comprehensiveness"]),
        sufficiency=float(saved["sufficiency"]),
        texts=int(saved["texts"]),
    )
