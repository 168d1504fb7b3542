"""Compares NER on a CPU: a bundle of gonie, spaCy 3.8, CRFsuite and Flair 0.15, on the same sentences.

    python benchmarks/tag_cpu.py --train spacy     # once; then crfsuite, crfsuite-wide, flair
    python benchmarks/tag_cpu.py --gonie BUNDLE [--int8 BUNDLE] [--rounds 5]

For each side, the script prints F1 on UNER English EWT test as conlleval counts it, tokens/s over the whole
file, and the time of a single sentence, p50 and p99 over the sentences of the file. There is one table for
one core and one for two.

Each side has its own process, bound to the same cores. The sides take turns, and the medians of the rounds
are printed. In each round, a side loads its model and tags the dev file, which is not timed. Then it tags the
test file twice: `tokens/s` is the first time, `per CPU s` the same by CPU time, which other processes disturb
less, and `again` the second time, when all words are in the caches. Then a newly loaded model tags the file
sentence by sentence. The time is measured from lists of words to the side's own objects: Docs of spaCy,
Sentences of Flair, tags of CRFsuite (including the features extracted in Python), and documents of gonie with
offsets, spans and probabilities. Reading the tags from them is not timed. gonie runs without torch.

On two cores, gonie and Flair have two threads. spaCy and CRFsuite have no threads and use one core. Therefore
each side has a second row, `x2`: two processes with one model and one core each, which get half of the
sentences each. Sending words and receiving tags is timed.

The peers are trained by their own code on the same train and dev files (peer_spacy.py, peer_crfsuite.py and
peer_flair.py). Each has its own virtual environment, `.peers/NAME`, which also stores its model.
"""

from __future__ import annotations

import argparse
import json
import operator
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Protocol

from copies import Copies, Tags
from peer_crfsuite import Crfsuite, tutorial, window
from peer_flair import Flair
from peer_spacy import Spacy
from sides import ROOT, Figures, Worker, alternate, medians, serve
from train_tagger import DATA, Block, read

GONIE = "gonie"
INT8 = "gonie int8"
TOGETHER, ALONE = "together.json", "alone.json"  # the tags of all sentences at once, and one by one


class Side(Protocol):
    """A loaded tagger."""

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """Convert words to the objects that it tags."""

    def many(self, items: list[Any]) -> list[Any]:
        """Tag all items, as fast as it can."""

    def one(self, item: Any) -> Any:
        """Tag one item."""

    def tags(self, tagged: Any) -> list[str]:
        """Return the IOB2 tags of a tagged item; not timed."""


