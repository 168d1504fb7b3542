"""Calibration on the terminal: the errors of a model, each beside that of a perfectly calibrated one."""

from __future__ import annotations

from rich.text import Text

from gonie.messages import say
from gonie.metrics.calibration import Calibration
from gonie.reports.calibration_section import error_text


def calibration_line(calibration: Calibration) -> Text:
    """Return both calibration errors in percent, to be continued."""
    line = Text(say(f"Calibration error {error_text(calibration.width)}"))
    return line.append(say(f"  in bins of equal size {error_text(calibration.mass)}"))
