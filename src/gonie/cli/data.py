"""``gonie data``: check, measure and convert the files that models learn from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gonie.cli.tokenise import tokenise

if TYPE_CHECKING:
    from collections import Counter

    from rich.console import Console

    from gonie.formats.format import ReadOptions
    from gonie.formats.inspect import Check, Stats
    from gonie.formats.text_stats import TextCheck, TextStats
    from gonie.text.labelled_text import TextOptions

app = typer.Typer(no_args_is_help=True, help="Check, measure and convert data files.")
app.command()(tokenise)

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
TextsOption = Annotated[
    bool, typer.Option("--texts", help="Read labelled texts (tsv, csv, jsonl, semeval, parallel), not tags.")
]
TextColumnOption = Annotated[
    str, typer.Option("--text-column", help="With --texts: column or key of the text.")
]
LabelColumnOption = Annotated[
    str, typer.Option("--label-column", help="With --texts: column or key of the label; '' for none.")
]
LabelSeparatorOption = Annotated[
    str, typer.Option("--label-separator", help="With --texts: what stands between several labels.")
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
    texts: TextsOption = False,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Say what a file holds and what is wrong with it; exits with 2 if anything is."""
    from rich.console import Console

    from gonie.errors import GonieError
    from gonie.formats.inspect import check

    console = Console()
    failed = 0
    if texts:
        from gonie.formats.text_stats import check_texts

        for found in check_texts(files, _text_options(format, text_column, label_column, label_separator)):
            _show_text_check(console, found)
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
    texts: TextsOption = False,
    text_column: TextColumnOption = "text",
    label_column: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Count sentences (or texts), words and labels; with several files, what the first one has not seen."""
    from rich.console import Console

    from gonie.formats.inspect import stats

    console = Console()
    if texts:
        from gonie.formats.text_stats import text_stats

        for found in text_stats(files, _text_options(format, text_column, label_column, label_separator)):
            _show_text_stats(console, found)
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

    from gonie.formats.inspect import convert_file
    from gonie.text.schemes import named, policy_named

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
    from gonie.formats.format import ReadOptions
    from gonie.formats.inspect import column_named, tokenizer_of

    return ReadOptions(
        format=format,
        separator=separator,
        word_column=word_column,
        tag_column=column_named(tag_column),
        tokenizer=tokenizer_of(language, unit or ("eojeol" if language == "ko" else "word")),
    )


def _text_options(format: str, text: str, label: str, separator: str) -> TextOptions:
    from gonie.text.labelled_text import TextOptions

    return TextOptions(format=format, text_column=text, label_column=label or None, label_separator=separator)


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


def _show_text_check(console: Console, verdict: TextCheck) -> None:
    console.rule(verdict.path, align="left")
    _lines(console, [verdict.error] if verdict.report is None else verdict.report.lines())


def _show_stats(console: Console, measured: Stats) -> None:
    console.rule(measured.path, align="left")
    _lines(console, measured.report.lines(shown=20))
    _lines(console, [f"{len(measured.vocabulary):,} distinct words"])
    _lines(console, [f"sentence length: {_quantiles(measured.lengths)}"])
    if measured.invalid:
        _lines(console, [f"{measured.invalid:,} invalid tags; gonie data check lists them"])
    if measured.unseen is not None:
        unseen = measured.unseen
        mentions = "" if unseen.mentions is None else f", {unseen.mentions:.1%} of the entity mentions"
        shares = f"{unseen.tokens:.1%} of the tokens, {unseen.words:.1%} of the words{mentions}"
        _lines(console, [f"unseen in the first file: {shares}"])
    if measured.scheme.has_spans:
        _show_labels(console, measured.entities, kind="entity", whole=measured.entities.total(), total=True)
    else:
        _show_labels(console, measured.labels, kind="label", whole=measured.labels.total())


def _show_text_stats(console: Console, measured: TextStats) -> None:
    console.rule(measured.path, align="left")
    _lines(console, measured.report.lines())
    _lines(console, [f"text length in words: {_quantiles(measured.lengths)}"])
    facts = {
        "texts without a label": measured.unlabelled,
        "texts with several labels": measured.multi_label,
        "texts that stood in the file before": measured.repeated,
        "texts that stood in the file before with other labels": measured.contradicted,
    }
    if measured.known is not None:
        facts["texts that are in the first file too"] = measured.known.texts
        if measured.known.unmet:
            _lines(console, [f"labels that the first file does not have: {', '.join(measured.known.unmet)}"])
    _lines(console, [f"{number:,} {fact}" for fact, number in facts.items() if number])
    _show_labels(console, measured.labels, kind="label", whole=measured.report.texts)


def _quantiles(lengths: tuple[float, ...]) -> str:
    from gonie.formats.inspect import QUANTILES

    return ", ".join(
        f"{_quantile(share)} {length:g}" for share, length in zip(QUANTILES, lengths, strict=True)
    )


def _quantile(share: float) -> str:
    return {0.0: "shortest", 0.5: "median", 1.0: "longest"}.get(share, f"{share:.0%}")


def _show_labels(
    console: Console, counts: Counter[str], *, kind: str, whole: int, total: bool = False
) -> None:
    """A table of labels, each with its share of the whole."""
    from rich.table import Table
    from rich.text import Text

    table = Table(kind, "count", "share")
    for label, number in counts.most_common():
        table.add_row(Text(label), f"{number:,}", f"{number / whole:.1%}")
    if total:
        table.add_row("all", f"{whole:,}", "", style="bold")
    if counts:
        console.print(table)
