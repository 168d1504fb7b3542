"""Tag schemes: how the tag of each token marks where entities begin and end.

    kind    an entity of three tokens, of one token, and one right after another of the same label
    IOB1    I I I      I      … I | B
    IOB2    B I I      B      … I | B
    BIOES   B I E      S      … E | B
    BILOU   B I L      U      … L | B
    BMES    B M E      S      … E | B
    IO      X X X      X      … X | X, which is then one entity: tags are bare labels, boundaries are lost
    plain   no entities: each tag is an independent label (part of speech)

The notation is independent of the kind: ``B-PER`` (prefix), ``PER-B`` (suffix), ``B_Com I O`` (the tags
inside an entity carry no label), and bare ``B I O`` (no labels at all, the label is then ``""``). A prefix
marker ends at the first separator and a suffix marker begins at the last, so labels may contain the
separator.

Tags are converted to spans in one of two modes. ``conlleval`` is lenient, as the CoNLL scorer: a chunk begins
at B or S, after O, E or S, and where the label changes. ``strict`` keeps only chunks with the tags that the
kind prescribes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError

Kind = Literal["IOB1", "IOB2", "BIOES", "BILOU", "BMES", "IO", "plain"]
Affix = Literal["prefix", "suffix"]
Mode = Literal["conlleval", "strict"]
Policy = Literal["error", "begin", "outside"]
TokenSpan = tuple[int, int, str]
"""Tokens ``[start, end)`` and their label."""

OUTSIDE = "O"
POLICIES: tuple[Policy, ...] = get_args(Policy)
_MODES: tuple[Mode, ...] = get_args(Mode)

# Written markers to internal letters: B begins, I is inside, E ends, S is a single token.
_MARKERS: Mapping[str, Mapping[str, str]] = {
    "IOB1": {"B": "B", "I": "I"},
    "IOB2": {"B": "B", "I": "I"},
    "BIOES": {"B": "B", "I": "I", "E": "E", "S": "S"},
    "BILOU": {"B": "B", "I": "I", "L": "E", "U": "S"},
    "BMES": {"B": "B", "M": "I", "E": "E", "S": "S"},
    "IO": {},  # a tag is its label
    "plain": {},
}
_NAMES: Mapping[str, Kind] = {
    "IOB1": "IOB1",
    "IOB": "IOB1",
    "IOB2": "IOB2",
    "BIO": "IOB2",
    "BIOES": "BIOES",
    "IOBES": "BIOES",
    "BILOU": "BILOU",
    "BILUO": "BILOU",
    "BMES": "BMES",
    "BMESO": "BMES",
    "IO": "IO",
    "PLAIN": "plain",
}

_CLOSED: tuple[Kind, ...] = ("BIOES", "BILOU", "BMES")
"""The kinds that mark the last token of an entity."""
_SHOWN = 3  # problems listed in an error message

_Mark = tuple[str, str | None]  # a marker letter and its label; None where the tag carries none
_OUT: _Mark = (OUTSIDE, "")


@dataclass(frozen=True, slots=True)
class Scheme:
    """A kind and its notation. An empty separator means bare markers, whose label is ``""``."""

    kind: Kind = "IOB2"
    separator: str = "-"
    affix: Affix = "prefix"
    typed_inside: bool = True

    def __post_init__(self) -> None:
        if self.kind not in _MARKERS:
            raise InputError(f"unknown tag scheme {self.kind!r}", fix=f"Choose one of {', '.join(_MARKERS)}")
        if self.affix not in get_args(Affix):
            raise InputError(f"unknown affix {self.affix!r}", fix="Use 'prefix' or 'suffix'")
        if self.kind == "IOB1" and not self.typed_inside:
            raise InputError("IOB1 requires a label on inside tags, because I may open an entity")

    @property
    def has_spans(self) -> bool:
        """Whether tags form entities. False for plain labels."""
        return self.kind != "plain"

    def split(self, tag: str) -> tuple[str, str | None] | None:
        """Return the marker (B, I, E, S or O) and label of a tag, or None if it is not a tag of this scheme.

        BILOU's L and U are returned as E and S. The label is None for an inside tag that carries none.
        """
        if tag == OUTSIDE:
            return _OUT
        if self.kind == "IO":
            return ("I", tag) if tag else None
        markers = _MARKERS[self.kind]
        if not self.separator or (not self.typed_inside and markers.get(tag) in ("I", "E")):
            marker = markers.get(tag)
            return None if marker is None else (marker, "" if not self.separator else None)
        if self.affix == "prefix":
            letter, _, label = tag.partition(self.separator)
        else:
            label, _, letter = tag.rpartition(self.separator)
        marker = markers.get(letter)
        if marker is None or not label or (not self.typed_inside and marker in ("I", "E")):
            return None
        return marker, label

    def join(self, marker: str, label: str) -> str:
        """Return the tag for a marker (B, I, E, S or O) and a label. This is the inverse of ``split``."""
        if marker == OUTSIDE:
            return OUTSIDE
        if self.kind == "IO":
            return label
        letter = next(written for written, meant in _MARKERS[self.kind].items() if meant == marker)
        if not self.separator or (not self.typed_inside and marker in ("I", "E")):
            return letter
        pair = (letter, label) if self.affix == "prefix" else (label, letter)
        return self.separator.join(pair)

    def __str__(self) -> str:
        if self.kind == "plain":
            return "plain labels"
        if self.kind == "IO":
            return "IO (X O)"
        letters = dict.fromkeys(
            meant for meant in ("B", "I", "E", "S") if meant in _MARKERS[self.kind].values()
        )
        return f"{self.kind} ({' '.join(self.join(letter, 'X') for letter in letters)} O)"

    def to_json(self) -> dict[str, object]:
        """Return the scheme as plain values, for a bundle."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Scheme:
        """Restore a scheme from the result of ``to_json``."""
        return cls(
            kind=cast(Kind, data["kind"]),
            separator=str(data["separator"]),
            affix=cast(Affix, data["affix"]),
            typed_inside=bool(data["typed_inside"]),
        )


