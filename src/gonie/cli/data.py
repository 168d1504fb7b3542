"""`gonie data`: check, measure, convert and tokenise data files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gonie.cli.options import FormatName, Separator, TagColumn, WordColumn

if TYPE_CHECKING:
    from gonie.formats.format import ReadOptions
    from gonie.text.labelled_text import TextOptions

app = typer.Typer(no_args_is_help=True, help="Check, measure, convert and tokenise data files.")

Files = Annotated[list[str], typer.Argument(metavar="FILE…", help="Files to read; - is standard input.")]
LanguageOption = Annotated[str, typer.Option("--language", help="Language of raw text (JSONL): en or ko.")]
UnitOption = Annotated[
    str,
    typer.Option(
        "--unit",
        help="Tokens of raw text: word for English; eojeol (default), syllable or morpheme for Korean.",
    ),
]
TextsOption = Annotated[
    bool,
    typer.Option("--texts", help="Read labelled texts (tsv, csv, jsonl, semeval, parallel)."),
]
TextColumnOption = Annotated[
    str, typer.Option("--text-column", help="With --texts: column or JSON key of the text.")
]
LabelColumnOption = Annotated[
    str, typer.Option("--label-column", help="With --texts: column or JSON key of the label; '' for none.")
]
LabelSeparatorOption = Annotated[
    str, typer.Option("--label-separator", help="With --texts: separator between the labels of a text.")
]


@app.command("check")
def check_command(
    files: Files,
    *,
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
    texts: TextsOption = False,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Report the contents of files and any errors in them. Exits with 2 if a file has errors."""
    from rich.console import Console

    from gonie.cli.views.data_report import print_check, print_text_check
    from gonie.errors import GonieError
    from gonie.formats.inspect import check

    console = Console()
    failed = 0
    if texts:
        from gonie.formats.text_stats import check_texts

        for found in check_texts(files, _text_options(format, text_column, label_column, label_separator)):
            print_text_check(console, found)
            failed += found.report is None
    else:
        options = _options(
            format=format,
            separator=separator,
            word_column=word_column,
            tag_column=tag_column,
            language=language,
            unit=unit,
        )
        for verdict in check(files, options):
            print_check(console, verdict)
            failed += not verdict.passed
    if failed:
        raise GonieError(f"{failed} of {len(files)} files have errors")


@app.command("stats")
def stats_command(
    files: Files,
    *,
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
    texts: TextsOption = False,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Count sentences or texts, words and labels.

    If more than one file is given, also report what is not in the first file.
    """
    from rich.console import Console

    from gonie.cli.views.data_report import print_stats, print_text_stats
    from gonie.formats.inspect import stats

    console = Console()
    if texts:
        from gonie.formats.text_stats import text_stats

        for found in text_stats(files, _text_options(format, text_column, label_column, label_separator)):
            print_text_stats(console, found)
        return
    for measured in stats(
        files,
        _options(
            format=format,
            separator=separator,
            word_column=word_column,
            tag_column=tag_column,
            language=language,
            unit=unit,
        ),
    ):
        print_stats(console, measured)


@app.command("convert")
def convert_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to read.")],
    *,
    to: Annotated[
        str,
        typer.Option("--to", help="Format to write: conll, jsonl, klue, brat …"),
    ],
    out: Annotated[Path, typer.Option("--out", help="File to write; compressed if it ends in .gz or .xz.")],
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme", help="Tag scheme to write: IOB1, IOB2, BIOES, BILOU or IO. Default: unchanged."
        ),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            help="Invalid tags: error stops, begin turns them into the start of an entity, outside into O.",
        ),
    ] = "error",
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
) -> None:
    """Convert a file to another format or tag scheme."""
    from rich.console import Console

    from gonie.cli.views.data_report import print_lines
    from gonie.formats.inspect import convert_file
    from gonie.text.report import count
    from gonie.text.schemes import policy_named, scheme_named

    done = convert_file(
        file,
        options=_options(
            format=format,
            separator=separator,
            word_column=word_column,
            tag_column=tag_column,
            language=language,
            unit=unit,
        ),
        to=to,
        out=out,
        scheme=None if scheme is None else scheme_named(scheme),
        policy=policy_named(repair),
    )
    console = Console()
    print_lines(console, done.report.lines())
    written = count(done.sentences, "sentence")
    print_lines(console, [f"wrote {written} to {out} ({to}, {done.target})"])


@app.command("tokenise")
def tokenise_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Text files: plain, .gz, .xz or .parquet.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="File to write; compressed if it ends in .gz or .xz.")],
    language: Annotated[str, typer.Option("--language", help="Language of the text: en or ko.")] = "en",
    unit: UnitOption = "",
    column: Annotated[str, typer.Option("--column", help="Column of the text in a Parquet file.")] = "text",
) -> None:
    """Tokenise raw text. Writes one sentence per line as space-separated tokens.

    Example:

      gonie data tokenise wiki.txt.xz --language ko --unit morpheme --out wiki.tok.xz
    """
    import tempfile

    from gonie.cli.views.training_display import TrainingDisplay
    from gonie.errors import OutputError
    from gonie.features.lm_text import build_stream
    from gonie.features.lm_text.plain import write_plain
    from gonie.text.report import count

    if not out.parent.is_dir():
        raise OutputError(f"{out}: folder not found: {out.parent}. Create it, or choose another --out.")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".gonie-") as folder, TrainingDisplay() as screen:
        stream = build_stream(
            files,
            Path(folder),
            language=language,
            unit=_unit(language, unit),
            column=column,
            note=screen.note,
            advance=screen.advance,
        )
        screen.note(f"writing {out}")
        write_plain(stream, out)
        screen.note(
            f"{count(stream.sentences, 'sentence')}, {count(stream.words, 'token')}, "
            f"{len(stream.forms) - 3:,} distinct"
        )


def _options(
    *, format: str, separator: str, word_column: int | None, tag_column: str | None, language: str, unit: str
) -> ReadOptions:
    from gonie.formats.format import ReadOptions
    from gonie.formats.inspect import lazy_tokenizer, parse_tag_column

    return ReadOptions(
        format=format,
        separator=separator,
        word_column=word_column,
        tag_column=parse_tag_column(tag_column),
        tokenizer=lazy_tokenizer(language, _unit(language, unit)),
    )


def _unit(language: str, unit: str) -> str:
    return unit or ("eojeol" if language == "ko" else "word")


def _text_options(format: str, text: str, label: str, separator: str) -> TextOptions:
    from gonie.text.labelled_text import TextOptions

    return TextOptions(format=format, text_column=text, label_column=label or None, label_separator=separator)
