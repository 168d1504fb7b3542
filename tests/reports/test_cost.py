"""Tests the cost of a run in words."""

from __future__ import annotations

from gonie.messages import use_language
from gonie.reports.cost import cost_line, cost_rows
from gonie.system.cost import RunCost

ON_CPU = RunCost(cpu_seconds=192.4, peak_memory_bytes=1_200_000_000, wall_seconds=61.0)
ON_GPU = RunCost(
    cpu_seconds=3.0,
    gpu_seconds=3700.0,
    peak_memory_bytes=350_000_000,
    peak_gpu_memory_bytes=2_000_000_000,
    cpu_joules=812.4,
    gpu_joules=1_234_567.0,
)


def test_a_line_has_what_is_known() -> None:
    assert cost_line(ON_CPU) == ["3 min 12 s of CPU time", "peak memory 1.2 GB"]
    assert cost_line(ON_GPU) == [
        "3 s of CPU time",
        "1 h 01 min of GPU time",
        "peak memory 350 MB",
        "peak GPU memory 2.0 GB",
        "CPU energy 812 J",
        "GPU energy 1,234.6 kJ",
    ]
    assert cost_line(RunCost()) == ["0 s of CPU time"]


def test_rows_say_what_is_unknown_and_leave_out_a_gpu_that_was_not_used() -> None:
    rows = cost_rows(ON_CPU)
    assert rows["wall time"] == "1 min 01 s"
    assert rows["CPU energy"] == "unknown"
    assert not [name for name in rows if "GPU" in name]
    assert cost_rows(RunCost(gpu_seconds=1.0))["GPU energy"] == "unknown"


def test_rows_mark_a_peak_that_may_be_from_before_the_run() -> None:
    rows = cost_rows(RunCost(peak_memory_bytes=2_000_000, peak_memory_of="process"))
    assert rows["peak memory"] == "2 MB (since the process started)"


def test_rows_are_in_the_language_of_the_user() -> None:
    with use_language("ko"):
        rows = cost_rows(ON_CPU)
    assert rows["CPU 시간"] == "3분 12초"
    assert rows["CPU 에너지"] == "알 수 없음"
