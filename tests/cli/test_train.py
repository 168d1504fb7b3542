"""Tests `gonie train`: its options reach the recipe, and its output names the next commands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gonie.system.cost import RunCost
from gonie.tasks.recipe import load_recipe
from gonie.tasks.torch.job import RunOutput
from gonie.training import run as module
from gonie.training.run import RunResult

Gonie = Callable[..., Any]


def test_a_run_is_shown_and_written_to_its_folder(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = gonie("train", toy / "toy.toml", "--out", out, "--set", "train.epochs=2", "--seed", "5")
    assert outcome.code == 0, outcome.err
    for words in (
        "train   80 sentences",
        "parameters, on cpu",
        "labels",
        "MiB used",
        "epoch   1  loss",
        "epoch   2  loss",
        "tokens/s",
        "dev F1",
        "ETA",
        "test F1",
        f'gonie tag {out} "your text"',
    ):
        assert words in outcome.out, words
    recipe = load_recipe(out / "recipe.toml")
    assert (recipe.train.epochs, recipe.train.seed) == (2, 5)
    assert (out / "report.html").is_file()


def test_training_a_classifier_shows_texts_and_accuracy(gonie: Gonie, text_toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    outcome = gonie("train", text_toy / "texts.toml", "--out", out, "--set", "train.epochs=1")
    assert outcome.code == 0, outcome.err
    for words in (
        "train   60 texts, ",
        "dev     20 texts",
        "good 30  bad 30",
        "n-grams in the bag",
        "dev accuracy",
        "scoring 20 test texts with the exported model",
        "test accuracy",
        f'gonie classify {out} "your text"',
        f"gonie evaluate {out} FILE",
    ):
        assert words in outcome.out, words
    assert "sentences\n" not in outcome.out
    assert gonie("classify", out, "The plot is dull.").code == 0


@pytest.mark.parametrize(
    ("kind", "score", "labels"), [("labels", "accuracy", "same "), ("values", "Pearson", "0–1 ")]
)
def test_training_a_pair_model_shows_pairs_and_its_score(
    kind: str, score: str, labels: str, *, gonie: Gonie, pair_toy: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    options = ["--set", "train.epochs=1", *(["--set", "data.scale=[0, 5]"] if kind == "values" else [])]
    outcome = gonie("train", pair_toy / f"{kind}.toml", "--out", out, *options)
    assert outcome.code == 0, outcome.err
    for words in (
        "train   60 pairs, ",
        "dev     20 pairs",
        labels,
        f"dev {score}",
        "scoring 20 test pairs with the exported model",
        f"test {score}",
        f"gonie classify {out} ",
        f"gonie evaluate {out} FILE",
    ):
        assert words in outcome.out, words
    assert "sentences" not in outcome.out
    assert gonie("classify", out, "The plot is dull.", "The cast is fine.").code == 0


def test_a_weight_for_an_unknown_label_is_refused_without_a_folder(
    gonie: Gonie, text_toy: Path, tmp_path: Path
) -> None:
    options = ["--out", tmp_path / "run", "--set", "model.head.weights.great=2"]
    refused = gonie("train", text_toy / "texts.toml", *options)
    assert refused.refused("model.head.weights.great: unknown label; use one of bad, good")
    assert not (tmp_path / "run").exists()


def test_seed_and_device_options_set_recipe_keys(
    gonie: Gonie, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def start(recipe: Any, folder: Path, display: Any, *, name: str) -> RunResult:
        seen.append((recipe, folder))
        return RunResult(
            folder, RunOutput(results=[], commands=[], evaluations={}, baselines={}), 1, 0.0, RunCost()
        )

    monkeypatch.setattr(module, "start_run", start)
    monkeypatch.chdir(toy)
    outcome = gonie("train", "toy.toml", "--seed", "7", "--device", "cpu", "--set", "train.lr=0.5")
    assert outcome.code == 0
    recipe, folder = seen[0]
    assert (recipe.train.seed, recipe.train.device, recipe.train.lr) == (7, "cpu", 0.5)
    assert folder == Path("runs/toy")


def test_an_interrupted_run_exits_with_130(gonie: Gonie, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts detect an unfinished run by the exit status."""
    monkeypatch.setattr(module, "start_run", lambda *arguments, **names: None)
    assert gonie("train", toy / "toy.toml").code == 130


def test_all_mistakes_in_a_recipe_are_reported_at_once(gonie: Gonie, toy: Path) -> None:
    outcome = gonie("train", toy / "toy.toml", "--set", "train.epoch=2", "--set", "train.lr=-1")
    assert outcome.refused("2 problems", "did you mean 'epochs'?", "train.lr")


def test_an_unknown_recipe_gets_a_suggestion(gonie: Gonie) -> None:
    assert gonie("train", "nr").refused("Did you mean ner?")


