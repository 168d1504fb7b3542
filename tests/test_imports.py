"""The direction of imports, and their cost: a knot or a stray torch would break `pip install gonie`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "gonie"

MAY_IMPORT = {
    "data": {"data"},
    "pages": {"pages"},
    "metrics": {"metrics", "data", "pages"},
    "runtime": {"runtime", "data"},
    "nn": {"nn"},
    "models": {"models", "data", "nn", "runtime"},
    # beyond the design: an export in bytes is accepted by its score, so export may use metrics
    "export": {"export", "data", "metrics", "models", "nn", "runtime"},
    # beyond the design: a run ends with the exported bundle, so training may use export, which knows none
    "training": {"training", "data", "metrics", "models", "runtime", "export"},
    "bulk": {"bulk", "data", "runtime"},
    "explain": {"explain", "data", "models", "pages", "runtime"},
    "cli": {"cli", "data", "metrics", "models", "runtime", "bulk", "export", "explain", "training"},
}
WITHOUT_TORCH = ("data", "metrics", "pages", "runtime", "bulk")
HEAVY = {"torch", "onnx", "numba"}
FILES = sorted(SOURCE.rglob("*.py"))


def imported(path: Path, *, top_only: bool) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    names: set[str] = set()
    for node in tree.body if top_only else ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_go_one_way(path: Path) -> None:
    package = path.relative_to(SOURCE).parts[0]
    if package not in MAY_IMPORT:
        return
    parts = {name.split(".")[1] for name in imported(path, top_only=False) if name.startswith("gonie.")}
    folders = {part for part in parts if (SOURCE / part).is_dir()}
    assert folders <= MAY_IMPORT[package], f"{path}: may import {MAY_IMPORT[package]}, imports {folders}"


@pytest.mark.parametrize("package", WITHOUT_TORCH)
def test_nothing_below_the_models_imports_torch(package: str) -> None:
    for path in (SOURCE / package).rglob("*.py"):
        roots = {name.split(".")[0] for name in imported(path, top_only=False)}
        assert not roots & HEAVY, f"{path} imports {roots & HEAVY}"


def test_every_folder_is_in_the_table() -> None:
    folders = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(MAY_IMPORT)


def test_no_cycles_between_modules() -> None:
    modules = {
        ".".join(("gonie", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__"): path
        for path in FILES
    }
    graph = {name: imported(path, top_only=False) & set(modules) - {name} for name, path in modules.items()}
    # importing a package's module also runs the package, but only a module's own imports can make a cycle
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in graph[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_the_command_line_starts_without_torch() -> None:
    code = "import sys, gonie, gonie.cli.main; sys.exit(any(n.split('.')[0] == 'torch' for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
