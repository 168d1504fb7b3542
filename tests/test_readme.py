"""Tests that the commands, code examples and links of the README and the docs work.

A comment before a code block says how it is tested. ``<!-- run -->`` runs its commands or its Python code,
with small settings for training. ``<!-- run: exact -->`` also compares the output with the next block.
``<!-- read: FORMAT SCHEME -->`` reads it as a data file.
"""

from __future__ import annotations

import contextlib
import gzip
import importlib.util
import io
import lzma
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from gonie.formats.tagged import TaggedSource, survey

ROOT = Path(__file__).resolve().parents[1]
README, KOREAN = ROOT / "README.md", ROOT / "README.ko.md"
FORMATS = ROOT / "docs" / "reference" / "formats.md"
KOREAN_FORMATS = FORMATS.with_suffix(".ko.md")
PAGES = sorted(
    page
    for folder in ("", "docs/**/", "benchmarks/", "src/gonie/pretrained/*/")
    for page in ROOT.glob(f"{folder}*.md")
)

BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^>]+) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]*))?\)")
FILE_LINK = re.compile(r"\[`(?P<name>[\w/]+\.(?:py|toml))`\]\((?P<path>[^)#\s]+)\)")
IMPORT = re.compile(r"^\s*(?:from gonie\S* import .+|import gonie\S*)$", re.MULTILINE)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

OWN = {
    "ner-ko": "mine.klue",
    "ner-ko-elmo": "mine.klue",
    "demo-ko": "mine.klue",
    "subjectivity": "mine.tsv",
    "classify": "mine.tsv",
    "sentiment-nsmc": "mine.tsv",
    "pairs": "mine-pairs.tsv",
}
"""The training files of recipes that do not use CoNLL files."""
CORPORA = {
    "src/gonie/corpora/english/train.conll": "train.conll",
    "src/gonie/corpora/english/test.conll": "test.conll",
    "src/gonie/corpora/korean/train.klue": "mine.klue",
    "src/gonie/corpora/korean/test.klue": "mine.klue",
    "src/gonie/corpora/nsmc/test.tsv": "mine.tsv",
    "src/gonie/corpora/snli/train.tsv": "mine-pairs.tsv",
    "src/gonie/corpora/snli/test.tsv": "mine-pairs.tsv",
}
"""Bundled files that pages copy, and the small files that replace them in tests."""
SELF_CONTAINED = ("tutorials/quick-start", "tutorials/quick-start.ko", "guides/pairs")
"""Pages that a reader can paste from the first line to the last, without files of their own."""
SMALL = {
    "train": ("train.epochs=1", "model.encoder.hidden=4", "train.device=cpu"),
    "compare": ("train.epochs=1", "model.encoder.hidden=4", "train.device=cpu"),
    "distill": ("train.epochs=1", "model.encoder.hidden=4", "train.device=cpu"),
    "pretrain": ("train.epochs=1", "train.rows=4", "train.device=cpu", "model.hidden=8", "model.width=4"),
}
"""Settings with which a command takes only seconds."""


@dataclass(frozen=True)
class Block:
    """A fenced code block: its mark, language and body, and the body of the next block."""

    mark: str
    kind: str
    body: str
    after: str

    def commands(self) -> list[str]:
        """Return the commands of a shell block, or those after ``$`` if it also shows output."""
        lines = self.body.replace("\\\n", " ").splitlines()
        if self.kind == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        return [line for line in lines if line.strip()]


def blocks(path: Path) -> Iterator[Block]:
    found = list(BLOCK.finditer(path.read_text("utf-8")))
    for match, following in zip(found, [*found[1:], None][: len(found)], strict=True):
        after = following["body"] if following else ""
        yield Block(match["mark"] or "", match["kind"], match["body"], after)


def marked(path: Path, mark: str) -> list[Block]:
    return [block for block in blocks(path) if block.mark.split(":")[0] == mark]


