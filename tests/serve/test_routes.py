from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gonie.formats.text_rows import TextRow
from gonie.serve.checks import Received, check
from gonie.serve.limits import Limits
from gonie.serve.model_path import ModelPath
from gonie.serve.served_model import ServedModel
from gonie.serve.stopwatch import Stopwatch
from gonie.tasks.records import Answered, Answering, Reject
from gonie.tasks.tagging.documents import rescheme
from gonie.text.schemes import IOB2
from support.hostile_texts import FIXED, random_texts
from support.running_service import BUNDLES, RunningService
from support.worker_answers import Ask, asking

Gonie = Callable[..., Any]
QUICK = [text for text in FIXED if len(text) < 2000]
OPTIONS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "plain": ({}, []),
    "nbest": ({"nbest": 3}, ["--nbest", "3"]),
    "posterior": ({"decode": "posterior"}, ["--decode", "posterior"]),
    "bias": ({"bias": {"PER": 2.5, "LOC": -1}}, ["--bias", "PER=2.5", "--bias", "LOC=-1"]),
    "posterior with bias": (
        {"decode": "posterior", "bias": {"PER": -3}},
        ["--decode", "posterior", "--bias", "PER=-3"],
    ),
    "utf16": ({"offsets": "utf16"}, ["--offsets", "utf16"]),
    "utf16 and nbest": ({"offsets": "utf16", "nbest": 2}, ["--offsets", "utf16", "--nbest", "2"]),
}


def printed(gonie: Gonie, call: str, texts: Sequence[str], tmp_path: Path, *options: str) -> list[str]:
    """Return the lines that the command prints for texts, without the line ends."""
    file = tmp_path / "texts.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    command, model = call.split()
    arguments = [command, BUNDLES / model, "--file", file, "--input", "jsonl", "--output", "jsonl", *options]
    made = gonie(*arguments)
    assert made.code == 0, made.err
    lines: list[str] = made.out.split("\n")
    assert lines.pop() == ""
    return lines


def enveloped(key: str, lines: Sequence[str], model: ServedModel) -> bytes:
    """Return the answer that has these lines, byte for byte."""
    elements = ", ".join(lines)
    return f'{{"{key}": [{elements}], "model": "{model.name}", "bundle": "{model.digest}"}}'.encode()


# --- the same as the commands


@pytest.mark.parametrize("model", ["letters", "features"])
@pytest.mark.parametrize("name", OPTIONS)
def test_documents_are_those_of_the_command(
    request: pytest.FixtureRequest, ask: Ask, models: dict[str, ServedModel], name: str, model: str
) -> None:
    gonie, tmp_path = request.getfixturevalue("gonie"), request.getfixturevalue("tmp_path")
    body, options = OPTIONS[name]
    lines = printed(gonie, f"tag {model}", QUICK, tmp_path, *options)
    (reply,) = ask(("tag", {"texts": QUICK, "model": model, **body}))
    # the command keeps the escapes of its input, where the service has only the text
    expected = [json.loads(line) for line in lines]
    assert json.loads(reply.body)["documents"] == expected
    plain = [json.dumps(each, ensure_ascii=False) for each in expected]
    assert reply.body == enveloped("documents", plain, models[model])


def test_a_document_is_the_line_of_the_command_for_the_text(
    gonie: Gonie, ask: Ask, models: dict[str, ServedModel]
) -> None:
    for text in (
        "Anna Kim lives in Seoul .",
        "안나는 서울에 산다.",
        "👩‍👩‍👧‍👦 Anna",
        "We met Bert Lee. It rains!",
    ):
        made = gonie("tag", BUNDLES / "letters", text, "--output", "jsonl")
        (reply,) = ask(("tag", {"texts": [text], "model": "letters"}))
        assert reply.body == enveloped("documents", [made.out.rstrip("\n")], models["letters"])


def test_documents_of_tokens_are_those_of_the_command(
    gonie: Gonie, ask: Ask, models: dict[str, ServedModel]
) -> None:
    sentences = ["Anna Kim lives in Seoul .", "it rains", "안나는 서울에 👍🏽"]
    made = gonie(
        "tag",
        BUNDLES / "letters",
        "--input",
        "tokens",
        "--output",
        "jsonl",
        stdin="\n".join(sentences).encode(),
    )
    body = {"tokens": [sentence.split() for sentence in sentences], "model": "letters"}
    (reply,) = ask(("tag", body))
    assert reply.body == enveloped("documents", made.out.splitlines(), models["letters"])


