"""Compares the training speed of one BiLSTM with attention in gonie and in a plain PyTorch loop.

    python benchmarks/train_classifier.py                      # DATA = ../shared/data/classify or GONIE_DATA
    python benchmarks/train_classifier.py --corpora reviews --rounds 9

The model: word vectors of width 100, an LSTM of 200 per direction, additive attention with a hidden layer of
100, one output and a sigmoid; dropout 0.5 before and after the LSTM and on the vector of the text; 32 texts
per batch, Adam, gradients clipped at 5. The texts are drawn from the corpus by a seed, in file order: short
ones of very different lengths (NSMC by syllables) and long ones (movie reviews, each as one text).

    gonie         its own loop, `gonie.training.loop.train`: batches of similar lengths, LSTM without padding
    plain         a loop as in a tutorial: nn.Embedding, nn.LSTM and a masked softmax, over batches in file
                  order padded to their longest text
    packed        the same loop with pack_padded_sequence around the LSTM; skipped for long texts, unless
                  --sides includes it, because a backward pass over a thousand tokens takes torch minutes
    like-lengths  the plain loop over gonie's batches, to show how much of the gain comes from the batches

The plain sides get lists of ids and pad each batch when it is needed, like a DataLoader without workers. All
sides have the same number of threads and the OpenMP settings of `gonie train`. Only gonie keeps freed memory,
as `gonie train` does (`gonie.cli.process_settings`), unless --same-heap is given. Before the timing, the
packed side gets gonie's weights and must compute gonie's scores. The sides take turns, one epoch per round.
The first round is not counted, and medians are printed. Padding does not count as tokens. Speed is measured
by wall time and by CPU time of all threads, which depends less on other processes.

Expected limit: the matrix products of the LSTM, 2.9 MFLOP per token, and of the attention, 0.24. The script
times products of these shapes and prints how many tokens per CPU second they alone would allow.

Result, 2-core AMD EPYC, 2026-11-15, with two to five other busy processes:

                 nsmc, tokens/s            per CPU second     reviews, tokens/s            per CPU second
    gonie                 9,246                    15,684                12,939                    16,001
    plain                 2,704                     3,936                 4,456                     5,982
    packed                2,153                     3,259                   (about 200 tokens/s, one round)
    like-lengths          7,110                    10,861                 7,711                     8,869
    products alone                                 30,183                                          29,374
    gonie / plain          3.42                      4.09                  2.51                      2.67

If all sides keep freed memory, gonie / plain is 2.05 on reviews by CPU time (1.51 by wall time, in two rounds
that differed much).

Of gonie's time on one thread, the LSTM takes 70%, of which 86% are matrix products. Drawing dropout masks
takes 14%, 500 numbers per token, and the products of the attention 8%. The rest are small operations. So the
gap to the speed of the products is dropout, the exponentials of the LSTM, and products of 32 rows or fewer.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

from sides import CALM, ROOT, Figures, Worker, alternate, medians, serve

DATA = Path(os.environ.get("GONIE_DATA", ROOT.parent / "shared/data")) / "classify"
WIDTH, HIDDEN, ATTENTION = 100, 200, 100
DROPOUT, RATE, CLIP = 0.5, 0.001, 5.0
TEXTS = 32  # per batch
SEED = 1
NO_LIMIT = 1_000_000  # epochs, and cells in a batch: only the number of texts limits a batch


class Spec(NamedTuple):
    """The files of a corpus, and how its texts are tokenised."""

    path: str
    bundled: str
    texts: int
    text_column: str = "text"
    language: str = "en"
    unit: str = "word"
    long: bool = False


CORPORA = {
    "nsmc": Spec("nsmc/ratings_train_rebuilt.txt.gz", "nsmc", 1280, "document", "ko", "syllable"),
    "subjectivity": Spec("subjectivity/sentences.tsv", "subjectivity", 1280),
    "reviews": Spec("movie_reviews/reviews.tsv", "reviews", 96, long=True),
}


def draw(spec: Spec, data: Path | None, limit: int) -> list[dict[str, str]]:
    """Draw texts of a corpus at random, in file order. Without ``data``, the bundled corpus is used."""
    from gonie.formats.labelled import LabelledSource
    from gonie.tasks.paths import locate
    from gonie.text.labelled_text import TextOptions

    path = locate(f"bundled:{spec.bundled}/train.tsv") if data is None else data / spec.path
    options = TextOptions(format="tsv", text_column="text" if data is None else spec.text_column)
    texts = list(LabelledSource(path, options))
    chosen = np.random.default_rng(SEED).permutation(len(texts))[: limit or spec.texts]
    return [
        {"text": texts[at].text.replace("<s>", " "), "label": texts[at].labels[0]} for at in sorted(chosen)
    ]


class Prepared:
    """The recipe of this benchmark and a file of texts, read and encoded by gonie for every side."""

    def __init__(self, file: Path, *, language: str, unit: str) -> None:
        from gonie.tasks.classification.recipe import TextRecipe
        from gonie.tasks.classification.torch.data import read_text_data

        own = {"train": str(file), "dev": str(file), "language": language, "unit": unit, "max_tokens": 0}
        self.recipe = TextRecipe.model_validate({"task": "classify", "data": own} | MODEL)
        self.data = read_text_data(self.recipe, lambda note: None)
        self.corpus = self.data.train

    def build(self):
        """Build the untrained classifier."""
        import torch

        from gonie.tasks.classification.torch.build import build_classifier

        torch.manual_seed(SEED)
        return build_classifier(self.recipe.model, self.data.encoding)

    def ids(self) -> list[list[int]]:
        """Return the word ids of each text."""
        arrays = self.corpus.sentences.arrays
        flat = arrays["form_words"][arrays["forms"]]
        return [part.tolist() for part in np.split(flat, arrays["offsets"][1:-1])]

    def epochs(self, epochs: Iterator[object]) -> Iterator[Figures]:
        """Yield the speed of each epoch, by wall time and by CPU time."""
        while True:
            began, worked = perf_counter(), process_time()
            next(epochs)
            seconds, work = perf_counter() - began, process_time() - worked
            tokens = self.corpus.tokens
            yield {"speed": tokens / seconds, "texts": len(self.corpus) / seconds, "worked": tokens / work}


MODEL: dict[str, object] = {
    "model": {
        "words": {"width": WIDTH},
        "encoder": {"kind": "lstm", "hidden": HIDDEN},
        "pooling": {"kinds": ["attention"], "hidden": ATTENTION},
        "dropout": {"kind": "plain", "input": DROPOUT, "output": DROPOUT, "pooled": DROPOUT},
    },
    "train": {
        "epochs": NO_LIMIT,
        "patience": NO_LIMIT,
        "batch_sentences": TEXTS,
        "batch_tokens": NO_LIMIT,
        "optimizer": "adam",
        "lr": RATE,
        "clip": CLIP,
        "seed": SEED,
    },
}


def train_gonie(prepared: Prepared) -> Iterator[Figures]:
    """Yield the figures of rounds of gonie's own training loop."""
    import torch

    from gonie.tasks.torch.example_batches import ExampleBatches
    from gonie.tasks.torch.training_setup import DevScore, TrainingSetup
    from gonie.training.average import WeightAverage
    from gonie.training.loop import Epoch, train
    from gonie.training.optim import build_optimizer
    from gonie.training.state import Progress, State

    model, config = prepared.build(), prepared.recipe.train
    state = State(
        model=model,
        optimizer=build_optimizer(config, model.named_parameters()),
        average=WeightAverage(model, 0.0),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64),
        fingerprint="",
    )
    setup = TrainingSetup(
        batches=ExampleBatches(prepared.corpus, config, state.loss.device),
        evaluate=lambda: DevScore(0.0, "", ""),
        weights=model,
    )
    events = train(state, setup, config)
    for figures in prepared.epochs(event for event in events if isinstance(event, Epoch)):
        yield figures | {"bound": bound(prepared.corpus.sizes)}


