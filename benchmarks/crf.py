"""Compares the CRF layer with pytorch-crf 0.7.2, the most used one: time, peak memory and agreement.

    python benchmarks/crf.py                    # on the CPU
    python benchmarks/crf.py --device cuda      # on a GPU
    python benchmarks/crf.py --device cuda --check   # compare the kernels with float64 on the CPU, no timing

Loss and gradient: the mean negative log-likelihood of a batch of sentences without padding, and its gradient
with respect to emissions and parameters. Decode: the best paths in the library's own form, a list or a
tensor. Both layers get the same inputs, and their losses, gradients and best scores are compared before the
timing. Rounds alternate, and the medians are printed. Memory is the peak of loss and gradient above the
memory before: torch's allocations on a GPU, resident memory on a CPU (Linux only).

On a GPU, autograd runs each backward pass in its own thread, which costs 0.1 to 0.4 ms. The trainer disables
it (``torch.autograd.set_multithreading_enabled(False)``), and so does this script for both layers.
``--threads`` enables it. Part of the remaining time is the overhead of torch: the last line shows the time of
a function that computes nothing.

pytorch-crf is not a dependency of gonie; install it with `pip install pytorch-crf==0.7.2`. Results, with
machine and date, are in RESULTS.md.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter

import torch
from torch import Tensor

from gonie.nn import CRF
from gonie.nn.crf.chain import Chain
from gonie.nn.crf.engine import SCAN, choose
from gonie.nn.crf.path_score import path_score

TAGS = (9, 17, 33, 64)
SIZES = ((32, 40), (128, 40), (512, 64), (64, 512))


class Case:
    """One size, with the same batch and parameters for both layers."""

    def __init__(self, num_tags: int, size: tuple[int, int], device: str) -> None:
        import torchcrf

        generator = torch.Generator().manual_seed(num_tags)
        self.emissions = torch.randn(*size, num_tags, generator=generator).to(device).requires_grad_()
        self.tags = torch.randint(0, num_tags, size, generator=generator).to(device)
        self.mask = torch.ones(size, dtype=torch.bool, device=device)
        self.gonie, self.peer = CRF(num_tags).to(device), torchcrf.CRF(num_tags, batch_first=True).to(device)
        with torch.no_grad():
            self.gonie.transitions.copy_(self.peer.transitions)
            self.gonie.start.copy_(self.peer.start_transitions)
            self.gonie.end.copy_(self.peer.end_transitions)

    def gonie_step(self) -> list[Tensor]:
        """Return the loss, then the gradients of emissions, transitions, start and end."""
        loss = -self.gonie.log_likelihood(self.emissions, self.tags, self.mask).mean()
        crf = self.gonie
        return [loss, *torch.autograd.grad(loss, [self.emissions, crf.transitions, crf.start, crf.end])]

    def peer_step(self) -> list[Tensor]:
        crf = self.peer
        loss = -crf(self.emissions, self.tags, self.mask, reduction="mean")
        parameters = [crf.transitions, crf.start_transitions, crf.end_transitions]
        return [loss, *torch.autograd.grad(loss, [self.emissions, *parameters])]

    def gonie_decode(self) -> Tensor:
        return self.gonie.viterbi(self.emissions, self.mask)[0]

    def peer_decode(self) -> list[list[int]]:
        with torch.no_grad():
            return self.peer.decode(self.emissions, self.mask)

    def agree(self) -> None:
        """Exit if the layers disagree. The reference is the peer in float64."""
        exact = copy.copy(self)
        exact.peer = copy.deepcopy(self.peer).double()
        exact.emissions = self.emissions.detach().double().requires_grad_()
        for ours, theirs, right in zip(self.gonie_step(), self.peer_step(), exact.peer_step(), strict=True):
            torch.testing.assert_close(ours.double(), right, rtol=1e-4, atol=1e-5)
            torch.testing.assert_close(theirs.double(), right, rtol=1e-2, atol=1e-3)
        theirs = torch.tensor(self.peer_decode(), device=self.mask.device)
        chain = Chain(*(part.detach().double() for part in self.gonie.chain()))
        scores = [
            path_score(self.emissions.detach().double(), path, self.mask, chain)
            for path in (self.gonie_decode(), theirs)
        ]
        if not (scores[0] >= scores[1] - 1e-3).all():  # ours may be better: it is more precise
            sys.exit("the decoded paths differ, and the peer's are better")


def seconds(run: Callable[[], object], device: str, budget: float = 0.3) -> float:
    """Return the median time of a call, over as many calls as fit the budget."""
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times: list[float] = []
    began = perf_counter()
    while len(times) < 3 or (perf_counter() - began < budget and len(times) < 200):
        wait()
        start = perf_counter()
        run()
        wait()
        times.append(perf_counter() - start)
    return median(times)


def peak(run: Callable[[], object], device: str) -> float:
    """Return the peak memory of a call in MiB, above the memory before."""
    if device == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 2**20
    ctypes.CDLL("libc.so.6").malloc_trim(0)  # or reused memory would not count
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident("VmRSS")
    run()
    return max(0.0, resident("VmHWM") - before)


def resident(field: str) -> float:
    """Return a memory figure of this process in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 2**10


class Nothing(torch.autograd.Function):
    """A function that has the inputs and gradients of a CRF likelihood, but computes nothing."""

    @staticmethod
    def forward(ctx, *inputs):
        ctx.save_for_backward(*inputs)
        return inputs[0].new_empty(len(inputs[0]))

    @staticmethod
    def backward(ctx, _):
        return tuple(torch.empty_like(each) for each in ctx.saved_tensors)