def test_a_finished_run_is_not_overwritten(gonie: Gonie, toy: Path, toy_run: Path) -> None:
    before = (toy_run / "best.safetensors").read_bytes()
    assert gonie("train", toy / "toy.toml", "--out", toy_run).refused("--resume", "--out")
    assert (toy_run / "best.safetensors").read_bytes() == before


SLIDES = """새/B_An 가/O 운다/O
삼성/B_Com 전자/I 는/O 좋다/O
고양이/B_An 는/O 귀엽다/O
오후/B_Time 7시/I 에/O 시작한다/O
개/B_An 좀/O 안/O 짖게/O 해라/O"""


@pytest.fixture
def slides(tmp_path: Path) -> list[str]:
    """Write five sentences from lecture slides on CRFs and return the options that train on them."""
    sentences = [[word.split("/") for word in line.split()] for line in SLIDES.splitlines()]
    text = "\n\n".join("\n".join("\t".join(pair) for pair in sentence) for sentence in sentences)
    (tmp_path / "slides.conll").write_text(text + "\n", "utf-8")
    keys = [f"data.{split}={tmp_path / 'slides.conll'}" for split in ("train", "dev", "test")]
    return [part for key in [*keys, "data.language=ko", "data.unit=morpheme"] for part in ("--set", key)]


def test_a_feature_crf_learns_times_from_five_korean_sentences(
    gonie: Gonie, slides: list[str], tmp_path: Path
) -> None:
    """오후 10시 is not in the training data, but 오후 and a word ending in 시 are."""
    assert gonie("train", "crf", "--out", tmp_path / "run", *slides).code == 0
    tagged = gonie("tag", tmp_path / "run", "오후 10시 에 축구한다", "--input", "tokens", "--output", "conll")
    assert tagged.out == "오후\tB-Time\n10시\tI-Time\n에\tO\n축구한다\tO\n\n"
    shown = gonie("tag", tmp_path / "run", "오후 10시 에 축구한다", "--input", "tokens").out
    found = re.fullmatch(r"\[오후 10시 Time (0\.\d\d)\] 에 축구한다\n", shown)
    assert found, shown
    assert float(found[1]) > 0.1


def test_forbidden_transitions_hold_in_the_bundle(gonie: Gonie, slides: list[str], tmp_path: Path) -> None:
    rule = ["--set", 'model.head.forbidden=["<start> -> B-*"]']
    outcome = gonie("train", "crf", "--out", tmp_path / "run", *slides, *rule)
    assert outcome.code == 0
    assert "5 training sentences violate model.head.forbidden" in outcome.out + outcome.err
    shown = gonie("tag", tmp_path / "run", "오후 10시 에 축구한다", "--input", "tokens").out
    assert not shown.startswith("[")
    refused = gonie(
        "train", "crf", "--out", tmp_path / "b", *slides, *rule, "--set", "model.head.constrain_training=true"
    )
    assert refused.refused("violate model.head.forbidden", "<start> -> B-An", "constrain_training")


def test_partial_labels_require_sentences_without_forbidden_transitions(
    gonie: Gonie, slides: list[str], tmp_path: Path
) -> None:
    """A CRF sums over the allowed sequences; a sentence without any would have an infinite loss."""
    part = tmp_path / "part.conll"
    part.write_text("서울\t?\n크다\tO\n", "utf-8")
    settings = [f"data.partial={part}", 'model.head.forbidden=["<start> -> B-*"]']
    asked = [*slides, *(word for setting in settings for word in ("--set", setting))]
    refused = gonie("train", "crf", "--out", tmp_path / "a", *asked)
    assert refused.refused("slides.conll:1", "5 training sentences violate", "data.partial")
    alone = gonie("train", "crf", "--out", tmp_path / "b", *asked, "--set", "model.head.kind=softmax")
    assert alone.code == 0, alone.err


def test_a_crf_learns_from_partially_labelled_sentences(
    gonie: Gonie, slides: list[str], tmp_path: Path
) -> None:
    """서울 is labelled as an animal or a company and 크다 is unlabelled; the other sentences decide."""
    part = tmp_path / "part.conll"
    part.write_text("서울\tB_An|B_Com\n전자\tI\n는\tO\n크다\t?\n\n" * 8, "utf-8")
    outcome = gonie("train", "crf", "--out", tmp_path / "run", *slides, "--set", f"data.partial={part}")
    assert outcome.code == 0, outcome.err
    assert "train   13 sentences" in outcome.out
    shown = gonie("tag", tmp_path / "run", "서울 전자 는 크다", "--input", "tokens").out
    assert shown.startswith("[서울 전자 Com")
    part.write_text("서울\tB_Country\n", "utf-8")
    refused = gonie("train", "crf", "--out", tmp_path / "b", *slides, "--set", f"data.partial={part}")
    assert refused.refused("part.conll:1", "B_Country", "?")


