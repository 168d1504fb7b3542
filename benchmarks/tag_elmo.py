"""Measures tokens/s of tagging with ELMo from a bundle, and of the same tagger without ELMo.

    gonie export RUN_WITH --int8 --out BYTES
    python benchmarks/tag_elmo.py RUN_WITH RUN_WITHOUT --int8 BYTES --data en_ewt-ud-test.iob2 --rounds 5

All are run folders or bundles. The input is lists of words. Encoding, scoring, decoding and spans are timed.
The sides take turns, each in a process without torch. Another side computes only the matrix products of the
language model's loops, which shows what the machine can do at that moment.

At the end, the script prints where the time of the language model goes, from the profile of ONNX Runtime.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sides import Figures, Worker, alternate, medians, serve

ROWS = 64  # sentences per product: a batch of the tagger
STEPS = 20


def read_words(path: Path) -> list[list[str]]:
    """Read the words of each sentence of a corpus file."""
    from gonie.formats.format import ReadOptions
    from gonie.formats.tagged import read
    from gonie.text.report import Report

    return [list(sentence.words) for sentence in read(path, ReadOptions(), Report())]


def tagging(run: str, data: Path, threads: int) -> Iterator[Figures]:
    """Yield the figures of rounds of tagging the whole file, with the CPU seconds of each stage."""
    sys.modules["torch"] = None  # type: ignore[assignment]
    from gonie.tasks.load import load_tagger
    from gonie.tasks.tagging import tagger as predictor

    started = time.perf_counter()
    tagger = load_tagger(run, threads=threads)
    loaded = time.perf_counter() - started
    sentences = read_words(data)
    tokens = sum(map(len, sentences))
    spent: Counter[str] = Counter()

    def timed(name: str, function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            began = time.process_time()
            found = function(*arguments, **named)
            spent[name] += time.process_time() - began
            return found

        return call

    tagger.encoding.encode = timed("encode", tagger.encoding.encode)  # type: ignore[method-assign]
    predictor.collate = timed("collate", predictor.collate)  # type: ignore[attr-defined]
    tagger.scorer.scores = timed("score", tagger.scorer.scores)  # type: ignore[method-assign]
    tagger._label = timed("decode", tagger._label)  # type: ignore[assignment]
    tagger.tag_tokens(sentences)
    while True:
        spent.clear()
        wall, cpu = time.perf_counter(), time.process_time()
        tagger.tag_tokens(sentences)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        yield {"speed": tokens / wall, "cpu": cpu, "tokens": tokens, "load": loaded, **spent}


def products(run: str, threads: int) -> Iterator[Figures]:
    """Yield the speed of rounds of a matrix product with the size of a gate."""
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper

    columns, rows = 512, 1024
    weight = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["B", columns])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["B", rows])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    session = _session(model.SerializeToString(), threads)
    x = np.random.default_rng(1).standard_normal((ROWS, columns)).astype(np.float32)
    work = products_of(run)
    while True:
        began, times = time.perf_counter(), 0
        while time.perf_counter() - began < 1.0:
            for _ in range(STEPS):
                session.run(None, {"x": x})
            times += STEPS
        rate = 2 * ROWS * columns * rows * times / (time.perf_counter() - began)
        yield {"speed": rate / work if work else 0.0, "gflops": rate / 1e9, "work": work}


def _session(model: bytes, threads: int, profile: str = "") -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def graph_of(run: str) -> bytes:
    """Return the graph in a run folder or a bundle."""
    from gonie.tasks.load import find_bundle

    return (find_bundle(Path(run)) / "model.onnx").read_bytes()


def products_of(run: str) -> int:
    """Return the floating-point operations per token of the matrix products in the language model's loops."""
    import onnx

    graph = onnx.load_from_string(graph_of(run)).graph
    sizes = {weight.name: _product(weight.dims) for weight in graph.initializer}
    join = {"Cast": max, "Mul": max, "Concat": sum}
    for node in graph.node:
        if node.op_type in join and all(name in sizes for name in node.input):
            sizes[node.output[0]] = join[node.op_type](sizes[name] for name in node.input)  # type: ignore[operator]
    bodies = [
        a.g for node in graph.node if node.op_type == "Scan" for a in node.attribute if a.name == "body"
    ]
    return 2 * sum(sizes[node.input[1]] for body in bodies for node in body.node if node.op_type == "Gemm")


def _product(numbers: Any) -> int:
    total = 1
    for number in numbers:
        total *= number
    return total


