"""Fixtures for several folders of tests: corpora, the command line, toy models, and HTML pages."""

from __future__ import annotations

import io
import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import settings

from gonie.cli.main import main
from gonie.features.encoding import Encoding, count
from gonie.features.text_encoding import TextEncoding
from gonie.runtime.about import About
from gonie.tasks.classification.bundle import TextBundle
from gonie.tasks.pairs.bundle import PairBundle
from gonie.tasks.pairs.encoding import PairEncoding, ValueScale
from gonie.text.normalize import Normalization
from gonie.text.passages import Passages
from gonie.text.schemes import PLAIN
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Sentence

# Tests run in parallel, one per core, so more threads would only slow them down. Torch reads this on import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# pytest-xdist sets it to 80. Without it, the output of commands is as wide as in a pipe.
os.environ.pop("COLUMNS", None)

# Hypothesis fails an example that takes 0.2 seconds, as any may on a busy machine. With CI=true it does not.
settings.register_profile("without a deadline", settings(), deadline=None)
settings.load_profile("without a deadline")


def pytest_configure() -> None:
    """Let Ctrl-C reach the processes that tests start.

    A shell starts background jobs with SIGINT ignored, which their children inherit.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of open corpora, GONIE_DATA or ../shared/data; skip the test if it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("GONIE_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no corpora at {folder}; set GONIE_DATA to the folder that holds ner/, pos/ …")
    return folder


@dataclass(frozen=True)
class Outcome:
    """The result of a command: its exit status and its output."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> bool:
        """Check for exit status 2 and a message with these words, without a traceback."""
        assert self.code == 2, f"exit {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err, f"{word!r} is not in: {self.err}"
        return bool(self.err.strip())


