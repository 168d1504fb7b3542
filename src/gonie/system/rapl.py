"""The energy that CPU packages use, from the counters of the Linux powercap interface.

Intel and AMD processors count the energy of each package (RAPL). Linux shows the counters as files, often
only to root. A package is shared by everything that runs on the machine.
"""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock

POWERCAP = Path("/sys/class/powercap")
"""The folder of the counters."""


class PackageEnergy:
    """Adds up the energy of all CPU packages. A counter wraps around, so ``joules`` must be called often.

    At 1 kW, the smallest counters wrap around after a minute.
    """

    def __init__(self, folder: Path = POWERCAP) -> None:
        self._lock = Lock()
        self._packages = [_Counter(zone) for zone in sorted(folder.glob("intel-rapl:*")) if _is_package(zone)]
        self._known = bool(self._packages)
        self.joules()

    def joules(self) -> float | None:
        """Return the energy since the counters were opened, or None if one of them cannot be read."""
        with self._lock:
            if self._known:
                try:
                    for package in self._packages:
                        package.read()
                except (OSError, ValueError):
                    self._known = False  # and not again: energy in between would be missing
            return sum(package.total for package in self._packages) / 1e6 if self._known else None


class _Counter:
    """A counter in microjoules that starts over at its range."""

    def __init__(self, zone: Path) -> None:
        self._zone = zone
        self._last: int | None = None
        self.total = 0

    def read(self) -> None:
        """Add what was used since the last call."""
        now = int((self._zone / "energy_uj").read_text("ascii"))
        if self._last is not None:
            used = now - self._last
            self.total += used if used >= 0 else used + self._range()
        self._last = now

    def _range(self) -> int:
        return int((self._zone / "max_energy_range_uj").read_text("ascii"))


def _is_package(zone: Path) -> bool:
    """Return whether a zone is a whole package, not a part of one (``intel-rapl:0:1``) or the platform."""
    if not re.fullmatch(r"intel-rapl:\d+", zone.name):
        return False
    try:
        return (zone / "name").read_text("utf-8").startswith("package")
    except (OSError, ValueError):
        return False
