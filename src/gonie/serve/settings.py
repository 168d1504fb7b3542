"""The settings of the service: what is served, where, and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gonie.serve.limits import ConnectionLimits, Limits


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """What is served, where, and within which limits."""

    models: Sequence[tuple[str, str]]
    """Names and folders."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    keys: Path | None = None
    """The file of the API keys; None: no keys are needed."""
    origins: Sequence[str] = ()
    """Origins of other pages that may use the service (CORS)."""
    watch: float = 0.0
    """Seconds between two looks for changed bundles; 0: only after SIGHUP."""
    telemetry: bool = False


Started = Callable[[str, Sequence[dict[str, Any]]], None]
"""Called once with the address of the service and the descriptions of its models."""
