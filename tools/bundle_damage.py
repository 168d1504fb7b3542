"""Creates damaged and malicious variants of a bundle from a seed, for ``fuzz_bundles``.

A broken disk truncates files and flips bits. An attacker also repairs the SHA-256 digests of changed files,
and may write anything that JSON and ONNX can express.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import onnx
from onnx import TensorProto, helper

INDEX = "bundle.json"
Files = dict[str, bytes]


class Variant(NamedTuple):
    """The files of a damaged bundle, the kind of damage, and whether their digests were repaired."""

    kind: str
    source: str
    repaired: bool
    files: Files

    @property
    def must_be_refused(self) -> bool:
        """Whether a file does not match its digest."""
        told = _told(self.files.get(INDEX, b""))
        return not self.repaired and any(
            name in told and told[name] != hashlib.sha256(content).hexdigest()
            for name, content in self.files.items()
        )


def variants(folders: Sequence[Path], number: int, seed: int) -> Iterator[Variant]:
    """Yield ``number`` variants of random bundles in ``folders``, each kind of damage in turn."""
    bundles = {str(folder): {file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders}
    for at in range(number):
        chance = random.Random(f"{seed} {at}")
        kind = list(DAMAGE)[at % len(DAMAGE)]
        source = chance.choice(list(bundles))
        files = DAMAGE[kind](chance, dict(bundles[source]), bundles)
        repaired = chance.random() < 0.75
        yield Variant(kind, source, repaired, _repaired(files) if repaired else files)


def _told(index: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(index)["files"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _repaired(files: Files) -> Files:
    told = _told(files.get(INDEX, b""))
    if not told:
        return files
    index = json.loads(files[INDEX])
    index["files"] = {
        name: hashlib.sha256(files[name]).hexdigest() if name in files else digest
        for name, digest in told.items()
    }
    return {**files, INDEX: json.dumps(index).encode()}


# --- bytes ------------------------------------------------------------------------------------------------

Bundles = Mapping[str, Files]


def _any_file(chance: random.Random, files: Files) -> str:
    return chance.choice([name for name in sorted(files) if files[name]])


def truncated(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Truncate a file."""
    name = _any_file(chance, files)
    return {**files, name: files[name][: chance.randrange(len(files[name]))]}


def flipped(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Flip a few bits of a file."""
    name = _any_file(chance, files)
    content = bytearray(files[name])
    for _ in range(chance.choice((1, 1, 2, 8))):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return {**files, name: bytes(content)}


def overwritten(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Overwrite a block of a file with zeros, noise, or another block of it."""
    name = _any_file(chance, files)
    content = bytearray(files[name])
    size = min(chance.choice((1, 4, 16, 512)), len(content))
    start, other = chance.randrange(len(content) - size + 1), chance.randrange(len(content) - size + 1)
    block = chance.choice((bytes(size), chance.randbytes(size), bytes(content[other : other + size])))
    content[start : start + size] = block
    return {**files, name: bytes(content)}


def exchanged(chance: random.Random, files: Files, bundles: Bundles) -> Files:
    """Replace a file by one of another bundle or by another one of this bundle, or remove it."""
    name = _any_file(chance, files)
    other = chance.choice([own for _, own in sorted(bundles.items())])
    way = chance.randrange(3)
    if way == 0 and name in other:
        return {**files, name: other[name]}
    if way == 1:
        return {**files, name: files[_any_file(chance, files)]}
    return {own: content for own, content in files.items() if own != name}


# --- bundle.json ------------------------------------------------------------------------------------------

DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]
STRANGE: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        7,
        2**31,
        2**63,
        10**30,
        0.5,
        -1.5,
        1e308,
        "",
        "x",
        "O",
        "\ud800",
        "\0",
    ),
    *(
        "../../etc/passwd",
        "/etc/passwd",
        "x" * 100_000,
        [],
        {},
        [[]],
        [None],
        [1, 2],
        {"a": 1},
        ["x", "x"],
        DEEP,
    ),
    *({"strings": [], "counts": [], "unknown": 0}, list(range(50_000)), [f"w{n}" for n in range(20_000)]),
)


