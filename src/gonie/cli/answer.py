"""The shared work of `gonie tag` and `gonie classify`: predictions to standard output or to a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from gonie.bulk.folder import PartFolder
from gonie.bulk.job import BulkJob, Output
from gonie.bulk.local import LocalEngine
from gonie.bulk.parts import part_writer
from gonie.bulk.run import SHARD_BYTES, run_bulk
from gonie.bulk.worker import BulkEngine
from gonie.cli.inputs import arrived, check_kind, check_suffixes, reads_stream, stream_rows
from gonie.cli.options import BulkOptions
from gonie.cli.views.progress import BulkProgress, StreamProgress
from gonie.cli.views.stream_output import stream_writer
from gonie.client.address import is_url
from gonie.errors import InputError
from gonie.features.external_vectors import refuse_unread
from gonie.features.lm_text.block_workers import WORTH_IT, worker_count
from gonie.formats.text_rows import AUTO, TOKENS, TextRow
from gonie.messages import say
from gonie.tasks.load import is_in_context
from gonie.tasks.loaded import load_model
from gonie.tasks.records import ReturnedFields, renamed_note
from gonie.text.report import Report, count_of
from gonie.text.tokenizers.settings import TokenizerSettings

INTERRUPTED = 130


@dataclass(frozen=True, kw_only=True)
class AnswerCommand:
    """Predicts ``texts`` (one row), ``files`` or standard input with a model.

    ``command`` is the name of the command, ``options`` are options of the task (``Records.answering``), and
    ``loading`` those of an in-context model.
    """

    command: str
    model: Path
    texts: Sequence[str]
    files: Sequence[Path]
    input: str
    output: str | None
    bulk: BulkOptions
    options: Mapping[str, Any] = field(default_factory=dict)
    vectors: Path | None = None
    """The file of the external vectors of all rows, in the order of the input."""
    loading: Mapping[str, Any] = field(default_factory=dict)

    def run(self) -> None:
        """Write the predictions to standard output, or with --out to a folder."""
        folder = self.bulk.folder(self.texts, self.files)
        if self.vectors is not None:
            self._check_vectors(folder)
        if folder is None:
            self._answer_stream()
        else:
            self._answer_files(folder)

    def _check_vectors(self, folder: Path | None) -> None:
        """Refuse options that cannot be combined with vectors, which are read whole and in order."""
        if folder is not None:
            raise InputError("--vectors cannot be combined with --out", fix="Write to standard output")
        if is_url(self.model):
            raise InputError(
                "--vectors cannot be combined with the URL of a service", fix="Pass a run folder or a bundle"
            )
        if reads_stream(bool(self.texts), self.files):
            raise InputError("--vectors cannot be combined with a stream", fix="Pass --file FILE or a TEXT")

    def _answer_stream(self) -> None:
        """Write each prediction as soon as it is ready. Notes go to standard error."""
        texts, files, report = self.texts, self.files, Report()
        with StreamProgress() as progress:
            loaded = load_model(self.model, **self.loading)
            records = loaded.records(self.command)
            columns = records.columns(loaded.model.recipe, self.bulk.column or ())
            named: dict[str, Any] = {"columns": columns} if self.bulk.column else {}
            if self.vectors is not None:
                refuse_unread(loaded.vector_width)
                named["vectors"] = str(self.vectors)
            answering, notes = records.answering(loaded.model, self._options() | named), records.notes()
            fields = ReturnedFields(records.fields, columns)
            write = stream_writer(
                self.output or "pretty", answering, fields, known=records.outputs, alone=bool(texts)
            )
            rows = stream_rows(
                texts,
                files,
                kind=self.input,
                kinds=records.inputs,
                columns=columns,
                answering=answering,
                report=report,
                call=f"gonie {self.command} {quote(loaded.folder)}",
            )
            groups = arrived(rows) if reads_stream(bool(texts), files) else [rows]
            answers = chain.from_iterable(answering(group, _refuse) for group in groups)
            try:
                # Whether the vectors belong to the texts is known after the last text.
                for answered in answers if self.vectors is None else list(answers):
                    write(answered)
                    progress.advance(answered.tokens)
                    progress.note(*notes.add(answered.notes))
            finally:
                progress.stop()
                counts = report.skipped.most_common()
                skipped = (f"skipped {count_of(times, reason)}" for reason, times in counts)
                progress.note(*notes.summary(), *skipped, *renamed_note(fields.renamed))
                if loaded.usage is not None:
                    progress.note(*loaded.usage.lines())

    def _answer_files(self, folder: Path) -> None:
        """Write the parts and a summary. Ctrl-C keeps the finished parts."""
        if is_url(self.model) or is_in_context(self.model):
            raise InputError(
                "--out needs the model itself, not a service or a language model",
                fix="Pass a run folder or a bundle, or write to standard output without --out",
            )
        loaded = load_model(self.model, threads=1)
        if loaded.vector_width:
            raise InputError(
                f"{self.model} reads external vectors, which --out cannot pass on",
                fix="Write to standard output, with --vectors FILE",
            )
        records = loaded.records(self.command)
        check_kind(self.input, (AUTO, *records.inputs.files), when=" with --out")
        if self.input == AUTO:
            check_suffixes(self.files, records.inputs)
        job = BulkJob(
            task=loaded.task.name,
            model=self.model,
            output=_output(self.output),
            columns=records.columns(loaded.model.recipe, self.bulk.column or ()),
            options=self._options(),
        )
        part_writer(job, job.returned_fields())  # fails before any work if pyarrow is missing
        engine = _engine(self.bulk, records.answering(loaded.model, job.options).tokenizer_settings)
        with BulkProgress(folder) as progress:
            try:
                outcome = run_bulk(
                    job,
                    self.files,
                    folder,
                    engine=engine,
                    display=progress,
                    kind=self.input,
                    shard_size=self.bulk.shard_size or SHARD_BYTES,
                )
            except KeyboardInterrupt:
                progress.stopped(len(PartFolder(folder).finished(job.output)))
                raise typer.Exit(INTERRUPTED) from None
            progress.finished(outcome)
            for note in renamed_note(progress.renamed):
                typer.echo(say(f"note: {note}"), err=True)
        if outcome.bad and outcome.bad == outcome.rows:
            raise InputError(f"every row is invalid. The first is {outcome.first_bad}")
        if outcome.bad:
            typer.echo(say(f"note: the first invalid row is {outcome.first_bad}"), err=True)

    def _options(self) -> dict[str, Any]:
        return {**self.options, **({"tokenised": True} if self.input == TOKENS else {})}


def _refuse(row: TextRow, error: InputError) -> None:
    raise error


def _output(given: str | None) -> Output:
    """Return the format of the parts, by default JSON lines."""
    if given == "parquet":
        return "parquet"
    if given in (None, "jsonl"):
        return "jsonl"
    raise InputError(f"--output {given} cannot be combined with --out", fix="Use --output jsonl or parquet")


def _engine(bulk: BulkOptions, settings: TokenizerSettings) -> BulkEngine:
    workers = worker_count(bulk.workers, settings, size=WORTH_IT)
    if bulk.engine != "ray":
        return LocalEngine(workers=workers)
    from gonie.bulk.on_ray import RayEngine

    return RayEngine(workers=bulk.workers if bulk.address else workers, address=bulk.address)
