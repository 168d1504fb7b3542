"""Measures tokens/s of bulk tagging with both engines and 1 and 2 workers, and their overhead.

    python benchmarks/bulk.py runs/ner --file en-0.txt.xz --tokens 5000000

The first N whitespace-separated tokens of the files are copied to a plain file. The bare predictor reads its
lines with ``Tagger.pipe`` in one process with one thread, and writes nothing. Every engine writes JSON lines.
Two speeds are printed, both in tokens of the model. The first includes the start of the processes or of Ray.
The second is measured from the first finished part to the last, and is the speed of a long run.

At the end, `gonie tag` tags the file with each engine. All its processes are killed with SIGKILL when half of
the parts exist, and the same command is run again. The output must equal that of the other runs, byte by
byte.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (1, 2)


class Clock:
    """Records the times of a run."""

    def __init__(self) -> None:
        self.tokens: dict[int, int] = {}
        self.began = self.ended = time.perf_counter()

    def cutting(self, done: int, files: int) -> None:
        pass

    def begin(self, extent: Any) -> None:
        self.began = self.ended = time.perf_counter()

    def done(self, done: Any) -> None:
        self.ended = time.perf_counter()
        self.tokens[done.shard] = done.tokens

    def whole(self) -> float:
        """Return tokens/s from the start of the processes or of Ray to the last part."""
        return sum(self.tokens.values()) / max(self.ended - self.began, 1e-9)

    def steady(self, out: Path) -> float:
        """Return tokens/s from the first part to the last, by the modification times of the files."""
        times = sorted(
            (path.stat().st_mtime, self.tokens[int(path.stem.removeprefix("part-"))])
            for path in out.glob("part-*")
        )
        return sum(tokens for _, tokens in times[1:]) / max(times[-1][0] - times[0][0], 1e-9)


def take(files: list[Path], tokens: int, out: Path) -> None:
    """Copy lines of the files to ``out`` until it has ``tokens`` tokens."""
    from gonie.system.files import lines

    left = tokens
    with out.open("w", encoding="utf-8", newline="\n") as target:
        for path in files:
            for _, line in lines(path):
                if left <= 0:
                    return
                left -= len(line.split())
                target.write(line + "\n")


def bare(model: Path, text: Path) -> float:
    """Return tokens/s of the predictor alone, in its own process, with one thread."""
    code = (
        "import sys, time\n"
        "from gonie.system.files import lines\n"
        "from gonie.tasks.load import load_tagger\n"
        "tagger = load_tagger(sys.argv[1], threads=1)\n"
        "began, tokens = time.perf_counter(), 0\n"
        "for document in tagger.pipe(line for _, line in lines(sys.argv[2])):\n"
        "    tokens += len(document.tokens)\n"
        "print(tokens / (time.perf_counter() - began))\n"
    )
    command = [sys.executable, "-c", code, str(model), str(text)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def killed(model: Path, text: Path, out: Path, engine: str, *, parts: int, shard_size: int) -> int:
    """Tag the file, kill the run halfway, and resume it. Return the number of parts at the kill."""
    command = [sys.executable, "-m", "gonie", "tag", str(model), "--file", str(text), "--out", str(out)]
    command += ["--engine", engine, "--workers", str(SIZES[-1]), "--shard-size", str(shard_size)]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(command, start_new_session=True, **quiet)
    while running.poll() is None and len(list(out.glob("part-*"))) < parts // 2:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    there = len(list(out.glob("part-*")))
    subprocess.run(command, check=True, **quiet)
    return there


def content(out: Path) -> bytes:
    """Return the bytes of all parts, in order."""
    return b"".join(path.read_bytes() for path in sorted(out.glob("part-*")))


def engines(names: list[str]) -> dict[str, Callable[[int], Any]]:
    """Return a factory for each engine. It takes the number of workers."""
    from gonie.bulk.local import LocalEngine
    from gonie.bulk.on_ray import RayEngine

    known = {"local": LocalEngine, "ray": RayEngine}
    return {name: lambda workers, make=known[name]: make(workers=workers) for name in names}


def main() -> None:
    """Measure the predictor, then each engine."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="a tagger: a run folder or a bundle")
    parser.add_argument("--file", type=Path, action="append", required=True, help="text file; repeatable")
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--engine", choices=["local", "ray"], action="append", help="default: both")
    parser.add_argument("--shard-size", type=int, default=1 << 20)
    arguments = parser.parse_args()

    from gonie.bulk import BulkJob, run_bulk

    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        take(arguments.file, arguments.tokens, text)
        print(f"{text.stat().st_size / 1e6:.1f} MB of text", flush=True)
        alone = bare(arguments.model, text)
        print(f"{'bare predictor, one thread':<28} {alone:>9,.0f} tokens/s", flush=True)
        made: set[bytes] = set()
        for name, make in engines(arguments.engine or ["local", "ray"]).items():
            for workers in SIZES:
                clock, out = Clock(), Path(folder) / f"{name}-{workers}"
                job = BulkJob(task="tag", model=arguments.model)
                run_bulk(
                    job, [text], out, engine=make(workers), display=clock, shard_size=arguments.shard_size
                )
                steady, side = clock.steady(out), f"{name}, {workers} worker{'s' if workers > 1 else ''}"
                print(
                    f"{side:<28} {clock.whole():>9,.0f} tokens/s with loading, {steady:>9,.0f} without; "
                    f"{sum(clock.tokens.values()):,} tokens; "
                    f"overhead {1 - steady / (alone * workers):.0%} of {workers} x bare",
                    flush=True,
                )
                made.add(content(out))
        for name in arguments.engine or ["local", "ray"]:
            parts, out = len(clock.tokens), Path(folder) / f"{name}-killed"
            there = killed(arguments.model, text, out, name, parts=parts, shard_size=arguments.shard_size)
            print(f"{name}: killed after {there} of {parts} parts, and resumed", flush=True)
            made.add(content(out))
        print("all parts are the same bytes" if len(made) == 1 else "PARTS DIFFER")


if __name__ == "__main__":
    main()
