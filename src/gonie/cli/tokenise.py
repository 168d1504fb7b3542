"""`gonie data tokenise`: running text as tokens, for who pretrains on another machine or with other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def tokenise(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Text: plain, .gz, .xz, or a column of .parquet.")
    ],
    *,
    out: Annotated[Path, typer.Option(help="File to write; compressed if it ends in .gz or .xz.")],
    language: Annotated[str, typer.Option(help="Language of the text: en or ko.")] = "en",
    unit: Annotated[
        str,
        typer.Option(help="Token: word, or in Korean eojeol, syllable, morpheme; else the usual."),
    ] = "",
    column: Annotated[str, typer.Option(help="Column of a Parquet file.")] = "text",
) -> None:
    """Write running text tokenised: a sentence a line, its tokens apart by blanks.

    Example:

      gonie data tokenise wiki.txt.xz --language ko --unit morpheme --out wiki.tok.xz
    """
    import tempfile

    from gonie.cli.views.training_display import TrainingDisplay
    from gonie.errors import OutputError
    from gonie.features.lm_text import build_stream
    from gonie.features.lm_text.plain import write_plain

    if not out.parent.is_dir():
        raise OutputError(f"{out}: expected a file in a folder that is there, got {out.parent}")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".gonie-") as folder, TrainingDisplay() as screen:
        stream = build_stream(
            files,
            Path(folder),
            language=language,
            unit=unit or ("eojeol" if language == "ko" else "word"),
            column=column,
            note=screen.note,
            advance=screen.advance,
        )
        screen.note(f"writing {out}")
        write_plain(stream, out)
        screen.note(
            f"{stream.sentences:,} sentences, {stream.words:,} tokens, {len(stream.forms) - 3:,} distinct"
        )
