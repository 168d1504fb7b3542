"""Reading, surveying and writing files of tagged sentences, with format detection and a report.

The formats are in ``table``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from os import PathLike
from typing import Any
from unicodedata import normalize

from gonie.errors import InputError
from gonie.formats.content import open_content
from gonie.formats.detect import choose, format_named
from gonie.formats.format import ReadOptions
from gonie.formats.meta import checked_meta
from gonie.formats.table import FORMATS
from gonie.formats.units import in_unit
from gonie.formats.writing import write_examples
from gonie.system.files import Passes, display, is_stream
from gonie.text.report import Report, count
from gonie.text.schemes import (
    IOB2,
    Checker,
    Detection,
    Policy,
    Problem,
    Scheme,
    TagTally,
    repair,
    scheme_named,
)
from gonie.text.types import Sentence

FEW = 20
"""With fewer tokens or texts, every label may be different."""
FOREIGN = "tags that are not of the scheme (read as O)"
FIRST_REPAIRED = 5
"""The number of repaired tags that a report lists."""


def detect_format(path: str | PathLike[str]) -> str:
    """Return the name of a file's format, from its content or else its suffix."""
    return choose(open_content(path), FORMATS)[0].name


# --- reading ---------------------------------------------------------------------------------------------


def read(path: str | PathLike[str], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences of a file as it is read. ``report`` is complete after the last one.

    A file without any sentence is refused.
    """
    name = display(path)
    report.path = name
    named = [options.tag_column] if isinstance(options.tag_column, str) else []
    content = open_content(path, columns=named)
    format, reason = choose(content, FORMATS, options.format)
    report.choose("format", format.name, reason)
    sentences: Iterable[Sentence] = map(_with_composed_tags, format.read(content, options, report))
    if options.meta:
        sentences = checked_meta(sentences, options.meta, report)
    if options.scheme != "auto":
        sentences = _checked(sentences, options, report)
    yield from sentences if options.unit is None else in_unit(sentences, format.unit, options, report)
    if not report.sentences:
        raise InputError("no sentences in the file", path=name)


def _with_composed_tags(sentence: Sentence) -> Sentence:
    """Return the sentence with tags in NFC, so that a decomposed file has the labels of a composed one."""
    tags = sentence.tags or ()
    if all(map(str.isascii, tags)):
        return sentence
    return replace(sentence, tags=tuple(normalize("NFC", tag) for tag in tags))


def _checked(sentences: Iterable[Sentence], options: ReadOptions, report: Report) -> Iterator[Sentence]:
    """Yield the sentences with valid tags, repaired by the policy.

    A file most of whose tags are not tags of the scheme is refused whatever the policy.
    """
    scheme = scheme_named(options.scheme) if isinstance(options.scheme, str) else options.scheme
    checker = Checker(scheme=scheme)
    foreign: Counter[str] = Counter()
    remaining = iter(sentences)
    tokens = 0
    for sentence in remaining:
        tokens += len(sentence)
        problems = checker.problems(sentence.tags or ())
        if not problems:
            yield sentence
        elif options.repair == "error":
            first = _placed(sentence, problems[0], report)
            raise invalid_tags(first, _counted(chain([sentence], remaining), scheme), report=report)
        else:
            unknown = [problem.tag for problem in problems if scheme.split(problem.tag) is None]
            if unknown:
                foreign.update(unknown)
                report.noticed[FOREIGN] += len(unknown)
            tags, changed = repair(sentence.tags or (), scheme, options.repair)
            shown = FIRST_REPAIRED - len(report.first_repaired)
            report.first_repaired += [
                f"{_placed(sentence, each, report)}; read as {tags[each.index]}" for each in problems[:shown]
            ]
            report.repairs[options.repair] += changed
            yield replace(sentence, tags=tuple(tags))
    if 2 * foreign.total() > tokens:
        raise _foreign_tags(foreign, scheme, report)


def _counted(sentences: Iterable[Sentence], scheme: Scheme) -> Detection:
    """Count the tags of the sentences, and how many of them are invalid."""
    tally = TagTally()
    for sentence in sentences:
        tally.add(sentence.tags or ())
    return _with_given_scheme(tally, scheme)


def invalid_tags(
    first: InvalidTag | None,
    found: Detection,
    *,
    report: Report,
    option: str = "--set data.repair=",
) -> InputError:
    """Return the error for a file with invalid tags. ``option`` is the option that names a repair policy.

    If most tags of the file are not even tags of the scheme, no repair is proposed.
    """
    scheme = found.scheme
    foreign = Counter({tag: number for tag, number in found.counts.items() if scheme.split(tag) is None})
    if 2 * foreign.total() > report.tokens:
        return _foreign_tags(foreign, scheme, report)
    number = count(found.invalid, f"invalid {scheme.kind} tag")
    return InputError(
        f"{report.path}: {number}" if first is None else f"{first} ({number} in the file)",
        fix=f"Correct the tags, or repair them with {option}begin or {option}outside",
    )


def _foreign_tags(foreign: Counter[str], scheme: Scheme, report: Report) -> InputError:
    """Return the error for a file most of whose tags are not tags of the scheme."""
    return InputError(
        f"{foreign.total():,} of {count(report.tokens, 'tag')} are not {scheme.kind} tags, "
        f"such as {next(iter(foreign))!r}",
        path=report.path,
        fix="Check the file and its tag column",
    )


class TaggedSource:
    """A file with its options that can be iterated repeatedly. ``report`` is from the latest pass."""

    def __init__(self, path: str | PathLike[str], options: ReadOptions | None = None) -> None:
        self.path = path
        self.options = options or ReadOptions()
        self.report = Report(path=display(path))
        self._passes = Passes(path)  # shared by all views of the file

    def __iter__(self) -> Iterator[Sentence]:
        self._passes.begin()
        self.report = Report(path=display(self.path))
        return read(self.path, self.options, self.report)

    def with_scheme(self, scheme: Scheme, policy: Policy) -> TaggedSource:
        """Return the same file with its tags checked against a scheme and repaired by a policy."""
        return self.with_tag_scheme(scheme).with_options(scheme=scheme, repair=policy)

    def with_tag_scheme(self, scheme: Scheme) -> TaggedSource:
        """Return the same file, whose words can be cut anew because the scheme of its tags is known."""
        unit = self.options.unit
        return self.with_options(unit=None if unit is None else unit._replace(scheme=scheme))

    def with_options(self, **changes: Any) -> TaggedSource:
        """Return the same file with some options changed."""
        view = TaggedSource(self.path, replace(self.options, **changes))
        view._passes = self._passes
        return view


@dataclass(frozen=True, slots=True)
class InvalidTag:
    """An invalid tag and its position (``file:line``)."""

    place: str
    tag: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.tag} {self.reason}"


@dataclass(frozen=True, slots=True)
class Survey:
    """The result of one pass over a whole file.

    ``problems`` are the first invalid tags; ``detection.invalid`` counts all. ``untagged`` counts sentences.
    """

    scheme: Scheme
    detection: Detection
    labels: Counter[str]
    sentences: int
    tokens: int
    untagged: int
    problems: list[InvalidTag]
    report: Report


def survey(source: TaggedSource, *, shown: int = 20) -> Survey:
    """Count the tags of a file and detect their scheme. A second pass locates invalid tags, if any."""
    scheme = source.options.scheme
    plain_source = source.with_options(scheme="auto", unit=None)
    tally = TagTally()
    untagged = 0
    for sentence in plain_source:
        if sentence.tags is None:
            untagged += 1
        else:
            tally.add(sentence.tags)
    report = plain_source.report
    if source.options.format == "auto" and source.options.tag_column is None:
        check_labels(tally.counts(), report.tokens, noun="tag", path=report.path)
    detection = tally.detect() if scheme == "auto" else _with_given_scheme(tally, scheme)
    source.report = report
    if tally.sequences:
        report.choose("scheme", str(detection.scheme), detection.reason)
    again = detection.invalid and not is_stream(source.path)
    problems = _locate(plain_source, detection.scheme, shown) if again else []
    return Survey(
        scheme=detection.scheme,
        detection=detection,
        labels=Counter(detection.counts),
        sentences=report.sentences,
        tokens=report.tokens,
        untagged=untagged,
        problems=problems,
        report=report,
    )


def check_labels(labels: Mapping[str, int], total: int, *, noun: str, path: str) -> None:
    """Refuse labels of which nearly every one is different: they are something else, such as ids or words."""
    if total < FEW or 2 * len(labels) <= total:
        return
    some = ", ".join(map(repr, list(labels)[:3]))
    tags = noun == "tag"
    option = (
        "--tag-column N (in a recipe data.tag_column)"
        if tags
        else "--label NAME (in a recipe data.label_column)"
    )
    examples = "tokens" if tags else "examples"
    raise InputError(
        f"{len(labels):,} different {noun}s in {total:,} {examples}, such as {some}; this seems to be "
        "another column",
        path=path,
        fix=f"Choose the column of the {noun}s with {option}. If it is right, name the file's format with "
        "--format NAME (in a recipe data.format)",
    )


def _with_given_scheme(tally: TagTally, scheme: Scheme | str) -> Detection:
    scheme = scheme_named(scheme) if isinstance(scheme, str) else scheme
    return Detection(scheme, tally.counts(), tally.invalid(scheme), "as given")


def _locate(source: TaggedSource, scheme: Scheme, shown: int) -> list[InvalidTag]:
    """Return the first invalid tags of a file, with their lines."""
    checker = Checker(scheme=scheme)
    found: list[InvalidTag] = []
    for sentence in source:
        found += [
            _placed(sentence, problem, source.report) for problem in checker.problems(sentence.tags or ())
        ]
        if len(found) >= shown:
            break
    return found[:shown]


def _placed(sentence: Sentence, problem: Problem, report: Report) -> InvalidTag:
    """Return an invalid tag of the last sentence read, with its line."""
    return InvalidTag(f"{sentence.path}:{report.rows[problem.index]}", problem.tag, problem.reason)


# --- writing ---------------------------------------------------------------------------------------------


def write(
    path: str | PathLike[str], sentences: Iterable[Sentence], format: str, *, scheme: Scheme = IOB2
) -> int:
    """Write sentences to a file atomically, compressed according to its suffix. Return their number.

    ``scheme`` is the scheme of their tags, which formats with character spans need.
    """
    return write_examples(path, format_named(format, FORMATS), sentences, scheme)
