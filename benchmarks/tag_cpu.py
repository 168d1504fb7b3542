"""Names in the same sentences on the same cores: gonie's bundle, spaCy 3.8, CRFsuite and Flair 0.15.

    python benchmarks/tag_cpu.py --train spacy     # once; then crfsuite, crfsuite-wide, flair
    python benchmarks/tag_cpu.py --gonie BUNDLE [--int8 BUNDLE] [--rounds 5]

For each side: F1 on UNER English EWT test by conlleval's counting, tokens/s over the whole file at once, and
the time of one sentence alone, p50 and p99 over the file's sentences; on one core, then on two.

Each side is a process of its own, bound to the same cores, and they take turns; medians of the rounds count.
In a round a side loads its model anew and tags the dev file, which is not timed. Then it tags the test file,
which it has not seen, twice: `tokens/s` is the first time, `again` the second, when whatever remembers words
remembers all of them. Then the same from a new model, sentence by sentence. All start from lists of words.
What is not timed: spaCy's Docs and Flair's Sentences are made before, and tags are read from them after;
gonie makes its documents, with offsets, spans and probabilities, on the clock, and CRFsuite its features.
torch cannot be imported on gonie's sides. On two cores gonie and Flair have two threads, spaCy and CRFsuite,
which have none, two processes for the whole file.

The peers are trained by their own code on the same train and dev files: see peer_spacy.py, peer_crfsuite.py
and peer_flair.py. Each lives with its model in a virtual environment of its own, `.peers/NAME`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from peer_crfsuite import Crfsuite, tutorial, window
from peer_flair import Flair
from peer_spacy import Spacy
from sides import ROOT, Figures, Worker, alternate, medians, serve
from train_tagger import DATA, Block, read

GONIE = "gonie"
INT8 = "gonie, int8"


class Side(Protocol):
    """A tagger that is ready to be timed."""

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """What it tags, made of words; not timed."""

    def many(self, items: list[Any]) -> list[Any]:
        """All tagged, at its best."""

    def one(self, item: Any) -> Any:
        """One tagged."""

    def tags(self, tagged: Any) -> list[str]:
        """IOB2 tags of what was tagged; not timed."""

    def close(self) -> None:
        """It is not needed any more."""


class Peer(Protocol):
    """A tagger that users may take instead."""

    environment: str
    requirements: Sequence[str]

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Leave a trained model in ``folder``."""

    def load(self, folder: Path, cores: int) -> Side:
        """The model that ``train`` left there."""


PEERS: dict[str, Peer] = {
    "spacy": Spacy(),
    "crfsuite": Crfsuite(tutorial),
    "crfsuite-wide": Crfsuite(window),
    "flair": Flair(),
}


class GonieSide:
    """A bundle, without torch."""

    def __init__(self, bundle: Path, cores: int) -> None:
        sys.modules["torch"] = None  # type: ignore[assignment]
        from gonie.runtime.load import load_tagger

        self._tagger = load_tagger(bundle, threads=cores)

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """The words as they are."""
        return sentences

    def many(self, sentences: list[list[str]]) -> list[Any]:
        """Documents of all."""
        return self._tagger.tag_tokens(sentences)

    def one(self, words: list[str]) -> Any:
        """The document of one."""
        return self._tagger.tag_tokens([words])[0]

    def tags(self, document: Any) -> list[str]:
        """From the scheme of the model to IOB2."""
        from gonie.data.schemes import IOB2, from_spans, to_spans

        tags = [token.tag for token in document.tokens]
        return from_spans(to_spans(tags, self._tagger.encoding.scheme), len(tags), IOB2)

    def close(self) -> None:
        """Nothing is held."""


