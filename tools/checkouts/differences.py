"""Compares the files that two checkouts wrote: weights, metrics and answers.

The tables list what a refactoring changed on purpose. They are empty if nothing was changed.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import deserialize

RENAMED: Sequence[tuple[str, str]] = ()
"""Tensors that are renamed in AFTER: pairs of a regular expression and its replacement.

They are applied in order, by ``re.sub``. In ``last.safetensors`` names begin with ``model.`` or ``average.``.
"""

RENAMED_METRICS: Mapping[str, str] = {"words": "tokens"}
"""Keys of ``metrics.jsonl`` that are renamed in AFTER."""

_PENALTY = "the reported loss no longer includes the penalty of contextual embeddings"
REDEFINED_LOSS: Mapping[str, str] = {"elmo-tagger": _PENALTY, "elmo-tuned": _PENALTY}
"""Cases whose loss AFTER reports in another way, and how: their losses are compared to five digits."""

ROUNDED: Mapping[str, str] = {}
"""Cases whose arithmetic was changed on purpose, and why. They pass if the losses of 50 steps are equal."""

TIMES = {"seconds", "dev_seconds", "scoring_seconds"}
"""Keys of ``metrics.jsonl`` that differ in every run."""

WEIGHTS = ("best.safetensors", "last.safetensors")
NUMBERED = re.compile(r"optimizer\.\d+\.(.+)")
TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I8": "i1", "U8": "u1"}

Close = Callable[[float, float], bool]
SIX_DIGITS: Close = partial(math.isclose, rel_tol=1e-6, abs_tol=1e-12)
FIVE_DIGITS: Close = partial(math.isclose, rel_tol=1e-5, abs_tol=1e-12)


def within(tolerance: float) -> Close:
    """Return a test whether two numbers differ by at most ``tolerance``."""
    return partial(math.isclose, rel_tol=0.0, abs_tol=tolerance)


@dataclass
class Verdict:
    """What was compared, what differs, and further notes."""

    facts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, other: Verdict, prefix: str = "") -> None:
        """Add the lines of another verdict, each with ``prefix`` before it."""
        self.facts += [prefix + fact for fact in other.facts]
        self.problems += [prefix + problem for problem in other.problems]
        self.notes += [prefix + note for note in other.notes]

    def shortened(self, most: int) -> Verdict:
        """Return the verdict with the first ``most`` problems and the number of the others."""
        more = len(self.problems) - most
        rest = [f"and {more} more differences of this kind"] if more > 0 else []
        return Verdict(self.facts, [*self.problems[:most], *rest], self.notes)


class Tensor(NamedTuple):
    """A tensor as stored in a file."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read the tensors of a safetensors file by name."""
    found = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]
    return {name: Tensor(each["dtype"], tuple(each["shape"]), bytes(each["data"])) for name, each in found}


def compare_weights(first: Path, second: Path) -> Verdict:
    """Compare the weights in two run folders, those of variants included."""
    verdict = Verdict()
    before, after = ({str(p.relative_to(run)) for p in _weights(run)} for run in (first, second))
    verdict.problems += [f"{name} is only in the run of BEFORE" for name in sorted(before - after)]
    verdict.problems += [f"{name} is only in the run of AFTER" for name in sorted(after - before)]
    if not before:
        verdict.problems.append("the run of BEFORE has no weights")
    for name in sorted(before & after):
        verdict.add(compare_tensors(read_tensors(first / name), read_tensors(second / name)), f"{name} ")
    return verdict


def _weights(run: Path) -> list[Path]:
    return [path for name in WEIGHTS for path in run.rglob(name)]


def compare_tensors(first: Mapping[str, Tensor], second: Mapping[str, Tensor]) -> Verdict:
    """Compare the tensors of two files: name, type, shape and bytes."""
    verdict = Verdict(facts=[f"{len(first)} tensors"])
    one, two = {_renamed(name): tensor for name, tensor in first.items()}, dict(second)
    if len(one) < len(first):
        verdict.problems.append("RENAMED gives two tensors the same name")
    if _drop_renumbered(one, two):
        verdict.notes.append("has the optimizer's parameters in another order")
    for name in sorted(one.keys() - two.keys()):
        like = [other for other in two.keys() - one.keys() if two[other] == one[name]]
        hint = f" ({like[0]} has the same values)" if len(like) == 1 else ""
        verdict.problems.append(f"{name} is missing in AFTER{hint}")
    verdict.problems += [f"{name} is only in AFTER" for name in sorted(two.keys() - one.keys())]
    shared = sorted(one.keys() & two.keys())
    verdict.problems += [_difference(name, one[name], two[name]) for name in shared if one[name] != two[name]]
    return verdict


def _renamed(name: str) -> str:
    for pattern, replacement in RENAMED:
        name = re.sub(pattern, replacement, name)
    return name


def _drop_renumbered(one: dict[str, Tensor], two: dict[str, Tensor]) -> bool:
    """Drop the optimizer state if only the numbers of its parameters differ, and return whether it did."""
    states = [{name: each[name] for name in each if NUMBERED.match(name)} for each in (one, two)]
    pools = [Counter((NUMBERED.sub(r"\1", name), state[name]) for name in state) for state in states]
    if states[0] == states[1] or pools[0] != pools[1]:
        return False
    for each, state in zip((one, two), states, strict=True):
        for name in state:
            del each[name]
    return True


