"""Show that a refactoring changed no results: train and load the same models with two checkouts of gonie.

    python tools/compare_checkouts.py BEFORE AFTER
    python tools/compare_checkouts.py BEFORE AFTER --keep kept      train the models of BEFORE only once
    python tools/compare_checkouts.py BEFORE AFTER --case ner --case crf
    python tools/compare_checkouts.py --list                        the cases, and what each covers

BEFORE and AFTER are roots of repositories. Each runs in its own processes, with the Python interpreter of
this script, on one CPU thread. Only the command line, gonie.load and the files of run folders are used, so
modules may be renamed between the two. What is compared:

1. best.safetensors and last.safetensors of every case, bit for bit;
2. metrics.jsonl and the scores in evaluation.json, to six digits;
3. the answers of the exported bundles to a list of texts, to 1e-6, or the vectors of a language model;
4. the answers of all bundles in tests/bundles of BEFORE, and of those that BEFORE trained, as loaded by both
   checkouts, to 1e-9.

If weights differ, the case is trained again for 50 epochs of a single batch, and the losses of these 50 steps
are compared to six digits. The tables in checkouts/differences.py list what a refactoring changed on purpose:
names of tensors (RENAMED), keys of metrics (RENAMED_METRICS), cases with another definition of the loss
(REDEFINED_LOSS), and cases that are compared by the losses of single steps (ROUNDED).

--keep DIR keeps the runs of BEFORE. They are reused if its commit, the case, the data, the libraries and the
processor are the same. The runs of AFTER are always new.

Exit code: 0 if everything is equal, 1 if something differs or fails, 2 for bad input.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from checkouts.cases import CASES, FEW, FULL, Case, Sizes, make_data
from checkouts.differences import (
    REDEFINED_LOSS,
    ROUNDED,
    Verdict,
    compare_arrays,
    compare_files,
    compare_losses,
    compare_metrics,
    compare_scores,
    compare_values,
    compare_weights,
    within,
)

SHOWN = 4
"""The maximum number of listed differences of one kind."""

TEXTS = (
    "George Washington is happy about the election outcome in New York.",
    "The plot is fine. The film is endless, and Anna Kim left Paris on 12 May 1999!",
    "The <e1>burst</e1> has been caused by water hammer <e2>pressure</e2>.",
    "find movie times and add the entire album to my playlist",
    "it is a lovely , clever film . <s> the cast is dull . <s> i would see it again",
    "서울에 사는 김민수 씨는 2019년 삼성전자에 입사했다. 부산은 멀다.",
    "정말 재미있는 영화였다ㅋㅋ 배우들 연기도 최고!!",
    "Zoë-Marie \U0001f600 lives in Seoul 서울 (http://example.com/a?b=1).",
    "x",
    "",
    "Anna Kim met Bert Lee in Oslo and then we saw the film " * 100,
)
"""The input of every model. The last text is longer than the 1,000 tokens that are scored at once."""


class BadInputError(Exception):
    """Bad input, which the user has to fix."""


@dataclass(frozen=True)
class Checkout:
    """A repository whose gonie runs in its own processes.

    ``numba`` is an empty cache folder, because Numba does not notice every change of cached functions.
    """

    root: Path
    numba: Path

    def run(self, *arguments: str, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run Python with this checkout's gonie in ``folder``."""
        threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        own = {"PYTHONPATH": str(self.root / "src"), "NUMBA_CACHE_DIR": str(self.numba)}
        return subprocess.run(
            [sys.executable, *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            encoding="utf-8",
            cwd=folder,
            env={**os.environ, **threads, **own, "CUDA_VISIBLE_DEVICES": "", "PYTHONIOENCODING": "utf-8"},
        )

    def check(self, folder: Path) -> None:
        """Refuse a root without gonie, or if another gonie is imported."""
        if not (self.root / "src" / "gonie").is_dir():
            raise BadInputError(f"not a checkout of gonie: {self.root} has no src/gonie")
        done = self.run("-c", "import gonie; print(gonie.__file__)", folder=folder)
        if done.returncode or not Path(done.stdout.strip()).is_relative_to(self.root / "src"):
            raise BadInputError(f"cannot import gonie from {self.root}: {done.stderr or done.stdout}")

    def commit(self) -> str | None:
        """Return the commit, or None if source files have uncommitted changes."""
        changed = self._git("status", "--porcelain", "--", "src", "pretrained")
        return None if changed else self._git("rev-parse", "HEAD")

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.root), *arguments]
        try:
            done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
        except (OSError, subprocess.CalledProcessError) as error:
            raise BadInputError(f"--keep needs a Git repository, which {self.root} is not") from error
        return done.stdout.strip()


