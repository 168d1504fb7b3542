"""Tests in-context models as a whole, with `gonie.load` and a real endpoint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.errors import GonieError, InputError, MissingExtraError, ServiceError
from gonie.in_context.chat import PromptShown
from support.language_model import ScriptedModel, refusal

KOREAN = """## klue-ner-1\t<이순신:PS>은 <서울:LC>에
이\tB-PS
순\tI-PS
신\tI-PS
은\tO
 \tO
서\tB-LC
울\tI-LC
에\tO
"""


def load(endpoint: ScriptedModel, file: Path, **settings: Any) -> Any:
    return gonie.load(f"llm:{endpoint.url}/v1", shots_from=file, **{"shots": 2, "cache": "off", **settings})


def test_a_tagger_returns_documents_without_probabilities(endpoint: ScriptedModel, toy: Path) -> None:
    tagger = load(endpoint, toy / "train.conll")
    text = "Anna lives in Seoul. Then  Bert left!"
    document = tagger(text)
    assert [(s.start, s.end, s.label, s.text, s.score) for s in document.spans] == [
        (0, 4, "PER", "Anna", None),
        (14, 19, "LOC", "Seoul", None),
        (21, 25, "PER", "Then", None),
        (27, 31, "PER", "Bert", None),
    ]
    assert document.tags[:5] == ("B-PER", "O", "O", "B-LOC", "O")
    assert "score" not in document.to_json()
    assert len(endpoint.asked) == 2  # one per sentence
    assert len(endpoint.asked[0]["messages"]) == 6
    assert tagger.predicts() == "2 types: LOC, PER"
    assert tagger("") == gonie.Document("")
    (own,) = tagger.tag_tokens([["Anna", "left"]])
    assert [span.text for span in own.spans] == ["Anna"]


def test_scores_are_those_of_the_answers(endpoint: ScriptedModel, toy: Path) -> None:
    scores = gonie.evaluate(load(endpoint, toy / "train.conll"), toy / "test.conll")
    gold = sum(line.endswith(("B-PER", "B-LOC")) for line in (toy / "test.conll").read_text().splitlines())
    inside = sum(line.endswith("I-PER") for line in (toy / "test.conll").read_text().splitlines())
    assert inside
    assert scores.recall == pytest.approx((gold - inside) / gold)  # the endpoint finds single words
    assert scores.precision == pytest.approx((gold - inside) / (gold + inside))
    assert scores.to_dict()["calibration"] is None


def test_a_failed_request_is_counted_and_has_no_spans(endpoint: ScriptedModel, toy: Path) -> None:
    tagger = load(endpoint, toy / "train.conll", retries=0, concurrency=1)
    endpoint.script = [refusal(500, "broken")]
    scores = gonie.evaluate(tagger, toy / "test.conll")
    assert tagger.usage.failed == [(f"{toy / 'test.conll'}:1", "status 500: broken")]
    assert scores.recall < 1
    endpoint.script = [refusal(400, "too long")]
    document = tagger("Anna left")
    assert document.spans == ()
    assert document.notes == ("sentence 1: no answer: status 400: too long",)


def test_notes_say_what_was_dropped(endpoint: ScriptedModel, toy: Path) -> None:
    endpoint.write = lambda messages: '[{"text": "Zoe", "label": "PER"}, {"text": "Anna", "label": "X"}]'
    assert load(endpoint, toy / "train.conll")("Anna left").notes == (
        "sentence 1: 1 dropped from the answer: not in the text",
        "sentence 1: 1 dropped from the answer: unknown label",
    )
    endpoint.write = lambda messages: "I cannot do this."
    assert load(endpoint, toy / "train.conll")("Anna left").notes == (
        "sentence 1: malformed answer: not valid JSON",
    )


def test_labels_without_a_file(endpoint: ScriptedModel) -> None:
    tagger = gonie.load(f"llm:{endpoint.url}/v1", describe={"PER": "persons", "LOC": ""}, cache="off")
    assert [span.label for span in tagger("Anna left Oslo").spans] == ["PER", "LOC"]
    (system, user) = endpoint.asked[0]["messages"]
    assert "- PER: persons\n- LOC\n" in system["content"]
    assert user["content"] == "Anna left Oslo"


def test_korean_files_are_asked_in_korean_over_syllables(endpoint: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "train.klue"
    file.write_text(KOREAN + "\n" + KOREAN.replace("이\tB-PS", "박\tB-PS").replace("<이", "<박"), "utf-8")
    endpoint.write = lambda messages: json.dumps([{"text": "이순신", "label": "PS"}], ensure_ascii=False)
    tagger = load(endpoint, file)
    document = tagger("어제 이순신은 떠났다.")
    assert [(span.start, span.end, span.text) for span in document.spans] == [(3, 6, "이순신")]
    assert "유형의 개체명" in endpoint.asked[0]["messages"][0]["content"]
    assert gonie.evaluate(tagger, file).recall == 0.25


def test_korean_words_without_a_text_are_refused_unless_they_are_the_unit(
    endpoint: ScriptedModel, tmp_path: Path
) -> None:
    """A language model has no unit, so the message names the setting."""
    file = tmp_path / "train.conll"
    file.write_text("이순신은\tB-PS\n서울에\tB-LC\n갔다\tO\n\n" * 3, "utf-8")
    with pytest.raises(InputError) as error:
        load(endpoint, file)
    told = str(error.value)
    assert "but in-context models read syllables. Without a text, they cannot be cut anew" in told
    assert told.endswith("To read such words, use --llm unit=eojeol")
    assert "data.unit" not in told
    endpoint.write = lambda messages: json.dumps([{"text": "서울에", "label": "LC"}], ensure_ascii=False)
    assert [span.text for span in load(endpoint, file, unit="eojeol")("서울에 가자").spans] == ["서울에"]


def test_a_classifier_gives_one_label_or_none(endpoint: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\ngood fun\tgood\n", "utf-8")
    answers = {"fine": '{"label": "good"}', "odd": '{"label": "meh"}', "weak": "bad"}
    endpoint.write = lambda messages: answers[messages[-1]["content"].split()[0]]
    classifier = load(endpoint, file)
    assert classifier.task == "classify"
    found = list(classifier.pipe(["fine day", "odd day", "weak day"]))
    assert [each.labels for each in found] == [("good",), (), ()]
    assert [each.label for each in found] == ["good", "", ""]
    assert found[0].scores == {"good": 1.0, "bad": 0.0}
    assert [each.notes for each in found] == [
        (),
        ("1 dropped from the answer: unknown label",),
        ("malformed answer: not valid JSON",),
    ]
    test = tmp_path / "test.tsv"
    test.write_text("text\tlabel\nfine x\tgood\nodd x\tgood\nweak x\tbad\nfine y\tbad\n", "utf-8")
    scores = gonie.evaluate(classifier, test)
    assert scores.accuracy == 0.25
    pairs = list(classifier.pipe([("fine a", 1), ("fine b", 2)], as_tuples=True))
    assert [context for _, context in pairs] == [1, 2]


def test_several_labels(endpoint: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\na film\tfun,long\na book\tlong\n", "utf-8")
    endpoint.write = lambda messages: "fun\nlong" if "film" in messages[-1]["content"] else "none"
    classifier = load(endpoint, file, label_separator=",", format="lines")
    assert [each.labels for each in classifier.pipe(["this film", "this book"])] == [("fun", "long"), ()]
    assert classifier.usage.malformed_answers == 0


def test_the_prompt_is_shown_and_nothing_is_sent(endpoint: ScriptedModel, toy: Path) -> None:
    tagger = load(endpoint, toy / "train.conll", show_prompt=True)
    with pytest.raises(PromptShown) as shown:
        tagger("Anna left")
    assert shown.value.messages[-1] == {"role": "user", "content": "Anna left"}
    assert endpoint.seen == []
    load(endpoint, toy / "train.conll")("Anna left")
    assert endpoint.asked[0]["messages"] == shown.value.messages  # exactly what is sent


@pytest.mark.parametrize(("shots", "noted"), [(2, False), (3, False), (5000, True)])
def test_more_shots_than_examples_are_noted(
    endpoint: ScriptedModel, tmp_path: Path, shots: int, noted: bool
) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\ngood fun\tgood\n", "utf-8")
    endpoint.write = lambda messages: "good"
    classifier = load(endpoint, file, shots=shots, format="lines")
    classifier("so fine")
    told = "shots: 5,000 asked for, all 3 examples of the file are shown"
    assert (told in classifier.usage.lines()) == noted
    assert len(endpoint.asked[0]["messages"]) == 2 + 2 * min(shots, 3)


def test_a_classifier_that_drops_nothing_does_not_say_so(endpoint: ScriptedModel, tmp_path: Path) -> None:
    file = tmp_path / "train.tsv"
    file.write_text("text\tlabel\nfine film\tgood\nweak film\tbad\n", "utf-8")
    endpoint.write = lambda messages: "good" if "fine" in messages[-1]["content"] else "meh"
    classifier = load(endpoint, file, format="lines")
    classifier("so fine")
    assert "dropped" not in "\n".join(classifier.usage.lines())
    classifier("so weak")
    assert "dropped from answers: 1 of 2: unknown label 1" in classifier.usage.lines()


def test_requests_are_sent_at_once_up_to_the_limit(endpoint: ScriptedModel, toy: Path) -> None:
    endpoint.slow = 0.05
    gonie.evaluate(load(endpoint, toy / "train.conll", concurrency=3), toy / "test.conll")
    assert 2 <= endpoint.at_once <= 3


def test_answers_do_not_depend_on_company(endpoint: ScriptedModel, toy: Path) -> None:
    tagger = load(endpoint, toy / "train.conll")
    texts = ["Anna left .", "it rains .", "Bert met Cleo in Lima ."]
    assert list(tagger.pipe(texts)) == [tagger(text) for text in texts]


def test_what_needs_probabilities_is_refused(endpoint: ScriptedModel, toy: Path, toy_run: Path) -> None:
    tagger = load(endpoint, toy / "train.conll")
    for use in (
        lambda: tagger.with_nbest(2),
        lambda: tagger.with_decoding("posterior"),
        lambda: tagger.with_decoding(bias={"PER": 1.0}),
        lambda: gonie.explain(tagger, "Anna left"),
        lambda: gonie.evaluate(tagger, toy / "test.conll", ensemble=[toy_run]),
        lambda: gonie.evaluate(toy_run, toy / "test.conll", ensemble=[tagger]),
        lambda: gonie.evaluate(tagger, toy / "test.conll", mc_dropout=2),
    ):
        with pytest.raises(GonieError, match="probabilities"):
            use()
    assert tagger.with_decoding() is tagger
    for name, use in {
        "with_nbest does not work": lambda: tagger.with_nbest(2),
        'by="posterior" does not work': lambda: tagger.with_decoding("posterior"),
        "bias=… does not work": lambda: gonie.evaluate(tagger, toy / "test.conll", bias={"PER": 1.0}),
    }.items():
        with pytest.raises(InputError, match=name):
            use()


def test_wrong_use_is_refused(endpoint: ScriptedModel, toy: Path, toy_run: Path, tmp_path: Path) -> None:
    place, plain = f"llm:{endpoint.url}/v1", tmp_path / "pos.conll"
    plain.write_text("a\tDET\ndog\tNOUN\n\nit\tPRON\nran\tVERB\n" * 8, "utf-8")
    for words, use in {
        "the labels are not known": lambda: gonie.load(place),
        "Did you mean shots": lambda: gonie.load(place, shotz=1, describe={"A": ""}),
        "only for in-context models": lambda: gonie.load(toy_run, shots=1),
        "predict spans": lambda: gonie.load(place, shots_from=plain),
        "which is not a label of": lambda: load(endpoint, toy / "train.conll", describe={"ORG": "x"}),
        "does not apply to classifiers": lambda: gonie.load(
            place, task="classify", describe={"a": ""}, format="inline"
        ),
        "file not found": lambda: gonie.load(place, shots_from=tmp_path / "no.conll"),
        "a tagger, or tags or": None,
    }.items():
        if use is not None:
            with pytest.raises(InputError, match=words):
                use()
    with pytest.raises(GonieError, match="tags or classifies"):
        gonie.load(place, task="pair", describe={"a": ""})


def test_a_wrong_url_stops_before_any_text(endpoint: ScriptedModel, toy: Path) -> None:
    tagger = gonie.load(f"llm:{endpoint.url}/v2/x", shots_from=toy / "train.conll", model="m", cache="off")
    endpoint.script = [refusal(401)]
    with pytest.raises(ServiceError, match="GONIE_LLM_KEY"):
        tagger("Anna left")


def test_missing_extras_are_named(
    endpoint: ScriptedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    for place in (f"llm:{endpoint.url}/v1", f"llm:{file}"):
        with pytest.raises(MissingExtraError, match=r"pip install 'gonie\[llm\]'"):
            gonie.load(place, describe={"PER": ""})


def test_torch_is_never_imported() -> None:
    code = (
        "import sys, gonie.in_context.open_model; sys.exit('torch' in sys.modules or 'httpx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