def test_label_weights_are_accepted_and_invalid_ones_refused(
    gonie: Gonie, slides: list[str], tmp_path: Path
) -> None:
    heavy = ["--set", "model.head.weights.Time=3", "--set", "model.head.weights.O=0.5"]
    assert gonie("train", "crf", "--out", tmp_path / "run", *slides, *heavy).code == 0
    slip = gonie("train", "crf", "--out", tmp_path / "b", *slides, "--set", "model.head.weights.Tiem=3")
    assert slip.refused("model.head.weights.Tiem", "O, An, Com, Time")
    assert gonie("train", "crf", "--out", tmp_path / "b", *slides, "--set", "model.head.weights.O=0").refused(
        "model.head.weights.O"
    )


def test_persons_are_learned_from_documents_with_plain_labels(
    toy: Path, tmp_path: Path, gonie: Gonie
) -> None:
    """Uses the format of Stanford's assignment: PERSON or O per word, empty lines between documents."""
    files = {}
    for split in ("train", "dev"):
        rows = [line.split("\t") for line in (toy / f"{split}.conll").read_text("utf-8").splitlines() if line]
        lines = [f"{word}\t{'PERSON' if tag.endswith('PER') else 'O'}\n" for word, tag in rows]
        middle = len(lines) // 2
        files[split] = tmp_path / split
        files[split].write_text("".join([*lines[:middle], "\n", *lines[middle:]]), "utf-8")
    changes = [f"data.{split}={path}" for split, path in files.items()]
    asked = [word for change in [*changes, "train.lr=0.05"] for word in ("--set", change)]
    out = tmp_path / "run"
    trained = gonie("train", "window-person", *asked, "--out", out)
    assert trained.code == 0, trained.err
    assert "dev F1 100.00" in trained.out
    assert gonie("tag", out, "we met Anna Kim .").out.strip() == "we met [Anna Kim PERSON 1.00] ."
    gold = toy / "test.conll"  # with span tags, other names and other types
    assert gonie("evaluate", out, gold).refused("--map conll")
    for rules in (["conll"], ["PER=PERSON", "LOC=O"]):
        scored = gonie("evaluate", out, gold, *(word for rule in rules for word in ("--map", rule)))
        assert scored.code == 0, scored.err
        assert "PERSON" in scored.out


# --- files as arguments ----------------------------------------------------------------------------------


def test_files_after_the_recipe_are_train_dev_and_test(gonie: Gonie, toy: Path, tmp_path: Path) -> None:
    files = [toy / f"{split}.conll" for split in ("train", "dev", "test")]
    small = ["--set", "model.encoder.hidden=8", "--set", "train.epochs=1", "--set", "model.elmo.bilm=none"]
    small += ["--out", tmp_path / "run"]
    outcome = gonie("train", "ner", *files, *small)
    assert outcome.code == 0, outcome.err
    data = load_recipe(tmp_path / "run" / "recipe.toml").data
    assert [data.train, data.dev, data.test] == list(map(str, files))


def test_a_small_file_is_trained_with_the_shipped_language_model(
    gonie: Gonie, toy: Path, tmp_path: Path
) -> None:
    """The output says so, and how to turn it off; the run and a resumed one keep the decision."""
    small = ["--set", "model.encoder.hidden=8", "--set", "train.epochs=1", "--out", tmp_path / "run"]
    outcome = gonie("train", "ner", toy / "train.conll", toy / "dev.conll", *small)
    assert outcome.code == 0, outcome.err
    assert "language model: en, because the training file has 80 sentences, at most 10,000." in outcome.out
    assert "--set model.elmo.bilm=none" in outcome.out
    assert "context  elmo en" in outcome.out
    assert load_recipe(tmp_path / "run" / "recipe.toml").model.elmo.bilm == "en"
    assert gonie("train", "ner", *small, "--resume").code == 0
    assert gonie("train", "ner", *small, "--resume", "--set", "model.elmo.bilm=auto").code == 0
    refused = gonie("train", "ner", *small, "--resume", "--set", "model.elmo.bilm=none")
    assert refused.refused("a resumed run keeps its settings", "model.elmo")


def test_a_training_file_alone_replaces_the_files_of_the_recipe(
    gonie: Gonie, toy: Path, tmp_path: Path
) -> None:
    file = tmp_path / 'a "quoted" name.conll'
    file.write_bytes((toy / "train.conll").read_bytes())
    small = ["--set", "model.encoder.hidden=8", "--set", "train.epochs=1", "--set", "model.elmo.bilm=none"]
    small += ["--out", tmp_path / "run"]
    outcome = gonie("train", "ner", file, *small)
    assert outcome.code == 0, outcome.err
    data = load_recipe(tmp_path / "run" / "recipe.toml").data
    assert (data.train, data.dev, data.test) == (str(file), None, None)


