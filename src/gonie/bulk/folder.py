"""The folder that parts are written to: what may be there, what is finished, and who writes.

    _plan.json            what the parts are made of (``gonie.bulk.plan``)
    part-000000.jsonl     the rows of shard 0 (or .parquet), in the order of the input
    _bad-000000.jsonl     rows of shard 0 that could not be read, with the reason; only if there are any

A part appears whole, after its bad rows. Names with an underscore are passed over by whatever reads a folder
of parts as one table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonie.bulk.plan import BOTH, BulkPlan, Tell
from gonie.errors import InputError, OutputError
from gonie.system.files import PREFIX, SUFFIX, atomic_write, make_folder, remove_leftovers
from gonie.system.folder_lock import folder_lock

PLAN = "_plan.json"
MOST = 1_000_000
"""Parts whose names sort as their numbers do."""

_OURS = re.compile(
    rf"{re.escape(PLAN)}|part-\d{{6}}\.(jsonl|parquet)|_bad-\d{{6}}\.jsonl"
    rf"|{re.escape(PREFIX)}\w+{re.escape(SUFFIX)}"
)


def part_name(number: int, output: str) -> str:
    """The file name of a part."""
    return f"part-{number:06d}.{output}"


def bad_name(number: int) -> str:
    """The file name of the rows of a shard that could not be read."""
    return f"_bad-{number:06d}.jsonl"


class PartFolder:
    """The output folder of one run."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within the block no other run writes here; a folder with anything else in it is refused."""
        self._check_strange()
        make_folder(self.root)
        with folder_lock(self.root, refusal=self._busy()):
            self._check_strange()
            remove_leftovers(self.root)
            yield

    def settle(self, plan: BulkPlan, tell: Tell) -> BulkPlan:
        """The plan with its pieces: the one that is here, if it is of the same, else made now."""
        place = self.root / PLAN
        if place.exists():
            earlier = BulkPlan.load(place)
            plan.check_same(earlier, self.root)
            return earlier
        plan = plan.cut(tell)
        if len(plan.shards()) > MOST:
            raise InputError(
                f"expected at most {MOST:,} shards, got {len(plan.shards()):,}", fix="Make them larger"
            )
        atomic_write(place, plan.dump())
        return plan

    def finished(self, output: str) -> set[int]:
        """The numbers of the parts that are here."""
        return {int(path.stem.removeprefix("part-")) for path in self.root.glob(f"part-*.{output}")}

    def count_bad(self) -> int:
        """How many rows were set aside, by all runs into this folder."""
        return sum(_lines(path) for path in sorted(self.root.glob("_bad-*.jsonl")))

    def _check_strange(self) -> None:
        """Never write between files that are not ours."""
        if not self.root.exists():
            return
        if not self.root.is_dir():
            raise OutputError(f"cannot write to {self.root}: expected a folder, got a file. Name another one")
        names = sorted(entry.name for entry in self.root.iterdir())
        strange = [name for name in names if not _OURS.fullmatch(name)]
        if not strange and PLAN not in names:
            strange = [name for name in names if not name.startswith(PREFIX)]
        if strange:
            raise OutputError(
                f"cannot write to {self.root}: expected a new folder or one of an earlier bulk run, got one "
                f"that holds {', '.join(strange[:3])}{' …' if len(strange) > 3 else ''}. Name another one"
            )

    def _busy(self) -> OutputError:
        return OutputError(
            f"{self.root}: expected a folder at rest, got one that another run writes to. "
            f"Wait for it, or stop it first. {BOTH}"
        )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
