"""What `gonie tag` and `gonie classify` do with --out: go over many files, by an engine, into parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from gonie.bulk.engines import BulkEngine
from gonie.bulk.folder import PartFolder
from gonie.bulk.job import BulkJob, Output
from gonie.bulk.local import LocalEngine
from gonie.bulk.parts import part_writer
from gonie.bulk.plan import AUTO
from gonie.bulk.run import SIZE, run_bulk
from gonie.cli.options.bulk import BulkOptions
from gonie.cli.views.bulk_progress import BulkProgress
from gonie.errors import InputError
from gonie.features.lm_text.block_workers import WORTH_IT, worker_count

STOPPED = 130


def go_over(files: Sequence[Path], folder: Path, options: BulkOptions, job: BulkJob, *, kind: str) -> None:
    """Write the parts, and say what came of it; Ctrl-C ends it with what is done."""
    part_writer(job)  # what is not installed or does not fit is refused before anything is made
    engine = _engine(options, job)
    with BulkProgress(folder) as progress:
        try:
            outcome = run_bulk(
                job,
                files,
                folder,
                engine=engine,
                watch=progress,
                kind=kind,
                shard_size=options.shard_size or SIZE,
            )
        except KeyboardInterrupt:
            progress.stopped(len(PartFolder(folder).finished(job.output)))
            raise typer.Exit(STOPPED) from None
        progress.finished(outcome)


def output_kind(given: str | None) -> Output:
    """The kind of parts: JSON lines unless asked otherwise."""
    if given == "parquet":
        return "parquet"
    if given in (None, "jsonl"):
        return "jsonl"
    raise InputError(expected="--output jsonl or parquet with --out", got=repr(given))


def input_kind(given: str, known: Sequence[str]) -> str:
    """How files are read: by their suffix unless asked otherwise."""
    if given not in (AUTO, *known):
        raise InputError(expected=f"--input {', '.join((AUTO, *known))} with --out", got=repr(given))
    return given


def _engine(options: BulkOptions, job: BulkJob) -> BulkEngine:
    workers = worker_count(options.workers, job.cutting(), size=WORTH_IT)
    if options.engine != "ray":
        return LocalEngine(workers=workers)
    from gonie.bulk.on_ray import RayEngine

    return RayEngine(workers=options.workers if options.address else workers, address=options.address)
