"""A bulk run: files in, numbered parts out, by an engine; the same call again resumes it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gonie.bulk.folder import PartFolder
from gonie.bulk.job import BulkJob
from gonie.bulk.plan import make_plan
from gonie.bulk.worker import BulkEngine, Done, Order
from gonie.formats.text_rows import AUTO
from gonie.system.files import remove_leftovers

SIZE = 1 << 20
"""Bytes of text in a shard: some seconds of work, and what a kill may cost each worker."""


class Watch(Protocol):
    """Is told how far a run is."""

    def cutting(self, done: int, files: int) -> None:
        """So many of the files have been looked at."""

    def begin(self, plan: Extent) -> None:
        """How much there is to do."""

    def done(self, done: Done) -> None:
        """A part is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How much a run has before it: parts, those that are there already, and bytes of text without them."""

    parts: int
    there: int
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkOutcome:
    """What is in the folder when a run is over: parts, the rows of the input, and those set aside."""

    parts: int
    rows: int
    bad: int


def run_bulk(
    job: BulkJob,
    paths: Sequence[Path],
    folder: Path,
    *,
    engine: BulkEngine,
    watch: Watch,
    kind: str = AUTO,
    shard_size: int = SIZE,
) -> BulkOutcome:
    """Answer the rows of files into ``folder``, which is new or has parts of the very same run.

    Parts that are there are not made again. Whatever ends the run, each part is whole or not there.
    """
    plan = make_plan(job.settings(), paths, kinds=job.records.inputs.files, kind=kind, shard_size=shard_size)
    place = PartFolder(folder)
    with place.held():
        plan = place.settle(plan, watch.cutting)
        shards, there = plan.shards(), place.finished(job.output)
        left = [shard for shard in shards if shard.number not in there]
        watch.begin(Extent(parts=len(shards), there=len(there), size=sum(shard.size for shard in left)))
        order = Order(job.absolute(), plan.sources, Path.cwd(), folder.absolute())
        try:
            with closing(engine(order, left)) as finished:
                for done in finished:
                    watch.done(done)
        finally:
            remove_leftovers(folder)  # of workers that were ended
        return BulkOutcome(parts=len(shards), rows=sum(shard.rows for shard in shards), bad=place.count_bad())
