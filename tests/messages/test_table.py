"""The table has every text of the code, with the same fields, and nothing else.

If this fails: ``python tools/messages.py``, then translate what ``python tools/messages.py --missing`` lists.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from gonie.messages.templates import COUNTED, FIELDS, Translator, fields, pieces

TOOL = Path(__file__).parent.parent.parent / "tools" / "messages.py"
SOURCE = '''
def f(report, path, n, verb):
    """No text."""
    verb = "is" if n == 1 else "are"
    report.skipped["rows without a label"] += 1
    raise InputError(f"{path}: {n:,} {verb} too many" + " of them", fix="Remove " f"{n} of them")
    return count(n, "gold span"), re.compile("no text here"), element("p", class_="no text")
'''


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("messages_tool", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_is_complete(tool: ModuleType) -> None:
    assert tool.problems(tool.texts(), tool.read()) == []


def test_translations_are_korean(tool: ModuleType) -> None:
    """Commands, titles of papers and names stay as they are, and have no sentence of their own."""
    same = [text for text, translation in tool.read().items() if not re.search("[가-힣]", translation)]
    assert len(same) < 60, same


def test_problems_are_named(tool: ModuleType) -> None:
    found = {"a.py": ["new text", "a {0} text", "empty text", "right {0}"]}
    table = {"a {0} text": "텍스트", "empty text": "", "old text": "옛 텍스트", "right {0}": "{0!t}"}
    assert tool.problems(found, table) == [
        "a.py: not in the table: new text",
        "not in the code any more: old text",
        "no {0} in the translation of: a {0} text",
        "a.py: not translated: empty text",
    ]


def test_texts_are_found_in_code(tool: ModuleType) -> None:
    import ast

    assert list(tool.Module(ast.parse(SOURCE), view=False).texts()) == [
        "rows without a label",
        "{0}: {1} {is|are} too many of them",
        "Remove {0} of them",
        "gold spans",
    ]


def test_every_text_is_found_again(tool: ModuleType) -> None:
    """A text of the code is read by its own entry, and not by one that fits other texts too."""
    table = {key: text for key, text in tool.read().items() if "{n}" not in text and not BESIDE.search(key)}
    translator, wrong = Translator(tool.read()), []
    for key, translation in table.items():
        counted = COUNTED.findall(translation)
        values = {name: str(3 + int(name)) if name in counted else f"x{name}" for name in fields(key)}
        parts = (values[value] if kind in FIELDS else value.split("|")[0] for kind, value in pieces(key))
        text, wanted = "".join(parts), Translator({key: translation})
        if translator(text) != wanted(text):
            wrong.append(f"{text}: {translator(text)}, not {wanted(text)}")
    assert wrong == [], "\n".join(wrong)


BESIDE = re.compile(r"\}\{\d")
"""Fields with nothing between them. Their values begin with punctuation."""