def bound(sizes: Iterable[int]) -> float:
    """Return the tokens per CPU second that the matrix products of LSTM and attention alone would allow.

    Each product runs in one thread, as in gonie's LSTM, which has one thread per direction.
    """
    from gonie.nn.compiled import single_threaded_blas

    tokens = int(np.mean(list(sizes)) * TEXTS)  # in a batch
    with single_threaded_blas():
        whole = seconds_of_product(tokens, WIDTH, 4 * HIDDEN)  # all time steps at once
        step = seconds_of_product(4 * HIDDEN, HIDDEN, TEXTS)
        attention = seconds_of_product(tokens, 2 * HIDDEN, ATTENTION)
    ahead = 2 * (whole / tokens + step / TEXTS) + attention / tokens  # seconds per token, both directions
    return 1.0 / (3 * ahead)  # two products backward for each one forward


def seconds_of_product(rows: int, inner: int, columns: int) -> float:
    """Return the median CPU time of one matrix product by OpenBLAS."""
    left, right = np.ones((rows, inner), np.float32), np.ones((inner, columns), np.float32)
    out = np.empty((rows, columns), np.float32)
    times = []
    for _ in range(15):
        began = process_time()
        for _ in range(20):
            np.matmul(left, right, out=out)
        times.append((process_time() - began) / 20)
    return median(times)


