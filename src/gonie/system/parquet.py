"""Reading text columns of Parquet files of any size, with one batch of rows in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError, MissingExtraError
from gonie.system.files import unreadable

SUFFIX = ".parquet"
ID = "id"
"""Name of the optional column with row ids."""

ROWS = 1024
"""Rows in memory at a time."""


class ParquetCell(NamedTuple):
    """A row: its number, counted from 1, its texts (None for null) and its id, if any.

    A text that is not valid UTF-8 is given as bytes.
    """

    row: int
    texts: tuple[str | bytes | None, ...]
    id: Any = None


def read_cells(path: Path, *, columns: Sequence[str] = ("text",), group: int = 0) -> Iterator[ParquetCell]:
    """Yield the rows of a file, starting with row group ``group``."""
    with open_table(path, columns=columns) as table:
        named = [ID] if ID not in columns and ID in table.schema_arrow.names else []
        metadata = table.metadata
        number = 1 + sum(metadata.row_group(before).num_rows for before in range(group))
        wanted = list(range(group, metadata.num_row_groups))
        for batch in table.iter_batches(batch_size=ROWS, row_groups=wanted, columns=[*columns, *named]):
            ids = batch.column(ID).to_pylist() if named else [None] * len(batch)
            rows = zip(*(_texts(batch.column(column)) for column in columns), strict=True)
            for texts, id in zip(rows, ids, strict=True):
                yield ParquetCell(number, texts, id)
                number += 1


def import_parquet(*, extra: str = "ray", purpose: str = "Parquet") -> Any:
    """Import pyarrow.parquet, or raise MissingExtraError."""
    try:
        return import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("pyarrow", extra=extra, purpose=purpose) from None


@contextmanager
def open_table(path: Path, *, columns: Sequence[str], extra: str = "ray") -> Iterator[Any]:
    """Open a Parquet file with text in ``columns``. Problems found while reading raise InputError."""
    parquet = import_parquet(extra=extra, purpose="reading Parquet")
    try:
        with parquet.ParquetFile(path) as table:
            for column in columns:
                _check(path, table.schema_arrow, column)
            yield table
    except InputError:
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:  # ArrowInvalid, or bytes that are not UTF-8
        raise InputError(
            f"damaged Parquet file: {str(error).splitlines()[0].rstrip('.')}",
            path=path,
            fix="Download or write it again",
        ) from None


def _texts(column: Any) -> list[str | bytes | None]:
    """Return the values of a column. Values that are not UTF-8 are returned as bytes."""
    try:
        found: list[str | bytes | None] = column.to_pylist()
    except UnicodeDecodeError:
        found = [_text(value) for value in column]
    return found


def _text(value: Any) -> str | bytes | None:
    try:
        found: str | bytes | None = value.as_py()
    except UnicodeDecodeError as error:
        return bytes(error.object)
    return found


def _check(path: Path, schema: Any, column: str) -> None:
    """Raise InputError if the table does not have the column or the column is not text."""
    found = {field.name: _kind(field.type) for field in schema}
    kind = found.get(column)
    if kind in ("string", "large_string", "string_view"):
        return
    known = ", ".join(f"{name} ({kind})" for name, kind in found.items())
    raise InputError(
        f"column {column!r} has type {kind}, not string" if kind else f"no column {column!r}",
        path=path,
        fix=f"Choose a text column. The file has: {known or 'no columns'}",
    )


def _kind(kind: Any) -> str:
    """Return the name of a type. Dictionary-encoded strings count as strings."""
    return str(getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind)
