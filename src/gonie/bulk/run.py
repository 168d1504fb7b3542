"""A bulk run: predicts the rows of files into numbered parts. The same call resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gonie.bulk.folder import PartFolder
from gonie.bulk.input_columns import InputColumns
from gonie.bulk.job import BulkJob
from gonie.bulk.plan import make_plan
from gonie.bulk.worker import BulkEngine, ShardResult, WorkOrder
from gonie.formats.text_rows import AUTO
from gonie.system.files import remove_leftovers

SHARD_BYTES = 1 << 20
"""Bytes of text per shard: some seconds of work, and the most that a killed worker loses."""


class BulkDisplay(Protocol):
    """Shows the progress of a run."""

    def cutting(self, done: int, files: int) -> None:
        """Called when ``done`` of ``files`` files are cut into shards."""

    def begin(self, extent: Extent) -> None:
        """Called before the first shard, with the size of the run."""

    def done(self, done: ShardResult) -> None:
        """Called when a part is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The size of a run: parts in total, parts finished earlier, and bytes of text that remain."""

    parts: int
    finished: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOutcome:
    """The result of a run: the number of parts, input rows and invalid rows.

    ``first_bad`` is the place of the first invalid row and the reason, empty if there is none.
    """

    parts: int
    rows: int
    bad: int
    first_bad: str = ""


def run_bulk(
    job: BulkJob,
    paths: Sequence[Path],
    folder: Path,
    *,
    engine: BulkEngine,
    display: BulkDisplay,
    kind: str = AUTO,
    shard_size: int = SHARD_BYTES,
) -> BulkOutcome:
    """Write predictions for the rows of files to ``folder``, which is new or has parts of the same run.

    Finished parts are not written again. Parts are written atomically, so an interrupted run leaves only
    complete ones.
    """
    plan = make_plan(job.settings(), paths, kinds=job.records.inputs.files, kind=kind, shard_size=shard_size)
    inputs = None
    if job.output == "parquet":
        fields = job.returned_fields()
        inputs = InputColumns.of(plan.sources, root=Path(), columns=job.columns, fields=fields)
    place = PartFolder(folder)
    with place.locked():
        plan = place.settle(plan, display.cutting)
        shards, finished = plan.shards(), place.finished(job.output)
        left = [shard for shard in shards if shard.number not in finished]
        display.begin(
            Extent(parts=len(shards), finished=len(finished), size=sum(shard.size for shard in left))
        )
        order = WorkOrder(job.absolute(), plan.sources, Path.cwd(), folder.absolute(), inputs)
        try:
            with closing(engine(order, left)) as results:
                for done in results:
                    display.done(done)
        finally:
            remove_leftovers(folder)  # of killed workers
        return BulkOutcome(
            parts=len(shards),
            rows=sum(shard.rows for shard in shards),
            bad=place.count_bad(),
            first_bad=place.first_bad(),
        )
