"""Reading texts and the other columns of Parquet files of any size, with one batch of rows in memory."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from gonie.errors import InputError, MissingExtraError
from gonie.system.files import unreadable

SUFFIX = ".parquet"
ROWS, HELD = 1024, 1 << 26
"""The most rows and the most bytes in memory at a time."""


class ParquetBatch:
    """Some rows of a file: all columns, as Arrow values and as JSON texts."""

    def __init__(self, path: Path, arrow: Any) -> None:
        self.path = path
        self.arrow = arrow  # a RecordBatch

    @cached_property
    def fields(self) -> Sequence[Mapping[str, str]]:
        """The values of each row by column, as JSON texts."""
        names = self.arrow.schema.names
        columns = [self._json_texts(name, column) for name, column in zip(names, self.arrow, strict=True)]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]

    def _json_texts(self, name: str, column: Any) -> list[str]:
        try:
            return [_json_text(value) for value in column.cast(_json_type(column.type)).to_pylist()]
        except (ValueError, NotImplementedError) as error:  # of Arrow, or bytes that are not UTF-8
            raise InputError(
                f"the column {name!r} of type {column.type} cannot be written as JSON: {error}",
                path=self.path,
                fix="Remove the column, or write Parquet: --out DIR --output parquet",
            ) from None


class ParquetCell(NamedTuple):
    """A row: its number, counted from 1, its texts (None for null), and its place in a batch.

    A text that is not valid UTF-8 is given as bytes.
    """

    row: int
    texts: tuple[str | bytes | None, ...]
    batch: ParquetBatch
    at: int

    @property
    def fields(self) -> Mapping[str, str]:
        """The values of the row by column, as JSON texts."""
        return self.batch.fields[self.at]


def read_cells(path: Path, *, columns: Sequence[str] = ("text",), group: int = 0) -> Iterator[ParquetCell]:
    """Yield the rows of a file, starting with row group ``group``."""
    with open_table(path, columns=columns) as table:
        metadata = table.metadata
        number = 1 + sum(metadata.row_group(before).num_rows for before in range(group))
        wanted = list(range(group, metadata.num_row_groups))
        for arrow in table.iter_batches(batch_size=_batch_rows(metadata), row_groups=wanted):
            batch = ParquetBatch(path, arrow)
            rows = zip(*(_texts(arrow.column(column)) for column in columns), strict=True)
            for at, texts in enumerate(rows):
                yield ParquetCell(number, texts, batch, at)
                number += 1


def _batch_rows(metadata: Any) -> int:
    """Return how many rows are read at a time: fewer if rows are large."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size // max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(ROWS, HELD // max(largest, 1)))


def _json_type(kind: Any) -> Any:
    """Return the Arrow type to which values are cast before they are written as JSON.

    Dates, times and decimals become strings, which have all their digits.
    """
    arrow = import_module("pyarrow")
    types, found = arrow.types, kind
    if isinstance(kind, arrow.BaseExtensionType):
        found = _json_type(kind.storage_type)
    elif types.is_temporal(kind) or types.is_decimal(kind):
        found = arrow.string()
    elif types.is_float16(kind):
        found = arrow.float32()
    elif types.is_dictionary(kind):
        found = _json_type(kind.value_type)
    elif types.is_struct(kind):
        found = arrow.struct([arrow.field(each.name, _json_type(each.type)) for each in kind])
    elif types.is_map(kind):
        found = arrow.map_(_json_type(kind.key_type), _json_type(kind.item_type))
    elif types.is_large_list(kind):
        found = arrow.large_list(_json_type(kind.value_type))
    elif types.is_list(kind) or types.is_fixed_size_list(kind):
        found = arrow.list_(_json_type(kind.value_type))
    return found


def _json_text(value: Any) -> str:
    """Return a value as JSON. Bytes are written in base64, NaN and the infinities as strings."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_encoded)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=_encoded)


def _encoded(value: Any) -> str:
    return b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list | tuple) else value


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
            check_names(path, table.schema_arrow.names)
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


def check_names(path: str | Path, names: Sequence[str]) -> None:
    """Refuse two columns with one name, of which only one could be returned."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two columns are called {twice!r}", path=path, line=1, fix="Rename one")


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