class Peer(Protocol):
    """Another library with a tagger."""

    environment: str
    requirements: Sequence[str]

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Write a trained model to ``folder``."""

    def load(self, folder: Path, threads: int) -> Side:
        """Load the model that ``train`` wrote."""


PEERS: dict[str, Peer] = {
    "spacy": Spacy(),
    "crfsuite": Crfsuite(tutorial),
    "crfsuite-wide": Crfsuite(window),
    "flair": Flair(),
}


class GonieSide:
    """A bundle, without torch."""

    def __init__(self, bundle: Path, threads: int) -> None:
        sys.modules["torch"] = None  # type: ignore[assignment]
        from gonie.tasks.load import load_tagger

        self._tagger = load_tagger(bundle, threads=threads)

    def ready(self, sentences: list[list[str]]) -> list[list[str]]:
        """Return the words unchanged."""
        return sentences

    def many(self, sentences: list[list[str]]) -> list[Any]:
        """Return the documents of all sentences."""
        return self._tagger.tag_tokens(sentences)

    def one(self, words: list[str]) -> Any:
        """Return the document of one sentence."""
        return self._tagger.tag_tokens([words])[0]

    def tags(self, document: Any) -> list[str]:
        """Convert the tags from the scheme of the model to IOB2."""
        from gonie.text.schemes import IOB2, OUTSIDE, from_spans, to_spans

        tags = [token.tag for token in document.tokens]
        if all(tag == OUTSIDE for tag in tags):
            return tags
        return from_spans(to_spans(tags, self._tagger.encoding.scheme), len(tags), IOB2)


class Measuring:
    """Measures the rounds of one side, and writes its tags of the test file to a folder."""

    def __init__(self, data: Path, answers: Path, warm: str) -> None:
        self._warm, self._test = (words_of(read(split(data, name))) for name in (warm, "test"))
        self._tokens = sum(map(len, self._test))
        self._answers = answers

    def threads(self, load: Callable[[], Side]) -> Iterator[Figures]:
        """Yield the figures of a side in one process."""
        while True:
            yield self._together(load()) | self._alone(load())

    def copies(self, load: Callable[[], Side], cores: list[int]) -> Iterator[Figures]:
        """Yield the figures of a side with one process per core."""
        while True:
            with closing(Copies(load, cores)) as copies:
                figures = self._together(copies)
            del figures["cpu"]  # the other processes spend it
            yield figures

    def _together(self, side: Tags) -> Figures:
        side.many(side.ready(self._warm))
        began = process_time()
        first, tagged = timed(lambda words: side.many(side.ready(words)), self._test)
        spent = process_time() - began
        again, _ = timed(lambda words: side.many(side.ready(words)), self._test)
        self._leave(TOGETHER, [side.tags(item) for item in tagged])
        return {"speed": self._tokens / first, "cpu": self._tokens / spent, "again": self._tokens / again}

    def _alone(self, side: Side) -> Figures:
        side.many(side.ready(self._warm))
        found = [timed(lambda words: side.one(side.ready([words])[0]), words) for words in self._test]
        self._leave(ALONE, [side.tags(item) for _, item in found])
        times = sorted(1e3 * seconds for seconds, _ in found)
        return {"p50": times[len(times) // 2], "p99": times[len(times) * 99 // 100]}

    def _leave(self, name: str, tags: list[list[str]]) -> None:
        (self._answers / name).write_text(json.dumps(tags), encoding="utf-8")


def timed(function: Callable[[Any], Any], argument: Any) -> tuple[float, Any]:
    began = perf_counter()
    found = function(argument)
    return perf_counter() - began, found


def words_of(blocks: list[Block]) -> list[list[str]]:
    return [[word for word, _ in block] for block in blocks]


def split(data: Path, name: str) -> Path:
    """Return the file of a split, such as en_ewt-ud-test.iob2 or test.conll."""
    found = sorted(data.glob(f"*{name}.*"))
    if len(found) != 1:
        sys.exit(
            f"{data}: expected one file of the split {name!r}, got {len(found)}. Pass the folder with --data"
        )
    return found[0]


def scored(gold: list[Block], answers: Path) -> Figures:
    """Return conlleval's F1 in percent, and how many sentences have other tags when tagged alone."""
    from gonie.metrics.spans import SpanScores
    from gonie.text.schemes import IOB2, to_spans

    together = json.loads((answers / TOGETHER).read_bytes())
    wanted = [to_spans([tag for _, tag in block], IOB2) for block in gold]
    scores = SpanScores.from_spans(wanted, [to_spans(tags, IOB2) for tags in together])
    found = {"f1": 100 * scores.micro.f1}
    if (answers / ALONE).exists():
        found["differ"] = sum(map(operator.ne, together, json.loads((answers / ALONE).read_bytes())))
    return found


def learn(name: str, arguments: argparse.Namespace) -> None:
    """Train a peer in this process. The folder of the model appears only when it is complete."""
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
    """Return the interpreter of a peer's environment, or exit with the commands that create it."""
    folder = peers / PEERS[name].environment
    python = folder / "bin/python"
    if not python.exists():
        installs = [f"{folder}/bin/pip install {needed}" for needed in PEERS[name].requirements]
        sys.exit(
            "\n  ".join([f"no {name}: create its environment first:", f"python3 -m venv {folder}", *installs])
        )
    return python


@dataclass(frozen=True)
class Row:
    """A row of the table: a tagger, and whether it has one process or one per core."""

    side: str
    cores: int
    copied: bool
    bundle: Path | None

    def __str__(self) -> str:
        return f"{self.side} x{self.cores}" if self.copied else self.side

    def worker(self, answers: Path, given: argparse.Namespace) -> Worker:
        """Start the process."""
        answers.mkdir()
        threads = 1 if self.copied else self.cores
        own = ["--side", self.side, "--cores", self.cores, "--answers", answers]
        own += ["--data", given.data, "--peers", given.peers, "--warm", given.warm]
        own += ["--copied"] if self.copied else []
        own += ["--gonie", self.bundle] if self.bundle else []
        python = sys.executable if self.bundle else str(python_of(self.side, given.peers))
        bounds = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), str(threads))
        return Worker(__file__, own, threads=threads, python=python, environment=bounds)


def rows(cores: int, given: argparse.Namespace) -> list[Row]:
    """Return the rows of the given bundles and of the trained peers."""
    bundles = {name: path for name, path in {GONIE: given.gonie, INT8: given.int8}.items() if path}
    sides = [*bundles, *(name for name in PEERS if model_of(name, given.peers).is_dir())]
    both = [False, True] if cores > 1 else [False]
    return [Row(side, cores, copied, bundles.get(side)) for side, copied in product(sides, both)]


