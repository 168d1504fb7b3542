"""Tests `gonie tag URL` and `gonie classify URL` against a scripted service."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.client.remote_models import RemoteTagger, connect
from gonie.errors import BundleError, InputError
from gonie.tasks.load import find_bundle
from gonie.text.types import Sentence
from support.scripted_service import CLASSIFIER, PAIRS, TAGGER, Reply, ScriptedService, document, problem

Command = Callable[..., Any]


def test_texts_files_and_standard_input(gonie: Command, service: ScriptedService, tmp_path: Path) -> None:
    assert gonie("tag", service.url, "Anna sleeps.").out == "[Anna PER 0.50] sleeps.\n"
    (tmp_path / "a.txt").write_text("Anna sleeps.\nit rains\n", "utf-8")
    ended = gonie("tag", f"{service.url}/ner", "--file", tmp_path / "a.txt", "--output", "jsonl")
    assert [json.loads(line) for line in ended.out.splitlines()] == [
        document("Anna sleeps."),
        document("it rains"),
    ]
    ended = gonie("tag", service.url, "--output", "conll", stdin=b"Anna. it\n")
    assert ended.out == "Anna.\tB-PER\n\nit\tO\n\n"


def test_fields_of_the_input_come_back(gonie: Command, service: ScriptedService) -> None:
    given = b'{"id": 7, "text": "Anna"}\n'
    ended = gonie("tag", service.url, "--input", "jsonl", "--output", "jsonl", stdin=given)
    assert json.loads(ended.out) == {"id": 7, **document("Anna")}


def test_settings_and_offsets(gonie: Command, service: ScriptedService) -> None:
    options = ("--bias", "PER=1", "--decode", "posterior", "--output", "jsonl", "--offsets", "utf16")
    (span,) = json.loads(gonie("tag", service.url, "🙂 Anna", *options).out)["spans"]
    assert (span["start"], span["end"]) == (3, 7)
    body = service.requests("/v1/tag")[-1].body
    settings = {"decode": "posterior", "bias": {"PER": 1.0}, "sentences": True}
    assert body == {"texts": ["🙂 Anna"], "model": "ner", **settings}
    service.script = [
        Reply(
            body={
                "documents": [{**document("Anna"), "nbest": [[{"score": 1.0, "tags": ["O"], "spans": []}]]}],
                "sentences": [[[0, 1]]],
            }
        )
    ]
    assert gonie("tag", service.url, "Anna", "--nbest", 1).out == "  1.  100.00%  Anna\n\n"
    assert service.requests("/v1/tag")[-1].body["nbest"] == 1


def test_sentences_of_files_keep_their_text(gonie: Command, service: ScriptedService, tmp_path: Path) -> None:
    rows = "# text = Anna  sleeps\n1\tAnna\t_\tX\t_\t_\t_\t_\t_\t_\n2\tsleeps\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(rows, "utf-8")
    read = ("--file", tmp_path / "a.conllu", "--input", "conll", "--output", "jsonl")
    found = json.loads(gonie("tag", service.url, *read).out)
    assert service.requests()[-1].body["tokens"] == [["Anna", "sleeps"]]
    assert found["text"] == "Anna  sleeps"
    assert [found["text"][token["start"] : token["end"]] for token in found["tokens"]] == ["Anna", "sleeps"]


def test_classifiers_and_pairs(gonie: Command, service: ScriptedService) -> None:
    service.models = [{**CLASSIFIER, "columns": ["body"]}]
    given = b'{"body": "x", "id": 1}\n'
    ended = gonie("classify", service.url, "--input", "jsonl", "--output", "jsonl", stdin=given)
    answer = {"label": "a", "score": 0.75, "scores": {"a": 0.75, "b": 0.25}}
    assert json.loads(ended.out) == {"body": "x", "id": 1, "text": "x", **answer} or json.loads(
        ended.out
    ) == {
        "body": "x",
        "id": 1,
        **answer,
    }
    service.models = [PAIRS]
    ended = gonie("classify", service.url, "x", "y", "--output", "jsonl")
    assert json.loads(ended.out) == {"text": "x", "text_pair": "y", **answer}


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["tag", "{url}", "--file", "{file}", "--out", "{out}"], "--out needs the model itself"),
        (["classify", "{url}", "x"], "{url} is a tagger; use gonie tag {url}"),
        (["evaluate", "{url}", "{file}"], "is a service, but this needs the model itself"),
        (["explain", "{url}", "x"], "is a service, but this needs the model itself"),
        (["tag", "{url}/v1/tag", "x"], "{url}/v1/tag is not the URL of a model. Pass http://HOST:PORT/NAME"),
        (["tag", "{url}/pos", "x"], "does not serve a model 'pos'. It serves ner (tagger)"),
    ],
)
def test_refusals(
    gonie: Command, service: ScriptedService, tmp_path: Path, command: list[str], message: str
) -> None:
    (tmp_path / "a.txt").write_text("Anna\tO\n\n")
    names = {"url": service.url, "file": tmp_path / "a.txt", "out": tmp_path / "out"}
    ended = gonie(*(part.format(**names) for part in command))
    assert ended.code == 2
    assert message.format(**names) in " ".join(ended.err.split())


def test_a_missing_key_is_explained(gonie: Command, service: ScriptedService) -> None:
    service.script = [problem(401, "key-required", "send a key")]
    ended = gonie("tag", f"{service.url}/ner", "x")
    assert ended.code == 2
    assert f"{service.url} needs a valid API key. Set GONIE_KEY, or pass key=" in " ".join(ended.err.split())


def test_several_models_are_named(gonie: Command, service: ScriptedService) -> None:
    service.models = [TAGGER, CLASSIFIER]
    ended = gonie("tag", service.url, "Anna")
    assert ended.code == 2
    assert "serves 2 models: ner (tagger), intents (classifier)" in " ".join(ended.err.split())
    assert f"{service.url}/ner" in ended.err


def test_words_with_a_text_need_the_model_itself_if_they_are_smaller_than_words(
    service: ScriptedService,
) -> None:
    """The service would not know the spaces, which models of syllables may use."""
    service.models = [{**TAGGER, "unit": "syllable", "language": "ko"}]
    model = connect(service.url)
    assert isinstance(model, RemoteTagger)
    (document,) = model.pipe_sentences([Sentence(("가", "나"))])
    assert document.text == "가 나"
    with pytest.raises(InputError, match=r"a\.tsv:3: a service cannot tag the words of a file with texts"):
        list(
            model.pipe_sentences([Sentence(("가",), text="가", starts=(0,), ends=(1,), path="a.tsv", line=3)])
        )


def test_commands_that_need_the_model_itself_say_so(service: ScriptedService) -> None:
    with pytest.raises(BundleError, match=f"{service.url} is a service, but this needs the model itself"):
        find_bundle(Path(service.url))