def plain_model(words: int):
    """Build the same classifier in plain PyTorch."""
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Plain(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(words, WIDTH, padding_idx=0)
            self.lstm = nn.LSTM(WIDTH, HIDDEN, batch_first=True, bidirectional=True)
            self.attention = nn.Linear(2 * HIDDEN, ATTENTION)
            self.query = nn.Linear(ATTENTION, 1, bias=False)
            self.output = nn.Linear(2 * HIDDEN, 1)
            self.dropout = nn.Dropout(DROPOUT)

        def forward(self, ids, lengths, *, packed: bool):
            x = self.dropout(self.embedding(ids))  # (B, T, D)
            if packed:
                rows = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
                states, _ = pad_packed_sequence(self.lstm(rows)[0], batch_first=True)  # (B, T, 2H)
            else:
                states, _ = self.lstm(x)
            states = self.dropout(states)
            scores = self.query(torch.tanh(self.attention(states))).squeeze(2)  # (B, T)
            weights = scores.masked_fill(ids == 0, -torch.inf).softmax(1)
            pooled = (weights.unsqueeze(2) * states).sum(1)  # (B, 2H)
            return self.output(self.dropout(pooled)).squeeze(1)  # (B,)

    return Plain()


def train_plain(prepared: Prepared, *, packed: bool = False, sort: bool = False) -> Iterator[Figures]:
    """Yield the figures of rounds of a plain loop."""
    return prepared.epochs(plain_epochs(prepared, packed=packed, sort=sort))


def plain_epochs(prepared: Prepared, *, packed: bool, sort: bool) -> Iterator[None]:
    """Run a plain PyTorch loop, in file order or over gonie's batches of the same epoch."""
    import torch
    import torch.nn.functional as F
    from torch.nn.utils import clip_grad_norm_
    from torch.nn.utils.rnn import pad_sequence

    texts, labels = prepared.ids(), prepared.corpus.labels.tolist()
    model = plain_model(len(prepared.data.encoding.words.words))
    if packed:
        agree(prepared, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    model.train()
    for epoch in range(NO_LIMIT):
        for rows in like_lengths(prepared, epoch) if sort else in_file_order(len(texts)):
            ids = pad_sequence([torch.tensor(texts[row]) for row in rows], batch_first=True)
            sizes = torch.tensor([len(texts[row]) for row in rows])
            gold = torch.tensor([float(labels[row]) for row in rows])
            optimizer.zero_grad()
            loss = F.binary_cross_entropy_with_logits(model(ids, sizes, packed=packed), gold)
            loss.backward()
            clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
        yield


def in_file_order(texts: int) -> list[range]:
    return [range(at, min(at + TEXTS, texts)) for at in range(0, texts, TEXTS)]


def like_lengths(prepared: Prepared, epoch: int) -> list[list[int]]:
    from gonie.features.batching import shuffled_batches

    generator = np.random.default_rng([SEED, epoch])
    batches = shuffled_batches(prepared.corpus.lengths, tokens=NO_LIMIT, sentences=TEXTS, generator=generator)
    return [rows.tolist() for rows in batches]


def agree(prepared: Prepared, model) -> None:
    """Copy gonie's weights to a plain model, and fail unless it computes gonie's scores."""
    import torch

    from gonie.nn.inference import to_tensors

    ours = prepared.build().eval()
    ahead, back = ours.words.encoder.ahead.lstm, ours.words.encoder.back.lstm
    attention, head = ours.words.pooling, ours.head().scores
    with torch.no_grad():
        pairs = [
            (model.embedding.weight, ours.embedding.weight),
            (model.attention.weight, attention.layer.weight),
            (model.attention.bias, attention.layer.bias),
            (model.query.weight, attention.queries),
            (model.output.weight, head.weight),
            (model.output.bias, head.bias),
            *zip(model.lstm.parameters(), [*ahead.parameters(), *back.parameters()], strict=True),
        ]
        for to, like in pairs:
            to.copy_(like)
        batch = to_tensors(
            prepared.corpus.batch(np.arange(min(8, len(prepared.corpus)))), torch.device("cpu")
        )
        model.eval()
        torch.testing.assert_close(
            model(batch["words"], batch["lengths"], packed=True), ours(batch)[:, 1], rtol=1e-4, atol=1e-5
        )


SIDES: dict[str, Callable[[Prepared], Iterator[Figures]]] = {
    "gonie": train_gonie,
    "plain": train_plain,
    "packed": partial(train_plain, packed=True),
    "like-lengths": partial(train_plain, sort=True),
}


def measure(name: str, arguments: argparse.Namespace) -> None:
    """Measure all sides on one corpus."""
    spec = CORPORA[name]
    texts = draw(spec, None if arguments.bundled else arguments.data, arguments.texts)
    if len(texts) < 2 * TEXTS:
        sys.exit(f"too few texts: {len(texts)}. Two batches need {2 * TEXTS}")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "train.jsonl"
        file.write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
        print(f"{name}: {len(texts):,} texts, {arguments.threads} CPU threads", flush=True)
        cut = ["--file", file, "--language", spec.language, "--unit", spec.unit]
        cut += ["--same-heap"] * arguments.same_heap
        workers = {
            side: stack.enter_context(
                Worker(__file__, ["--side", side, *cut], threads=arguments.threads, environment=CALM)
            )
            for side in arguments.sides or [side for side in SIDES if not (spec.long and side == "packed")]
        }
        found = alternate(workers, arguments.rounds + 1, "tokens/s")
        show(name, {side: figures[1:] for side, figures in found.items()})


def show(name: str, found: dict[str, list[Figures]]) -> None:
    for side, figures in found.items():
        middle = medians(figures)
        limit = f"; its matrix products alone: {middle['bound']:,.0f}" if "bound" in middle else ""
        print(
            f"{name:<12} {side:<12} {middle['speed']:>8,.0f} tokens/s {middle['texts']:>6,.1f} texts/s   "
            f"{middle['worked']:>8,.0f} tokens per CPU second{limit}"
        )
    ours = found.pop("gonie", [])
    for side, theirs in found.items() if ours else ():
        wall, work = (ratios(ours, theirs, figure) for figure in ("speed", "worked"))
        print(
            f"{name:<12} gonie / {side:<12} {median(wall):.2f}, from {wall[0]:.2f} to {wall[-1]:.2f}; "
            f"by CPU time {median(work):.2f}"
        )


def ratios(ours: list[Figures], theirs: list[Figures], figure: str) -> list[float]:
    """Return the ratio of a figure in each round, the smallest first."""
    return sorted(our[figure] / their[figure] for our, their in zip(ours, theirs, strict=True))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with nsmc/, movie_reviews/ and so on")
    parser.add_argument("--bundled", action="store_true", help="use the small corpora that ship with gonie")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=["nsmc", "reviews"])
    parser.add_argument(
        "--sides", nargs="+", choices=SIDES, help="default: all, but for long texts not packed"
    )
    parser.add_argument("--same-heap", action="store_true", help="all sides keep freed memory as gonie does")
    parser.add_argument(
        "--texts", type=int, default=0, help="number of texts; 0: 1,280 sentences or 96 reviews"
    )
    parser.add_argument("--rounds", type=int, default=5, help="timed epochs per side")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="CPU threads per side")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--language", help=argparse.SUPPRESS)
    parser.add_argument("--unit", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if arguments.side:
        if arguments.same_heap or arguments.side == "gonie":
            from gonie.cli.process_settings import keep_freed_memory

            keep_freed_memory()
        prepared = Prepared(arguments.file, language=arguments.language, unit=arguments.unit)
        serve(SIDES[arguments.side](prepared))
        return
    sys.path.insert(0, str(ROOT / "src"))
    for name in arguments.corpora:
        measure(name, arguments)


if __name__ == "__main__":
    main()