class Run(NamedTuple):
    """A run folder and its training time. ``error`` has the last lines of a failed command."""

    folder: Path
    seconds: float
    kept: bool = False
    error: str = ""


@dataclass(frozen=True)
class Trainer:
    """Trains cases with a checkout in ``folder``. With ``reuse``, existing runs are used again."""

    checkout: Checkout
    folder: Path
    places: Mapping[str, Path]
    reuse: bool = False

    def __call__(self, case: Case) -> Run:
        """Return the run of a case. Its folder gets its final name only when the run is complete."""
        folder = self.folder / f"{case.name}-{self._digest(case)}"
        if self.reuse and folder.exists():
            return Run(folder / "run", float((folder / "seconds").read_text()), kept=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{case.name}-", suffix=".part", dir=self.folder))
        started = time.monotonic()
        done = self.checkout.run("-m", "gonie", *case.arguments(self.places), "--out", "run", folder=made)
        seconds = time.monotonic() - started
        (made / "output.txt").write_text(done.stdout + done.stderr, "utf-8")
        if done.returncode:
            return Run(made / "run", seconds, error=_last_lines(done))
        (made / "seconds").write_text(f"{seconds:.1f}")
        if folder.exists():  # another process was faster
            return Run(made / "run", seconds)
        made.rename(folder)
        return Run(folder / "run", seconds)

    def _digest(self, case: Case) -> str:
        """Return a digest of all that affects the bits of a run: case, data, libraries and processor."""
        names = {
            name: Path(place.name) for name, place in self.places.items()
        }  # the folder of the data is named by its digest
        versions = [metadata.version(name) for name in ("torch", "numpy", "numba")]
        told = [case.arguments(names), versions, platform.python_version(), _processor()]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]


