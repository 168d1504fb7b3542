"""Tests the energy of CPU packages, on folders of counters as Linux shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.system.rapl import PackageEnergy

RANGE = 262_143_328_850


def zone(folder: Path, name: str, kind: str, energy: int, most: int = RANGE) -> Path:
    """Write the files of a counter in microjoules."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    (place / "name").write_text(f"{kind}\n")
    (place / "energy_uj").write_text(f"{energy}\n")
    (place / "max_energy_range_uj").write_text(f"{most}\n")
    return place


def test_energy_is_that_of_all_packages_since_the_start(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0", 5_000_000)
    zone(tmp_path, "intel-rapl:1", "package-1", 70_000_000)
    energy = PackageEnergy(tmp_path)
    assert energy.joules() == 0.0
    zone(tmp_path, "intel-rapl:0", "package-0", 6_500_000)
    assert energy.joules() == 1.5
    zone(tmp_path, "intel-rapl:1", "package-1", 72_000_000)
    assert energy.joules() == 3.5
    assert energy.joules() == 3.5


def test_parts_of_a_package_and_other_interfaces_are_not_counted_twice(tmp_path: Path) -> None:
    names = {
        "intel-rapl:0": "package-0",
        "intel-rapl:0:0": "core",
        "intel-rapl:1": "psys",
        "intel-rapl-mmio:0": "package-0",
    }
    for name, kind in names.items():
        zone(tmp_path, name, kind, 0)
    (tmp_path / "intel-rapl").mkdir()
    energy = PackageEnergy(tmp_path)
    for name, kind in names.items():
        zone(tmp_path, name, kind, 1_000_000)
    assert energy.joules() == 1.0


@settings(max_examples=20, deadline=None)  # it writes files
@given(st.integers(10, 30), st.lists(st.integers(0, 9), max_size=12))
def test_a_counter_that_wraps_around_adds_up(
    tmp_path_factory: pytest.TempPathFactory, most: int, used: list[int]
) -> None:
    """It may wrap around any number of times, if it is read often enough."""
    folder = tmp_path_factory.mktemp("powercap")
    place = zone(folder, "intel-rapl:0", "package-0", 0, most)
    energy = PackageEnergy(folder)
    for so_far in range(1, len(used) + 1):
        (place / "energy_uj").write_text(f"{sum(used[:so_far]) % most}\n")
        assert energy.joules() == sum(used[:so_far]) / 1e6


def test_without_counters_the_energy_is_unknown(tmp_path: Path) -> None:
    assert PackageEnergy(tmp_path / "missing").joules() is None
    zone(tmp_path, "intel-rapl:0:0", "core", 0)
    assert PackageEnergy(tmp_path).joules() is None


def test_a_counter_that_cannot_be_read_makes_the_energy_unknown(tmp_path: Path) -> None:
    """Otherwise a machine with two packages would seem to use the energy of one."""
    zone(tmp_path, "intel-rapl:0", "package-0", 0)
    second = zone(tmp_path, "intel-rapl:1", "package-1", 0)
    (second / "energy_uj").unlink()
    (second / "energy_uj").mkdir()  # not readable, even for root
    assert PackageEnergy(tmp_path).joules() is None


def test_a_counter_that_fails_later_stays_unknown(tmp_path: Path) -> None:
    place = zone(tmp_path, "intel-rapl:0", "package-0", 0)
    energy = PackageEnergy(tmp_path)
    assert energy.joules() == 0.0
    (place / "energy_uj").unlink()
    assert energy.joules() is None
    zone(tmp_path, "intel-rapl:0", "package-0", 9_000_000)
    assert energy.joules() is None