@pytest.fixture
def place(tmp_path: Path, toy: Path, prose: Path, monkeypatch: pytest.MonkeyPatch, gonie: Callable) -> Path:
    """Make a folder with every file that the README mentions, and the model of `make run`."""
    text = (prose / "text.txt").read_bytes()
    (tmp_path / "domain.txt").write_bytes(text)
    (tmp_path / "wiki.txt.xz").write_bytes(lzma.compress(text))
    for name in ("news", "corpus"):
        (tmp_path / f"{name}.txt.gz").write_bytes(gzip.compress((prose / "heldout.txt").read_bytes()))
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.conll").write_bytes((toy / f"{split}.conll").read_bytes())
    (tmp_path / "mine.conll").write_bytes((toy / "train.conll").read_bytes())
    klue = "## klue-ner-v1_dev_00000-wikitree\t<서울:LC>은 커\n서\tB-LC\n울\tI-LC\n은\tO\n \tO\n커\tO\n\n"
    (tmp_path / "mine.klue").write_text(klue * 9, "utf-8")
    shutil.copy(tmp_path / "mine.klue", tmp_path / "test.klue")
    shutil.copy(ROOT / "src/gonie/corpora/korean-pos/dev.conllu", tmp_path / "mine.conllu")
    (tmp_path / "places.txt").write_text("서울\n서울역\n", "utf-8")
    (tmp_path / "mine.jsonl").write_text('{"text": "서울은 커.", "spans": [[0, 2, "LC"]]}\n' * 9, "utf-8")
    (tmp_path / "cities.txt").write_text("Seoul\nMount Vernon\n", "utf-8")
    (tmp_path / "letters.txt").write_text("Anna Kim lives in Seoul.\nIt rains.\n", "utf-8")
    vectors = "".join(f"{word} 0.1 0.2 0.3\n" for word in ("anna", "seoul", "lives"))
    (tmp_path / "glove.6B.100d.txt.gz").write_bytes(gzip.compress(vectors.encode()))
    reviews = "label\ttext\n" + "good\tsuch a fine film\nbad\tso dull a film\n" * 8
    (tmp_path / "mine.tsv").write_text(reviews, "utf-8")
    pairs = "text\ttext_pair\tlabel\n" + "it rains\tit is wet\tyes\nit rains\tit is dry\tno\n" * 8
    (tmp_path / "mine-pairs.tsv").write_text(pairs, "utf-8")
    for bundled, own in CORPORA.items():
        (tmp_path / bundled).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / own, tmp_path / bundled)
    (tmp_path / "reviews.jsonl").write_text('{"text": "such a fine film"}\n', "utf-8")
    monkeypatch.chdir(tmp_path)
    assert gonie(*small(["train", "demo", "--out", "runs/demo"])).code == 0
    return tmp_path


def small(arguments: list[str]) -> list[str]:
    """Return the command with settings that train a new run for one epoch on a few sentences."""
    if arguments[0] not in SMALL or "--resume" in arguments:
        return arguments
    settings = list(SMALL[arguments[0]])
    named = any(argument.startswith("data.train=") for argument in arguments)
    named |= arguments[0] == "train" and len(arguments) > 2 and not arguments[2].startswith("-")
    if arguments[0] != "pretrain" and not named:
        settings.append(f"data.train={OWN.get(arguments[1], 'mine.conll')}")
    return [*arguments, *(part for setting in settings for part in ("--set", setting))]


@pytest.mark.long
@pytest.mark.usefixtures("place")
def test_the_commands_of_the_readme_work(gonie: Callable) -> None:
    assert follow(README, gonie) == 3
    assert Path("report.html").is_file()


@pytest.mark.long
@pytest.mark.usefixtures("place")
def test_the_commands_of_the_korean_readme_work(gonie: Callable) -> None:
    assert follow(KOREAN, gonie) == 3