@pytest.fixture
def gonie(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Return a function that runs the command line in this process; an unhandled error fails the test."""

    def call(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "argv", ["gonie", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return Outcome(int(ended.value.code or 0), out, err)

    return call


@pytest.fixture
def within() -> Callable[[float], AbstractContextManager[None]]:
    """Return a context manager that fails a block after a number of seconds.

    It is for code that could hang. The limit is generous, because speed is not tested.
    """

    @contextmanager
    def limit(seconds: float) -> Iterator[None]:
        def stop(number: int, frame: object) -> None:
            pytest.fail(f"not done within {seconds} seconds")

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    return limit


# --- corpora small enough to be learned in a second ------------------------------------------------------

PEOPLE, FAMILIES = ("Anna", "Bert", "Cleo", "Dora"), ("Kim", "Lee")
PLACES = ("Seoul", "Paris", "Oslo", "Lima")
FRAMES = ("{person} lives in {place} .", "{place} is far .", "we met {person} and {person} .", "it rains .")

TOY_RECIPE = """
[data]
train = "{folder}/train.conll"
dev = "{folder}/dev.conll"
test = "{folder}/test.conll"
[model.words]
width = 12
[model.encoder]
hidden = 12
[model.dropout]
input = 0.1
output = 0.1
[train]
epochs = 12
lr = 0.02
batch_sentences = 8
device = "cpu"
"""


def toy_sentences(number: int, seed: int) -> str:
    """Return sentences with names of people and places, one or two words long, in CoNLL format."""
    chance = random.Random(seed)
    blocks = []
    for _ in range(number):
        rows: list[str] = []
        for word in chance.choice(FRAMES).split():
            if word == "{person}":
                rows += [f"{chance.choice(PEOPLE)}\tB-PER"]
                rows += [f"{chance.choice(FAMILIES)}\tI-PER"] * chance.randint(0, 1)
            else:
                rows.append(f"{chance.choice(PLACES)}\tB-LOC" if word == "{place}" else f"{word}\tO")
        blocks.append("\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def lent(folder: Path) -> Iterator[Path]:
    """Yield a folder that all tests of a process share, and check that no test has changed it."""
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    yield folder
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    changed = sorted(path.name for path in before.keys() | after if before.get(path) != after.get(path))
    assert not changed, f"{folder} is shared by all tests, and one of them wrote {changed}: write to tmp_path"


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write train, dev and test files of the toy corpus and toy.toml, a recipe that learns it."""
    folder = tmp_path_factory.mktemp("toy")
    for seed, (split, number) in enumerate({"train": 80, "dev": 20, "test": 20}.items()):
        (folder / f"{split}.conll").write_text(toy_sentences(number, seed), "utf-8")
    (folder / "toy.toml").write_text(TOY_RECIPE.format(folder=folder), "utf-8")
    yield from lent(folder)


TEXT_RECIPE = """
task = "classify"
[data]
train = "{folder}/train.tsv"
dev = "{folder}/dev.tsv"
test = "{folder}/test.tsv"
[model.words]
width = 8
[model.encoder]
hidden = 6
[model.pooling]
hidden = 5
norm = "batch"
[model.bag]
words = [1, 2]
[model.dropout]
input = 0.1
output = 0.1
pooled = 0.1
word = 0.05
[train]
epochs = 3
lr = 0.02
batch_sentences = 8
device = "cpu"
"""
MOODS = {"good": ("fine", "lovely", "clever"), "bad": ("dull", "silly", "endless")}
THINGS = ("plot", "film", "cast", "ending")


def toy_texts(number: int, seed: int) -> str:
    """Return a table of opinions of one to three sentences, most of which fit their label."""
    chance = random.Random(seed)
    rows = ["label\ttext"]
    for at in range(number):
        label = ("good", "bad")[at % 2]
        moods = [MOODS[chance.choice([label] * 4 + list(MOODS))] for _ in range(chance.randint(1, 3))]
        said = [f"The {chance.choice(THINGS)} is {chance.choice(words)}." for words in moods]
        rows.append(f"{label}\t{' '.join(said)}")
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="session")
def text_toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write train, dev and test tables of opinions and texts.toml, a recipe that classifies them.

    Its model has the parts that only classifiers have: attention, batch normalisation and n-grams.
    """
    folder = tmp_path_factory.mktemp("texts")
    for seed, (split, number) in enumerate({"train": 60, "dev": 20, "test": 20}.items()):
        (folder / f"{split}.tsv").write_text(toy_texts(number, seed), "utf-8")
    (folder / "texts.toml").write_text(TEXT_RECIPE.format(folder=folder), "utf-8")
    yield from lent(folder)


PAIR_RECIPE = """
task = "pair"
[data]
train = "{folder}/{kind}-train.tsv"
dev = "{folder}/{kind}-dev.tsv"
test = "{folder}/{kind}-test.tsv"
[model.words]
width = 8
[model.encoder]
hidden = 6
[model.matching]
projection = 6
[model.matching.composition]
hidden = 5
[model.head]
hidden = 6
[model.dropout]
input = 0.1
output = 0.1
aligned = 0.1
pooled = 0.1
word = 0.05
[train]
epochs = 3
lr = 0.05
batch_sentences = 8
device = "cpu"
"""


def toy_pairs(number: int, seed: int, *, values: bool) -> str:
    """Return a table of pairs of opinions, with a label or a value for their agreement."""
    chance = random.Random(seed)
    gold = "score" if values else "label"
    rows = [f"sentence1\tsentence2\t{gold}"]
    for at in range(number):
        other = chance.choice(list(MOODS))
        texts = [
            " ".join(
                f"The {chance.choice(THINGS)} is {chance.choice(MOODS[mood])}." for _ in range(1 + at % 2)
            )
            for mood in ("good", other)
        ]
        same = other == "good"
        answer = f"{4 * same + chance.random():.3f}" if values else ("other", "same")[same]
        rows.append("\t".join([*texts, answer]))
    return "\n".join(rows) + "\n"


@pytest.fixture(scope="session")
def pair_toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write pairs of opinions: labels.toml learns whether two agree, values.toml learns how much.

    The columns are named as in STS, so that the tests do not rely on the default names.
    """
    folder = tmp_path_factory.mktemp("pairs")
    for kind in ("labels", "values"):
        for seed, (split, number) in enumerate({"train": 60, "dev": 20, "test": 20}.items()):
            table = toy_pairs(number, seed, values=kind == "values")
            (folder / f"{kind}-{split}.tsv").write_text(table, "utf-8")
        (folder / f"{kind}.toml").write_text(PAIR_RECIPE.format(folder=folder, kind=kind), "utf-8")
    yield from lent(folder)


class Silence:
    """A display that shows nothing and records everything it receives."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.events: list[object] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def advance(self, advance: object) -> None:
        pass

    def begin(self, summary: object) -> None:
        self.events.append(summary)

    def step(self, step: object) -> None:
        self.events.append(step)

    def epoch(self, epoch: object) -> None:
        self.events.append(epoch)

    def interrupted(self, folder: Path) -> None:
        self.events.append(folder)

    def finished(self, result: object) -> None:
        self.events.append(result)


@pytest.fixture
def silence() -> Silence:
    """Return a display that records what it receives."""
    return Silence()


@pytest.fixture(scope="session")
def toy_run(toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train a run on the toy corpus."""
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    folder = tmp_path_factory.mktemp("runs") / "toy"
    assert start_run(load_recipe(toy / "toy.toml"), folder, Silence()) is not None
    return folder


