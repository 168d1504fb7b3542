"""Tests that a client of `gonie serve` gives the answers of the local models, for any text."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import gonie as package
from gonie.client.async_client import AsyncClient
from gonie.client.client import Client
from gonie.errors import InputError
from gonie.runtime.bundle import write_bundle

Command = Callable[..., Any]

WORDS = (
    *(
        "Anna",
        "lives",
        "in",
        "Seoul.",
        "Cleo",
        "Kim",
        "good",
        "bad",
        "film",
        "the",
        "삼성전자는",
        "서울에",
        "있다.",
    ),
    *(
        "🙂",
        "👍🏽",
        "🇰🇷",
        "e\u0301",
        "\u1109\u1161\u11b7",
        "\t",
        "\n",
        "\u200d",
        "\u00a0",
        "\u2028",
        "\x00",
        "<e1>",
    ),
)


def random_texts(number: int, seed: int) -> list[str]:
    """Return texts of words, emoji, Hangul, control characters and random characters."""
    chance = random.Random(seed)

    def character() -> str:
        first, last = chance.choice([(0x20, 0x7E), (0xA0, 0x2FF), (0xAC00, 0xD7A3), (0x1F300, 0x1F6FF)])
        return chr(chance.randint(first, last))

    def word() -> str:
        if chance.random() < 0.8:
            return chance.choice(WORDS)
        return "".join(character() for _ in range(chance.randint(1, 6)))

    return [
        chance.choice([" ", ""]).join(word() for _ in range(chance.randint(0, 20))) for _ in range(number)
    ]


TEXTS = random_texts(300, 1)
PAIRS = list(zip(TEXTS, random_texts(300, 2), strict=True))


@pytest.fixture(scope="module")
def folders(
    toy_run: Path,
    text_bundle: Callable[..., Any],
    pair_bundle: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """Return a tagger, classifiers with one and several labels, and pair models of labels and values."""
    folder = tmp_path_factory.mktemp("served")
    write_bundle(folder / "texts", text_bundle(recipe={"data": {"text_column": "body"}}))
    write_bundle(folder / "several", text_bundle(multi_label=True))
    write_bundle(folder / "pairs", pair_bundle())
    write_bundle(folder / "values", pair_bundle(values=True))
    return {"tagger": toy_run} | {name: folder / name for name in ("texts", "several", "pairs", "values")}


@pytest.fixture(scope="module")
def url(folders: dict[str, Path]) -> Iterator[str]:
    """Run `gonie serve` with the models, and return its URL."""
    pytest.importorskip("prometheus_client")
    models = [f"{name}={folder}" for name, folder in folders.items()]
    command = [
        sys.executable,
        "-m",
        "gonie",
        "--lang",
        "en",
        "serve",
        *models,
        "--port",
        "0",
        "--max-texts",
        "50",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        assert service.stdout is not None
        try:
            found = re.search(r"http://\S+", service.stdout.readline())
            assert found is not None
            yield found[0]
        finally:
            service.send_signal(signal.SIGINT)
            service.wait(60)


NAMES = ("tagger", "texts", "several", "pairs", "values")


def inputs(name: str) -> list[Any]:
    return PAIRS if name in ("pairs", "values") else TEXTS


@pytest.mark.parametrize("name", NAMES)
def test_streams_equal_those_of_the_local_model(url: str, folders: dict[str, Path], name: str) -> None:
    """A request takes at most 50 texts, so groups of 64 are divided."""
    local = package.load(folders[name])
    wanted = list(local.pipe(inputs(name)))
    with Client(f"{url}/{name}") as client:
        found = list(client.pipe(((each, at) for at, each in enumerate(inputs(name))), as_tuples=True))
        assert (client.task, client.labels) == (local.task, local.labels)
    assert [at for _, at in found] == list(range(len(wanted)))
    for (own, _), other in zip(found, wanted, strict=True):
        assert own.to_dict() == other.to_dict()
        assert type(own) is type(other)
        if name == "tagger":
            assert own.sentences == other.sentences
            assert own == type(other).from_dict(other.to_dict(), sentences=other.sentences)
        else:
            assert own == type(other).from_dict(other.to_dict())


@pytest.mark.parametrize("name", NAMES)
def test_the_asynchronous_client_gives_the_same_answers(
    url: str, folders: dict[str, Path], name: str
) -> None:
    given = inputs(name)[:100]

    async def answers() -> list[Any]:
        async with AsyncClient(f"{url}/{name}") as client:
            one = await (client(*given[0]) if isinstance(given[0], tuple) else client(given[0]))
            return [one, *[found async for found in client.pipe(given)]]

    local = package.load(folders[name])
    wanted = [answer.to_dict() for answer in local.pipe([given[0], *given])]
    assert [answer.to_dict() for answer in asyncio.run(answers())] == wanted


def test_settings_words_and_tokens_of_a_tagger(url: str, folders: dict[str, Path]) -> None:
    local = package.load(folders["tagger"])
    words = [text.split() for text in TEXTS[:60]]
    with package.load(f"{url}/tagger") as client:
        assert client.predicts() == local.predicts()
        found, wanted = client.with_nbest(3), local.with_nbest(3)
        assert [*map(_record, found.pipe(TEXTS[:60]))] == [*map(_record, wanted.pipe(TEXTS[:60]))]
        biased, wanted = (each.with_decoding("posterior", {"PER": 2.0}) for each in (client, local))
        assert [*map(_record, biased.pipe(TEXTS[:60]))] == [*map(_record, wanted.pipe(TEXTS[:60]))]
        assert [*map(_record, client.tag_tokens(words))] == [*map(_record, local.tag_tokens(words))]
        for text in TEXTS[:20]:
            tokens = [token[:3] for own in client.tokenise(text) for token in own]
            assert tokens == [token[:3] for token in local(text).tokens]
        with pytest.raises(InputError, match="bias for an unknown type: 'MISC'"):
            client.with_decoding(bias={"MISC": 1.0})("Anna")
        explained = client.explain("Anna lives in Seoul .", methods=["erasure"])
        assert len(explained["tokens"]) == 5


def test_descriptions_and_answers_name_the_same_bundle(url: str) -> None:
    """Otherwise the client would read the description again after each answer."""
    with Client(url, model="tagger") as client:
        known = client.entry()
        client("Anna")
        assert known.fields["bundle"]
        assert client.entry() is known


def test_the_url_of_a_route_is_refused(url: str) -> None:
    with Client(f"{url}/v1/tag") as client, pytest.raises(InputError, match="is not the URL of a model"):
        client("Anna")


def _record(document: Any) -> Any:
    return document.to_dict(), document.sentences


OUTPUTS = [
    ["--output", "pretty"],
    ["--output", "conll"],
    ["--output", "jsonl"],
    ["--nbest", "2", "--output", "jsonl"],
]


@pytest.mark.parametrize(
    "options", [*OUTPUTS, ["--output", "jsonl", "--offsets", "utf16", "--bias", "PER=1"]]
)
def test_gonie_tag_prints_the_same_bytes(
    gonie: Command, url: str, folders: dict[str, Path], tmp_path: Path, options: list[str]
) -> None:
    rows = [{"id": at, "text": text} for at, text in enumerate(TEXTS[:80])]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    read = ("--file", tmp_path / "a.jsonl")
    wanted = gonie("tag", folders["tagger"], *read, *options)
    assert wanted.code == 0
    found = gonie("tag", f"{url}/tagger", *read, *options)
    assert (found.code, found.out) == (0, wanted.out)


@pytest.mark.parametrize("name", ["texts", "several", "pairs", "values"])
def test_gonie_classify_prints_the_same_bytes(
    gonie: Command, url: str, folders: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """The service tells the columns of the model."""
    columns = {"texts": ("body",), "several": ("text",)}.get(name, ("premise", "hypothesis"))
    named = [option for column in columns[1:] and columns for option in ("--column", column)]
    rows = [dict(zip(columns, pair, strict=False)) for pair in PAIRS[:40]]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    read = ("--file", tmp_path / "a.jsonl", *named)
    for output in ("pretty", "jsonl"):
        wanted = gonie("classify", folders[name], *read, "--output", output)
        assert wanted.code == 0, wanted.err
        found = gonie("classify", f"{url}/{name}", *read, "--output", output)
        assert (found.code, found.out) == (0, wanted.out)
