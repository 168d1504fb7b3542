"""`gonie data`: check, measure, convert and tokenise data files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gonie.cli.options import FormatName, Separator, TagColumn, TagNames, WordColumn
from gonie.system.outputs import check_output_files

if TYPE_CHECKING:
    from gonie.formats.format import Format
    from gonie.formats.labelled import LabelledSource
    from gonie.formats.pairs import PairSource
    from gonie.formats.tagged import TaggedSource

app = typer.Typer(no_args_is_help=True, help="Check, measure, convert and tokenise data files.")

Files = Annotated[list[str], typer.Argument(metavar="FILE…", help="Files to read; - is standard input.")]
LanguageOption = Annotated[
    str | None,
    typer.Option("--language", help="Language of raw text (JSONL): en or ko. Default: by its letters."),
]
UnitOption = Annotated[
    str | None,
    typer.Option(
        "--unit",
        help="Tokens of raw text: word for English; syllable (default), eojeol or morpheme for Korean.",
    ),
]
TextsOption = Annotated[bool, typer.Option("--texts", help="Read labelled texts. Default: by the content.")]
PairsOption = Annotated[bool, typer.Option("--pairs", help="Read text pairs. Default: by the content.")]
TextColumnOption = Annotated[
    list[str] | None,
    typer.Option("--text", "--text-column", help="Column or JSON key of the text; twice for text pairs."),
]
LabelColumnOption = Annotated[
    str, typer.Option("--label", "--label-column", help="Column or JSON key of the label; '' for none.")
]
LabelSeparatorOption = Annotated[
    str, typer.Option("--label-separator", help="Separator between the labels of a text.")
]


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """How the files of a command are read, as its options say."""

    format: str
    separator: str = "auto"
    word_column: int | None = None
    tag_column: str | None = None
    tag_names: str | None = None
    language: str | None = None
    unit: str | None = None
    texts: bool = False
    pairs: bool = False
    text: Sequence[str] = ()
    label: str = "label"
    label_separator: str = ""

    @classmethod
    def of(cls, context: typer.Context) -> _Reading:
        """Return the options of a command with these names."""
        given = {each.name: context.params[each.name] for each in fields(cls)}
        return cls(**given | {"text": tuple(given["text"] or ())})

    def source(self, file: str) -> TaggedSource | LabelledSource | PairSource:
        """Return the file as sentences, texts or pairs, by the options or its content."""
        from gonie.formats.detect import kind_of_examples
        from gonie.formats.format import LabelledFormat, PairFormat

        kind = "" if self.texts or self.pairs or self.text else kind_of_examples(file)
        if self.pairs or len(self.text) > 1 or kind == PairFormat.kind:
            return self._pairs(file)
        if self.texts or self.text or not self.label or kind == LabelledFormat.kind:
            return self._texts(file)
        return self._sentences(file)

    def _sentences(self, file: str) -> TaggedSource:
        from gonie.formats.format import ReadOptions
        from gonie.formats.inspect import parse_tag_column, parse_tag_names, raw_text_tokenizer
        from gonie.formats.tagged import TaggedSource

        options = ReadOptions(
            format=self.format,
            separator=self.separator,
            word_column=self.word_column,
            tag_column=parse_tag_column(self.tag_column),
            tag_names=parse_tag_names(self.tag_names or ()),
            tokenizer=raw_text_tokenizer(self.language, self.unit),
        )
        return TaggedSource(file, options)

    def _texts(self, file: str) -> LabelledSource:
        from gonie.formats.labelled import LabelledSource
        from gonie.text.labelled_text import TextOptions

        options = TextOptions(
            format=self.format,
            text_column=self.text[0] if self.text else "text",
            label_column=self.label or None,
            label_separator=self.label_separator,
        )
        return LabelledSource(file, options)

    def _pairs(self, file: str) -> PairSource:
        from gonie.errors import InputError
        from gonie.formats.pairs import PairSource
        from gonie.text.labelled_text import ColumnWords, PairOptions

        if len(self.text) not in (0, 2):
            raise InputError(f"text pairs have two texts, got {len(self.text)} --text", fix="Pass two")
        first, *rest = self.text or ("", "")
        options = PairOptions(
            format=self.format,
            texts=(first, rest[0]) if self.text else None,
            label=None if self.label == "label" else self.label,
            gold=bool(self.label),
            advice=ColumnWords("--text FIRST --text SECOND", "--label NAME"),
        )
        return PairSource(file, options)


@app.command("check")
def check_command(
    context: typer.Context,
    files: Files,
    *,
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    tag_names: TagNames = None,
    language: LanguageOption = None,
    unit: UnitOption = None,
    texts: TextsOption = False,
    pairs: PairsOption = False,
    text: TextColumnOption = None,
    label: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Report the contents of files and any errors in them. Exits with 2 if a file has errors.

    Examples:

      gonie data check train.conll dev.conll

      gonie data check tickets.csv --text question --label intent
    """
    from gonie.cli.views.data_report import print_check, print_text_check
    from gonie.errors import GonieError
    from gonie.formats.inspect import check
    from gonie.formats.tagged import TaggedSource
    from gonie.formats.text_stats import check_texts
    from gonie.reports.console import MessageConsole

    reading = _Reading.of(context)
    console = MessageConsole()
    failed = 0
    for source in map(reading.source, files):
        if isinstance(source, TaggedSource):
            verdict = check(source)
            print_check(console, verdict)
            failed += not verdict.passed
        else:
            found = check_texts(source)
            print_text_check(console, found)
            failed += found.report is None
    if failed:
        raise GonieError(f"{failed} of {len(files)} files have errors")