def floor(case: Case) -> float:
    """Return the seconds of loss and gradient with a CRF that computes nothing."""
    inputs = [case.emissions, *case.gonie.chain()]
    return seconds(lambda: torch.autograd.grad(-Nothing.apply(*inputs).mean(), inputs), "cuda")


def compare(case: Case, device: str, rounds: int) -> dict[str, float]:
    """Return the medians over alternating rounds."""
    calls = {
        "gonie": case.gonie_step,
        "peer": case.peer_step,
        "gonie decode": case.gonie_decode,
        "peer decode": case.peer_decode,
    }
    for call in calls.values():
        call()
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(seconds(call, device))
    found = {name: median(values) for name, values in times.items()}
    if device == "cuda" or sys.platform == "linux":
        memory = {"gonie MiB": case.gonie_step, "peer MiB": case.peer_step}
        found |= {name: median(peak(call, device) for _ in range(3)) for name, call in memory.items()}
    return found


def check(device: str) -> None:
    """Compare the engine of the device with float64 on the CPU, in the hardest cases."""
    hard = [
        (num_tags, *size, 1.0)
        for num_tags in (1, 2, 9, 17, 33, 64, 65, 128, 129)
        for size in ((3, 1), (5, 37))
    ]
    hard += [(9, 2, 10_000, 1.0), (17, 4, 300, 100.0), (17, 4, 300, 1e4), (9, 2, 10_000, 1e4)]
    for num_tags, B, T, scale in hard:
        torch.manual_seed(num_tags)
        chain = Chain(*(scale * torch.randn(*s) for s in ((num_tags,) * 2, (num_tags,), (num_tags,))))
        emissions, tags = scale * torch.randn(B, T, num_tags), torch.randint(0, num_tags, (B, T))
        mask = torch.arange(T) < torch.randint(1, T + 1, (B, 1))
        mask[0] = True
        there = Chain(*(part.clone().to(device).requires_grad_() for part in chain))
        exact = Chain(*(part.double().requires_grad_() for part in chain))
        engine = choose(emissions.to(device), there.transitions.dtype)[0]
        e = emissions.clone().to(device).requires_grad_()
        wide = emissions.double().requires_grad_()
        ours = engine.log_likelihood(e, tags.to(device), mask.to(device), there)
        theirs = SCAN.log_likelihood(wide, tags, mask, exact)
        ours.sum().backward()
        theirs.sum().backward()
        marginals = engine.marginals(e, mask.to(device), there).cpu().double()
        _, scores = engine.viterbi(e, mask.to(device), there)
        _, best_scores = SCAN.viterbi(wide, mask, exact)
        found = {
            "value": ((ours.cpu().double() - theirs).abs() / (1 + theirs.abs())).max(),
            "marginals": (marginals - SCAN.marginals(wide, mask, exact)).abs().max(),
            "emissions": (e.grad.cpu().double() - wide.grad).abs().max(),
            "transitions": (there.transitions.grad.cpu().double() - exact.transitions.grad).abs().max() / T,
            "best": ((scores.cpu().double() - best_scores).abs() / (1 + best_scores.abs())).max(),
        }
        differences = {name: value.item() for name, value in found.items()}
        text = "  ".join(f"{name} {value:.0e}" for name, value in differences.items())
        print(f"K={num_tags:<4} B={B:<3} T={T:<6} scale {scale:<7g} {engine.name:<9} {text}", flush=True)
        if not all(value < 1e-3 for value in differences.values()):  # NaN fails too
            sys.exit("differences of 1e-3 or more")
    print("all within 1e-3")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--check", action="store_true", help="compare with float64 instead of timing")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tags", type=int, nargs="+", default=TAGS)
    parser.add_argument("--threads", action="store_true", help="keep autograd's own threads")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA GPU that PyTorch can use")
    if not arguments.check and find_spec("torchcrf") is None:
        sys.exit("pytorch-crf is not installed. Run: pip install pytorch-crf==0.7.2")
    if arguments.check:
        check(arguments.device)
        return
    with torch.autograd.set_multithreading_enabled(arguments.threads):
        print_table(arguments)


def print_table(arguments: argparse.Namespace) -> None:
    """Print one line per size."""
    print("                       loss + gradient, ms            decode, ms                peak, MiB")
    print("   K      (B, T)    gonie   peer  ratio        gonie   peer  ratio      gonie   peer  ratio")
    for num_tags in arguments.tags:
        for size in SIZES:
            case = Case(num_tags, size, arguments.device)
            case.agree()
            found = compare(case, arguments.device, arguments.rounds)
            line = f"{num_tags:>4}  {size!s:>10}"
            for ours, theirs, unit in (
                ("gonie", "peer", 1e3),
                ("gonie decode", "peer decode", 1e3),
                ("gonie MiB", "peer MiB", 1),
            ):
                if ours in found:
                    a, b = found[ours] * unit, found[theirs] * unit
                    line += f"  {a:7.3f} {b:7.1f} {b / max(a, 1e-3):5.0f}x   "
            print(line, flush=True)
    if arguments.device == "cuda":
        least = floor(Case(17, (32, 40), "cuda")) * 1e3
        print(f"a function that computes nothing: {least:.3f} ms for loss + gradient at K=17, (32, 40)")


if __name__ == "__main__":
    main()