def test_a_file_given_twice_is_refused(gonie: Gonie, toy: Path) -> None:
    file = toy / "train.conll"
    outcome = gonie("train", "ner", file, "--set", f"data.train={file}")
    assert outcome.refused("data.train is given twice", "--set")


def test_all_missing_files_are_named_with_their_keys_before_any_is_read(
    gonie: Gonie, toy: Path, tmp_path: Path
) -> None:
    (tmp_path / "test.conll").write_text("Anna\tO\n")
    keys = ("data.test", "data.replay", "heads.pos.train")
    changes = [part for key in keys for part in ("--set", f"{key}={tmp_path / 'tets.conll'}")]
    outcome = gonie("train", toy / "toy.toml", *changes, "--out", tmp_path / "run")
    missing = f"file not found: {tmp_path / 'tets.conll'}. Did you mean {tmp_path / 'test.conll'}?"
    assert outcome.refused("3 problems", *(f"{key}: {missing}" for key in keys))
    assert not outcome.out
    assert not (tmp_path / "run").exists()


def test_a_fourth_file_is_refused(gonie: Gonie, toy: Path) -> None:
    assert gonie("train", "ner", *[toy / "train.conll"] * 4).refused("at most three files")


def test_a_data_file_in_place_of_the_recipe_is_explained(gonie: Gonie, toy: Path) -> None:
    file = toy / "train.conll"
    assert gonie("train", file).refused("not a recipe", f"gonie train ner {file}", f"gonie train tag {file}")


def test_columns_of_a_table_can_be_named(gonie: Gonie, tmp_path: Path) -> None:
    file = tmp_path / "tickets.csv"
    rows = [f"how do I pay {number},pay\nwhere is parcel {number},ship" for number in range(10)]
    file.write_text("\n".join(["question,intent", *rows]) + "\n", "utf-8")
    small = ["--set", "model.encoder.hidden=8", "--set", "train.epochs=1"]
    columns = ["--text", "question", "--label", "intent"]
    outcome = gonie("train", "classify", file, *columns, *small, "--out", tmp_path / "run")
    assert outcome.code == 0, outcome.err
    data = tomllib.loads((tmp_path / "run" / "recipe.toml").read_text("utf-8"))["data"]
    assert (data["text_column"], data["label_column"]) == ("question", "intent")


def test_columns_of_both_texts_of_a_pair_can_be_named(gonie: Gonie, pair_toy: Path, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    header, _, rows = (pair_toy / "labels-train.tsv").read_text("utf-8").partition("\n")
    file.write_text("a b c".replace(" ", "\t") + "\n" + rows, "utf-8")
    assert len(header.split("\t")) == 3
    small = ["--set", "model.encoder.hidden=4", "--set", "model.matching.composition.hidden=4"]
    columns = ["--text", "a", "--text", "b", "--label", "c"]
    run = tmp_path / "run"
    assert gonie("train", "pairs", file, *columns, *small, "--set", "train.epochs=1", "--out", run).code == 0
    assert tomllib.loads((run / "recipe.toml").read_text("utf-8"))["data"]["text_columns"] == ["a", "b"]


CONLL_2003 = (
    "-DOCSTART- -X- O O\r\n\r\n"
    "EU NNP I-NP I-ORG\r\nrejects VBZ I-VP O\r\nGerman\tJJ\tI-NP\tB-MISC\r\ncall  NN I-NP O\r\n\r\n"
    "Peter NNP I-NP I-PER\r\nBlackburn NNP I-NP I-PER\r\n\r\n"
) * 10


def test_a_file_in_the_form_of_conll_2003_trains(gonie: Gonie, tmp_path: Path) -> None:
    """IOB1 with one B tag after O, tabs among spaces and CRLF: the repair is counted and located."""
    file = tmp_path / "eng.train"
    file.write_bytes(CONLL_2003.encode())
    small = ["--set", "model.encoder.hidden=8", "--set", "train.epochs=1", "--set", "model.elmo.bilm=none"]
    small += ["--out", tmp_path / "run"]
    outcome = gonie("train", "ner", file, *small)
    assert outcome.code == 0, outcome.err
    assert "repaired 10 tags with policy 'begin'" in outcome.out
    assert f"{file}:5: B-MISC" in outcome.out
    assert "10 lines whose columns are separated by other white space" in outcome.out
    strict = gonie("train", "ner", file, *small[:-1], tmp_path / "strict", "--set", "data.repair=error")
    assert strict.refused(f"{file}:5: B-MISC", "data.repair=begin")