@pytest.fixture(scope="session")
def pair_runs(pair_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Train a run of each recipe of ``pair_toy``: labels and values."""
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    folder = tmp_path_factory.mktemp("pair-runs")
    for kind in ("labels", "values"):
        assert start_run(load_recipe(pair_toy / f"{kind}.toml"), folder / kind, Silence()) is not None
    yield from lent(folder)


# --- HTML pages ------------------------------------------------------------------------------------------

VOID = {"meta", "input"}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start Chromium. If there is none, tests that need it are skipped, or fail if CI is set."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        told = "no Chromium: `make browser` installs it"
        pytest.fail(told) if os.environ.get("CI") else pytest.skip(told)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Page(HTMLParser):
    """A parser that checks that every element is closed, and records elements and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        (self.scripts if self.open[-1:] == ["script"] else self.text).append(data)

    def runs_and_loads_nothing(self) -> bool:
        """Return whether the page runs only gonie's own script, and has nothing that loads or sends anything.

        Links lead to parts of the page. There are no style attributes, which its content policy blocks.
        """
        from gonie.reports.filtered_list import SCRIPT

        active = {"img", "link", "iframe", "object", "base", "form", "image", "use"}
        reaching = {"src", "srcset", "action", "style"}
        return set(self.scripts) <= {SCRIPT} and not any(
            tag in active
            or any(name in reaching or name.startswith("on") for name in attributes)
            or not (attributes.get("href") or "#").startswith("#")
            or (tag == "script" and attributes)
            for tag, attributes in self.tags
        )


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Page]:
    """Return a function that parses a well-formed page."""

    def read(page: str) -> Page:
        parser = Page()
        parser.feed(page)
        parser.close()
        assert parser.open == []
        return parser

    return read


# --- a classifier with known answers ---------------------------------------------------------------------

LABELS = ("negative", "positive")
OPINIONS = {"good": (0.0, 4.0), "bad": (4.0, 0.0), "film": (0.0, 0.0), "the": (0.0, 0.0), "<e1>": (0.0, 9.0)}


def make_text_bundle(
    *,
    upper: bool = False,
    multi_label: bool = False,
    temperature: float = 1.0,
    recipe: Mapping[str, Any] | None = None,
    **limits: int,
) -> TextBundle:
    """Make a bundle whose score of a label is the mean score of the words; unknown words have 0.

    With ``upper``, the score of a text is the mean over its sentences. ``limits`` are those of ``Passages``.
    """
    import torch
    from torch import nn

    from gonie.nn import Mean, MultiLabelHead, NoEncoder, TextScores, TextSoftmaxHead, WordEmbedding
    from gonie.tasks.classification.torch.graph import text_graph
    from gonie.tasks.classification.torch.network import LABEL, ClassifyingNetwork, Level

    encoding = make_text_encoding(upper=upper, multi_label=multi_label, **limits)
    words = WordEmbedding(size=len(encoding.words.words), width=len(LABELS))
    scores = TextScores(width=len(LABELS), num_labels=len(LABELS), direct={})
    with torch.no_grad():
        words.weight.zero_()
        for word, said in OPINIONS.items():
            words.weight[encoding.words.word_id(word)] = torch.tensor(said)
        scores.weight.copy_(torch.eye(len(LABELS)))  # type: ignore[union-attr]
    model = ClassifyingNetwork(
        embedding=words,
        words=Level(encoder=NoEncoder(width=2), pooling=Mean(width=2)),
        sentences=Level(encoder=NoEncoder(width=2), pooling=Mean(width=2)) if upper else None,
        heads={LABEL: MultiLabelHead(scores=scores) if multi_label else TextSoftmaxHead(scores=scores)},
        word_dropout=nn.Identity(),
        dropout=nn.Identity(),
    )
    about = About(recipe=recipe or {})
    return TextBundle(encoding=encoding, **text_graph(model)._asdict(), temperature=temperature, about=about)


def make_text_encoding(*, upper: bool, multi_label: bool, **limits: int) -> TextEncoding:
    """Fit an encoding of the words of ``OPINIONS``; with ``upper``, texts are split into sentences."""
    normalization = Normalization(lowercase=False, digits=False)
    words = Encoding.fit(
        count([Sentence(tuple(OPINIONS))], normalization=normalization, jamo=False, extractors=[]),
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=[],
        min_count=1,
        min_feature_count=1,
    )
    by: Literal["sentence", "text"] = "sentence" if upper else "text"
    passages = Passages(tokenizer=EnglishTokenizer(), by=by, **limits)
    return TextEncoding(passages=passages, words=words, labels=LABELS, multi_label=multi_label, bag=None)


@pytest.fixture(scope="session")
def text_bundle() -> Callable[..., TextBundle]:
    """Return a function that makes bundles of a classifier with known answers."""
    return make_text_bundle


# --- a pair model with known answers ---------------------------------------------------------------------


