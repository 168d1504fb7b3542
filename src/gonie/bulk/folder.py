"""The output folder of a bulk run.

    _plan.json            the plan of the run (``gonie.bulk.plan``)
    part-000000.jsonl     the rows of shard 0 (or .parquet), in the order of the input
    _bad-000000.jsonl     the invalid rows of shard 0 with the reasons, if there are any

A part is written atomically, after its invalid rows. Tools that read a folder of parts as one table skip
names with an underscore.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonie.bulk.plan import BulkPlan, ShowCutting
from gonie.errors import InputError, OutputError
from gonie.system.files import PREFIX, SUFFIX, atomic_write, make_folder, remove_leftovers
from gonie.system.folder_lock import folder_lock

PLAN = "_plan.json"
MAX_PARTS = 1_000_000
"""With more parts, names would not sort like numbers."""

_OURS = re.compile(
    rf"{re.escape(PLAN)}|part-\d{{6}}\.(jsonl|parquet)|_bad-\d{{6}}\.jsonl"
    rf"|{re.escape(PREFIX)}\w+{re.escape(SUFFIX)}"
)


def part_name(number: int, output: str) -> str:
    """Return the file name of a part."""
    return f"part-{number:06d}.{output}"


def bad_name(number: int) -> str:
    """Return the file name of the invalid rows of a shard."""
    return f"_bad-{number:06d}.jsonl"


class PartFolder:
    """The output folder of one run: locks it, settles its plan and lists its finished parts."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the folder during the block. A folder with unrelated files is refused."""
        self._check_content()
        make_folder(self.root)
        with folder_lock(self.root, refusal=self._busy()):
            self._check_content()
            remove_leftovers(self.root)
            yield

    def settle(self, plan: BulkPlan, show: ShowCutting) -> BulkPlan:
        """Return the saved plan if it matches ``plan``. Without a saved one, cut the files and save it."""
        place = self.root / PLAN
        if place.exists():
            earlier = BulkPlan.load(place)
            plan.check_same(earlier, self.root)
            return earlier
        plan = plan.cut(show)
        if len(plan.shards()) > MAX_PARTS:
            raise InputError(
                f"too many parts: {len(plan.shards()):,}, at most {MAX_PARTS:,}", fix="Raise --shard-size"
            )
        atomic_write(place, plan.dump())
        return plan

    def finished(self, output: str) -> set[int]:
        """Return the numbers of the finished parts."""
        return {int(path.stem.removeprefix("part-")) for path in self.root.glob(f"part-*.{output}")}

    def count_bad(self) -> int:
        """Count the invalid rows of all runs into this folder."""
        return sum(_lines(path) for path in sorted(self.root.glob("_bad-*.jsonl")))

    def first_bad(self) -> str:
        """Return the place and the reason of the first invalid row, or nothing."""
        for path in sorted(self.root.glob("_bad-*.jsonl")):
            with path.open(encoding="utf-8") as file:
                row = json.loads(file.readline())
            return f"{row['file']}:{row['row']}: {row['reason']}"
        return ""

    def _check_content(self) -> None:
        """Refuse a folder that contains files of something else."""
        if not self.root.exists():
            return
        if not self.root.is_dir():
            raise OutputError(f"{self.root} is a file, not a folder. Choose another --out.")
        names = sorted(entry.name for entry in self.root.iterdir())
        strange = [name for name in names if not _OURS.fullmatch(name)]
        if not strange and PLAN not in names:
            strange = [name for name in names if not name.startswith(PREFIX)]
        if strange:
            shown = ", ".join(strange[:3]) + (" …" if len(strange) > 3 else "")
            raise OutputError(
                f"{self.root} contains other files: {shown}. "
                "Choose a new folder, or one of an earlier bulk run."
            )

    def _busy(self) -> OutputError:
        return OutputError(
            f"another process is using {self.root}. Wait for it or stop it, or choose another --out."
        )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)
