"""Faithfulness figures, cached beside the model: measuring them takes a minute.

A run folder's ``faithfulness.json`` holds the ``digest`` of all that the figures depend on (the model, the
texts and how it was measured) and the ``figures`` of each method and control. With another digest they are no
longer true and are measured anew. What cannot be read is as if it were not there, and where nothing can be
written, as in the folder of another user, they are measured each time.
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
from gonie.explain.faithfulness import DRAWS, SHARES
from gonie.reports.explanation import RANDOM, UNIFORM, Faithfulness, Method
from gonie.system.files import atomic_write
from gonie.tasks.run_files import FAITHFULNESS

Measure = Callable[[Sequence[Method]], list[Faithfulness]]
"""Measures methods, and the controls beside them."""


def digest(parts: Iterable[bytes]) -> str:
    """A name for what was measured: of these parts, in this order, by the measure as it is now."""
    made = hashlib.sha256(f"{SHARES} {DRAWS}".encode())
    for part in parts:
        made.update(hashlib.sha256(part).digest())
    return made.hexdigest()


@dataclass(frozen=True)
class FaithfulnessCache:
    """The figures in a run folder that belong to this digest."""

    folder: Path
    digest: str

    def read(self) -> dict[str, Faithfulness]:
        """What there is, by method or control."""
        try:
            saved = json.loads((self.folder / FAITHFULNESS).read_text("utf-8"))
            if saved["digest"] != self.digest:
                return {}
            found = [_figures(each) for each in saved["figures"]]
        except (OSError, ValueError, TypeError, KeyError):
            return {}
        return {each.method: each for each in found}

    def write(self, figures: Iterable[Faithfulness]) -> None:
        """Replace what there is, whole or not at all."""
        saved = {"digest": self.digest, "figures": [asdict(each) for each in figures]}
        atomic_write(self.folder / FAITHFULNESS, json.dumps(saved, indent=1) + "\n")

    def complete(self, methods: Sequence[Method], measure: Measure) -> list[Faithfulness]:
        """The figures of ``methods`` and the controls; those that are missing are measured and kept."""
        known = self.read()
        missing = [method for method in methods if method not in known]
        if missing:
            known |= {each.method: each for each in measure(missing)}
            with suppress(OutputError):
                self.write(known.values())
        return [known[name] for name in (*methods, RANDOM, UNIFORM) if name in known]


def _figures(saved: Any) -> Faithfulness:
    """What ``asdict`` wrote; anything else raises."""
    return Faithfulness(
        method=str(saved["method"]),
        comprehensiveness=float(saved["comprehensiveness"]),
        sufficiency=float(saved["sufficiency"]),
        texts=int(saved["texts"]),
    )
