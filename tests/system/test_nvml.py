"""Tests the energy of a GPU without one; ``tests/training/test_gpu.py`` reads it from a GPU."""

from __future__ import annotations

from gonie.system.nvml import GpuEnergy

NOBODY = "GPU-00000000-0000-0000-0000-000000000000"


def test_without_a_driver_the_energy_is_unknown() -> None:
    assert GpuEnergy(NOBODY, "libgonie-has-no-such-library.so").joules() is None


def test_a_library_without_the_functions_leaves_the_energy_unknown() -> None:
    assert GpuEnergy(NOBODY, "libc.so.6").joules() is None


def test_the_energy_of_an_unknown_gpu_is_unknown() -> None:
    assert GpuEnergy(NOBODY).joules() is None
