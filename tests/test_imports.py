"""Tests the direction of imports and that the core never imports torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "gonie"

TORCH_FREE = {
    "system": set(),
    "text": {"system"},
    "messages": {"text"},
    "formats": {"text", "system"},
    "features": {"text", "system"},
    "metrics": {"text", "system"},
    "reports": {"messages", "metrics", "text", "system"},
    "runtime": {"features", "text", "system"},
    "tasks": {"runtime", "reports", "messages", "metrics", "features", "formats", "text", "system"},
}
"""Packages that never import torch, and the packages that each may import.

Packages below ``reports`` write English messages. They are translated where they are shown.
"""
TORCH_FREE["explaining"] = TORCH_FREE["bulk"] = TORCH_FREE["client"] = {"tasks", *TORCH_FREE["tasks"]}
TORCH_FREE["in_context"] = {"client", *TORCH_FREE["client"]}
TORCH_FREE["serve"] = {"explaining", *TORCH_FREE["explaining"]}
WITH_TORCH = {
    "nn": set(),
    "export": {"nn", "runtime", "features", "metrics", "text", "system"},
    "tasks/torch": {"nn", "export", "tasks", *TORCH_FREE["tasks"]},
    "explaining/torch": {"nn", "explaining", "tasks/torch", *TORCH_FREE["explaining"]},
    "training": {"nn", "export", "tasks/torch", *TORCH_FREE["explaining"] - {"explaining"}},
    "experiments": {"training", "nn", "export", "tasks/torch", "explaining", *TORCH_FREE["explaining"]},
}
MAY_IMPORT = {**TORCH_FREE, **WITH_TORCH}
HEAVY = {"torch", "onnx", "numba"}
OPEN_TO_ALL = {"api", "cli"}
"""Packages that may import everything, inside functions."""
LAZY = {"tasks": {"tasks/torch", "nn", "client", "in_context"}, "explaining": {"explaining/torch"}}
"""Packages that each package may import only inside functions, such as its own torch half."""


def room(parts: tuple[str, ...]) -> str:
    """Return the package of a module; a torch half counts as a package of its own."""
    return f"{parts[0]}/torch" if parts[0] in ("tasks", "explaining") and "torch" in parts[1:] else parts[0]


@cache
def modules() -> dict[str, Path]:
    files = sorted(SOURCE.rglob("*.py"))
    names = (".".join(("gonie", *path.relative_to(SOURCE).with_suffix("").parts)) for path in files)
    return {name.removesuffix(".__init__"): path for name, path in zip(names, files, strict=True)}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imported(path: Path, *, in_functions: bool = True) -> set[str]:
    """Return every module that a file imports, except those for type checkers only."""
    names: set[str] = set()
    for node in _running(parsed(path), in_functions=in_functions):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {_imported_name(node.module, alias.name) for alias in node.names}
    return names


def _imported_name(module: str, name: str) -> str:
    """Return the module that ``from module import name`` imports: ``name`` itself if it is a module."""
    return inside if (inside := f"{module}.{name}") in modules() else module


def _running(tree: ast.AST, *, in_functions: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.FunctionDef) and not in_functions:
            continue
        yield node
        yield from _running(node, in_functions=in_functions)


def test_packages_import_only_allowed_packages() -> None:
    known, against = modules(), set()
    for name, path in known.items():
        own = room(path.relative_to(SOURCE).parts)
        if own in OPEN_TO_ALL or path.parent == SOURCE:
            continue
        for lazy in (False, True):
            allowed = MAY_IMPORT[own] | {own} | (LAZY.get(own, set()) if lazy else set())
            for target in imported(path, in_functions=lazy) & known.keys() - {name, "gonie"}:
                parts = tuple(target.split(".")[1:])
                if (SOURCE / parts[0]).is_dir() and room(parts) not in allowed:
                    against.add(f"{path.relative_to(SOURCE)} -> {room(parts)}")
    assert against == set()


def test_packages_that_run_bundles_do_not_import_torch() -> None:
    found = {
        str(path.relative_to(SOURCE)): heavy
        for path in modules().values()
        if room(path.relative_to(SOURCE).parts) in TORCH_FREE
        if (heavy := {name.split(".")[0] for name in imported(path)} & HEAVY)
    }
    assert found == {}


def test_every_package_is_in_the_table() -> None:
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert rooms - OPEN_TO_ALL == {name for name in MAY_IMPORT if "/" not in name}


def test_no_cycles_between_modules() -> None:
    known = modules()
    graph = {name: imported(path) & set(known) - {name} for name, path in known.items()}
    # importing a module also runs its package, but only a module's own imports can form a cycle
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name not in done:
            for other in graph[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_class_names_are_unique() -> None:
    """Searching for a class should give one result. The estimators of scikit-learn have fixed names."""
    places: dict[str, list[str]] = {}
    for path in set(modules().values()) - {SOURCE / "sklearn.py"}:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_the_command_line_starts_without_torch() -> None:
    code = "import sys, gonie, gonie.cli.main; sys.exit(any(n.split('.')[0] == 'torch' for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