PLAIN = Scheme(kind="plain")
IOB2 = Scheme(kind="IOB2")
IO = Scheme(kind="IO")


def scheme_named(name: str) -> Scheme:
    """Return the scheme with this name, in the usual notation.

    BIO, IOBES and BILUO mean IOB2, BIOES and BILOU.
    """
    kind = _NAMES.get(name.upper())
    if kind is None:
        raise InputError(f"unknown tag scheme {name!r}", fix=f"Choose one of {', '.join(_MARKERS)}")
    return Scheme(kind=kind)


def policy_named(name: str) -> Policy:
    """Return the repair policy with this name."""
    if name not in POLICIES:
        raise InputError(f"unknown repair policy {name!r}", fix=f"Choose one of {', '.join(POLICIES)}")
    return name


# --- spans -----------------------------------------------------------------------------------------------


def to_spans(tags: Sequence[str], scheme: Scheme, mode: Mode = "conlleval") -> list[TokenSpan]:
    """Return the entities of a tag sequence in order. Plain labels have none.

    A tag that is not of the scheme counts as O. An inside tag without a label and without a preceding entity
    is no entity in either mode. ``problems`` reports it.
    """
    if mode not in _MODES:
        raise InputError(f"unknown mode {mode!r}", fix="Use 'conlleval' or 'strict'")
    if not scheme.has_spans:
        return []
    chunks = _chunks(tags, scheme)
    if mode == "strict":
        return [(start, end, label) for start, end, label, markers in chunks if _whole(markers, scheme.kind)]
    return [(start, end, label) for start, end, label, _ in chunks]


def _chunks(tags: Sequence[str], scheme: Scheme) -> Iterator[tuple[int, int, str, str]]:
    """Yield the start, end, label and markers of each chunk under the lenient rules.

    The first marker is ``b`` where the chunk directly follows another of the same label. IOB1 requires B
    there.
    """
    start, label, markers = 0, "", ""  # the open chunk; empty markers mean none
    before = _OUT
    for index, tag in enumerate(tags):
        if tag == OUTSIDE and not markers:
            before = _OUT
            continue
        marker, own = scheme.split(tag) or _OUT
        if markers and not _goes_on(before, (marker, own), label):
            yield start, index, label, markers
            follows = own == label
            markers = ""
        else:
            follows = False
        if markers:
            markers += marker
        elif marker != OUTSIDE and own is not None:
            start, label, markers = index, own, marker.lower() if follows else marker
        before = (marker, own)
    if markers:
        yield start, len(tags), label, markers


def _goes_on(before: _Mark, now: _Mark, label: str) -> bool:
    """Return whether the open chunk with this label continues at ``now``."""
    return now[0] in ("I", "E") and before[0] in ("B", "I") and now[1] in (None, label)