def shares(run: str, data: Path, threads: int) -> dict[str, float]:
    """Return the seconds of each part of the main graph over the whole file, profiled by ONNX Runtime."""
    from gonie.features.batching import sorted_batches
    from gonie.features.corpus import collate
    from gonie.tasks.load import load_tagger
    from gonie.tasks.tagging.tagger import ONNX_BATCH
    from gonie.text.types import Sentence

    tagger = load_tagger(run, threads=threads)
    corpus = tagger.encoding.encode(Sentence(words=tuple(words)) for words in read_words(data))
    with tempfile.TemporaryDirectory() as folder:
        session = _session(graph_of(run), threads, profile=f"{folder}/profile")
        names = [given.name for given in session.get_inputs()]
        for rows in sorted_batches(corpus.lengths, tokens=ONNX_BATCH.tokens, sentences=ONNX_BATCH.sentences):
            batch = collate(corpus, rows)
            session.run(["scores"], {name: tagger.scorer._feed(batch, name) for name in names})  # type: ignore[attr-defined]
        events = json.loads(Path(session.end_profiling()).read_text("utf-8"))
    return _by_part(events)


def _by_part(events: list[Mapping[str, Any]]) -> dict[str, float]:
    nodes = [e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]
    loops = [(e["ts"], e["ts"] + e["dur"]) for e in nodes if e["args"]["op_name"] == "Scan"]
    found: Counter[str] = Counter()
    for event in nodes:
        kind, start = event["args"]["op_name"], event["ts"]
        inside = kind != "Scan" and any(begin <= start < end for begin, end in loops)
        if inside:
            found["  products in the loops"] += event["dur"] * (kind in ("Gemm", "FusedGemm"))
        else:
            found[PARTS.get(kind, "input products of the gates, mixes")] += event["dur"]
    return {name: seconds / 1e6 for name, seconds in found.items()}


PARTS = {"Scan": "language model: loops over time", "LSTM": "the tagger's own LSTM"}


def report(found: Mapping[str, list[Figures]]) -> None:
    """Print the medians of each side, and the limit by the matrix products."""
    middle = {name: medians(figures) for name, figures in found.items()}
    tokens = middle["with ELMo"]["tokens"]
    print(f"\n{tokens:,.0f} tokens; medians of {len(found['with ELMo'])} rounds\n")
    for name in (name for name in middle if name != "products"):
        side = middle[name]
        stages = ", ".join(f"{key} {side[key]:.2f}" for key in ("encode", "collate", "score", "decode"))
        print(
            f"{name:<16} {side['speed']:>8,.0f} tokens/s, {tokens / side['cpu']:,.0f} per CPU second; "
            f"loaded in {side['load']:.2f} s; CPU seconds: {stages}"
        )
    bare = middle["products"]
    print(
        f"products         {bare['speed']:>8,.0f} tokens/s without any other work: "
        f"{bare['gflops']:.0f} GFLOP/s, {bare['work'] / 1e6:.1f} MFLOP per token in the loops over time"
    )


def main() -> None:
    """Run the sides in turn, or run as one of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("elmo", help="a tagger with ELMo: a run folder or a bundle")
    parser.add_argument("plain", help="the same tagger without ELMo")
    parser.add_argument("--int8", help="the tagger with ELMo, exported with `gonie export --int8`")
    parser.add_argument("--data", type=Path, required=True, help="a file of tagged sentences")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--side", choices=["tag", "products"], help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side == "tag":
        return serve(tagging(arguments.elmo, arguments.data, arguments.threads))
    if arguments.side == "products":
        return serve(products(arguments.elmo, arguments.threads))

    def side(kind: str, run: str) -> Worker:
        own = [run, run, "--data", arguments.data, "--threads", arguments.threads, "--side", kind]
        return Worker(__file__, own, threads=arguments.threads, environment={})

    sides = {"with ELMo": ("tag", arguments.elmo), "without": ("tag", arguments.plain)}
    sides |= {"with ELMo, int8": ("tag", arguments.int8)} if arguments.int8 else {}
    sides |= {"products": ("products", arguments.elmo)}
    with ExitStack() as stack:
        workers = {name: stack.enter_context(side(*own)) for name, own in sides.items()}
        report(alternate(workers, arguments.rounds, "tokens/s"))
    print("\nseconds in the graph with ELMo:")
    for name, seconds in shares(arguments.elmo, arguments.data, arguments.threads).items():
        print(f"  {name:<50} {seconds:.2f}")
    return None


if __name__ == "__main__":
    main()