def measured(load: Callable[[], Side], data: Path, answers: Path) -> Iterator[Figures]:
    """Rounds of one side; its tags of the test file are left in ``answers``."""
    warm, test = (words_of(read(split(data, name))) for name in ("dev", "test"))
    tokens = sum(map(len, test))
    while True:
        with closing(load()) as side:
            side.many(side.ready(warm))
            first, tagged = timed(side.many, side.ready(test))
            again, _ = timed(side.many, side.ready(test))
            together = [side.tags(item) for item in tagged]
        with closing(load()) as side:
            side.many(side.ready(warm))
            each = [timed(side.one, item) for item in side.ready(test)]
            alone = [side.tags(item) for _, item in each]
        answers.write_text(json.dumps(together), encoding="utf-8")
        times = sorted(seconds for seconds, _ in each)
        yield {
            "speed": tokens / first,
            "again": tokens / again,
            "p50": 1e3 * times[len(times) // 2],
            "p99": 1e3 * times[len(times) * 99 // 100],
            "differ": sum(mine != other for mine, other in zip(together, alone, strict=True)),
        }


def timed(function: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
    began = perf_counter()
    found = function(argument)
    return perf_counter() - began, found


def words_of(blocks: list[Block]) -> list[list[str]]:
    return [[word for word, _ in block] for block in blocks]


def split(data: Path, name: str) -> Path:
    """The file of a split: en_ewt-ud-test.iob2, or test.conll."""
    found = sorted(data.glob(f"*{name}.*"))
    if len(found) != 1:
        sys.exit(
            f"{data}: expected one file of the split {name!r}, got {len(found)}. Name its folder: --data"
        )
    return found[0]


def f1(gold: list[Block], answers: Path) -> float:
    """conlleval's F1 of the tags that a side left, in percent."""
    from gonie.data.schemes import IOB2, to_spans
    from gonie.metrics.spans import SpanScores

    wanted = [to_spans([tag for _, tag in block], IOB2) for block in gold]
    found = [to_spans(tags, IOB2) for tags in json.loads(answers.read_text("utf-8"))]
    return 100 * SpanScores.from_spans(wanted, found).micro.f1


def learn(name: str, arguments: argparse.Namespace) -> None:
    """Train a peer, in this process; its model is there whole or not at all."""
    os.nice(19)
    folder = model_of(name, arguments.peers)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    began = perf_counter()
    train, dev = (read(split(arguments.data, part)) for part in ("train", "dev"))
    PEERS[name].train(train, dev, partial, arguments.vectors)
    shutil.rmtree(folder, ignore_errors=True)
    partial.rename(folder)
    print(f"{name} is in {folder}, {(perf_counter() - began) / 60:.1f} minutes", flush=True)


def model_of(name: str, peers: Path) -> Path:
    return peers / PEERS[name].environment / f"model-{name}"


def python_of(name: str, peers: Path) -> Path:
    """The interpreter of a peer's environment; without one it says how to make it."""
    folder = peers / PEERS[name].environment
    python = folder / "bin/python"
    if not python.exists():
        installs = [f"{folder}/bin/pip install {needed}" for needed in PEERS[name].requirements]
        sys.exit(
            "\n  ".join([f"no {name}: make its environment first:", f"python3 -m venv {folder}", *installs])
        )
    return python


class Table:
    """The sides of one comparison: how each is started."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._given = arguments
        bundles = {GONIE: arguments.gonie, INT8: arguments.int8}
        self.bundles = {name: bundle for name, bundle in bundles.items() if bundle}
        self.names = [*self.bundles, *(n for n in PEERS if model_of(n, arguments.peers).is_dir())]

    def worker(self, name: str, cores: int, answers: Path) -> Worker:
        """The process of one side, bound to the first ``cores`` cores."""
        given = self._given
        python = sys.executable if name in self.bundles else str(python_of(name, given.peers))
        own = ["--side", name, "--cores", cores, "--answers", answers, "--data", given.data]
        own += ["--peers", given.peers]
        own += ["--gonie", self.bundles[name]] if name in self.bundles else []
        bounds = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), str(cores))
        return Worker(__file__, own, threads=cores, python=python, environment=bounds)

    def run(self, cores: int, gold: list[Block]) -> dict[str, Figures]:
        """All sides in turn on so many cores: the medians of each, and its F1."""
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            answers = {name: Path(folder) / f"{at}.json" for at, name in enumerate(self.names)}
            workers = {
                name: stack.enter_context(self.worker(name, cores, answers[name])) for name in self.names
            }
            found = alternate(workers, self._given.rounds, "tokens/s")
            return {n: medians(figures) | {"f1": f1(gold, answers[n])} for n, figures in found.items()}


def show(found: Mapping[str, Figures], cores: int) -> None:
    """The table of one number of cores; a ratio is above 1 where gonie is ahead of the peer."""
    print(f"\n{cores} {'core' if cores == 1 else 'cores'}")
    heads = ("F1", "tokens/s", "again", "p50 ms", "p99 ms", "alone differ")
    print(" " * 16 + "".join(f"{head:>14}" for head in heads) + f"{'gonie/it':>16}{'again':>8}{'p50':>8}")
    best = found.get(GONIE)
    for name, side in found.items():
        row = f"{side['f1']:14.2f}{side['speed']:14,.0f}{side['again']:14,.0f}{side['p50']:14.3f}"
        row += f"{side['p99']:14.3f}{side['differ']:14.0f}"
        if best and name in PEERS:
            row += f"{best['speed'] / side['speed']:16.2f}{best['again'] / side['again']:8.2f}"
            row += f"{side['p50'] / best['p50']:8.2f}"
        print(f"{name:<16}{row}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gonie", type=Path, metavar="BUNDLE", help="a tagger: a run folder or a bundle")
    parser.add_argument("--int8", type=Path, metavar="BUNDLE", help="the same by `gonie export --int8`")
    parser.add_argument("--train", choices=PEERS, metavar="PEER", help=f"train one of {', '.join(PEERS)}")
    parser.add_argument(
        "--peers", type=Path, default=ROOT / ".peers", help="folder of the peers' environments"
    )
    parser.add_argument(
        "--data", type=Path, default=DATA / "ner/uner_english_ewt", help="folder with train, dev and test"
    )
    parser.add_argument(
        "--vectors", type=Path, default=DATA / "vectors/glove.6B.100d.100k.txt.gz", help="GloVe, for Flair"
    )
    parser.add_argument("--rounds", type=int, default=5, help="the medians count")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2], help="one table for each number")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--answers", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--learn", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def be_side(name: str, arguments: argparse.Namespace) -> None:
    """One side's process: rounds for whoever asks."""
    (cores,) = arguments.cores
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    def load() -> Side:
        if arguments.gonie:
            return GonieSide(arguments.gonie, cores)
        return PEERS[name].load(model_of(name, arguments.peers), cores)

    serve(measured(load, arguments.data, arguments.answers))


def main() -> None:
    """Train a peer, or run the sides in turn, or be one of them."""
    arguments = parse()
    if arguments.side and arguments.learn:
        return learn(arguments.side, arguments)
    if arguments.side:
        return be_side(arguments.side, arguments)
    if arguments.train:
        own = ["--side", arguments.train, "--learn", "--data", arguments.data, "--peers", arguments.peers]
        own += ["--vectors", arguments.vectors]
        command = [python_of(arguments.train, arguments.peers), __file__, *own]
        return sys.exit(
            subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False).returncode
        )
    table, gold = Table(arguments), read(split(arguments.data, "test"))
    print(f"{len(gold):,} sentences, {sum(map(len, gold)):,} tokens; {arguments.rounds} rounds")
    for name in (name for name in PEERS if name not in table.names):
        print(f"no {name}: python benchmarks/tag_cpu.py --train {name}")
    if not table.names:
        sys.exit("expected a bundle or a trained peer, got neither: --gonie BUNDLE, or --train PEER first")
    for cores in arguments.cores:
        show(table.run(cores, gold), cores)
    return None


if __name__ == "__main__":
    main()
