"""ONNX Runtime without its telemetry.

Its wheels for Linux report events to Microsoft, unless ORT_DISABLE_TELEMETRY is set before it is imported.
Set it to 0 to allow this.
"""

from __future__ import annotations

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

import onnxruntime

__all__ = ["onnxruntime"]
