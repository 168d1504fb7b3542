"""Runs the benchmark scripts, which would otherwise break unnoticed between releases."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


@pytest.mark.long
def test_training_speed_is_measured_without_peers(toy: Path) -> None:
    out = run(
        "train_tagger.py", "--data", toy / "train.conll", "--sentences", 75, "--rounds", 1, "--threads", 1
    )
    assert "75 sentences" in out
    assert "tokens/s" in out
    assert "no Flair" in out


@pytest.mark.long
def test_classifier_training_is_compared_on_the_same_model() -> None:
    out = run(
        "train_classifier.py", "--bundled", "--corpora", "nsmc", "--texts", 64, "--rounds", 1, "--threads", 1
    )  # the script exits if the packed side does not score like gonie
    assert "64 texts" in out
    for side in ("plain", "packed", "like-lengths"):
        assert f"gonie / {side}" in out


@pytest.mark.parametrize("script", ["tokenising.py", "train_tagger.py", "tag_cpu.py"])
def test_help_of_the_tagging_scripts_lists_peers(script: str) -> None:
    assert "--peers" in run(script, "--help")


@pytest.mark.parametrize("script", ["serve.py", "serve_chaos.py", "serve_hostile.py"])
def test_the_benchmarks_of_the_service_have_help(script: str) -> None:
    assert "a run folder or a bundle" in run(script, "--help")


def test_the_elmo_benchmark_has_help() -> None:
    assert "a run folder or a bundle" in run("tag_elmo.py", "--help")


def test_a_bundle_is_timed_and_scored_without_peers(toy: Path, toy_run: Path, tmp_path: Path) -> None:
    given = ("--gonie", toy_run, "--data", toy, "--peers", tmp_path, "--rounds", 1, "--cores", 2)
    out = run("tag_cpu.py", *given)
    assert "no flair" in out  # missing peers are reported
    table = out[out.index("cores: 2") :].splitlines()[1:]
    (_, f1, *_, alone_differ), (_, _, f1_of_copies, *_) = (line.split() for line in table)
    assert float(f1) > 90  # tags reach the scorer in order and in the right scheme
    assert f1_of_copies == f1  # the results of two processes are in order
    assert alone_differ == "0"


def test_a_peer_without_its_environment_is_refused_with_advice(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "tag_cpu.py"), "--train", "spacy", "--peers", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"{tmp_path}/spacy/bin/pip install spacy==3.8" in done.stderr


@pytest.mark.long
def test_bulk_tagging_is_measured(toy_run: Path, prose: Path) -> None:
    given = ("--file", prose / "text.txt", "--tokens", 300, "--engine", "local", "--shard-size", 500)
    out = run("bulk.py", toy_run, *given)
    assert "local, 2 workers" in out
    assert "all parts are the same bytes" in out


def test_the_cost_formulas_match_the_number_of_parameters() -> None:
    out = run(
        "costs.py", "--tokens", 3, "--sentences", 2, "--rounds", 1
    )  # the script exits if they do not match
    for name in ("Elman", "LSTM", "BiLSTM, peepholes", "CNN", "window", "attention", "CRF"):
        assert f"| {name}" in out


def test_gains_of_the_language_model_are_paired_by_fold(tmp_path: Path) -> None:
    """A fold that lacks one of its two runs must not move the mean."""
    found = [
        {"corpus": "uner 150", "model": model, "fold": fold, "test": f1 / 100, "seed": 1}
        | {"read_seconds": 1.0, "train_seconds": 2.0}
        for model, fold, f1 in (("without", 1, 50), ("with", 1, 54), ("without", 2, 60), ("with", 2, 66))
    ]
    alone = {**found[0], "fold": 3, "test": 0.9}
    failed = {"corpus": "uner 150", "model": "with", "seed": 3, "fold": 3, "error": "out of memory"}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (*found, alone, failed)))
    out = run("default_bilm.py", "--table", tmp_path / "a.jsonl")
    assert "| uner | 150 | 2 | 55.0 ± 7.1 | 60.0 ± 8.5 | +5.0 ± 1.4 | 2 | 3, 3 |" in out
    assert "| 150 | 1 | +5.0 | +5.0 (uner) | 2 of 2 |" in out


def test_korean_gazetteers_find_the_names_of_a_corpus(shared_data: Path) -> None:
    out = run("korean_gazetteers.py", shared_data, "--test", 500, "--only-test")
    rows = [[cell.strip() for cell in line.split("|")] for line in out.splitlines() if "characters" in line]
    found = {(row[1], row[2]): float(row[5]) for row in rows}
    assert found["morpheme", "PS, LC, OG"] >= 98
    assert found["eojeol", "PS, LC, OG"] >= 90
    assert "names: read in" in out


@pytest.fixture
def korean_ner(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("korean_ner")


def test_the_split_of_klue_covers_the_file_in_order(korean_ner: ModuleType, shared_data: Path) -> None:
    parts = korean_ner.split(shared_data)
    assert {name: len(blocks) for name, blocks in parts.items()} == {"train": 4000, "dev": 500, "test": 500}
    ids = [block.split("-")[2][-5:] for blocks in parts.values() for block in blocks]
    assert ids == [f"{number:05d}" for number in range(5000)]


def test_another_file_than_that_of_the_split_is_refused(korean_ner: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "ner/klue_ner_dev"
    folder.mkdir(parents=True)
    (folder / "klue-ner-v1.1_dev.tsv").write_text("## klue-ner-v1_dev_00000-x\t가\n가\tO\n\n", "utf-8")
    with pytest.raises(SystemExit, match="does not have the sentences"):
        korean_ner.split(tmp_path)


def test_the_korean_scorer_counts_exact_character_spans(korean_ner: ModuleType, tmp_path: Path) -> None:
    gold = [
        korean_ner.Text("이순신은 서울 에서", ((0, 3, "PS"), (5, 7, "LC"))),
        korean_ner.Text("내일", ((0, 2, "DT"),)),
    ]
    assert korean_ner.texts(korean_ner.write_klue(gold, tmp_path / "a.klue")) == gold
    found = korean_ner.score(gold, lambda texts: [[(0, 3, "PS"), (5, 8, "LC")], [(0, 2, "TI")]])
    assert found == (1 / 3, 1 / 3, 1 / 3, 3)
    assert korean_ner.score(gold, lambda texts: [each.spans for each in gold]).f1 == 1
    for name, noisy in korean_ner.noise_rows(gold):
        marked = [sorted(label for *_, label in each.spans) for each in noisy]
        assert marked == [["LC", "PS"], ["DT"]], name
        assert all(not each.text[start].isspace() for each in noisy for start, _, _ in each.spans)


def test_tables_of_korean_names_compare_noise_with_clean_text(tmp_path: Path) -> None:
    rows = {"clean": 0.8, "all spaces lost": 0.77}
    scores = {name: {"precision": f1, "recall": f1, "f1": f1, "gold": 9} for name, f1 in rows.items()}
    evaluate = {"clean": 0.8, "clean, JSONL": 0.8, "full width": 0.8, "decomposed (NFD)": 0.79}
    record = {"corpus": "klue", "model": "ner-ko", "seed": 1, "fold": 1, "dev": 0.7, "test": 0.8}
    record |= {"noise": scores, "evaluate": evaluate, "unreachable": 2, "train_seconds": 60, "curve": []}
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n", "utf-8")
    out = run("korean_ner.py", "--table", tmp_path / "a.jsonl")
    assert "| ner-ko | 1 | 70.00 | 80.00 | 80.00 | 80.00 | 80.00 | 60 |" in out
    assert "| ner-ko, seed 1 | 9 | 2 | 80.000 | 80.000 | 80.000 |" in out
    assert "| all spaces lost | 77.00 (-3.00) |" in out
    assert "| decomposed (NFD), as a KLUE file | 79.00 (-1.00) |" in out


def test_tables_of_korean_parts_of_speech_have_both_scorers(tmp_path: Path) -> None:
    shared = {"corpus": "upos", "model": "pos-ko", "fold": 1, "dev": 0.9, "train_seconds": 60.0}
    made = [{**shared, "seed": seed, "test": f1, "evaluate": f1} for seed, f1 in ((1, 0.95), (2, 0.96))]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made), "utf-8")
    out = run("korean_pos.py", "--table", tmp_path / "a.jsonl")
    assert "| pos-ko | 2 | 90.00 | 95.50 | 0.71 | 60 |" in out
    assert "| pos-ko, by `evaluate` | 2 | 90.00 | 95.50 | 0.71 | 60 |" in out


@pytest.mark.long
def test_the_language_model_is_cross_validated(toy: Path, tmp_path: Path) -> None:
    data = tmp_path / "ner/wnut17"
    data.mkdir(parents=True)
    (data / "wnut17train.conll").write_bytes((toy / "train.conll").read_bytes())
    given = (tmp_path, "--only", "wnut17,20,2", "--sizes", "10,20", "--set", "train.epochs=1")
    places = ("--out", tmp_path / "out.jsonl", "--scratch", tmp_path / "parts")
    assert "| wnut17 | 20 | 1 |" in run("default_bilm.py", *given, *places)
    train, test = ((tmp_path / f"parts/wnut17-2-{name}.conll").read_text("utf-8") for name in (20, "test"))
    assert train.count("\n\n") == 19
    assert not set(test.strip().split("\n\n")) & set(train.strip().split("\n\n"))
    assert "0 runs" in run("default_bilm.py", *given, *places)


@pytest.mark.long
def test_calibration_is_compared_with_that_of_a_perfect_model(toy: Path, toy_run: Path) -> None:
    files = ("--test", toy / "test.conll", "--dev", toy / "dev.conll", "--out", toy / "dev.conll")
    out = run("calibration.py", toy_run, toy_run, *files)
    assert "spans of 2 runs" in out
    for line in ("temperature 1", "calibrated", "AUROC", "temperature + line", "isotonic"):
        assert f"  {line}" in out


def test_gains_of_augmentation_are_paired_with_runs_without(tmp_path: Path) -> None:
    """A kind with more runs than the control must be compared on the common subsets and seeds alone."""
    rows = [
        ("none", 1, 0, 0.30),
        ("none", 2, 0, 0.40),
        ("mentions:3:0.5", 1, 0, 0.33),
        ("mentions:3:0.5", 2, 0, 0.45),
        ("mentions:3:0.5", 3, 0, 0.90),
    ]
    with (tmp_path / "a.jsonl").open("w") as file:
        for model, seed, fold, test in rows:
            named = {"corpus": "150 none", "model": model, "seed": seed, "fold": fold}
            measured = {"dev": 0.5, "test": test, "train_seconds": 1.0, "read_seconds": 1.0}
            file.write(json.dumps(named | measured) + "\n")
    out = run("augmentation.py", "--table", tmp_path / "a.jsonl")
    assert "| 150, bilm none | none | 2 | 50.0 | 35.00 ± 7.07 |" in out
    assert "| mentions:3:0.5 | 3 | 50.0 | 56.00 ± 30.05 | +4.00 ± 1.41 |" in out
    assert "| 2 of 2 | 1 of 1 |" in out


def test_ensembles_are_compared_with_single_models(toy: Path, toy_run: Path, tmp_path: Path) -> None:
    data = tmp_path / "ner" / "uner_english_ewt"
    data.mkdir(parents=True)
    (data / "en_ewt-ud-test.iob2").write_bytes((toy / "test.conll").read_bytes())
    given = ("--runs", toy_run, toy_run, "--size", 2, "--passes", 2, "--files", "test")
    out = run("uncertainty.py", tmp_path, *given, "--out", tmp_path / "u.jsonl")
    table = out[out.index("| method |") :].splitlines()
    methods = [line.split(" | ")[0].removeprefix("| ") for line in table[2:]]
    assert methods == [
        *("temperature", "MC dropout 2, temperature", "temperature 1", "MC dropout 2, temperature 1"),
        *("ensemble of 2, temperature", "ensemble of 2, temperature 1"),
    ]
    assert table[2].split(" | ")[2] == table[6].split(" | ")[2].split(" (")[0], "an ensemble of copies"
    assert run("uncertainty.py", "--table", tmp_path / "u.jsonl").strip() in out


def counted(model: str, seed: int, **types: list[int]) -> str:
    named = {"corpus": "halves", "model": model, "seed": seed, "fold": 1}
    return json.dumps({**named, "types": types, "dev": 0.5, "test": 0.5})


def test_new_types_are_compared_with_the_first_model_and_with_joint_training(tmp_path: Path) -> None:
    lines = [
        counted("first", 1, PER=[10, 10, 8], LOC=[10, 10, 8], ORG=[10, 0, 0]),
        counted("distill", 1, PER=[10, 10, 7], LOC=[10, 10, 8], ORG=[10, 10, 5]),
        counted("joint", 1, PER=[10, 10, 9], LOC=[10, 10, 9], ORG=[10, 10, 6]),
    ]
    (tmp_path / "n.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    out = run("new_types.py", "--table", tmp_path / "n.jsonl")
    (row,) = [line for line in out.splitlines() if line.startswith("| distill |")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2:7] == ["70.00", "80.00", "75.00", "0.00", "-5.00"]
    assert (cells[8], cells[10]) == ("50.00", "-10.00")


def test_a_file_of_new_types_has_no_old_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    module = importlib.import_module("new_types")
    block = "# id\n1\tAnna\tB-PER\t-\tx\n2\tHansol\tB-ORG\t-\tx\n3\tcame\tO\t-\tx"
    assert module._only_new(block) == block.replace("B-PER", "O")


def test_sequences_of_domains_are_printed_as_matrices(tmp_path: Path) -> None:
    named = {"corpus": "shared", "seed": 1, "fold": 1, "dev": 0.5, "test": 0.5, "domains": ["a", "b"]}
    records = [
        {**named, "model": "plain", "scores": [[0.8, 0.1], [0.5, 0.6]]},
        {**named, "model": "replay", "scores": [[0.8, 0.1], [0.7, 0.6]]},
        {**named, "model": "joint", "scores": [[0.9, 0.7]]},
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    out = run("domain_sequence.py", "--table", tmp_path / "d.jsonl")
    assert "| b | 50.00 | 60.00 |" in out
    assert "| replay | 1 | 65.00 | 0.00 | +10.00 | 1.000 | 10.00 | 0.00 |" in out
    assert "| all | 90.00 | 70.00 |" in out


def test_few_pairs_have_an_exact_p_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five pairs that agree have the p-value 2/32, without the error of random signs."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    sign_flip_test = importlib.import_module("runs").sign_flip_test
    assert sign_flip_test([1.0, 2.0, 0.5, 3.0, 1.0]) == 2 / 32
    assert sign_flip_test([1.0, -1.0]) == 1.0
    assert sign_flip_test([1.0] * 30) < 0.001


def test_methods_for_other_domains_are_paired_with_the_control(tmp_path: Path) -> None:
    """A domain without a run of the control must not move the difference."""
    scored = [("control", "ai", 0.40), ("adversary", "ai", 0.43), ("adversary", "music", 0.90)]
    records = [
        {"corpus": domain, "model": model, "seed": 1, "fold": 1, "dev": 0.5, "test": f1, "inside": 0.5}
        for model, domain, f1 in scored
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, records)) + "\n", "utf-8")
    out = run("domains.py", "--table", tmp_path / "d.jsonl")
    (row,) = [line for line in out.splitlines() if line.startswith("| adversary |")]
    assert [cell.strip() for cell in row.split("|")][-3:-1] == ["+3.00", "1.0000"]


@pytest.mark.parametrize("name", sorted(path.stem for path in (BENCHMARKS / "results").glob("*.jsonl")))
def test_stored_results_have_a_table(name: str) -> None:
    out = run(f"{name}.py", "--table", BENCHMARKS / "results" / f"{name}.jsonl")
    assert "|---" in out


def test_curves_are_drawn_from_stored_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    figures = importlib.import_module("figures")
    monkeypatch.setattr(figures, "ASSETS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["figures.py", "noise"])
    figures.main()
    assert "typing error" in (tmp_path / "noise.svg").read_text("utf-8")
    assert "noise.svg" in capsys.readouterr().out


def test_the_language_model_benchmark_reads_its_results(tmp_path: Path) -> None:
    usage = {"malformed": 0.25, "dropped": {"unknown label": 3}, "found": 9, "failed": [], "texts": 4}
    usage |= {"prompt_tokens": 400, "seconds_per_text": 1.5}
    asked = {"corpus": "uner", "model": "llm:a/m.gguf", "shots": 5, "form": "json", "score": 0.5}
    rows = [
        {**asked, "described": False, "language": "auto", "usage": usage},
        {"corpus": "klue", "model": "ner-ko", "train": 0, "seed": 1, "score": 0.8},
    ]
    results = tmp_path / "in_context.jsonl"
    results.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    out = run("in_context.py", "--table", results)
    words = "5 shots, json, label names only"
    assert f"| uner | m.gguf | {words} | 50.0 | 25.0% | 3 of 9 | 0 | 100 | 1.50 |" in out
    assert "| klue | ner-ko | all training sentences, seed 1 | 80.0 |" in out
