"""Tests the public names of packages, so that none becomes public by accident."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import gonie

SOURCE = Path(gonie.__file__).parent
PUBLIC = {
    "AsyncClient",
    "BundleError",
    "Candidate",
    "Classification",
    "Client",
    "ComparedRecipes",
    "ComparedSequences",
    "DistilledRun",
    "Document",
    "Explanation",
    "GonieError",
    "InputError",
    "LabelledPair",
    "LabelledText",
    "MissingExtraError",
    "ModelScores",
    "OutputError",
    "PairAnswer",
    "PairClassifier",
    "ReadExamples",
    "RecipeError",
    "ResumeError",
    "Run",
    "RunCost",
    "Sentence",
    "ServiceError",
    "Span",
    "Tagger",
    "TextClassifier",
    "Token",
    "__version__",
    "compare",
    "distill",
    "evaluate",
    "explain",
    "load",
    "read",
    "train",
}
LAZY = {
    "AsyncClient",
    "Client",
    "ComparedRecipes",
    "ComparedSequences",
    "DistilledRun",
    "Explanation",
    "ModelScores",
    "PairAnswer",
    "PairClassifier",
    "ReadExamples",
    "Run",
    "RunCost",
    "Tagger",
    "TextClassifier",
    "compare",
    "distill",
    "evaluate",
    "explain",
    "read",
    "train",
}
"""Names that are imported when they are first used."""


def test_gonie_has_exactly_the_listed_public_names() -> None:
    assert len(gonie.__all__) == len(set(gonie.__all__))
    assert set(gonie.__all__) == PUBLIC
    homes = {name: getattr(value, "__module__", "") for name, value in vars(gonie).items()}
    defined = {name for name, home in homes.items() if home.startswith("gonie")} - {"__getattr__", "__dir__"}
    assert defined == PUBLIC - LAZY - {"__version__"}
    assert all(hasattr(gonie, name) for name in PUBLIC)


def test_model_classes_are_found_by_their_short_names() -> None:
    from gonie.tasks.pairs.answer import PairAnswer
    from gonie.tasks.pairs.classifier import PairClassifier

    assert (gonie.PairClassifier, gonie.PairAnswer) == (PairClassifier, PairAnswer)
    assert {getattr(gonie, name).__name__ for name in LAZY} == LAZY
    assert not hasattr(gonie, "TextTagger")


def test_all_of_each_package_matches_its_imports() -> None:
    wrong, listed = {}, 0
    for path in sorted(SOURCE.rglob("__init__.py")):
        package = ".".join(("gonie", *path.parent.relative_to(SOURCE).parts))
        offered, names = exported(ast.parse(path.read_text("utf-8")), package)
        listed += bool(names)
        if offered != names:
            wrong[package] = sorted(offered ^ names)
    assert not wrong, f"in __all__ or imported, but not both: {wrong}"
    assert listed > 1


def exported(tree: ast.Module, package: str) -> tuple[set[str], set[str]]:
    """Return the names that a package imports from its modules or defines, and those in ``__all__``."""
    offered, listed = set(), set()
    for node in tree.body + [node for block in tree.body if isinstance(block, ast.If) for node in block.body]:
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{package}."):
            offered |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            offered.add(node.name)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            listed = set(ast.literal_eval(node.value))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            offered |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in offered if not name.startswith("_") or name == "__version__"}, listed


def test_public_names_include_imports_functions_and_constants() -> None:
    source = """
from gonie.bulk.job import BulkJob, _digest
from gonie.errors import GonieError
__all__ = ["BulkJob", "LIMIT"]
LIMIT = 1
SIZE: int = 2
_own = 3
def run(): ...
"""
    offered, listed = exported(ast.parse(source), "gonie.bulk")
    assert offered == {"BulkJob", "LIMIT", "SIZE", "run"}
    assert listed == {"BulkJob", "LIMIT"}


def test_the_version_matches_pyproject() -> None:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == gonie.__version__