def edited(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Replace one or two values by strange ones, or remove, duplicate or rename them."""
    index = json.loads(files[INDEX])
    for _ in range(chance.choice((1, 1, 2))):
        deep = isinstance(index.get("encoding"), dict) and chance.random() < 0.6  # the most used part
        _edit(chance, index["encoding"] if deep else index)
    return {**files, INDEX: json.dumps(index).encode("utf-8", "surrogatepass")}


def _edit(chance: random.Random, value: Any) -> None:
    """Change one value, at a random depth."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and chance.random() < 0.8:
            value = value[key]
            continue
        break
    way = chance.randrange(6)
    if way == 0:
        del value[key]
    elif way == 1 and isinstance(value, dict):
        value[f"{key}s"] = value.pop(key)
    elif way == 2 and isinstance(value, list):
        value.insert(key, value[chance.randrange(len(value))])
    else:
        value[key] = chance.choice(STRANGE)


TEXTS: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: text.decode().encode("utf-16"),
    lambda text: text.decode().encode("utf-32"),
    lambda text: b"\xef\xbb\xbf" + text,
    lambda text: text.decode().encode("latin-1", "replace"),
    lambda text: b"[" * 200_000,
    lambda text: b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    lambda text: text.replace(b'"model":', b'"model": {"a": ' + b"[" * 900 + b"]" * 900 + b'}, "was":', 1),
    lambda text: text.replace(b'"scores":', b'"scores": {"a": NaN}, "was":', 1),
    lambda text: text.replace(b'"scores":', b'"scores": {"a": -Infinity}, "was":', 1),
    lambda text: text.replace(b'"scores":', b'"scores": {"a": 1e999}, "was":', 1),
    lambda text: text.replace(b'"unknown":', b'"unknown":' + b"9" * 10_000 + b',"was":', 1),
    lambda text: text.replace(b'"unknown":', b'"unknown":1e999,"was":', 1),
    lambda text: text.replace(b'"format": ', b'"format": 9', 1),
    lambda text: text.replace(b'"format": ', b'"format": true, "was": ', 1),
    lambda text: text.replace(b'"files": {', b'"files": {"../../../etc/passwd": "0", ', 1),
    lambda text: text.replace(b'"files": {', b'"files": {"/etc/passwd": "0", ', 1),
    lambda text: b"",
    lambda text: b"null",
    lambda text: text + text,
    lambda text: text.replace(b":", b"=", 3),
)


