"""What `gonie data` prints about a file."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gonie.errors import OPTION
from gonie.formats.inspect import QUANTILES
from gonie.messages import say
from gonie.text.report import count, count_of

if TYPE_CHECKING:
    from gonie.formats.inspect import Check, Stats
    from gonie.formats.text_stats import TextCheck, TextStats


LISTED = 20
"""The number of misaligned spans that are listed."""


def print_lines(console: Console, lines: list[str]) -> None:
    """Print lines without markup, since data may contain what Rich takes for markup."""
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _told(error: str) -> str:
    """Return an error as the commands on data files write it, which take options and no recipe."""
    return OPTION.sub(r"--\1 \2", say(error))


def print_check(console: Console, verdict: Check) -> None:
    """Print what a tagged file contains and its invalid tags, or why it cannot be read."""
    console.rule(verdict.path, align="left")
    found = verdict.survey
    if found is None:
        print_lines(console, [_told(verdict.error)])
        return
    print_lines(console, found.report.lines(shown=LISTED))
    if found.untagged:
        print_lines(console, [f"{count(found.untagged, 'sentence')} without tags"])
    if not found.detection.invalid:
        print_lines(console, ["no invalid tags"])
        return
    invalid, shown = found.detection.invalid, len(found.problems)
    more = f"; the first {shown}" if shown < invalid else ""
    print_lines(console, [f"{count(invalid, 'invalid tag')}{more}:"])
    print_lines(console, [f"  {problem}" for problem in found.problems])


def print_text_check(console: Console, verdict: TextCheck) -> None:
    """Print what a file of labelled texts contains, or why it cannot be read."""
    console.rule(verdict.path, align="left")
    print_lines(console, [_told(verdict.error)] if verdict.report is None else verdict.report.lines())


def print_stats(console: Console, measured: Stats) -> None:
    """Print the statistics of a tagged file."""
    console.rule(measured.path, align="left")
    print_lines(console, measured.report.lines(shown=LISTED))
    print_lines(console, [f"{len(measured.vocabulary):,} distinct words"])
    print_lines(console, [f"sentence length: {_quantiles(measured.lengths)}"])
    if measured.invalid:
        print_lines(console, [f"{count(measured.invalid, 'invalid tag')}; run gonie data check to list them"])
    if measured.unseen is not None:
        unseen = measured.unseen
        mentions = "" if unseen.mentions is None else f", {unseen.mentions:.1%} of the entity mentions"
        shares = f"{unseen.tokens:.1%} of the tokens, {unseen.words:.1%} of the words{mentions}"
        print_lines(console, [f"not in the first file: {shares}"])
    if measured.scheme.has_spans:
        _print_labels(console, measured.entities, kind="entity", whole=measured.entities.total(), total=True)
    else:
        _print_labels(console, measured.labels, kind="label", whole=measured.labels.total())


def print_text_stats(console: Console, measured: TextStats) -> None:
    """Print the statistics of a file of labelled texts."""
    console.rule(measured.path, align="left")
    print_lines(console, measured.report.lines())
    print_lines(console, [f"text length in words: {_quantiles(measured.lengths)}"])
    facts = {
        "texts without a label": measured.unlabelled,
        "texts with more than one label": measured.multi_label,
        "repeated texts": measured.repeated,
        "repeated texts with different labels": measured.contradicted,
    }
    if measured.overlap is not None:
        facts["texts also in the first file"] = measured.overlap.texts
        if measured.overlap.new_labels:
            print_lines(console, [f"labels not in the first file: {', '.join(measured.overlap.new_labels)}"])
    print_lines(console, [count_of(number, fact) for fact, number in facts.items() if number])
    whole = measured.report.texts or measured.report.pairs
    _print_labels(console, measured.labels, kind="label", whole=whole)


def _quantiles(lengths: tuple[float, ...]) -> str:
    return ", ".join(
        f"{_quantile(share)} {length:g}" for share, length in zip(QUANTILES, lengths, strict=True)
    )


def _quantile(share: float) -> str:
    return {0.0: say("shortest"), 0.5: say("median"), 1.0: say("longest")}.get(share, f"{share:.0%}")


def _print_labels(
    console: Console, counts: Counter[str], *, kind: str, whole: int, total: bool = False
) -> None:
    """Print a table of labels with their counts and shares of the whole."""
    table = Table(kind, "count", "share")
    for label, number in counts.most_common():
        table.add_row(Text(label), f"{number:,}", f"{number / whole:.1%}")
    if total:
        table.add_row(say("all"), f"{whole:,}", "", style="bold")
    if counts:
        console.print(table)