def test_results_are_those_of_the_command(
    gonie: Gonie, ask: Ask, models: dict[str, ServedModel], tmp_path: Path
) -> None:
    texts = [text for text in QUICK if text.strip()]
    lines = [json.loads(line) for line in printed(gonie, "classify texts", texts, tmp_path)]
    (reply,) = ask(("classify", {"texts": texts, "model": "texts"}))
    plain = [json.dumps(each, ensure_ascii=False) for each in lines]
    assert reply.body == enveloped("results", plain, models["texts"])
    made = gonie("classify", BUNDLES / "texts", "The plot is silly.", "--output", "jsonl")
    (reply,) = ask(("classify", {"texts": ["The plot is silly."]}))
    assert reply.body == enveloped("results", [made.out.rstrip("\n")], models["texts"])


LINES = [
    b'{"text": "Anna Kim lives in Seoul ."}',
    b'{"id": 1.10, "text": "Bert", "more": {"a": [1e400, "\\u00e9"]}}',
    '{"text": "안나는 👍🏽", "spans": 3, "tokens": []}'.encode(),
    b'{"text": "", "text_pair": null}',
    b'  {"text":"it rains","x":"\\ud800"}  ',
]


@pytest.mark.parametrize("query", ["model=letters", "model=letters&nbest=2", "model=features&offsets=utf16"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_lines_of_a_stream_are_those_of_the_command(
    gonie: Gonie, ask: Ask, tmp_path: Path, query: str, end: bytes
) -> None:
    """Further fields come back, and blank lines have no answer."""
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n\n".join(LINES) + end)
    given = dict(each.split("=") for each in query.split("&"))
    model = given.pop("model")
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    made = gonie("tag", BUNDLES / model, "--file", file, "--output", "jsonl", *options)
    assert made.code == 0, made.err
    (reply,) = ask(("batch", file.read_bytes(), query))
    assert (reply.status, reply.media_type) == (200, b"application/x-ndjson")
    assert reply.body.decode() == made.out


def test_lines_of_a_classifier_are_those_of_the_command(gonie: Gonie, ask: Ask, tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'{"text": "The plot is silly.", "label": 1}\n\n{"n": 2, "text": "fine"}\n')
    made = gonie("classify", BUNDLES / "texts", "--file", file, "--output", "jsonl")
    (reply,) = ask(("batch", file.read_bytes(), "model=texts"))
    assert reply.body.decode() == made.out


def test_invalid_lines_have_an_error_and_their_number(ask: Ask) -> None:
    lines = [
        b'{"text": "Anna"}',
        b"",
        b"{",
        b'{"text": 1}',
        b"[]",
        b'{"texts": "a"}',
        b'{"text": "\xff"}',
        b'{"text": "\\ud800"}',
        b'{"text": "Bert"}',
        b"[" * 100_000,
        b'{"text": "a", "n": ' + b"1" * 5000 + b"}",
    ]
    (reply,) = ask(("batch", b"\n".join(lines), "model=letters", 11))
    found = [json.loads(line) for line in reply.body.splitlines()]
    assert [each.get("row", each.get("text")) for each in found] == ["Anna", *range(13, 19), "Bert", 20, 21]
    assert all(set(each) == {"error", "row"} for each in found if "error" in each)
    assert all("lines:" not in each["error"] for each in found if "error" in each)


# --- what is wrong with a request

WRONG: dict[str, tuple[str, Any, str, str]] = {
    "a field almost right": (
        "tag",
        {"text": "a"},
        "",
        "unknown field: text. Did you mean texts? Fields: texts, ",
    ),
    "an unknown field": ("tag", {"zzz": 1}, "", "unknown field: zzz. Fields: texts, tokens, "),
    "a text for a list": ("tag", {"texts": "a"}, "", 'texts must be a list of strings, such as ["…"]'),
    "words for sentences": ("tag", {"tokens": ["a"]}, "", "tokens must be a list of sentences"),
    "one text for a pair": ("classify", {"pairs": [["a"]]}, "", "pairs must be a list of pairs of strings"),
    "a number for a text": ("tag", {"texts": ["a", 1]}, "", "texts[1] must be a string"),
    "a text for a number": ("tag", {"texts": [], "nbest": "x"}, "", "nbest must be a whole number"),
    "a text for a number in the query": ("tag", {"texts": []}, "nbest=x", "nbest must be a whole number"),
    "a small number": ("tag", {"texts": [], "nbest": 0}, "", "nbest must be at least 1"),
    "a large number": ("tag", {"texts": [], "bias": {"PER": 101}}, "", "bias.PER must be at most 100"),
    "a list for an object": ("tag", {"texts": [], "bias": []}, "", "bias must be an object with a number"),
    "another word": ("tag", {"texts": [], "decode": "x"}, "", "decode must be 'viterbi' or 'posterior'"),
    "no truth": ("tag", {"texts": [], "sentences": 1}, "", "sentences must be true or false"),
    "a missing field": ("tokenise", {"model": "letters"}, "", "texts is missing. Send a list of strings"),
    "an empty body": ("tag", b"", "", "the body is empty. Send a JSON object"),
    "no object": ("tag", b"[]", "", "the body is not an object. Send a JSON object"),
    "no JSON": ("tag", b"{", "", "invalid JSON: "),
    "a field twice in the query": ("tag", {"texts": []}, "nbest=2&nbest=3", "nbest is in the query 2 times"),
    "a field twice in the query of a stream": (
        "batch",
        b"",
        "model=letters&nbest=2&nbest=3",
        "nbest is in the query 2 times. Send it once",
    ),
    "a row in the query of a stream": ("batch", b"", "model=letters&row=3", "unknown field: row"),
    "many words": (
        "explain",
        {"texts": ["a " * 1500], "model": "letters"},
        "",
        "the request has at least 1,500 tokens; an explanation may have 1,000. Send shorter texts",
    ),
    "many tokens": (
        "explain",
        {"texts": ["a," * 700], "model": "letters"},
        "",
        "the request has 1,400 tokens; an explanation may have 1,000. Send shorter texts",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_refusal_says_what_to_send(ask: Ask, name: str) -> None:
    route, body, query, expected = WRONG[name]
    (reply,) = ask((route, body, query))
    detail = json.loads(reply.body)["detail"]
    assert detail.startswith(expected)
    assert "Input should" not in detail


# --- pairs


@pytest.fixture(scope="module")
def pair_models(pair_runs: Path) -> dict[str, ServedModel]:
    return {
        name: ServedModel(ModelPath(name, str(pair_runs / name)), threads=1, watch=Stopwatch())
        for name in ("labels", "values")
    }


PAIRS = [["The plot is fine.", "The cast is dull."], ["안나 👍🏽", "a"], ["b", " c "]]


@pytest.mark.parametrize("name", ["labels", "values"])
def test_pairs_are_those_of_the_command(
    gonie: Gonie, pair_runs: Path, pair_models: dict[str, ServedModel], tmp_path: Path, name: str
) -> None:
    file = tmp_path / "pairs.jsonl"
    rows = [{"sentence1": first, "sentence2": second} for first, second in PAIRS]
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    made = gonie("classify", pair_runs / name, "--file", file, "--output", "jsonl")
    assert made.code == 0, made.err
    ask = asking(pair_models)
    streamed, classified = ask(
        ("batch", file.read_bytes(), f"model={name}"), ("classify", {"pairs": PAIRS, "model": name})
    )
    assert streamed.body.decode() == made.out
    results = json.loads(classified.body)["results"]
    assert [(each.pop("text"), each.pop("text_pair")) for each in results] == [tuple(pair) for pair in PAIRS]
    lines = [json.loads(line) for line in made.out.splitlines()]
    own = [{key: value for key, value in line.items() if not key.startswith("sentence")} for line in lines]
    assert [{k: v for k, v in each.items() if not k.startswith("text")} for each in own] == results


@pytest.mark.parametrize("name", ["labels", "values"])
def test_lines_may_have_the_keys_of_results(pair_models: dict[str, ServedModel], name: str) -> None:
    """A line may be an element of an answer of /v1/classify. The model's own columns come first."""
    assert pair_models[name].columns == ("sentence1", "sentence2")
    lines = [
        {"id": 1, "text": "a", "text_pair": "b"},
        {"id": 2, "sentence1": "a", "sentence2": "b"},
        {"id": 3, "sentence1": "a", "sentence2": 1, "text": "a", "text_pair": "b"},
        {"id": 4, "text": "a"},
    ]
    body = "\n".join(map(json.dumps, lines)).encode()
    streamed, classified = asking(pair_models)(
        ("batch", body, f"model={name}"), ("classify", {"pairs": [["a", "b"]], "model": name})
    )
    general, own, wrong, missing = (json.loads(line) for line in streamed.body.splitlines())
    (result,) = json.loads(classified.body)["results"]
    assert general == {"id": 1, **result}
    predicted = {key: value for key, value in result.items() if not key.startswith("text")}
    assert own == {"id": 2, "sentence1": "a", "sentence2": "b", **predicted}
    assert wrong == {"error": "expected a string under 'sentence2', got a number", "row": 3}
    assert missing == {"error": "no key 'sentence1'. The object's keys: 'id', 'text'", "row": 4}


def test_lines_of_a_classifier_with_a_column_of_its_own(models: dict[str, ServedModel]) -> None:
    """A classifier trained with ``--text question`` also takes ``text``, as /v1/classify does."""
    model = copy(models["texts"])
    model.columns = ("question",)
    lines = b'{"question": "The plot is silly."}\n{"text": "The plot is silly."}\n{"q": "a"}'
    (reply,) = asking({"texts": model})(("batch", lines))
    own, general, wrong = (json.loads(line) for line in reply.body.splitlines())
    assert own.pop("question") == general.pop("text") == "The plot is silly."
    assert own == general
    assert wrong == {"error": "no key 'question'. The object's keys: 'q'", "row": 3}


def test_pair_models_answer_all_routes(pair_models: dict[str, ServedModel]) -> None:
    ask = asking({"labels": pair_models["labels"]})
    for route, body, status in (
        ("classify", {"pairs": PAIRS}, 200),
        ("classify", {"texts": ["a"]}, 422),
        ("classify", {"pairs": []}, 200),
        ("explain", {"pairs": PAIRS[:2]}, 200),
        ("explain", {"pairs": PAIRS[:2], "offsets": "utf16", "methods": ["erasure"], "label": "same"}, 200),
        ("explain", {"texts": ["a"]}, 422),
        ("tokenise", {"texts": ["The plot is fine."]}, 200),
        ("tag", {"texts": ["a"]}, 404),
        ("tag", {"texts": ["a"], "model": "labels"}, 422),
    ):
        (reply,) = ask((route, body))
        assert reply.status == status, (route, body, reply.body)
    (reply,) = ask(("explain", {"pairs": PAIRS}))
    for pair, explained in zip(PAIRS, json.loads(reply.body)["explanations"], strict=True):
        for token in explained["tokens"]:
            assert pair[token["part"]][token["start"] : token["end"]] == token["text"]
        for weights in explained["answers"][0]["weights"].values():
            assert len(weights) == len(explained["tokens"])


def test_pairs_choose_the_model_of_pairs(
    pair_models: dict[str, ServedModel], models: dict[str, ServedModel]
) -> None:
    """A text classifier and a pair classifier need no names: the request says which one fits."""
    ask = asking({"texts": models["texts"], "labels": pair_models["labels"]})
    texts, pairs = ask(("classify", {"texts": ["a"]}), ("classify", {"pairs": [["a", "b"]]}))
    assert json.loads(texts.body)["model"] == "texts"
    assert json.loads(pairs.body)["model"] == "labels"


# --- explanations and tokens


def utf16(text: str, start: int, end: int) -> str:
    """Return a piece of a text as JavaScript would."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


EXPLAINED = ["👩‍👩‍👧‍👦 Anna Kim lives in Seoul .", "Bert. It rains!", "", "안나 𝔄"]


@pytest.mark.parametrize("offsets", ["codepoints", "utf16"])
@pytest.mark.parametrize("model", ["letters", "texts"])
def test_offsets_of_explanations_and_tokens(ask: Ask, model: str, offsets: str) -> None:
    """Tokens, spans and answers are the pieces of the text that their offsets say."""
    body = {"texts": EXPLAINED, "model": model, "offsets": offsets}
    explained, tokenised = ask(("explain", body), ("tokenise", body))
    cut = utf16 if offsets == "utf16" else lambda text, start, end: text[start:end]
    for text, own in zip(EXPLAINED, json.loads(explained.body)["explanations"], strict=True):
        spans = [span for best in own.get("nbest", []) for each in best for span in each["spans"]]
        answers = [answer for answer in own["answers"] if "start" in answer]
        for place in (*own["tokens"], *spans, *answers):
            assert cut(text, place["start"], place["end"]).strip() == place["text"].strip()
        for answer in answers:
            first, last = own["sentences"][answer["sentence"]]
            assert all(len(weights) == last - first for weights in answer["weights"].values())
    for text, own in zip(EXPLAINED, json.loads(tokenised.body)["documents"], strict=True):
        for token in (token for sentence in own["sentences"] for token in sentence):
            assert cut(text, token["start"], token["end"]).strip() == token["text"].strip()


def test_tokens_are_those_of_the_documents(ask: Ask) -> None:
    body = {"texts": QUICK, "model": "letters"}
    tagged, tokenised = ask(("tag", body), ("tokenise", body))
    for document, split in zip(
        json.loads(tagged.body)["documents"], json.loads(tokenised.body)["documents"], strict=True
    ):
        places = [(token["start"], token["end"], token["text"]) for token in document["tokens"]]
        assert places == [
            (token["start"], token["end"], token["text"]) for each in split["sentences"] for token in each
        ]


@pytest.fixture
def reading_iob2(monkeypatch: pytest.MonkeyPatch) -> ServedModel:
    """A tagger with BIOES tags of its own, whose documents are in IOB2."""
    path = ModelPath("letters", str(BUNDLES / "letters"))
    served = ServedModel(path, threads=1, watch=Stopwatch())
    tagger: Any = served.model
    assert tagger.encoding.scheme.kind == "BIOES"
    monkeypatch.setattr(tagger, "given_scheme", IOB2)
    monkeypatch.setattr(tagger, "_rescheme", rescheme(tagger.encoding.scheme, IOB2))
    return served


def test_tags_of_explanations_are_those_of_documents(reading_iob2: ServedModel) -> None:
    """Only marginals have the model's own tags."""
    ask, body = asking({"letters": reading_iob2}), {"texts": ["Anna Kim lives in Seoul ."], "nbest": 3}
    tagged, explained = ask(("tag", body), ("explain", body | {"spans": ["Seoul=PER"]}))
    (document,) = json.loads(tagged.body)["documents"]
    (own,) = json.loads(explained.body)["explanations"]
    tags = [token["tag"] for token in document["tokens"]]
    assert "B-LOC" in tags
    assert [token["tag"] for token in own["tokens"]] == tags
    assert [token["score"] for token in own["tokens"]] == [token["score"] for token in document["tokens"]]
    assert [[each["tags"] for each in best] for best in own["nbest"]] == [
        [each["tags"] for each in best] for best in document["nbest"]
    ]
    assert own["answers"][0]["preferred"]["tags"] == ["B-LOC"]
    assert "S-LOC" in own["tokens"][0]["marginals"]


def test_methods_of_explanations(ask: Ask) -> None:
    text = "Anna Kim lives in Seoul ."
    (reply,) = ask(("explain", {"texts": [text], "model": "letters", "methods": ["marginals"]}))
    (own,) = json.loads(reply.body)["explanations"]
    assert "nbest" not in own
    assert all(abs(sum(token["marginals"].values()) - 1) < 1e-3 for token in own["tokens"])
    assert all(answer["weights"] == {} for answer in own["answers"])
    (reply,) = ask(("explain", {"texts": [text], "model": "letters", "methods": ["nbest"], "nbest": 2}))
    (own,) = json.loads(reply.body)["explanations"]
    assert [len(best) for best in own["nbest"]] == [2]
    assert "marginals" not in own["tokens"][0]


# --- groups

REQUESTS = st.one_of(
    st.builds(
        lambda texts, options, model: ("tag", {"texts": texts, "model": model, **options}),
        st.lists(st.sampled_from(QUICK), max_size=3),
        st.sampled_from([body for body, _ in OPTIONS.values()]),
        st.sampled_from(["letters", "features"]),
    ),
    st.builds(lambda texts: ("classify", {"texts": texts}), st.lists(st.sampled_from(QUICK), max_size=3)),
    st.builds(
        lambda texts: ("tokenise", {"texts": texts, "model": "letters"}),
        st.lists(st.sampled_from(QUICK), max_size=2),
    ),
    st.builds(
        lambda lines, query, row: ("batch", b"\n".join(lines), query, row),
        st.lists(st.sampled_from([*LINES, b"", b"{", b'{"text": 1}', b'{"text": "\xff"}']), max_size=4),
        st.sampled_from(["model=letters", "model=texts", "model=none", "nbest=x"]),
        st.sampled_from([1, 7]),
    ),
    st.sampled_from(
        [
            ("tag", b"{"),
            ("tag", {"texts": ["a"], "bias": {"X": 1}}),
            ("tag", {"texts": ["a"], "bias": {"X": 1}, "model": "letters"}),
            ("tag", {"tokens": [["Anna", "Kim"]], "model": "letters"}),
            ("tag", {"tokens": [[""]], "model": "letters"}),
            ("explain", {"texts": ["Anna"], "model": "letters"}),
            ("explain", {"texts": ["Anna"], "model": "letters", "label": "x"}),
        ]
    ),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=st.lists(REQUESTS, min_size=1, max_size=8))
def test_an_answer_does_not_depend_on_other_requests(ask: Ask, requests: list[Any]) -> None:
    """Requests that happen to arrive together, valid or not, must not change each other's answers."""
    together = ask(*requests)
    assert together == [reply for request in requests for reply in ask(request)]


def test_requests_with_the_same_options_are_answered_together(models: dict[str, ServedModel]) -> None:
    bodies = [b'{"texts": ["Anna"], "model": "letters"}', b'{"model": "letters", "texts": ["Bert"]}']
    first, second = (check(Received("tag", "", body), models, Limits()).group for body in bodies)
    assert first == second


@pytest.mark.parametrize("route", ["tag", "batch"])
def test_a_missing_answer_shifts_no_other(models: dict[str, ServedModel], route: str) -> None:
    """A defect must not give a text the answer of another."""

    class Forgetful:
        """Answers all rows but the first."""

        def __init__(self, answering: Answering) -> None:
            self.record = answering.record
            self._answering = answering

        def __call__(self, rows: Iterable[TextRow], reject: Reject, *, first: int) -> Iterator[Answered]:
            return islice(self._answering(rows, reject, first=first), 1, None)

    model = copy(models["letters"])
    answering = model.answering
    model.answering = lambda options: Forgetful(answering(options))  # type: ignore[method-assign,assignment,return-value]
    body = b'{"texts": ["Anna", "Bert"]}' if route == "tag" else b'{"text": "Anna"}\n{"text": "Bert"}'
    with pytest.raises(KeyError):
        asking({"letters": model})((route, body))


# --- a thousand texts by fifty clients


@pytest.mark.long
@pytest.mark.parametrize("offsets", ["codepoints", "utf16"])
def test_a_thousand_texts_by_fifty_clients(
    service: RunningService, gonie: Gonie, models: dict[str, ServedModel], tmp_path: Path, offsets: str
) -> None:
    """Each answer under load is the line of the command, byte for byte, whatever else is asked."""
    texts = random_texts(1000)
    option = ["--offsets", offsets]
    expected = {
        (model, name): printed(gonie, f"tag {model}", texts, tmp_path, *option, *more)
        for model in ("letters", "features")
        for name, more in (("plain", []), ("nbest", ["--nbest", "2"]))
    }

    def plain(line: str) -> str:
        return json.dumps(json.loads(line), ensure_ascii=False)

    def client(number: int) -> list[str]:
        wrong = []
        with service.new_client() as http:
            for at in range(number, len(texts), 50):
                model = ("letters", "features")[at % 3 == 0]
                name = ("plain", "nbest")[at % 5 == 0]
                if at % 7 == 0:
                    http.post("/v1/classify", json={"texts": ["a", texts[at]]})
                if at % 11 == 0:
                    http.post("/v1/tag", content=b'{"texts": 1}')
                body = {"texts": [texts[at]], "model": model, "offsets": offsets}
                body |= {"nbest": 2} if name == "nbest" else {}
                answer = http.post("/v1/tag", content=json.dumps(body).encode())
                if answer.content != enveloped(
                    "documents", [plain(expected[model, name][at])], models[model]
                ):
                    wrong.append(f"{texts[at][:100]!r} {body['model']} {name}: {answer.text[:300]}")
        return wrong

    with ThreadPoolExecutor(50) as clients:
        assert [wrong for each in clients.map(client, range(50)) for wrong in each] == []

    lines = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
    answer = service.post(f"/v1/batch?model=letters&offsets={offsets}", lines)
    assert answer.text.split("\n")[:-1] == expected["letters", "plain"]
