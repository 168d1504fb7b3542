"""Tables in Parquet and Arrow files, and in folders that the `datasets` library saved.

Numbers of a Hugging Face ``ClassLabel`` become its names, also inside lists and structures. The schema's
metadata holds them. A number below 0 is a missing label.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from gonie.errors import InputError, MissingExtraError
from gonie.formats.content import PEEK, Content, FileHead
from gonie.formats.format import Row, RowFormat, TableRows, first_row
from gonie.system.parquet import SUFFIX as PARQUET_SUFFIX
from gonie.text.report import Report

ROWS_AT_ONCE = 1024
PARQUET, FILE, STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""The first bytes of a Parquet file, an Arrow file and an Arrow stream."""
STATE, SPLITS = "state.json", "dataset_dict.json"
"""The file of a saved dataset that lists its Arrow files, and that of several datasets, such as train."""


def _pyarrow(module: str = "pyarrow") -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError("pyarrow", extra="train", purpose="reading Parquet and Arrow files") from None


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """Convert errors of pyarrow to InputError."""
    try:
        yield
    except (ValueError, OSError, KeyError, TypeError) as error:
        raise InputError(
            f"damaged file: {str(error).splitlines()[0].rstrip('.')}", path=path, fix="Write it again"
        ) from None


def _is_parquet(head: FileHead) -> bool:
    return head.magic.startswith(PARQUET)


def _is_arrow(head: FileHead) -> bool:
    return head.magic.startswith((FILE, STREAM)) or bool(head.folder and (head.folder / STATE).is_file())


def _refuse_splits(folder: Path | None) -> None:
    """Raise InputError for a folder with several datasets, which names them."""
    if folder is None or not (folder / SPLITS).is_file():
        return
    names = sorted(each.name for each in folder.iterdir() if (each / STATE).is_file())
    raise InputError(
        f"a folder with {len(names)} datasets: {', '.join(names)}",
        path=str(folder),
        fix=f"Name one of them: {folder / names[-1]}" if names else "Save the datasets again",
    )


def _parquet_batches(path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a Parquet file and its batches of rows."""
    table = _pyarrow("pyarrow.parquet").ParquetFile(path)
    return table.schema_arrow, table.iter_batches(batch_size=ROWS_AT_ONCE)


def _arrow_batches(path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema of an Arrow file, stream or saved dataset, and its batches of rows."""
    files = _saved_files(path) if path.is_dir() else [path]
    return _opened(files[0]).schema, (batch for file in files for batch in _batches(_opened(file)))


def _saved_files(folder: Path) -> list[Path]:
    state = json.loads((folder / STATE).read_text(encoding="utf-8"))
    files = [folder / Path(each["filename"]).name for each in state["_data_files"]]
    if not files:
        raise ValueError(f"no Arrow files in {STATE}")
    return files


def _opened(file: Path) -> Any:
    """Open an Arrow file, or an Arrow stream, which `datasets` writes."""
    ipc = _pyarrow("pyarrow.ipc")
    with file.open("rb") as first:
        seekable = first.read(len(FILE)) == FILE
    mapped = _pyarrow().memory_map(str(file))
    return ipc.open_file(mapped) if seekable else ipc.open_stream(mapped)


def _batches(reader: Any) -> Iterator[Any]:
    number = getattr(reader, "num_record_batches", None)
    whole = reader if number is None else map(reader.get_batch, range(number))
    for batch in whole:
        for start in range(0, len(batch), ROWS_AT_ONCE):
            yield batch.slice(start, ROWS_AT_ONCE)


Batches = Callable[[Path], tuple[Any, Iterator[Any]]]


def _read(batches: Batches, content: Content, report: Report) -> TableRows:
    with _damage(report.path):
        schema, found = batches(content.path)
        features = _features(schema)
        for column, feature in features.items():
            if labels := _label_names(feature):
                report.choose(f"names of {column}", ", ".join(labels[:20]), "from the schema")
    return TableRows(1, list(schema.names), _rows(found, features, report.path))


def _rows(batches: Iterator[Any], features: Mapping[str, Any], path: str) -> Iterator[Row]:
    number = 0
    with _damage(path):
        for batch in batches:
            for row in batch.to_pylist():
                number += 1
                yield number, row | {column: _named(row[column], features[column]) for column in features}


def _features(schema: Any) -> dict[str, Any]:
    """Return the features of columns with names of labels, which `datasets` writes into the metadata."""
    stored = (schema.metadata or {}).get(b"huggingface")
    features = json.loads(stored)["info"]["features"] if stored else {}
    return {
        column: feature
        for column, feature in features.items()
        if column in schema.names and _label_names(feature)
    }


def _label_names(feature: Any) -> Sequence[str]:
    """Return the names of the labels of a feature, or of a part of it, or none."""
    if not isinstance(feature, dict):
        return ()
    if isinstance(feature.get("names"), list):
        return [str(name) for name in feature["names"]]
    return next((names for part in feature.values() if (names := _label_names(part))), ())


def _named(value: Any, feature: Any) -> Any:
    """Return the value of a feature with names instead of the numbers of labels."""
    if not isinstance(feature, dict) or value is None:
        return value
    if isinstance(feature.get("names"), list):
        names = feature["names"]
        if isinstance(value, list):
            return [_named(each, feature) for each in value]
        return names[value] if isinstance(value, int) and 0 <= value < len(names) else None
    inner = feature.get("feature")
    if isinstance(value, list):
        return [_named(each, inner) for each in value]
    if isinstance(value, dict):
        parts = inner if isinstance(inner, dict) else feature
        return {key: _named(each, parts.get(key)) for key, each in value.items()}
    return value


def _peek(fits: Callable[[FileHead], bool], batches: Batches, head: FileHead) -> Mapping[str, Any] | None:
    _refuse_splits(head.folder)
    if not fits(head):
        return None
    with _damage(head.path):
        schema, found = batches(Path(head.path))
        features = _features(schema)
    rows = islice(_rows(found, features, head.path), PEEK)
    first = first_row(row for _, row in rows)
    if first is None:
        raise InputError("the table has no rows", path=head.path)
    return first


def _write(write: Callable[[Any, Any], None], rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    held = list(rows)
    names = dict.fromkeys(name for row in held for name in row)
    table = _pyarrow().Table.from_pylist([{name: row.get(name) for name in names} for row in held])
    stream = io.BytesIO()
    write(table, stream)
    yield stream.getvalue()


def _write_parquet(table: Any, stream: Any) -> None:
    _pyarrow("pyarrow.parquet").write_table(table, stream)


def _write_arrow(table: Any, stream: Any) -> None:
    with _pyarrow("pyarrow.ipc").new_file(stream, table.schema) as writer:
        writer.write_table(table)


ROWS = (
    RowFormat(
        name="parquet",
        description="a Parquet table",
        suffixes=(PARQUET_SUFFIX,),
        peek=lambda head: _peek(_is_parquet, _parquet_batches, head),
        read=lambda content, header, report: _read(_parquet_batches, content, report),
        write=lambda rows: _write(_write_parquet, rows),
    ),
    RowFormat(
        name="arrow",
        description="an Arrow table, or a folder saved by datasets",
        suffixes=(".arrow", ".feather"),
        peek=lambda head: _peek(_is_arrow, _arrow_batches, head),
        read=lambda content, header, report: _read(_arrow_batches, content, report),
        write=lambda rows: _write(_write_arrow, rows),
    ),
)