def _processor() -> str:
    """Return the name of the processor, by which libraries choose their kernels."""
    try:
        names = re.findall(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        names = []
    return names[0] if names else platform.processor()


def _last_lines(done: subprocess.CompletedProcess[str]) -> str:
    return "\n".join(done.stderr.strip().split("\n")[-10:]) or f"exit code {done.returncode}"


def find_bundles(folder: Path) -> list[Path]:
    """Return every bundle in a folder."""
    return sorted(path.parent for path in folder.rglob("bundle.json"))


def ask(checkout: Checkout, bundles: Sequence[Path], folder: Path) -> dict[Path, Any]:
    """Return the answers of bundles, loaded by a checkout."""
    question = json.dumps({"bundles": list(map(str, bundles)), "texts": TEXTS})
    program = Path(__file__).parent / "checkouts" / "answers.py"
    done = checkout.run(str(program), stdin=question, folder=folder)
    if done.returncode:
        return {bundle: {"error": _last_lines(done)} for bundle in bundles}
    return {Path(path): answers for path, answers in json.loads(done.stdout).items()}


def compare_answers(first: Any, second: Any, tolerance: float) -> Verdict:
    """Compare the answers of one bundle. It is always a problem if BEFORE cannot load it."""
    if "error" in first:
        return Verdict(problems=[f"cannot be loaded by BEFORE: {first['error']}"])
    if "error" in second:
        return Verdict(problems=[f"cannot be loaded by AFTER: {second['error']}"])
    return compare_values(first, second, within(tolerance))


def compare_golden(pair: Sequence[Checkout], folder: Path) -> Verdict:
    """Compare the answers of the bundles that BEFORE keeps for its tests."""
    root = pair[0].root / "tests" / "bundles"
    bundles = find_bundles(root)
    if not bundles:
        return Verdict(problems=[f"no bundles in {root}"])
    one, two = (ask(checkout, bundles, folder) for checkout in pair)
    verdict = Verdict(facts=[f"{len(bundles)} bundles, {len(TEXTS)} texts"])
    for bundle in bundles:
        verdict.add(compare_answers(one[bundle], two[bundle], 1e-9), f"{bundle.relative_to(root)} ")
    return verdict


def compare_bundles(pair: Sequence[Checkout], runs: Sequence[Path], folder: Path) -> Verdict:
    """Compare the bundles in two run folders, and those of BEFORE as loaded by both checkouts."""
    old, new = (find_bundles(run) for run in runs)
    one, two = ask(pair[0], old, folder), ask(pair[1], [*old, *new], folder)
    verdict = Verdict(facts=[f"answers of {len(old)} bundle{'s' if len(old) != 1 else ''}"])
    before, after = ({b.relative_to(run) for b in found} for run, found in zip(runs, (old, new), strict=True))
    if before != after or not before:
        verdict.problems.append(f"bundles {_names(before)} in BEFORE, {_names(after)} in AFTER")
    for name in sorted(before):
        if name in after:
            verdict.add(compare_answers(one[runs[0] / name], two[runs[1] / name], 1e-6), f"{name} ")
        loaded = compare_answers(one[runs[0] / name], two[runs[0] / name], 1e-9)
        verdict.add(loaded, f"{name} of BEFORE ")
    return verdict


def _names(places: set[Path]) -> str:
    return ", ".join(sorted(map(str, places))) or "none"


def compare_vectors(pair: Sequence[Checkout], runs: Sequence[Path], folder: Path) -> Verdict:
    """Compare the vectors that `gonie embed` writes with two language models."""
    texts = folder / "texts.txt"
    texts.write_text("\n".join(text for text in TEXTS if text) + "\n", "utf-8")
    found = []
    for side, checkout, run in zip(("before", "after"), pair, runs, strict=True):
        out = folder / f"{side}.npz"
        command = ["gonie", "embed", str(run), "--file", str(texts), "--out", str(out), "--device", "cpu"]
        done = checkout.run("-m", *command, folder=folder)
        if done.returncode:
            return Verdict(problems=[f"embed failed in {side.upper()}: {_last_lines(done)}"])
        with np.load(out, allow_pickle=False) as arrays:
            found.append({name: arrays[name] for name in arrays.files})
    verdict = Verdict(facts=[f"vectors of {len(found[0])} sentences"])
    verdict.add(compare_arrays(found[0], found[1], 1e-6), "vectors of sentence ")
    return verdict


@dataclass(frozen=True)
class Comparison:
    """Compares the runs of two checkouts. ``stepwise`` trains single steps if weights differ."""

    pair: tuple[Checkout, Checkout]
    stepwise: tuple[Trainer, Trainer]
    folder: Path

    def __call__(self, case: Case, runs: tuple[Run, Run]) -> Verdict:
        """Compare all results of a case."""
        if failures := _failures(runs):
            return Verdict(problems=failures)
        folders = runs[0].folder, runs[1].folder
        answers = compare_vectors if case.command[0] == "pretrain" else compare_bundles
        weights = compare_weights(*folders)
        found = (
            weights,
            compare_metrics(*folders, redefined=REDEFINED_LOSS.get(case.name, "")),
            compare_scores(*folders),
            compare_files(*folders),
            answers(self.pair, folders, self.folder),
        )
        verdict = Verdict()
        for each in found:
            verdict.add(each.shortened(SHOWN))
        return self._with_steps(case, verdict) if weights.problems else verdict

    def _with_steps(self, case: Case, verdict: Verdict) -> Verdict:
        """Add the comparison of single-step losses. For a case in ROUNDED, only these losses count."""
        runs = tuple(train(case.stepwise()) for train in self.stepwise)
        failures = _failures(runs)
        steps = Verdict(problems=failures) if failures else compare_losses(*(run.folder for run in runs))
        if case.name in ROUNDED:
            reason = f"weights, metrics and answers may differ: {ROUNDED[case.name]}"
            verdict = Verdict(facts=verdict.facts, notes=[*verdict.notes, reason])
        verdict.add(steps)
        return verdict


def _failures(runs: Sequence[Run]) -> list[str]:
    sides = zip(("BEFORE", "AFTER"), runs, strict=True)
    return [f"training failed in {side}:\n{run.error}" for side, run in sides if run.error]


def show(name: str, verdict: Verdict, runs: Sequence[Run] = ()) -> None:
    """Print the verdict on a case, with the times of its two runs."""
    times = "".join(f"{run.seconds:4.0f} s {'kept' if run.kept else '':5}" for run in runs)
    result = "DIFFERS" if verdict.problems else "equal"
    print(f"{name:15}{times:22}  {result:8}{', '.join(verdict.facts)}")
    for problem in verdict.problems:
        print(f"    ! {problem}")
    for note in verdict.notes:
        print(f"    - {note}")
    sys.stdout.flush()


@contextmanager
def working_folder(asked: Path | None) -> Iterator[Path]:
    """Return the requested folder, or a temporary one that is deleted at the end."""
    if asked is None:
        with tempfile.TemporaryDirectory(prefix="compare-checkouts-") as made:
            yield Path(made).resolve()
        return
    asked.mkdir(parents=True, exist_ok=True)
    if any(asked.iterdir()):
        raise BadInputError(f"--work needs an empty folder; {asked} has files in it")
    yield asked.resolve()


def shared_data(corpora: Path, folder: Path, sizes: Sizes) -> Path:
    """Create the files of all cases in a folder named by their digest, unless it exists already."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, suffix=".part") as made:
        data = Path(made) / "data"
        make_data(corpora, data, sizes)
        digest = hashlib.sha256()
        for path in sorted(path for path in data.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(data)}\n".encode() + path.read_bytes())
        place = folder / digest.hexdigest()[:12]
        if not place.exists():
            data.rename(place)
    return place


def make_trainers(
    pair: tuple[Checkout, Checkout], sizes: Sizes, work: Path, keep: Path | None, commit: str | None
) -> tuple[Trainer, Trainer]:
    """Create a trainer for each checkout. That of BEFORE uses and fills ``keep`` if ``commit`` is known."""
    before, after = pair
    data = shared_data(before.root / "src" / "gonie" / "corpora", (keep or work) / "data", sizes)
    models = before.root / "src" / "gonie" / "pretrained"
    old = before.root / "pretrained"  # where checkouts of 0.1 have them
    places = {"data": data, "pretrained": old if old.is_dir() else models}
    kept = keep / commit if keep and commit else None
    return (
        Trainer(before, kept or work / "before", places, reuse=kept is not None),
        Trainer(after, work / "after", places),
    )


def compare(before: Path, after: Path, cases: Sequence[Case], asked: argparse.Namespace) -> bool:
    """Compare two checkouts in all cases, and return whether everything is equal."""
    keep = asked.keep.resolve() if asked.keep else None
    with working_folder(asked.work) as work, tempfile.TemporaryDirectory(dir=work) as made:
        fresh = Path(made)
        pair = (
            Checkout(before.resolve(), fresh / "numba-before"),
            Checkout(after.resolve(), fresh / "numba-after"),
        )
        for checkout in pair:
            checkout.check(fresh)
        commit = pair[0].commit() if keep else None
        if keep and not commit:
            print(f"{before} has uncommitted changes: its runs are not kept", flush=True)
        full, few = (make_trainers(pair, sizes, work, keep, commit) for sizes in (FULL, FEW))
        golden = compare_golden(pair, fresh)
        show("golden bundles", golden.shortened(SHOWN))
        unequal = compare_cases(cases, full, Comparison(pair, few, fresh), jobs=asked.jobs)
    unequal += ["golden bundles"] if golden.problems else []
    print(f"differences in {', '.join(unequal)}" if unequal else f"all equal in {len(cases)} cases")
    return not unequal


def compare_cases(
    cases: Sequence[Case], trainers: tuple[Trainer, Trainer], comparison: Comparison, *, jobs: int
) -> list[str]:
    """Train and compare the cases, ``jobs`` runs at once, and return the names of those that differ."""
    unequal = []
    pool = ThreadPoolExecutor(jobs)
    try:
        waiting = [(case, [pool.submit(train, case) for train in trainers]) for case in cases]
        for case, (first, second) in waiting:
            runs = first.result(), second.result()
            verdict = comparison(case, runs)
            show(case.name, verdict, runs)
            unequal += [case.name] if verdict.problems else []
    finally:
        pool.shutdown(cancel_futures=True)
    return unequal


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before", type=Path, nargs="?", metavar="BEFORE")
    parser.add_argument("after", type=Path, nargs="?", metavar="AFTER")
    parser.add_argument("--case", action="append", metavar="NAME", help="only this case; repeatable")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the runs of BEFORE, and reuse them")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep all other runs here for inspection")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at once (default: 1)")
    parser.add_argument("--list", action="store_true", help="list the cases, and what each covers")
    asked = parser.parse_args(arguments)
    if not asked.list and asked.after is None:
        parser.error("BEFORE and AFTER are required")
    if unknown := set(asked.case or ()) - {case.name for case in CASES}:
        parser.error(f"unknown case: {', '.join(sorted(unknown))}. --list shows the cases")
    if asked.jobs < 1:
        parser.error(f"--jobs must be at least 1: {asked.jobs}")
    return asked


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two checkouts, and return the exit code."""
    asked = parse(arguments)
    if asked.list:
        print("\n".join(f"{case.name:16}{case.covers}" for case in CASES))
        return 0
    cases = [case for case in CASES if not asked.case or case.name in asked.case]
    try:
        return 0 if compare(asked.before, asked.after, cases, asked) else 1
    except BadInputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
