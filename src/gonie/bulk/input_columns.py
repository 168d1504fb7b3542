"""The columns of the input in Parquet parts.

Columns of Parquet files keep their types, and cells of TSV tables are strings. The keys of JSON objects may
differ from row to row, so all fields of an object are in one column, ``fields``, as JSON. Its ``id`` also has
a column, as text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any

from gonie.bulk.pieces import read_header
from gonie.bulk.plan import InputFile
from gonie.errors import InputError
from gonie.formats.text_rows import JSONL, PARQUET, TSV, TextRow
from gonie.system.files import is_utf8
from gonie.system.parquet import ParquetBatch, ParquetCell, open_table
from gonie.tasks.records import ReturnedFields, object_text

ID, FIELDS = "id", "fields"


@dataclass(frozen=True, slots=True)
class InputColumns:
    """The columns of all input files, by their names in the input, and the names of the TSV files.

    ``schema`` is an Arrow schema.
    """

    schema: Any
    tables: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, sources: Sequence[InputFile], *, root: Path, columns: Sequence[str], fields: ReturnedFields
    ) -> InputColumns:
        """Return the columns of files. Raise InputError if a column has different types in two files."""
        arrow = import_module("pyarrow")
        found: dict[str, tuple[Any, str]] = {}
        for source in sources:
            for name, kind in _columns(source, root, columns, arrow):
                before, file = found.get(name, (kind, source.path))
                if before != kind and not arrow.types.is_null(before) and not arrow.types.is_null(kind):
                    raise InputError(
                        f"the column {name!r} has the type {kind} here, and {before} in {file}",
                        path=source.path,
                        fix="Write JSON lines with --output jsonl, or use one --out for each file",
                    )
                if name not in fields.texts and (name not in found or arrow.types.is_null(before)):
                    found[name] = kind, source.path
        found.setdefault(ID, (arrow.string(), ""))
        tables = frozenset(source.name for source in sources if source.kind == TSV)
        return cls(arrow.schema({name: kind for name, (kind, _) in found.items()}), tables)

    def table(self, rows: Sequence[TextRow], new_names: Mapping[str, str]) -> Any:
        """Return the columns of rows, with fields under their new names."""
        arrow = import_module("pyarrow")
        chunks = [self._chunk(batch, list(some), arrow) for batch, some in groupby(rows, key=_batch)]
        table = arrow.concat_tables(chunks) if chunks else self.schema.empty_table()
        columns = [_encoded(column, arrow) for column in table.columns]
        return arrow.table(columns, names=[new_names.get(name, name) for name in self.schema.names])

    def _chunk(self, batch: ParquetBatch | None, rows: Sequence[TextRow], arrow: Any) -> Any:
        """Return the columns of rows of one Parquet batch, or of rows of other files."""
        if batch is None:
            return arrow.Table.from_pylist([*map(self._cells, rows)], schema=self.schema)
        at = arrow.array([row.given.at for row in rows if isinstance(row.given, ParquetCell)], arrow.int64())
        have = batch.arrow.schema.names
        columns = [
            _cast(batch.arrow.column(name).take(at), kind) if name in have else arrow.nulls(len(rows), kind)
            for name, kind in zip(self.schema.names, self.schema.types, strict=True)
        ]
        return arrow.table(columns, schema=self.schema)

    def _cells(self, row: TextRow) -> dict[str, Any]:
        fields = row.fields
        if row.file in self.tables:
            return {name: json.loads(text) for name, text in fields.items()}
        return {ID: _id(fields.get(ID, "null")), FIELDS: object_text(fields) if fields else None}


def _columns(source: InputFile, root: Path, columns: Sequence[str], arrow: Any) -> Iterable[tuple[str, Any]]:
    """Return the columns of a file with their types."""
    if source.kind == PARQUET:
        with open_table(root / source.path, columns=columns) as table:
            return [(field.name, field.type) for field in table.schema_arrow]
    if source.kind == TSV:
        return ((name, arrow.string()) for name in read_header(root / source.path, source.path, columns))
    return ((name, arrow.string()) for name in (ID, FIELDS)) if source.kind == JSONL else ()


def _batch(row: TextRow) -> ParquetBatch | None:
    return row.given.batch if isinstance(row.given, ParquetCell) else None


def _cast(column: Any, kind: Any) -> Any:
    """Return a column with this type. Only columns of nulls alone have another one."""
    return column if column.type == kind else column.cast(kind)


def _encoded(column: Any, arrow: Any) -> Any:
    """Return a column in one piece, with a dictionary that depends only on its values.

    So the bytes of a part do not depend on which rows were read together.
    """
    if not arrow.types.is_dictionary(column.type):
        return column.combine_chunks()
    values = column.cast(column.type.value_type).combine_chunks()
    return values.dictionary_encode().cast(column.type)


def _id(text: str) -> str | None:
    """Return an id as text: a string unchanged, anything else as JSON."""
    value = json.loads(text) if text.startswith('"') else None
    return value if value is not None and is_utf8(value) else None if text == "null" else text