@app.command("stats")
def stats_command(
    context: typer.Context,
    files: Files,
    *,
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    tag_names: TagNames = None,
    language: LanguageOption = None,
    unit: UnitOption = None,
    texts: TextsOption = False,
    pairs: PairsOption = False,
    text: TextColumnOption = None,
    label: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Count sentences, texts or pairs, words and labels.

    If more than one file is given, also report what is not in the first file.

    Example:

      gonie data stats train.conll dev.conll test.conll
    """
    from gonie.cli.views.data_report import print_stats, print_text_stats
    from gonie.errors import InputError
    from gonie.formats.inspect import stats
    from gonie.formats.tagged import TaggedSource
    from gonie.formats.text_stats import text_stats
    from gonie.reports.console import MessageConsole

    reading = _Reading.of(context)
    console = MessageConsole()
    sources = [reading.source(file) for file in files]
    tagged = [source for source in sources if isinstance(source, TaggedSource)]
    others = [source for source in sources if not isinstance(source, TaggedSource)]
    if tagged and others:
        raise InputError(
            f"{tagged[0].path} has tagged sentences, {others[0].path} labelled texts or pairs",
            fix="Give files of one kind",
        )
    for measured in stats(tagged):
        print_stats(console, measured)
    for found in text_stats(others):
        print_text_stats(console, found)


@app.command("convert")
def convert_command(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="File to read.")],
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to", help="Format to write, such as conll or jsonl. An unknown name lists all formats."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="File to write, compressed if it ends in .gz or .xz; or a folder, as in brat.",
        ),
    ],
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme", help="Tag scheme to write: IOB1, IOB2, BIOES, BILOU, BMES or IO. Default: unchanged."
        ),
    ] = None,
    repair: Annotated[
        str,
        typer.Option(
            "--repair",
            help="Invalid tags: error stops, begin turns them into the start of an entity, outside into O. "
            "Tags that are not of the scheme become O with both.",
        ),
    ] = "begin",
    format: FormatName = "auto",
    separator: Separator = "auto",
    word_column: WordColumn = None,
    tag_column: TagColumn = None,
    tag_names: TagNames = None,
    language: LanguageOption = None,
    unit: UnitOption = None,
    texts: TextsOption = False,
    pairs: PairsOption = False,
    text: TextColumnOption = None,
    label: LabelColumnOption = "label",
    label_separator: LabelSeparatorOption = "",
) -> None:
    """Convert a file to another format or tag scheme.

    Examples:

      gonie data convert labels.json --to conll --out labels.conll

      gonie data convert mine.conll --to conll --scheme BIOES --out mine.bioes.conll

      gonie data convert tickets.csv --text question --label intent --to jsonl --out tickets.jsonl
    """
    from gonie.cli.views.data_report import LISTED, print_lines
    from gonie.errors import InputError
    from gonie.formats.inspect import convert_file, lost_ids
    from gonie.formats.pairs import PairSource
    from gonie.formats.table import FORMATS, PAIR_FORMATS, TEXT_FORMATS
    from gonie.formats.tagged import TaggedSource
    from gonie.formats.text_stats import convert_texts
    from gonie.reports.console import MessageConsole
    from gonie.text.report import count
    from gonie.text.schemes import policy_named, scheme_named

    wanted, policy = None if scheme is None else scheme_named(scheme), policy_named(repair)
    reading = _Reading.of(context)
    check_output_files(out, inputs=[Path(file)], folders=True)
    source = reading.source(file)
    if isinstance(source, TaggedSource):
        done = convert_file(source, to=to, out=out, scheme=wanted, policy=policy)
        report, written, kind = done.report, count(done.sentences, "sentence"), f"{to}, {done.target}"
        formats: Mapping[str, Format] = FORMATS
        ids, whole = done.has_ids, FORMATS[to].stores_all_spans
    elif wanted is not None:
        raise InputError("only tagged sentences have a tag scheme", path=file, fix="Leave out --scheme")
    else:
        number, ids = convert_texts(source, to=to, out=out)
        report, kind, whole = source.report, to, True
        written = count(number, "pair" if report.pairs else "text")
        formats = PAIR_FORMATS if isinstance(source, PairSource) else TEXT_FORMATS
    lost = lost_ids(report.choices["format"][0], to, formats, found=ids)
    console = MessageConsole()
    told = report.lines(shown=LISTED, lost=not whole)
    print_lines(console, [*told, *lost, f"wrote {written} to {out} ({kind})"])


@app.command("tokenise")
def tokenise_command(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", help="Text files: plain, .gz, .xz or .parquet.")
    ],
    *,
    out: Annotated[Path, typer.Option("--out", help="File to write; compressed if it ends in .gz or .xz.")],
    language: Annotated[
        str | None,
        typer.Option("--language", help="Language of the text: en or ko. Default: by its letters."),
    ] = None,
    unit: Annotated[
        str,
        typer.Option(
            "--unit", help="Tokens: word for English; eojeol (default), syllable or morpheme for Korean."
        ),
    ] = "",
    column: Annotated[str, typer.Option("--column", help="Column of the text in a Parquet file.")] = "text",
) -> None:
    """Tokenise raw text. Writes one sentence per line as space-separated tokens.

    Example:

      gonie data tokenise wiki.txt.xz --language ko --unit morpheme --out wiki.tok.xz
    """
    import tempfile

    from gonie.cli.views.training_display import TrainingDisplay
    from gonie.features.lm_text import build_stream
    from gonie.features.lm_text.plain import write_plain
    from gonie.text.report import count

    check_output_files(out, inputs=files)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".gonie-") as folder, TrainingDisplay() as screen:
        language, reason = (language, "as given") if language else _detected_language(files, unit, column)
        unit = unit or ("eojeol" if language == "ko" else "word")
        screen.note(f"tokenizer: {language}, {unit} ({reason})")
        stream = build_stream(
            files,
            Path(folder),
            language=language,
            unit=unit,
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


def _detected_language(files: Sequence[Path], unit: str, column: str) -> tuple[str, str]:
    """Return the language of raw text and the reason: the unit, or the letters of its first paragraphs."""
    from itertools import islice

    from gonie.features.lm_text import read_paragraphs
    from gonie.formats.spans import SAMPLE
    from gonie.system.files import is_stream
    from gonie.text.report import Report
    from gonie.text.units import is_korean

    if unit:
        return ("en" if unit == "word" else "ko"), "by the unit"
    texts = (
        text
        for file in files
        if not is_stream(file)
        for text in islice(read_paragraphs(file, column=column, report=Report()), SAMPLE)
    )
    return ("ko", "most letters are Hangul") if is_korean(texts) else ("en", "most letters are not Hangul")
