"""Execute the notebooks of the docs, each in a fresh folder, and store their outputs.

    python tools/run_notebooks.py                 execute all of them; exit 1 at the first cell that fails
    python tools/run_notebooks.py --write ner     execute docs/notebooks/ner.ipynb and store its outputs

The folder is deleted afterwards with everything that the notebook wrote. Needs the extra ``docs``.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "docs" / "notebooks"
SECONDS = 900  # time limit of one cell
CONTROL = re.compile(r"(\x1b\[[0-9;?]*[A-Za-z]|\r\n|\r|\n)")  # cursor moves, colours and line ends


def execute(path: Path) -> nbformat.NotebookNode:
    """Execute a notebook and return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute()
        for cell in notebook.cells:
            tidy(cell, folder)
    return notebook


def tidy(cell: nbformat.NotebookNode, folder: str) -> None:
    """Remove what differs from run to run or belongs to this machine."""
    cell.metadata = nbformat.NotebookNode()
    if cell.cell_type != "code":
        return
    outputs: list[nbformat.NotebookNode] = []
    for output in cell.outputs:
        if outputs and "text" in output and outputs[-1].get("name") == output.name:
            outputs[-1].text += output.text  # a stream arrives in pieces
        else:
            outputs.append(output)
    for output in outputs:
        if "text" in output:
            output.text = screen(output.text).replace(f"{folder}/", "").replace(folder, ".")
        for kind, content in output.get("data", {}).items():
            if isinstance(content, str):
                output.data[kind] = content.replace(f"{folder}/", "").replace(folder, ".")
    cell.outputs = outputs


def screen(text: str) -> str:
    """Return what a terminal shows at the end: progress bars that were drawn over are gone."""
    lines, row, column = [""], 0, 0
    for part in CONTROL.split(text):
        if part in ("\n", "\r\n"):
            row, column = row + 1, 0
            lines += [""] * (row == len(lines))
        elif part == "\r":
            column = 0
        elif part.endswith("K") and part.startswith("\x1b"):
            lines[row], column = "", 0
        elif part.endswith("A") and part.startswith("\x1b"):
            row = max(0, row - int(part[2:-1] or 1))
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + part + lines[row][column + len(part) :]
            column += len(part)
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Execute the named notebooks, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="names of notebooks, without .ipynb")
    parser.add_argument("--write", action="store_true", help="store the outputs in the notebooks")
    arguments = parser.parse_args()
    # the notebooks run the commands of this interpreter's environment, without colours
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ |= {"NO_COLOR": "1", "COLUMNS": "88"}
    names = arguments.names or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    for path in (NOTEBOOKS / f"{name}.ipynb" for name in names):
        try:
            notebook = execute(path)
        except CellExecutionError as failure:
            sys.exit(f"{path.name}: {failure}")
        if arguments.write:
            nbformat.write(notebook, path)
        print(f"{path.name}: {len(notebook.cells)} cells")


if __name__ == "__main__":
    main()
