"""Compares per-window SGD of the window network with a plain PyTorch loop that makes the same updates.

    python benchmarks/window.py

One core, float32: vectors of 100, a window of 5 words, 100 hidden units and one output. All weights and
vectors are trained, with one update per window. Both sides start from the same weights and get the same
windows in the same order. Their losses and weights are compared before the timing. Rounds alternate, and
medians are printed.

Expected limit: the matrix (100, 500) is 200 KB, read twice and written once per update. The last line shows
how many updates per second this alone would allow, measured on the same core.
"""

from __future__ import annotations

import argparse
import os
from statistics import median
from time import perf_counter

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from gonie.nn import Scores, SigmoidHead, Window, WordEmbedding
from gonie.nn.window.sgd import WindowSGD

WORDS, SENTENCE = 20_000, 25
RATE, PULL = 0.001, 1e-7


class Peer(nn.Module):
    """The same network in plain PyTorch: the ids of a window in, one score out."""

    def __init__(self, width: int, window: int, hidden: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(WORDS + 2, width, sparse=True)  # plus padding before and after a sentence
        self.layer = nn.Linear(window * width, hidden)
        self.output = nn.Linear(hidden, 1)

    def forward(self, ids: Tensor) -> Tensor:
        return self.output(self.layer(self.vectors(ids).flatten()).tanh())


class Case:
    """Both models with one batch of sentences."""

    def __init__(self, *, width: int, window: int, hidden: int, tokens: int) -> None:
        torch.manual_seed(0)
        self.embedding = WordEmbedding(size=WORDS, width=width)
        self.encoder = Window(width=width, hidden=hidden, size=window)
        self.head = SigmoidHead(scores=Scores(width=hidden, num_tags=1, direct={}))
        generator = np.random.default_rng(0)
        words = 1 + generator.zipf(1.2, size=(tokens // SENTENCE, SENTENCE)) % (WORDS - 1)
        self.batch = {
            "words": torch.from_numpy(words),
            "mask": torch.ones(words.shape, dtype=torch.bool),
            "tags": torch.from_numpy((generator.random(words.shape) < 0.05).astype(np.int64)),
        }
        self.sgd = WindowSGD(embedding=self.embedding, encoder=self.encoder, head=self.head)
        self.peer = self._peer(width, window, hidden)
        self.optimizer = torch.optim.SGD(self.peer.parameters(), lr=RATE)
        before, after = (
            np.full((len(words), window // 2), WORDS),
            np.full((len(words), window // 2), WORDS + 1),
        )
        padded = np.concatenate([before, words, after], axis=1)
        views = np.lib.stride_tricks.sliding_window_view(padded, window, axis=1)  # (sentences, tokens, C)
        self.windows = torch.from_numpy(views.reshape(-1, window).copy())

    def _peer(self, width: int, window: int, hidden: int) -> Peer:
        peer = Peer(width, window, hidden)
        layer = self.encoder.linear()[0]
        scores = self.head.scores
        assert scores.weight is not None
        with torch.no_grad():
            peer.vectors.weight.copy_(torch.cat([self.embedding.weight, self.encoder.edges]))
            for to, like in (
                (peer.layer.weight, layer.weight),
                (peer.layer.bias, layer.bias),
                (peer.output.weight, scores.weight),
                (peer.output.bias, scores.bias),
            ):
                to.copy_(like)
        return peer

    def gonie(self) -> float:
        """Train on all windows once, and return the summed loss."""
        torch.manual_seed(1)
        return self.sgd.step(self.batch, rate=RATE, weight_decay=PULL)

    def plain(self, number: int) -> float:
        """Make the same updates for the first ``number`` windows of that pass."""
        torch.manual_seed(1)
        order = torch.randperm(len(self.windows))[:number].tolist()
        gold = self.batch["tags"].flatten().float()
        matrices = (self.peer.layer.weight, self.peer.output.weight)
        total = 0.0
        for at in order:
            loss = F.binary_cross_entropy_with_logits(self.peer(self.windows[at]), gold[at : at + 1])
            self.optimizer.zero_grad()
            loss.backward()
            for matrix in matrices:
                matrix.grad.add_(matrix, alpha=PULL)
            self.optimizer.step()
            total += float(loss.detach())
        return total

    def agree(self) -> None:
        """Fail unless both have the same loss and weights after a pass over all windows."""
        ours, theirs = self.gonie(), self.plain(len(self.windows))
        np.testing.assert_allclose(ours, theirs, rtol=1e-4)
        pairs = (
            (self.encoder.linear()[0].weight, self.peer.layer.weight),
            (self.embedding.weight, self.peer.vectors.weight[:WORDS]),
            (self.encoder.edges, self.peer.vectors.weight[WORDS:]),
        )
        for mine, other in pairs:
            torch.testing.assert_close(mine, other, rtol=1e-3, atol=1e-4)


def copies_a_second(bytes_an_update: int) -> float:
    """Return how often per second a third of these bytes can be read twice and written once."""
    block = np.ones(bytes_an_update // 3 // 4, np.float32)
    other = np.ones_like(block)
    times = []
    for _ in range(200):
        start = perf_counter()
        np.dot(block, other)
        np.multiply(block, np.float32(1.0), out=block)
        times.append(perf_counter() - start)
    return 1 / median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--width", type=int, default=100)
    parser.add_argument("--window", type=int, default=5)
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    sizes = {"width": asked.width, "window": asked.window, "hidden": asked.hidden}
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    small = Case(**sizes, tokens=2_000)
    small.agree()
    print("both have the same weights after 2,000 windows")
    case = Case(**sizes, tokens=50_000)
    case.gonie()
    ours, theirs = [], []
    for _ in range(asked.rounds):
        start = perf_counter()
        case.gonie()
        ours.append(50_000 / (perf_counter() - start))
        start = perf_counter()
        case.plain(2_000)
        theirs.append(2_000 / (perf_counter() - start))
    print(f"n = {asked.width}, C = {asked.window}, H = {asked.hidden}, float32, one core")
    print(f"gonie    {median(ours):9,.0f} windows/s")
    print(f"PyTorch  {median(theirs):9,.0f} windows/s")
    print(f"ratio    {median(o / t for o, t in zip(ours, theirs, strict=True)):9.0f} x")
    moved = 3 * 4 * asked.hidden * asked.window * asked.width
    print(f"moving the matrix alone: {copies_a_second(moved):,.0f} updates/s")


if __name__ == "__main__":
    main()