def respelled(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Write the index in another encoding, as invalid JSON, or as JSON that only some parsers accept."""
    return {**files, INDEX: chance.choice(TEXTS)(files[INDEX])}


# --- graphs -----------------------------------------------------------------------------------------------


def rewritten(chance: random.Random, files: Files, _: Bundles) -> Files:
    """Change a graph so that it is still ONNX."""
    name = chance.choice([name for name in sorted(files) if name.endswith(".onnx")])
    model = onnx.load_from_string(files[name])
    chance.choice(GRAPHS)(chance, model.graph)
    if chance.random() < 0.1:
        model.opset_import.append(helper.make_opsetid(chance.choice(("evil", "com.microsoft", "")), 1))
    return {**files, name: model.SerializeToString()}


def _constant(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Change an integer constant, which shapes may depend on."""
    tensors = [each for each in graph.initializer if each.data_type == TensorProto.INT64 and each.raw_data]
    if tensors:
        tensor = chance.choice(tensors)
        value = chance.choice((0, -1, 2, 3, 100, 5_000, 60_000, 2**20, 2**24, 2**31 - 1, 2**40, 2**63 - 1))
        places = list(range(0, len(tensor.raw_data), 8)) or [0]
        at = chance.choice(places)
        raw = bytearray(tensor.raw_data)
        raw[at : at + 8] = value.to_bytes(8, "little", signed=True)
        tensor.raw_data = bytes(raw)


def _shape(chance: random.Random, graph: onnx.GraphProto) -> None:
    tensor = chance.choice(graph.initializer)
    values = (0, 1, 2, -1, 2**31, 2**62)
    if tensor.dims and chance.random() < 0.7:
        tensor.dims[chance.randrange(len(tensor.dims))] = chance.choice(values)
    else:
        tensor.dims.append(chance.choice(values))


def _type(chance: random.Random, graph: onnx.GraphProto) -> None:
    chance.choice(graph.initializer).data_type = chance.randrange(24)


def _size(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Resize a constant, so that its shape and its bytes still agree."""
    tensor = chance.choice(graph.initializer)
    if tensor.dims and tensor.raw_data:
        place = chance.randrange(len(tensor.dims))
        per = len(tensor.raw_data) // max(tensor.dims[place], 1)
        tensor.dims[place] = size = chance.choice((0, 1, tensor.dims[place] + 1, 1_000))
        tensor.raw_data = (tensor.raw_data * (size + 1))[: per * size]


def _numbers(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Replace weights by huge values, infinity, NaN or denormals."""
    tensors = [each for each in graph.initializer if each.data_type == TensorProto.FLOAT and each.raw_data]
    tensor = chance.choice(tensors)
    value = chance.choice(
        (b"\xff\xff\x7f\x7f", b"\x00\x00\x80\x7f", b"\x00\x00\xc0\x7f", b"\x01\x00\x00\x00")
    )
    tensor.raw_data = value * (len(tensor.raw_data) // 4)


def _external(chance: random.Random, graph: onnx.GraphProto) -> None:
    tensor = chance.choice(graph.initializer)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "../../../etc/passwd"), ("offset", "0"), ("length", "4")):
        tensor.external_data.add(key=key, value=value)
    if chance.random() < 0.5:
        tensor.ClearField("raw_data")


def _operator(chance: random.Random, graph: onnx.GraphProto) -> None:
    other = (
        "Loop",
        "If",
        "Tile",
        "RandomNormal",
        "EyeLike",
        "Evil",
        "Add",
        "Identity",
        "LSTM",
        "Expand",
        "Pad",
    )
    chance.choice(graph.node).op_type = chance.choice(other)


def _domain(chance: random.Random, graph: onnx.GraphProto) -> None:
    chance.choice(graph.node).domain = chance.choice(("evil", "ai.onnx.ml", "com.microsoft", "ai.onnx"))


def _wires(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Replace an input of an operator."""
    nodes = [node for node in graph.node if node.input]
    names = [name for node in graph.node for name in (*node.input, *node.output)] + [""]
    node = chance.choice(nodes)
    node.input[chance.randrange(len(node.input))] = chance.choice(names)


def _attribute(chance: random.Random, graph: onnx.GraphProto) -> None:
    attributes = [each for node in graph.node for each in node.attribute]
    if attributes:
        attribute = chance.choice(attributes)
        attribute.i = chance.choice((0, 1, -1, 2, 5_000, 2**20, 2**31, 2**62))
        if attribute.ints:
            attribute.ints[chance.randrange(len(attribute.ints))] = attribute.i


def _gone(chance: random.Random, graph: onnx.GraphProto) -> None:
    del graph.node[chance.randrange(len(graph.node))]


def _input(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Rename an input to another array of the batch, or to an unknown one."""
    name = chance.choice(("words", "chars", "tags", "evil", "x.rows", "spelled", "bag.ids", "lengths"))
    given = chance.choice(graph.input)
    for node in graph.node:
        for place, used in enumerate(node.input):
            if used == given.name:
                node.input[place] = name
    given.name = name


def _output(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Replace the scores by another tensor, perhaps of another shape."""
    made = [name for node in graph.node for name in node.output if name]
    node = next(node for node in graph.node if node.output[0] == graph.output[0].name)
    node.input[0] = chance.choice(made)


def _swollen(chance: random.Random, graph: onnx.GraphProto) -> None:
    """Expand a tensor to many rows at run time."""
    node = chance.choice([node for node in graph.node if node.output[0] != graph.output[0].name])
    size = chance.choice((2, 1_000, 30_000, 60_000))
    name, inner = node.output[0], f"{node.output[0]} before"
    node.output[0] = inner
    graph.initializer.append(helper.make_tensor(f"{name} size", TensorProto.INT64, [1], [size]))
    place = list(graph.node).index(node) + 1
    rest = [helper.make_node("Expand", [inner, f"{name} size"], [name]), *list(graph.node)[place:]]
    del graph.node[place:]
    graph.node.extend(rest)


GRAPHS: tuple[Callable[[random.Random, onnx.GraphProto], None], ...] = (
    *(_constant, _shape, _type, _size, _numbers, _external, _operator, _domain, _wires, _attribute, _gone),
    *(_input, _output, _swollen),
)

DAMAGE: Mapping[str, Callable[[random.Random, Files, Bundles], Files]] = {
    "truncated": truncated,
    "bits flipped": flipped,
    "block overwritten": overwritten,
    "JSON edited": edited,
    "JSON respelled": respelled,
    "graph rewritten": rewritten,
    "files exchanged": exchanged,
}
