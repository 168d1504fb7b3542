"""The peak memory of this process."""

from __future__ import annotations

import re
import sys
from pathlib import Path

PROCESS = Path("/proc/self")
RESET = "5"  # of the peak, in clear_refs; see proc(5)


class PeakMemory:
    """Measures the peak resident memory since ``reset``, without that of child processes.

    Only Linux can reset it. Elsewhere, and where Linux does not allow it, it is the peak since the process
    started, and ``was_reset`` is false.
    """

    def __init__(self, process: Path = PROCESS) -> None:
        self._process = process
        self.was_reset = False

    def reset(self) -> None:
        """Start measuring anew, if possible."""
        try:
            with (self._process / "clear_refs").open("r+", encoding="ascii") as file:
                file.write(RESET)
            self.was_reset = True
        except OSError:
            self.was_reset = False

    def read(self) -> int | None:
        """Return the peak in bytes, or None if the system does not tell."""
        try:
            status = (self._process / "status").read_text("utf-8", errors="replace")
        except OSError:
            status = ""
        if found := re.search(r"^VmHWM:\s*(\d+) kB", status, re.MULTILINE):
            return int(found[1]) * 1024
        return _process_peak()


def _process_peak() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
