"""The cost of a training run in words, for the terminal and for pages."""

from __future__ import annotations

from gonie.messages import say
from gonie.system.cost import RunCost
from gonie.text.report import clock


def cost_line(cost: RunCost) -> list[str]:
    """Return the known parts of a cost, for one line."""
    parts = [f"{clock(cost.cpu_seconds)} of CPU time"]
    if cost.gpu_seconds:
        parts.append(f"{clock(cost.gpu_seconds)} of GPU time")
    if cost.peak_memory_bytes is not None:
        parts.append(f"peak memory {_bytes(cost.peak_memory_bytes)}")
    if cost.peak_gpu_memory_bytes is not None:
        parts.append(f"peak GPU memory {_bytes(cost.peak_gpu_memory_bytes)}")
    if cost.cpu_joules is not None:
        parts.append(f"CPU energy {_joules(cost.cpu_joules)}")
    if cost.gpu_joules is not None:
        parts.append(f"GPU energy {_joules(cost.gpu_joules)}")
    return parts


def cost_rows(cost: RunCost) -> dict[str, str]:
    """Return a cost as names and values to show, unknown ones too. Those of a GPU need one."""
    peak = _bytes(cost.peak_memory_bytes)
    values = {
        "wall time": clock(cost.wall_seconds),
        "reading data": clock(cost.preparing_seconds),
        "training": clock(cost.training_seconds),
        "scoring": clock(cost.scoring_seconds),
        "export and evaluation": clock(cost.finishing_seconds),
        "CPU time": clock(cost.cpu_seconds),
        "peak memory": peak if cost.peak_memory_of == "run" else f"{peak} (since the process started)",
        "CPU energy": _joules(cost.cpu_joules),
    }
    if cost.gpu_seconds:
        values["GPU time"] = clock(cost.gpu_seconds)
        values["peak GPU memory"] = _bytes(cost.peak_gpu_memory_bytes)
        values["GPU energy"] = _joules(cost.gpu_joules)
    return {say(name): say(value) for name, value in values.items()}


def _bytes(number: int | None) -> str:
    if number is None:
        return say("unknown")
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"


def _joules(number: float | None) -> str:
    if number is None:
        return say("unknown")
    return f"{number / 1e3:,.1f} kJ" if number >= 1e3 else f"{number:.0f} J"