@pytest.mark.long
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("guides/training", 14),
        ("guides/classify", 8),
        ("guides/pairs", 6),
        ("distillation", 4),
        ("guides/elmo", 8),
        ("guides/augment", 1),
        ("guides/external-vectors", 4),
        ("in-context", 1),
        ("tutorials/window", 4),
        ("reference/python", 0),
        ("tutorials/quick-start", 7),
        ("tutorials/quick-start.ko", 11),
        ("guides/ner.ko", 13),
        ("guides/classify.ko", 8),
        ("guides/explain.ko", 4),
        ("reference/formats.ko", 1),
        ("explanation/units.ko", 2),
    ],
)
def test_the_commands_of_a_docs_page_work(gonie: Callable, page: str, least: int) -> None:
    assert follow(ROOT / "docs" / f"{page}.md", gonie) >= least


@pytest.mark.parametrize(
    "page", [README, KOREAN, ROOT / "docs" / "reference" / "python.md"], ids=lambda page: page.stem
)
def test_the_python_code_passes_a_strict_type_check(page: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("no mypy: pip install '.[dev]' -c constraints.txt")
    code = "\n".join(block.body for block in marked(page, "run") if block.kind == "python")
    (tmp_path / "example.py").write_text(code, "utf-8")
    options = ["--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={ROOT / '.mypy_cache'}"]
    command = [sys.executable, "-m", "mypy", *options, str(tmp_path / "example.py")]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    ended = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "gonie" in code
    assert ended.returncode == 0, ended.stdout + ended.stderr


def without_language(words: list[str]) -> list[str]:
    """Return a command without the language of its messages (``--lang ko``), which goes before its name."""
    return [*words[:1], *words[3:]] if words[1:2] == ["--lang"] else words


def follow(page: Path, gonie: Callable) -> int:
    """Run the code blocks of a page in order and return the number of commands."""
    ran = 0
    names: dict[str, object] = {}
    for block in marked(page, "run"):
        if block.kind == "python":
            run_python(block.body, names)
            continue
        for command in block.commands():
            program, *arguments = shlex.split(command, comments=True)
            ran += 1
            if program == "cp":
                shutil.copy(*arguments)
                continue
            assert program == "gonie", command
            outcome = gonie(*small(arguments))
            assert outcome.code == 0, f"{command}\n{outcome.out}\n{outcome.err}"
    return ran


def run_python(code: str, names: dict[str, object] | None = None) -> str:
    """Run a block and return its output; blocks that share ``names`` share their variables."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "block", "exec"), {} if names is None else names)
    return printed.getvalue()


def printing(page: Path) -> list[Block]:
    """Return the blocks of a page that are followed by their output."""
    return [block for block in marked(page, "run") if block.mark == "run: exact"]


@pytest.mark.parametrize("page", [page for page in PAGES if printing(page)], ids=lambda page: page.stem)
def test_the_output_shown_in_the_docs_is_exact(page: Path) -> None:
    names: dict[str, object] = {}
    for block in printing(page):
        assert run_python(block.body, names) == block.after


def test_options_used_in_the_docs_exist(gonie: Callable) -> None:
    """The long tests run the commands; this one only looks at the help of each command."""
    seen: dict[str, set[str]] = {}
    for page in PAGES:
        for block in marked(page, "run"):
            for command in block.commands() if block.kind != "python" else ():
                program, name, *arguments = without_language(shlex.split(command, comments=True))
                if program != "gonie":
                    continue
                name = f"{name} {arguments[0]}" if name == "data" else name
                given = {argument for argument in arguments if re.match("--?[a-z]", argument)}
                seen[name] = seen.get(name, set()) | given
    assert seen.keys() >= {"train", "tag", "classify", "evaluate", "explain"}
    for name, options in seen.items():
        told = gonie(*name.split(), "--help")
        assert told.code == 0, name
        missing = {option for option in options if not re.search(rf"{option}\b", told.out)}
        assert not missing, f"gonie {name} has no {missing}"


@pytest.mark.parametrize("page", SELF_CONTAINED)
def test_a_self_contained_page_makes_the_files_that_its_commands_read(page: str) -> None:
    made: set[str] = set()
    found = marked(ROOT / "docs" / f"{page}.md", "run")
    for command in (line for block in found if block.kind != "python" for line in block.commands()):
        program, *arguments = shlex.split(command, comments=True)
        written = {
            value for option, value in pairwise(arguments) if option in ("--out", "--html", "--errors")
        }
        made |= written | set(arguments[1:] if program == "cp" else ())
        named = {argument.rpartition("=")[2] for argument in arguments}
        read = {name for name in named if re.fullmatch(r"\S+\.(conll|klue|tsv|jsonl)", name)}
        assert all(name in made or (ROOT / name).is_file() for name in read), command
    assert made


@pytest.mark.parametrize(
    ("block", "language", "unit"),
    [
        *((block, "en", "word") for block in marked(FORMATS, "read")),
        *((block, "ko", "syllable") for block in marked(KOREAN_FORMATS, "read")),
    ],
    ids=lambda value: value.mark if isinstance(value, Block) else value,
)
def test_the_format_examples_are_read_as_documented(
    block: Block, language: str, unit: str, tmp_path: Path
) -> None:
    from gonie.formats.format import ReadOptions
    from gonie.text.tokenizers import tokenizer

    _, name, kind = block.mark.split()
    (tmp_path / "example").write_text(block.body, "utf-8")
    options = ReadOptions(tokenizer=tokenizer(language=language, unit=unit))
    found = survey(TaggedSource(tmp_path / "example", options))
    assert found.report.choices["format"][0] == name
    assert found.scheme.kind == kind
    assert found.sentences
    assert not found.problems
    assert not found.report.misaligned


@pytest.mark.parametrize(
    "block", [*marked(FORMATS, "texts"), *marked(KOREAN_FORMATS, "texts")], ids=lambda block: block.mark
)
def test_the_labelled_text_examples_are_read_as_documented(block: Block, tmp_path: Path) -> None:
    from gonie.formats.labelled import LabelledSource

    _, name, number = block.mark.split()
    (tmp_path / "example").write_text(block.body, "utf-8")
    source = LabelledSource(tmp_path / "example")
    assert all(text.labels for text in source)
    assert (source.report.choices["format"][0], source.report.texts) == (name, int(number))


@pytest.mark.parametrize(
    "block", [*marked(FORMATS, "pairs"), *marked(KOREAN_FORMATS, "pairs")], ids=lambda block: block.mark
)
def test_the_pair_examples_are_read_as_documented(block: Block, tmp_path: Path) -> None:
    from gonie.formats.pairs import PairSource

    _, name, number = block.mark.split()
    (tmp_path / "example").write_text(block.body, "utf-8")
    source = PairSource(tmp_path / "example")
    assert all(pair.labels or pair.value is not None for pair in source)
    assert (source.report.choices["format"][0], source.report.pairs) == (name, int(number))


def test_every_format_has_an_example() -> None:
    from gonie.formats.table import FORMATS as KNOWN
    from gonie.formats.table import PAIR_FORMATS, ROW_FORMATS, TEXT_FORMATS

    binary_or_folder = {"parquet", "arrow", "parallel", "brat", "spacy"}
    shown = {block.mark.split()[1] for block in marked(FORMATS, "read")}
    assert shown == set(KNOWN) - binary_or_folder
    shown = {block.mark.split()[1] for block in marked(FORMATS, "texts")}
    assert shown == set(TEXT_FORMATS) - binary_or_folder
    shown = {block.mark.split()[1] for block in marked(FORMATS, "pairs")}
    assert shown >= set(PAIR_FORMATS) - set(ROW_FORMATS)


def test_the_korean_page_names_every_format() -> None:
    from gonie.formats.table import FORMATS as KNOWN
    from gonie.formats.table import PAIR_FORMATS, ROW_FORMATS, TEXT_FORMATS

    _, tagged, texts, pairs = KOREAN_FORMATS.read_text("utf-8").split(" 데이터\n")
    assert names_in_first_column(tagged) == set(KNOWN)
    assert names_in_first_column(texts) == set(TEXT_FORMATS)
    assert all(f"`{name}`" in pairs for name in set(PAIR_FORMATS) - set(ROW_FORMATS))


def names_in_first_column(text: str) -> set[str]:
    """Return the names in backquotes in the first column of the first table of a text."""
    return {name for row in table(text) for name in re.findall(r"`([\w-]+)`", row.split("|")[1])}


def table(text: str) -> list[str]:
    """Return the rows of the first table of a text, without its heading."""
    found = re.search(r"(?:^\|.+\n)+", text, re.MULTILINE)
    return found[0].splitlines()[2:] if found else []


def test_the_korean_readme_is_complete() -> None:
    """README.ko.md has the sections, code blocks, results and links of README.md, and may have more."""
    english, korean = README.read_text("utf-8"), KOREAN.read_text("utf-8")
    levels = [re.findall("^#+", BLOCK.sub("", text), re.MULTILINE) for text in (english, korean)]
    assert levels[0] == levels[1]
    assert [(block.mark, block.kind) for block in blocks(README)] == [
        (block.mark, block.kind) for block in blocks(KOREAN)
    ]
    verbs = [commands_of(page) for page in (README, KOREAN)]
    assert verbs[0] == verbs[1]
    results = [Counter(figures(row) for row in table(text)) for text in (english, korean)]
    assert not results[0] - results[1]
    for ours, theirs in zip(english.split("\n## "), korean.split("\n## "), strict=True):
        assert len(re.findall(r"^\* ", ours, re.MULTILINE)) <= len(re.findall(r"^\* ", theirs, re.MULTILINE))
    targets = {match["path"] for match in LINK.finditer(korean)}
    missing = {
        path
        for path in (match["path"] for match in LINK.finditer(english))
        if path != KOREAN.name and path not in targets and path.replace(".md", ".ko.md") not in targets
    }
    assert not missing


def commands_of(page: Path) -> list[str]:
    """Return the commands of gonie that the code blocks of a page run: train, tag, …"""
    shown = (block for block in marked(page, "run") if block.kind == "console")
    return [without_language(shlex.split(command))[1] for block in shown for command in block.commands()]


def figures(row: str) -> tuple[str, ...]:
    """Return what a row of results has in any language: its figures, links and command, in order of size."""
    numbers = re.findall(r"(?<![\w.,])\d[\d.,]*\d|(?<![\w.,])\d|\b[A-Z]+_[A-Z_0-9]+\b", LINK.sub("]", row))
    links = [match[0] for match in LINK.finditer(row)]
    return (*sorted(numbers), *sorted(links), row.split("|")[-2].strip())


def test_links_are_valid() -> None:
    broken, number = [], 0
    for page in PAGES:
        for match in LINK.finditer(BLOCK.sub("", page.read_text("utf-8"))):
            if not match["path"].startswith(("http://", "https://")):
                number += 1
                wrong = problem(page, match["path"], match["anchor"])
                broken += [f"{page.relative_to(ROOT)}: {match['path']} {wrong}"] if wrong else []
    assert not broken, "\n".join(broken)
    assert number > 100


def test_links_with_a_file_name_lead_to_that_file() -> None:
    found = [(page, match) for page in PAGES for match in FILE_LINK.finditer(page.read_text("utf-8"))]
    assert len(found) > 30
    wrong = [f"{page.name}: {match[0]}" for page, match in found if not match["path"].endswith(match["name"])]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_imports_in_the_docs_work(page: Path) -> None:
    """Blocks that are not run are the first to become outdated."""
    for block in blocks(page):
        if block.kind == "python":
            for statement in IMPORT.findall(block.body):
                exec(compile(statement.strip(), page.name, "exec"), {})


def problem(page: Path, path: str, anchor: str | None) -> str | None:
    """Return what is wrong with a link to a file or a heading, or None."""
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT):
        return "leads out of the repository"
    if not target.exists():
        return "is not there"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return f"has no heading {anchor}"
    return None


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives to the headings of a page."""
    titles = HEADING.findall(BLOCK.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
