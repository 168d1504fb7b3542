"""Measures parameters, operations, time and memory of each encoder, pooling and head, at one size.

    python benchmarks/costs.py                      # 32 sentences of 40 tokens, then of 400
    python benchmarks/costs.py --tokens 40 --rounds 3

Letters: B sentences of T tokens, D numbers per input vector, H units per direction, A attention units, C
tokens in a window, K tags. A formula counts the multiply-adds of one sentence in a forward pass, without
sums, activations and normalisation. The script exits if the formula of the parameters does not match the
module. Forward passes run without gradients. A step is a forward pass and the gradients of all
parameters and inputs. Times are medians of interleaved rounds on one thread. Memory is the peak of a step
above the memory before it (Linux only). One self-attention layer of torch is listed for scale; gonie does
not use it.

The page docs/explanation/costs.md shows the table.
"""

from __future__ import annotations

import argparse
import platform
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import torch
from torch import Tensor, nn

from crf import peak
from gonie.nn import (
    CRF,
    LSTM,
    AdditiveAttention,
    Bidirectional,
    Convolution,
    DotAttention,
    Elman,
    PeepholeLSTM,
    Window,
)

D, H, A, C, K = 100, 200, 100, 5, 17
KERNELS = (3, 4, 5)
W = 2 * H  # the width of the states of a bidirectional encoder
LETTERS = {"D": D, "H": H, "A": A, "C": C, "K": K, "W": W, "k": sum(KERNELS), "n": len(KERNELS)}


@dataclass(frozen=True)
class Part:
    """A module with its formulas, its input width, and how it is built and called."""

    name: str
    parameters: str
    operations: str
    width: int
    build: Callable[[], nn.Module]
    call: Callable[[nn.Module, Tensor, Tensor], Tensor]


def encode(module: nn.Module, x: Tensor, mask: Tensor) -> Tensor:
    return module(x, mask)


def pool(module: nn.Module, x: Tensor, mask: Tensor) -> Tensor:
    return module(x, mask)[0]


def likelihood(module: nn.Module, x: Tensor, mask: Tensor) -> Tensor:
    tags = torch.zeros(mask.shape, dtype=torch.int64)
    return module.unchecked_log_likelihood(x, tags, mask)


def both(cell: Callable[..., nn.Module]) -> Callable[[], nn.Module]:
    return lambda: Bidirectional(ahead=cell(width=D, hidden=H), back=cell(width=D, hidden=H))


PARTS = (
    Part("Elman", "H(D + H + 1)", "T·H(D + H)", D, lambda: Elman(width=D, hidden=H), encode),
    Part("LSTM", "4H(D + H + 2)", "4T·H(D + H)", D, lambda: LSTM(width=D, hidden=H), encode),
    Part(
        *("LSTM, peepholes", "4H(D + H + 1) + 3H", "4T·H(D + H) + 3T·H", D),
        lambda: PeepholeLSTM(width=D, hidden=H),
        encode,
    ),
    Part("BiLSTM", "8H(D + H + 2)", "8T·H(D + H)", D, both(LSTM), encode),
    Part(
        *("BiLSTM, peepholes", "8H(D + H + 1) + 6H", "8T·H(D + H) + 6T·H", D),
        both(PeepholeLSTM),
        encode,
    ),
    Part(
        *("CNN, kernels 3, 4, 5", "H(kD + n)", "T·H·k·D", D),
        lambda: Convolution(width=D, hidden=H, kernels=KERNELS),
        encode,
    ),
    Part(
        *("window of 5", "H(C·D + 1) + 2D", "T·C·D·H", D),
        lambda: Window(width=D, hidden=H, size=C),
        encode,
    ),
    Part(
        *("attention", "A(W + 2)", "T(A·W + A + W)", W),
        lambda: AdditiveAttention(width=W, hidden=A),
        pool,
    ),
    Part("dot attention", "W", "2T·W", W, lambda: DotAttention(width=W), pool),
    Part("CRF, loss", "K² + 2K", "T·K²", K, lambda: CRF(K), likelihood),
    Part(
        *("self-attention layer (torch)", "12D² + 13D", "12T·D² + 2T²·D", D),
        lambda: nn.TransformerEncoderLayer(D, 4, 4 * D, dropout=0.0, batch_first=True, norm_first=True),
        lambda module, x, mask: module(x),
    ),
)


def value(formula: str, tokens: int) -> int:
    """Evaluate a formula with the sizes above."""
    text = "".join(f"*{each}" if each.isalpha() or each == "(" else each for each in formula)
    for spelled, python in (("²", "**2"), ("·", ""), (" ", ""), ("(*", "("), ("+*", "+")):
        text = text.replace(spelled, python)
    return int(eval(text.lstrip("*"), {**LETTERS, "T": tokens}))


class Case:
    """One part over one batch."""

    def __init__(self, part: Part, sentences: int, tokens: int) -> None:
        torch.manual_seed(0)
        self.part = part
        self.tokens = tokens
        self.module = part.build()
        self.x = torch.randn(sentences, tokens, part.width, requires_grad=True)
        self.mask = torch.ones(sentences, tokens, dtype=torch.bool)
        self.count = sum(parameter.numel() for parameter in self.module.parameters())
        if self.count != value(part.parameters, tokens):
            raise SystemExit(
                f"{part.name}: {part.parameters} gives {value(part.parameters, tokens)}, "
                f"but the module has {self.count}"
            )

    def forward(self) -> Tensor:
        with torch.no_grad():
            return self.part.call(self.module.eval(), self.x, self.mask)

    def step(self) -> object:
        out = self.part.call(self.module.train(), self.x, self.mask)
        return torch.autograd.grad(out.sum(), [self.x, *self.module.parameters()])


def seconds(run: Callable[[], object], budget: float = 0.3) -> float:
    """Return the median time of a call, over as many calls as fit the budget."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < budget:
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return median(times)


def measure(sentences: int, tokens: int, rounds: int) -> None:
    """Print the table of one size."""
    cases = [Case(part, sentences, tokens) for part in PARTS]
    for case in cases:  # compiles the loops
        case.step()
        case.forward()
    memory = {case.part.name: peak(case.step, "cpu") for case in cases}
    ahead: dict[str, list[float]] = {case.part.name: [] for case in cases}
    whole: dict[str, list[float]] = {case.part.name: [] for case in cases}
    for _ in range(rounds):
        for case in cases:
            ahead[case.part.name].append(seconds(case.forward))
            whole[case.part.name].append(seconds(case.step))
    print(
        f"\n{sentences} sentences of {tokens} tokens, D = {D}, H = {H}, A = {A}, C = {C}, K = {K}, W = 2H\n"
    )
    print("| part | parameters | multiply-adds per token | forward, ms | step, ms | billion/s | peak, MiB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for case in cases:
        name, operations = case.part.name, value(case.part.operations, tokens)
        forward, step = median(ahead[name]), median(whole[name])
        print(
            f"| {name} | {case.count:,} | {operations // tokens:,} | {forward * 1e3:.2f} | {step * 1e3:.2f} "
            f"| {operations * sentences / forward / 1e9:.1f} | {memory[name]:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, nargs="+", default=[40, 400], help="T, one table for each")
    parser.add_argument("--sentences", type=int, default=32, help="B")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"one thread, torch {torch.__version__}, {platform.machine()}")
    for tokens in arguments.tokens:
        measure(arguments.sentences, tokens, arguments.rounds)


if __name__ == "__main__":
    main()
