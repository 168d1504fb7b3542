"""Rules for tag sequences: those of the tag scheme, and forbidden transitions of the user.

A user's rule forbids a transition. For example, ``"B-PER -> B-PER"`` forbids one person directly after
another. ``*`` and ``?`` are wildcards (``"*-PER -> *-LOC"``). ``<start>`` and ``<end>`` stand for the ends of
a sentence (``"<start> -> PUNCT"``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import NDArray

from gonie.errors import InputError
from gonie.text.schemes import Scheme
from gonie.text.schemes import allowed as allowed_by_scheme

Allowed = tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]
"""Which tag may follow which (K, K) [from, to], which may come first (K,), and which last (K,)."""

ARROW, START, END = "->", "<start>", "<end>"


def allowed(
    labels: Sequence[str], scheme: Scheme, *, constrained: bool = True, forbidden: Iterable[str] = ()
) -> Allowed:
    """Return the transitions that the scheme allows, minus the ``forbidden`` ones.

    The scheme's rules apply only if decoding is ``constrained``.
    """
    size = len(labels)
    moves, first, last = (
        allowed_by_scheme(labels, scheme)
        if constrained
        else (np.ones((size, size), bool), np.ones(size, bool), np.ones(size, bool))
    )
    for rule in forbidden:
        before, after = _split(rule)
        if before == START:
            first &= ~_matching(after, labels, rule)
        elif after == END:
            last &= ~_matching(before, labels, rule)
        else:
            moves &= ~np.outer(_matching(before, labels, rule), _matching(after, labels, rule))
    if not (first.any() and last.any()):
        raise InputError(
            "no tag may begin or end a sentence under the rules "
            f"{', '.join(map(repr, forbidden)) or 'of the tag scheme'}",
            fix="Remove rules from model.head.forbidden" if forbidden else "",
        )
    return moves, first, last


def first_violation(tags: Sequence[str], labels: Sequence[str], rules: Allowed) -> str | None:
    """Return the first transition of ``tags`` that ``rules`` over ``labels`` forbid, as a rule, or None."""
    moves, first, last = rules
    ids = [labels.index(tag) for tag in tags]
    if ids and not first[ids[0]]:
        return f"{START} {ARROW} {tags[0]}"
    for t in range(1, len(ids)):
        if not moves[ids[t - 1], ids[t]]:
            return f"{tags[t - 1]} {ARROW} {tags[t]}"
    return f"{tags[-1]} {ARROW} {END}" if ids and not last[ids[-1]] else None


def cut_ends(options: NDArray[np.bool_], rules: Allowed, longest: int) -> list[int]:
    """Return where the pieces of a long sentence end, so that ``rules`` allow each of them.

    ``options`` (T, K) are the tags that each token may have. A piece has at most ``longest`` tokens, unless
    the rules allow no shorter one: an entity is never cut. If they forbid the whole sentence, any cut will
    do.
    """
    moves, first, last = rules
    size = len(options)
    endings = options.copy()  # (T, K): the tags at t from which the sentence can be completed
    endings[-1] &= last
    for t in range(size - 2, -1, -1):
        endings[t] &= moves[:, endings[t + 1]].any(axis=1)
    if not (first & endings[0]).any():
        return [*range(longest, size, longest), size]
    ends = [0]
    while size - ends[-1] > longest:
        begin, end = ends[-1], size
        reached = first & options[begin]  # (K,)
        for t in range(begin + 1, size):
            if (reached & last).any() and (first & endings[t]).any():
                end = t
            if t - begin >= longest and end < size:
                break
            reached = moves[reached].any(axis=0) & options[t]
        ends.append(end)
    return ends[1:] if ends[-1] == size else [*ends[1:], size]


def _split(rule: str) -> tuple[str, str]:
    before, arrow, after = (part.strip() for part in rule.partition(ARROW))
    if not (before and arrow and after) or before == END or after == START:
        raise InputError(
            f"invalid rule {rule!r}",
            fix=f'Write it like "B-PER {ARROW} B-LOC", "{START} {ARROW} I-*" or "DET {ARROW} {END}"',
        )
    return before, after


def _matching(pattern: str, labels: Sequence[str], rule: str) -> NDArray[np.bool_]:
    found = np.array([fnmatchcase(label, pattern) for label in labels], bool)
    if not found.any():
        raise InputError(
            f"no tag matches {pattern!r} in the rule {rule!r}", fix=f"The model's tags: {', '.join(labels)}"
        )
    return found