def make_pair_bundle(
    *,
    values: bool = False,
    temperature: float = 1.0,
    recipe: Mapping[str, Any] | None = None,
    max_tokens: int = 200,
) -> PairBundle:
    """Make a bundle that scores ``same`` by u · v and ``other`` by Σ|u - v|.

    u and v are the mean vectors of the words of the two texts. The vectors of "good" and "bad" have length 2,
    all others are 0. So ("good", "good") scores 4 for ``same`` and 0 for ``other``, and ("good", "bad") the
    reverse. With ``values``, the value is 5 · sigmoid(u · v - Σ|u - v|).
    """
    import torch
    from torch import nn

    from gonie.nn import Mean, NoEncoder, TextScores, TextSoftmaxHead, WordEmbedding
    from gonie.nn.heads.text_value import TextValueHead
    from gonie.nn.matching import PooledMatching
    from gonie.tasks.classification.torch.network import LABEL
    from gonie.tasks.pairs.torch.graph import pair_graph
    from gonie.tasks.pairs.torch.network import PairNetwork

    texts = make_text_encoding(upper=False, multi_label=False, max_tokens=max_tokens)
    words = WordEmbedding(size=len(texts.words.words), width=2)
    matching = PooledMatching(pooling=Mean(width=2))
    labels = ("value",) if values else ("other", "same")
    scores = TextScores(width=matching.width, num_labels=len(labels), direct={})
    differ, agree = [0, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1]  # over [u; v; |u - v|; u ∘ v]
    rows = [[a - d for a, d in zip(agree, differ, strict=True)]] if values else [differ, agree]
    with torch.no_grad():
        words.weight.zero_()
        for word, vector in {"good": (0.0, 2.0), "bad": (2.0, 0.0)}.items():
            words.weight[texts.words.word_id(word)] = torch.tensor(vector)
        scores.weight.copy_(torch.tensor(rows, dtype=torch.float32))  # type: ignore[union-attr]
    head = TextValueHead(scores=scores, low=0.0, high=5.0) if values else TextSoftmaxHead(scores=scores)
    model = PairNetwork(
        embedding=words,
        encoder=NoEncoder(width=2),
        matching=matching,
        hidden=None,
        heads={LABEL: head},
        word_dropout=nn.Identity(),
        input_dropout=nn.Identity(),
        output_dropout=nn.Identity(),
        dropout=nn.Identity(),
    )
    encoding = PairEncoding(
        texts=TextEncoding(
            passages=texts.passages, words=texts.words, labels=labels, multi_label=False, bag=None
        ),
        scale=ValueScale(0.0, 5.0) if values else None,
    )
    about = About(recipe=recipe or {})
    return PairBundle(encoding=encoding, **pair_graph(model)._asdict(), temperature=temperature, about=about)


@pytest.fixture(scope="session")
def pair_bundle() -> Callable[..., PairBundle]:
    """Return a function that makes bundles of a pair model with known answers."""
    return make_pair_bundle


# --- unlabelled text and a language model ----------------------------------------------------------------

PRETRAIN_RECIPE = """
task = "pretrain"
[data]
text = ["{folder}/text.txt"]
heldout = "{folder}/heldout.txt"
vocabulary = 40
[model]
byte_width = 4
longest = 12
filters = [[1, 4], [3, 8]]
width = 6
hidden = 10
[model.softmax]
exact = 8
sampled = 6
[train]
epochs = 3
rows = 4
steps = 5
lr = 0.02
warmup = 5
device = "cpu"
"""


def toy_text(number: int, seed: int) -> str:
    """Return sentences of the toy corpus as plain text, three per line."""
    chance = random.Random(seed)
    lines = []
    for _ in range(number):
        sentences = [
            chance.choice(FRAMES).replace("{person}", "{}").replace("{place}", "{}") for _ in range(3)
        ]
        names = iter(chance.choices((*PEOPLE, *PLACES), k=20))
        filled = ["".join(next(names) if part == "{}" else part for part in _pieces(s)) for s in sentences]
        lines.append(" ".join(sentence[0].upper() + sentence[1:] for sentence in filled))
    return "\n".join(lines) + "\n"


def _pieces(frame: str) -> list[str]:
    return [piece for part in frame.split("{}") for piece in (part, "{}")][:-1]


@pytest.fixture(scope="session")
def prose(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Write text.txt and heldout.txt with toy sentences, and pretrain.toml, a recipe that learns them."""
    folder = tmp_path_factory.mktemp("prose")
    (folder / "text.txt").write_text(toy_text(120, 1), "utf-8")
    (folder / "heldout.txt").write_text(toy_text(20, 2), "utf-8")
    (folder / "pretrain.toml").write_text(PRETRAIN_RECIPE.format(folder=folder), "utf-8")
    yield from lent(folder)


@pytest.fixture(scope="session")
def toy_bilm(prose: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pretrain a small language model on the toy sentences and return its run folder."""
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    out = tmp_path_factory.mktemp("bilm") / "run"
    recipe = load_recipe(prose / "pretrain.toml", command="pretrain")
    assert start_run(recipe, out, Silence()) is not None
    return out