def _whole(markers: str, kind: Kind) -> bool:
    """Return whether these are the markers that the kind prescribes for an entity of this length."""
    first, rest = markers[0], markers[1:]
    if kind == "IO":
        return True
    if kind == "IOB1":
        return first in ("b", "I") and rest.strip("I") == ""
    if kind == "IOB2" or (kind in _CLOSED and rest):
        inside = rest if kind == "IOB2" else rest[:-1]
        closed = kind == "IOB2" or rest[-1] == "E"
        return first in "Bb" and inside.strip("I") == "" and closed
    return first in "Ss"


def from_spans(spans: Iterable[TokenSpan], length: int, scheme: Scheme) -> list[str]:
    """Return the tags of ``length`` tokens with these entities, which must not overlap."""
    if not scheme.has_spans:
        raise InputError("plain labels have no entities", fix="Choose a tag scheme, such as IOB2")
    tags = [OUTSIDE] * length
    last_end, last_label = 0, None
    for start, end, label in sorted(spans):
        if not last_end <= start < end <= length:
            raise InputError(
                f"span {start}..{end} {label!r} is empty, overlaps another or exceeds the {length} tokens"
            )
        touching = start == last_end and label == last_label
        tags[start:end] = [
            scheme.join(marker, label) for marker in _markers(end - start, scheme.kind, touching=touching)
        ]
        last_end, last_label = end, label
    return tags


def _markers(length: int, kind: Kind, *, touching: bool) -> str:
    if kind == "IOB1":
        return ("B" if touching else "I") + "I" * (length - 1)
    if kind == "IOB2":
        return "B" + "I" * (length - 1)
    if kind == "IO":
        return "I" * length
    return "S" if length == 1 else "B" + "I" * (length - 2) + "E"


def convert(tags: Sequence[str], source: Scheme, target: Scheme) -> list[str]:
    """Convert tags to another scheme. An invalid sequence raises an error (call ``repair`` first).

    In IO, adjacent entities of the same label become one.
    """
    if source == target:
        return list(tags)
    if not (source.has_spans and target.has_spans):
        raise InputError(f"cannot convert {source} to {target}: plain labels have no entities")
    _refuse(tags, source)
    return from_spans(to_spans(tags, source), len(tags), target)


def type_names(tags: Iterable[str], scheme: Scheme) -> list[str]:
    """Return the labels of tags without their markers, in order."""
    if not scheme.has_spans:
        return list(tags)
    parts = (scheme.split(tag) for tag in tags)
    return list(dict.fromkeys(part[1] for part in parts if part is not None and part[1]))


def keep_types(tags: Sequence[str], scheme: Scheme, types: Collection[str]) -> list[str]:
    """Replace tags of entities of other types by O. In this scheme every tag must carry its type."""
    return [tag if (scheme.split(tag) or _OUT)[1] in types else OUTSIDE for tag in tags]


# --- validity --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Problem:
    """A tag that is invalid at its position."""

    index: int
    tag: str
    reason: str


def problems(tags: Sequence[str], scheme: Scheme) -> list[Problem]:
    """Return the tags that violate the scheme, by position, each with one reason."""
    if not scheme.has_spans:
        return []
    found = []
    marks = [scheme.split(tag) for tag in tags]
    edged = [_OUT, *(mark or _OUT for mark in marks), _OUT]
    for index, tag in enumerate(tags):
        before, now, after = edged[index : index + 3]
        if marks[index] is None:
            found.append(Problem(index, tag, f"is not a tag of {scheme}"))
        elif _orphan(before, now, scheme.kind):
            found.append(Problem(index, tag, _orphan_reason(tags[index - 1] if index else None)))
        elif _unclosed(now, after, scheme.kind):
            found.append(Problem(index, tag, "opens or continues an entity that is never closed"))
    return found


def _orphan_reason(before: str | None) -> str:
    place = "is at the beginning of a sentence" if before is None else f"follows {before}"
    return f"must follow an entity with the same label, but {place}"


def _continues(before: _Mark, now: _Mark) -> bool:
    return now[0] in ("I", "E") and before[0] in ("B", "I") and (now[1] is None or before[1] == now[1])


def _orphan(before: _Mark, now: _Mark, kind: Kind) -> bool:
    """Return whether ``now`` needs a preceding entity that is missing.

    In IOB1 the rule concerns B, and in other kinds I and E. In IO there is no such rule.
    """
    if kind == "IO":
        return False
    if kind == "IOB1":
        return now[0] == "B" and (before[0] == OUTSIDE or before[1] != now[1])
    return now[0] in ("I", "E") and not _continues(before, now)