def compare(rows: list[Row], gold: list[Block], given: argparse.Namespace) -> dict[str, Figures]:
    """Run all rows in turn, and return the medians and the F1 of each."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        answers = {str(row): Path(folder) / str(row) for row in rows}
        workers = {str(row): stack.enter_context(row.worker(answers[str(row)], given)) for row in rows}
        found = alternate(workers, given.rounds, "tokens/s")
        return {name: medians(figures) | scored(gold, answers[name]) for name, figures in found.items()}


COLUMNS = {
    "f1": ("F1", ".2f"),
    "speed": ("tokens/s", ",.0f"),
    "cpu": ("per CPU s", ",.0f"),
    "again": ("again", ",.0f"),
    "p50": ("p50 ms", ".3f"),
    "p99": ("p99 ms", ".3f"),
    "differ": ("alone differ", ".0f"),
}


def show(found: Mapping[str, Figures], cores: int) -> None:
    """Print the table of one number of cores. A ratio above 1 means that gonie is faster than the peer.

    The ratios are those of the int8 bundle, if one is given.
    """
    print(f"\n{'cores: ' + str(cores):<18}" + "".join(f"{head:>13}" for head, _ in COLUMNS.values()), end="")
    gonie = INT8 if INT8 in found else GONIE
    print(f"  {gonie + '/peer: tokens/s':>26}{'CPU':>8}{'again':>8}{'p50':>8}")
    for name, side in found.items():
        cells = [f"{side[key]:{form}}" if key in side else "" for key, (_, form) in COLUMNS.items()]
        own = "" if gonie not in found or name.startswith(GONIE) else ratios(found, name, gonie)
        print(f"{name:<18}" + "".join(f"{cell:>13}" for cell in cells) + own)


def ratios(found: Mapping[str, Figures], name: str, gonie: str) -> str:
    """Return the ratios of gonie to a peer. Rows with several processes are compared with each other."""
    side, own = found[name], found[gonie + name[name.index(" x") :] if " x" in name else gonie]
    shares = [own[key] / side[key] if key in side else None for key in ("speed", "cpu", "again")]
    shares.append(side["p50"] / own["p50"] if "p50" in side else None)
    first, *others = (f"{share:.2f}" if share else "" for share in shares)
    return f"  {first:>26}" + "".join(f"{other:>8}" for other in others)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gonie", type=Path, metavar="BUNDLE", help="a tagger: a run folder or a bundle")
    parser.add_argument(
        "--int8", type=Path, metavar="BUNDLE", help="the same tagger exported with `gonie export --int8`"
    )
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
    parser.add_argument(
        "--warm",
        choices=["dev", "train"],
        default="dev",
        help="split that is tagged before the timing",
    )
    parser.add_argument("--rounds", type=int, default=5, help="number of rounds (default: 5)")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2], help="one table for each number")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--answers", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--copied", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--learn", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def be_side(name: str, arguments: argparse.Namespace) -> None:
    """Run as the process of one side, and answer requests for rounds."""
    cores = sorted(os.sched_getaffinity(0))[: arguments.cores[0]]
    os.sched_setaffinity(0, cores)
    threads = 1 if arguments.copied else len(cores)

    def load() -> Side:
        if arguments.gonie:
            return GonieSide(arguments.gonie, threads)
        return PEERS[name].load(model_of(name, arguments.peers), threads)

    measuring = Measuring(arguments.data, arguments.answers, arguments.warm)
    serve(measuring.copies(load, cores) if arguments.copied else measuring.threads(load))


def main() -> None:
    """Train a peer, run the sides in turn, or run as one of them."""
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
    return compare_all(arguments)


def compare_all(given: argparse.Namespace) -> None:
    """Print one table for each number of cores."""
    gold = read(split(given.data, "test"))
    print(f"{len(gold):,} sentences, {sum(map(len, gold)):,} tokens; {given.rounds} rounds")
    for name in (name for name in PEERS if not model_of(name, given.peers).is_dir()):
        print(f"no {name}: python benchmarks/tag_cpu.py --train {name}")
    for cores in given.cores:
        sides = rows(cores, given)
        if not sides:
            sys.exit("neither a bundle nor a trained peer. Pass --gonie BUNDLE, or --train PEER first")
        show(compare(sides, gold, given), cores)


if __name__ == "__main__":
    main()
