"""Load damaged and malicious bundles, each in bounded time and memory, and report the outcomes.

    python tools/fuzz_bundles.py --variants 2000 [--seed 0] [BUNDLE …]

A worker process loads and uses every variant (``bundle_damage``) of the bundles, by default those in
tests/bundles. It is restarted if it dies. A variant must either work or be refused with an error message.
Crashes, hangs, other errors, impossible answers and more than 1 GB of memory are failures. They are listed,
and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
SECONDS, BYTES, SPARE = 20.0, 1 << 30, 8 << 30
TEXTS = (
    "Anna Kim lives in Seoul.",
    "We met Bert Lee and Zoë-Marie. The plot is fine, 서울 is far!",
    "",
    "x" * 300 + " lives in \U0001f600 1,234 . " * 40,
)
REFUSED, WORKED = "refused", "worked"


class Outcome(NamedTuple):
    """The outcome of a variant: ``refused``, ``worked``, or the kind of failure."""

    result: str
    said: str = ""
    seconds: float = 0.0
    bytes: int = 0


class Worker:
    """A process that loads bundles, one at a time. It is started when it is needed."""

    def __init__(self, command: Sequence[str] = (sys.executable, __file__, "--worker")) -> None:
        self._command = command
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread()

    def try_(self, folder: Path, *, seconds: float = SECONDS) -> Outcome:
        """Load and use a bundle in the process."""
        process = self._started()
        assert process.stdin is not None
        begun = time.monotonic()
        process.stdin.write(f"{folder}\n")
        process.stdin.flush()
        try:
            answer = self._answers.get(timeout=seconds)
        except queue.Empty:
            self.stop()
            return Outcome("hang", f"no answer in {seconds:.0f} s", seconds)
        took = time.monotonic() - begun
        if not answer:
            code = process.wait()
            self.stop()
            return Outcome("crash", f"exit {code}", took)
        if not answer.startswith("{"):
            self.stop()
            return Outcome("noise", f"printed {answer!r}", took)
        found = json.loads(answer)
        if found["bytes"] > BYTES:
            self.stop()  # its memory would count for the next one
            return Outcome("memory", f"{found['bytes']:,} bytes: {found['said']}", took, found["bytes"])
        return Outcome(found["result"], found["said"], took, found["bytes"])

    def stop(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._listener.join()
            with self._process, suppress(BrokenPipeError):  # closes its pipes
                pass
            self._process = None

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._answers = queue.Queue()
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
            )
            self._listener = threading.Thread(target=_pass_on, args=(self._process, self._answers))
            self._listener.start()
            self._answers.get(timeout=60)  # wait until it is ready
        return self._process


def _pass_on(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        answers.put(line)
    answers.put("")


# --- the worker process -----------------------------------------------------------------------------------


def work() -> None:
    """Load each bundle whose path is read from standard input, and print its outcome."""
    import gonie

    gonie.load(next((ROOT / "tests" / "bundles").glob("*/letters")), threads=1)("once")
    baseline = _status("VmRSS")
    resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + SPARE,) * 2)  # a safeguard, not the limit
    _answer({})
    for line in sys.stdin:
        Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
        result, said = _tried(gonie, line.rstrip("\n"))
        _answer({"result": result, "said": said, "bytes": _status("VmHWM") - baseline})


def _tried(gonie: Any, folder: str) -> tuple[str, str]:
    try:
        model = gonie.load(folder, threads=1)
        for text in TEXTS:
            if wrong := _wrong(model, model(text)):
                return "no answer", wrong
    except gonie.GonieError as error:
        said = str(error)
        return (REFUSED, said) if len(said) > 20 else ("no sentence", said)
    except BaseException as error:
        return "error", f"{type(error).__name__}: {error}"
    return WORKED, ""


def _wrong(model: Any, found: Any) -> str:
    """Return what is impossible in an answer."""
    tokens = getattr(found, "tokens", ())
    if isinstance(tokens, int):
        chances = list(found.scores.values())
        names = [found.label, *found.labels]
    else:
        chances = [each.score for each in (*tokens, *found.spans)]
        names = [token.tag for token in tokens]
    if not all(-1e-6 <= chance <= 1 + 1e-6 for chance in chances):
        return f"probabilities {[c for c in chances if not 0 <= c <= 1][:3]}"
    return "" if set(names) <= set(model.labels) else f"labels {names[:3]}"


def _status(name: str) -> int:
    """Return a memory figure of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def _answer(found: dict[str, Any]) -> None:
    print(json.dumps(found), flush=True)


# --- all variants -----------------------------------------------------------------------------------------


def fuzz(folders: Sequence[Path], number: int, seed: int, *, show: bool = True) -> list[tuple[Any, Outcome]]:
    """Try each variant, and return the outcomes."""
    from bundle_damage import variants

    worker, results = Worker(), []
    try:
        with tempfile.TemporaryDirectory() as scratch:
            for at, variant in enumerate(variants(folders, number, seed)):
                outcome = _try(worker, variant, Path(scratch) / str(at))
                results.append((variant, outcome))
                if show and sys.stderr.isatty():
                    print(f"\r{at + 1} of {number}", end="", file=sys.stderr, flush=True)
    finally:
        worker.stop()
    return results


def _try(worker: Worker, variant: Any, folder: Path) -> Outcome:
    folder.mkdir()
    for name, content in variant.files.items():
        (folder / name).write_bytes(content)
    outcome = worker.try_(folder)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    if outcome.result == WORKED and variant.must_be_refused:
        return outcome._replace(result="taken", said="a file is not what its digest says")
    return outcome


def table(results: Iterable[tuple[Any, Outcome]]) -> str:
    """Return a table with a row for each kind of damage, with and without repaired digests."""
    rows: dict[tuple[str, bool], list[Outcome]] = defaultdict(list)
    for variant, outcome in results:
        rows[variant.kind, variant.repaired].append(outcome)
    lines = ["damage               digests    tried  refused  worked  failed   slowest     peak"]
    for (kind, repaired), own in sorted(rows.items()):
        count = Counter(outcome.result for outcome in own)
        failed = len(own) - count[REFUSED] - count[WORKED]
        lines.append(
            f"{kind:20} {'repaired' if repaired else 'original':9} {len(own):6} {count[REFUSED]:8} "
            f"{count[WORKED]:7} {failed:7} {max(o.seconds for o in own):7.2f} s "
            f"{max(o.bytes for o in own) / 2**20:5.0f} MB"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("bundles", nargs="*", type=Path)
    parser.add_argument("--variants", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.worker:
        os.environ["PYTHONWARNINGS"] = "ignore"
        work()
        return 0
    folders = asked.bundles or sorted(p.parent for p in (ROOT / "tests" / "bundles").glob("*/*/bundle.json"))
    results = fuzz(folders, asked.variants, asked.seed)
    failed = [(at, v, o) for at, (v, o) in enumerate(results) if o.result not in (REFUSED, WORKED)]
    print(table(results))
    for at, variant, outcome in failed:
        print(f"FAILED {at}: {variant.kind} of {variant.source}: {outcome.result}: {outcome.said[:300]}")
    print(f"{len(results)} variants, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