def _difference(name: str, first: Tensor, second: Tensor) -> str:
    """Describe in one line how two tensors differ."""
    if first[:2] != second[:2]:
        sizes = [f"{each.dtype} {list(each.shape)}" for each in (first, second)]
        return f"{name} is {sizes[0]} in BEFORE, {sizes[1]} in AFTER"
    if first.dtype not in TYPES:
        return f"{name} has other bytes"
    one, two = (np.frombuffer(each.data, TYPES[each.dtype]).astype(np.float64) for each in (first, second))
    return f"{name} differs by up to {np.abs(one - two).max():.3g}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a JSON document, each with its path."""
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, f"{path}/{key}")
    else:
        yield path, value


def compare_values(first: Any, second: Any, close: Close, *, same_keys: bool = True) -> Verdict:
    """Compare two JSON documents. Keys that only one has are problems, or notes without ``same_keys``."""
    one, two = dict(leaves(first)), dict(leaves(second))
    verdict = Verdict()
    lacking = [f"{key} is only in BEFORE" for key in one if key not in two]
    lacking += [f"{key} is only in AFTER" for key in two if key not in one]
    (verdict.problems if same_keys else verdict.notes).extend(lacking)
    verdict.problems += [
        f"{key} is {one[key]!r} in BEFORE, {two[key]!r} in AFTER"
        for key in one
        if key in two and not _equal(one[key], two[key], close)
    ]
    return verdict


def _equal(first: Any, second: Any, close: Close) -> bool:
    if type(first) is float and type(second) is float:
        return close(first, second)
    return type(first) is type(second) and bool(first == second)


def compare_arrays(
    first: Mapping[str, NDArray[Any]], second: Mapping[str, NDArray[Any]], tolerance: float
) -> Verdict:
    """Compare arrays by name: shape and numbers."""
    verdict = Verdict()
    if first.keys() != second.keys():
        verdict.problems.append(f"{len(first)} arrays in BEFORE, {len(second)} in AFTER, by other names")
    for name in sorted(first.keys() & second.keys()):
        one, two = first[name], second[name]
        if one.shape != two.shape:
            verdict.problems.append(f"{name} is {one.shape} in BEFORE, {two.shape} in AFTER")
        elif not np.allclose(one, two, rtol=0.0, atol=tolerance):
            verdict.problems.append(f"{name} differs by up to {np.abs(one - two).max():.3g}")
    return verdict


def read_metrics(run: Path) -> list[dict[str, Any]]:
    """Read the records of the epochs, without times."""
    lines = (run / "metrics.jsonl").read_text("utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key not in TIMES} for line in lines]


def compare_metrics(first: Path, second: Path, redefined: str = "") -> Verdict:
    """Compare the metrics of every epoch. New keys in AFTER are notes.

    If the loss is ``redefined``, it is compared to five digits.
    """
    one = [{RENAMED_METRICS.get(key, key): value for key, value in r.items()} for r in read_metrics(first)]
    two = read_metrics(second)
    known = {key for record in one for key in record}
    new = sorted({key for record in two for key in record} - known)
    kept = [{key: value for key, value in record.items() if key in known} for record in two]
    verdict = Verdict(facts=[f"metrics of {len(one)} epochs"])
    if redefined:
        losses = [[record.pop("loss") for record in records] for records in (one, kept)]
        verdict.add(compare_values(*losses, FIVE_DIGITS), "metrics.jsonl loss of epoch ")
        verdict.notes.append(f"losses are compared to five digits: {redefined}")
    verdict.add(compare_values(one, kept, SIX_DIGITS), "metrics.jsonl ")
    verdict.notes += [f"metrics.jsonl also has {', '.join(new)} in AFTER"] if new else []
    return verdict


def compare_scores(first: Path, second: Path) -> Verdict:
    """Compare those scores of the best epoch that both runs have."""
    name = "evaluation.json"
    if not (first / name).exists() or not (second / name).exists():
        return Verdict()  # a language model has none; see also compare_files
    one, two = (json.loads((run / name).read_text("utf-8")) for run in (first, second))
    verdict = compare_values(one, two, SIX_DIGITS, same_keys=False)
    notes = [f"{name} has {len(verdict.notes)} keys that only one of the two has"] if verdict.notes else []
    return Verdict(problems=[f"{name} {problem}" for problem in verdict.problems], notes=notes)


def compare_files(first: Path, second: Path) -> Verdict:
    """Note which files only one of the two run folders has."""
    before, after = ({path.name for path in run.iterdir()} for run in (first, second))
    changes = [f"no {name}" for name in sorted(before - after)]
    changes += [f"also {name}" for name in sorted(after - before)]
    return Verdict(notes=[f"run folder of AFTER: {', '.join(changes)}"] if changes else [])


def compare_losses(first: Path, second: Path) -> Verdict:
    """Compare the losses of two runs with one step per epoch."""
    one, two = ([float(record["loss"]) for record in read_metrics(run)] for run in (first, second))
    if len(one) != len(two):
        return Verdict(problems=[f"{len(one)} single steps in BEFORE, {len(two)} in AFTER"])
    for step, (before, after) in enumerate(zip(one, two, strict=True), 1):
        if not SIX_DIGITS(before, after):
            losses = f"{before:.9g} in BEFORE, {after:.9g} in AFTER"
            return Verdict(problems=[f"the losses of single steps differ from step {step} on: {losses}"])
    return Verdict(notes=[f"the losses of {len(one)} single steps are equal to six digits"])
