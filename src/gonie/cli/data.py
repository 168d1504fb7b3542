"""``gonie data``: check, measure and convert the files that models learn from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from gonie.data.formats import ReadOptions
    from gonie.data.inspect import Check, Stats

app = typer.Typer(no_args_is_help=True, help="Check, measure and convert data files.")

Files = Annotated[list[str], typer.Argument(metavar="FILE…", help="Files to read; - is the standard input.")]
FormatOption = Annotated[
    str, typer.Option("--format", help="conll, conllu, jsonl, tsv or klue; detected unless given.")
]
SeparatorOption = Annotated[str, typer.Option("--separator", help="tab, blank or a text between columns.")]
WordOption = Annotated[
    int | None, typer.Option("--word-column", help="Column of the words, from 0, or from the end: -1.")
]
TagOption = Annotated[
    str | None,
    typer.Option("--tag-column", help="Column of the tags; in CoNLL-U upos, xpos, feats or misc:KEY."),
]
LanguageOption = Annotated[str, typer.Option("--language", help="Language of raw text (JSONL): en or ko.")]
UnitOption = Annotated[
    str, typer.Option("--unit", help="Token of raw text: word, or in Korean eojeol, syllable, morpheme.")
]


@app.command("check")
def check_command(
    files: Files,
    *,
    format: FormatOption = "auto",
    separator: SeparatorOption = "auto",
    word_column: WordOption = None,
    tag_column: TagOption = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
) -> None:
    """Say what a file holds and what is wrong with it; exits with 2 if anything is."""
    from rich.console import Console

    from gonie.data.inspect import check
    from gonie.errors import GonieError

    console = Console()
    options = _options(
        format=format,
        separator=separator,
        word_column=word_column,
        tag_column=tag_column,
        language=language,
        unit=unit,
    )
    failed = 0
    for verdict in check(files, options):
        _show_check(console, verdict)
        failed += not verdict.passed
    if failed:
        raise GonieError(f"{failed} of {len(files)} files cannot be used as they are")


@app.command("stats")
def stats_command(
    files: Files,
    *,
    format: FormatOption = "auto",
    separator: SeparatorOption = "auto",
    word_column: WordOption = None,
    tag_column: TagOption = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
) -> None:
    """Count sentences, words and labels; with several files, what the first one has not seen."""
    from rich.console import Console

    from gonie.data.inspect import stats

    console = Console()
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
        _show_stats(console, measured)


@app.command("convert")
def convert_command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to read.")],
    *,
    to: Annotated[str, typer.Option("--to", help="conll, conllu, jsonl, tsv or klue.")],
    out: Annotated[Path, typer.Option("--out", help="File to write; .gz and .xz compress it.")],
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme", help="Scheme to write: IOB1, IOB2, BIOES, BILOU or IO; the file's own unless given."
        ),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair", help="Invalid tags: error refuses, begin opens an entity, outside makes them O."
        ),
    ] = "error",
    format: FormatOption = "auto",
    separator: SeparatorOption = "auto",
    word_column: WordOption = None,
    tag_column: TagOption = None,
    language: LanguageOption = "en",
    unit: UnitOption = "",
) -> None:
    """Write a file in another format or tag scheme."""
    from rich.console import Console

    from gonie.data.inspect import convert_file
    from gonie.data.schemes import named, policy_named

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
        scheme=None if scheme is None else named(scheme),
        policy=policy_named(repair),
    )
    console = Console()
    _lines(console, done.report.lines())
    _lines(console, [f"wrote {done.sentences:,} sentences to {out} ({to}, {done.target})"])


def _options(
    *, format: str, separator: str, word_column: int | None, tag_column: str | None, language: str, unit: str
) -> ReadOptions:
    from gonie.data.formats import ReadOptions
    from gonie.data.inspect import column_named, tokenizer_of

    return ReadOptions(
        format=format,
        separator=separator,
        word_column=word_column,
        tag_column=column_named(tag_column),
        tokenizer=tokenizer_of(language, unit or ("eojeol" if language == "ko" else "word")),
    )


def _lines(console: Console, lines: list[str]) -> None:
    """Print as it stands: data may hold what Rich would take for markup."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _show_check(console: Console, verdict: Check) -> None:
    console.rule(verdict.path, align="left")
    found = verdict.survey
    if found is None:
        _lines(console, [verdict.error])
        return
    _lines(console, found.report.lines(shown=20))
    if found.untagged:
        _lines(console, [f"{found.untagged:,} sentences without tags"])
    if not found.detection.invalid:
        _lines(console, ["no invalid tags"])
        return
    _lines(console, [f"{found.detection.invalid:,} invalid tags, the first {len(found.problems)}:"])
    _lines(console, [f"  {problem}" for problem in found.problems])


def _show_stats(console: Console, measured: Stats) -> None:
    from gonie.data.inspect import QUANTILES

    console.rule(measured.path, align="left")
    lengths = ", ".join(
        f"{_quantile(share)} {length:g}" for share, length in zip(QUANTILES, measured.lengths, strict=True)
    )
    _lines(console, measured.report.lines(shown=20))
    _lines(console, [f"{len(measured.vocabulary):,} distinct words", f"sentence length: {lengths}"])
    if measured.invalid:
        _lines(console, [f"{measured.invalid:,} invalid tags; gonie data check lists them"])
    if measured.unseen is not None:
        unseen = measured.unseen
        mentions = "" if unseen.mentions is None else f", {unseen.mentions:.1%} of the entity mentions"
        shares = f"{unseen.tokens:.1%} of the tokens, {unseen.words:.1%} of the words{mentions}"
        _lines(console, [f"unseen in the first file: {shares}"])
    _show_labels(console, measured)


def _quantile(share: float) -> str:
    return {0.0: "shortest", 0.5: "median", 1.0: "longest"}.get(share, f"{share:.0%}")


def _show_labels(console: Console, measured: Stats) -> None:
    from rich.table import Table
    from rich.text import Text

    spans = measured.scheme.has_spans
    counts = measured.entities if spans else measured.labels
    table = Table("entity" if spans else "label", "count", "share")
    for label, number in counts.most_common():
        table.add_row(Text(label), f"{number:,}", f"{number / counts.total():.1%}")
    if spans:
        table.add_row("all", f"{counts.total():,}", "", style="bold")
    if counts:
        console.print(table)