def _unclosed(now: _Mark, after: _Mark, kind: Kind) -> bool:
    return kind in _CLOSED and now[0] in ("B", "I") and not _continues(now, after)


def _valid(before: _Mark | None, now: _Mark | None, after: _Mark | None, kind: Kind) -> bool:
    """Return whether ``problems`` finds nothing wrong with a tag between these neighbours."""
    if now is None:
        return False
    return not _orphan(before or _OUT, now, kind) and not _unclosed(now, after or _OUT, kind)


class Checker:
    """Find ``problems`` in many sequences of one scheme, with a cache of tag pairs known to be valid."""

    def __init__(self, *, scheme: Scheme) -> None:
        self.scheme = scheme
        self._legal: set[tuple[str, str]] = set()

    def problems(self, tags: Sequence[str]) -> list[Problem]:
        """Return the same result as the function ``problems``."""
        pairs = set(_neighbours(tags))
        if pairs <= self._legal:
            return []
        found = problems(tags, self.scheme)
        if not found:
            self._legal |= pairs
        return found


def _neighbours(tags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each pair of neighbouring tags, with O for the edges. Validity depends only on these pairs."""
    return zip(chain((OUTSIDE,), tags), chain(tags, (OUTSIDE,)), strict=True)


def repair(
    tags: Sequence[str], scheme: Scheme, policy: Policy, *, places: Sequence[str] = ()
) -> tuple[list[str], int]:
    """Make a sequence valid by a named policy. Return the tags and the number of changes.

    ``error``    raises an error that lists the first invalid tags, at ``places`` (``file:line``).
    ``begin``    uses the lenient mode: an orphan opens an entity, and an open entity ends where it stops.
    ``outside``  uses the strict mode: tags that form no well-formed entity become O.

    With ``begin`` and ``outside``, a tag that is not of the scheme becomes O, as does an orphan without a
    label.
    """
    policy = policy_named(policy)
    if not problems(tags, scheme):
        return list(tags), 0
    if policy == "error":
        _refuse(tags, scheme, places=places)
    spans = to_spans(tags, scheme, mode="conlleval" if policy == "begin" else "strict")
    repaired = from_spans(spans, len(tags), scheme)
    return repaired, sum(old != new for old, new in zip(tags, repaired, strict=True))


def _refuse(tags: Sequence[str], scheme: Scheme, *, places: Sequence[str] = ()) -> None:
    """Raise an error that lists the first invalid tags of the sequence, if there are any."""
    found = problems(tags, scheme)
    if not found:
        return
    shown = [
        f"{places[problem.index] if places else f'tag {problem.index + 1}'}: {problem.tag} {problem.reason}"
        for problem in found[:_SHOWN]
    ]
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise InputError(
        f"{len(found)} invalid {scheme} tag{'s' if len(found) > 1 else ''}: {'; '.join(shown)}{more}",
        fix="Correct the tags, or repair them: --set data.repair=begin in training, otherwise --repair begin",
    )


def allowed(
    labels: Sequence[str], scheme: Scheme
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which tags may follow which: transitions ``(K, K)`` [from, to], start ``(K,)`` and end ``(K,)``.

    A sequence satisfies all three exactly when ``problems`` finds nothing.
    """
    size = len(labels)
    if not scheme.has_spans:
        return np.ones((size, size), bool), np.ones(size, bool), np.ones(size, bool)
    marks = [scheme.split(label) for label in labels]
    transitions = np.array([[_may(a, b, scheme.kind) for b in marks] for a in marks], bool).reshape(
        size, size
    )
    start = np.array([_may(_OUT, mark, scheme.kind) for mark in marks], bool)
    end = np.array([_may(mark, _OUT, scheme.kind) for mark in marks], bool)
    return transitions, start, end


def _may(before: _Mark | None, now: _Mark | None, kind: Kind) -> bool:
    if before is None or now is None:
        return False
    return not _orphan(before, now, kind) and not _unclosed(before, now, kind)


# --- detection -------------------------------------------------------------------------------------------

# Tried in this order. Of those with the fewest violations, the first is chosen.
_NOTATIONS: tuple[tuple[str, Affix, bool], ...] = (
    ("-", "prefix", True),
    ("_", "prefix", True),
    ("-", "suffix", True),
    ("_", "suffix", True),
    ("-", "prefix", False),
    ("_", "prefix", False),
    ("-", "suffix", False),
    ("_", "suffix", False),
    ("", "prefix", True),
)
_KINDS: tuple[Kind, ...] = ("IOB2", "IOB1", "BIOES", "BILOU", "BMES")
_READABLE = 0.9
"""Minimum share of the tags other than O that a notation must parse. The rest count as errors of the file."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The detected scheme, the counts of tags, the number of invalid tags, and the reason for the choice."""

    scheme: Scheme
    counts: Mapping[str, int]
    invalid: int
    reason: str


@dataclass(slots=True)
class TagTally:
    """Counts of tags with their neighbours over any number of sequences. Detection needs nothing else."""

    triples: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Each tag between the tags before and after it, with O for the edges."""
    sequences: int = 0

    def add(self, tags: Sequence[str]) -> None:
        """Count one sequence."""
        self.sequences += 1
        self.triples.update(zip(chain((OUTSIDE,), tags), tags, chain(tags[1:], (OUTSIDE,)), strict=False))

    def counts(self) -> Counter[str]:
        """Return how often each tag occurred."""
        totals: Counter[str] = Counter()
        for (_, tag, _), number in self.triples.items():
            totals[tag] += number
        return totals

    def invalid(self, scheme: Scheme) -> int:
        """Return the number of invalid tags of the sequences under the scheme."""
        if not scheme.has_spans:
            return 0
        marks = {tag: scheme.split(tag) for tag in (OUTSIDE, *self.counts())}
        return sum(
            number
            for (before, now, after), number in self.triples.items()
            if not _valid(marks[before], marks[now], marks[after], scheme.kind)
        )

    def detect(self) -> Detection:
        """Return the scheme with the fewest violations.

        * If no notation parses more than nine in ten of the tags other than O: IO if O is the most frequent
          tag, otherwise plain labels.
        * If all tags are O: IOB2, as there is no evidence for another scheme.
        * Otherwise the notation and kind with the fewest invalid tags. Ties go to IOB2, IOB1, BIOES, …
          So a file valid as both IOB1 and IOB2 is IOB2, and one without E and S is never BIOES.
        """
        counts = self.counts()
        if set(counts) <= {OUTSIDE}:
            return Detection(IOB2, counts, 0, "all tags are O; IOB2 is assumed")
        candidates = _candidates(counts)
        if not candidates:
            if counts.most_common(1)[0][0] == OUTSIDE:
                return Detection(IO, counts, 0, f"mostly O, and labels without markers: {_some(counts)}")
            return Detection(PLAIN, counts, 0, f"tags such as {_some(counts)} have no markers")
        scored = [(self.invalid(scheme), scheme) for scheme in candidates]
        fewest, best = min(scored, key=lambda pair: pair[0])
        return Detection(best, counts, fewest, _reason(best, fewest, scored))


def detect(sequences: Iterable[Sequence[str]]) -> Detection:
    """Detect the scheme of these tag sequences by the rules of ``TagTally.detect``."""
    tally = TagTally()
    for tags in sequences:
        tally.add(tags)
    return tally.detect()


def looks_tagged(counts: Mapping[str, int]) -> bool:
    """Return whether these counted values look like tags of a scheme with entities (some other than O)."""
    return bool(set(counts) - {OUTSIDE}) and bool(_candidates(counts))


def _candidates(counts: Mapping[str, int]) -> list[Scheme]:
    """Return the schemes that parse nearly all tags other than O, in order of preference."""
    total = sum(number for tag, number in counts.items() if tag != OUTSIDE)
    found = []
    for separator, affix, typed in _NOTATIONS:
        for kind in _KINDS:
            if kind == "IOB1" and not typed:
                continue
            scheme = Scheme(kind=kind, separator=separator, affix=affix, typed_inside=typed)
            if _readable(counts, scheme) > _READABLE * total:
                found.append(scheme)
    return found


def _readable(counts: Mapping[str, int], scheme: Scheme) -> int:
    return sum(number for tag, number in counts.items() if tag != OUTSIDE and scheme.split(tag) is not None)


def _some(counts: Mapping[str, int]) -> str:
    return ", ".join(tag for tag, _ in Counter(counts).most_common(3))


def _reason(best: Scheme, fewest: int, scored: list[tuple[int, Scheme]]) -> str:
    equal = sorted(
        {scheme.kind for number, scheme in scored if number == fewest and scheme.kind != best.kind}
    )
    if fewest:
        return f"the fewest invalid tags of all schemes: {fewest:,}"
    return "every tag is valid" + (f", also in {' and '.join(equal)}" if equal else "")
