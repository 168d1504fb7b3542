"""Keep the table of translated messages, src/gonie/messages/ko.json, in step with the code.

    python tools/messages.py                            write the table: add new texts, drop stale ones
    python tools/messages.py --check                    exit 1 if texts are missing, stale or untranslated
    python tools/messages.py --missing [src/gonie/cli]  print texts without a translation, as JSON to fill in
    python tools/messages.py --fill FILE.json           add translations from such a file, or - for stdin

Texts are found in the source: every string that reads like English (two words or more), and single words
where they are shown, such as headings, columns and the arguments of ``say``. Strings that no user of the
command line sees are left out by the rules below. An f-string is a template with numbered fields
(src/gonie/messages/templates.py).
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gonie.messages.templates import fields, pieces
from gonie.tasks.recipe import recipe_names, recipe_summary

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "gonie"
TABLE = SOURCE / "messages" / "ko.json"

UNSEEN = (
    "api/",  # the Python API speaks English
    "nn/",
    "sklearn.py",
    "text/notebook.py",
    "messages/",
    "in_context/prompt.py",  # read by language models
    "text/tokenizers/lexicon.py",
    "text/tokenizers/shapes.py",
    "runtime/protobuf.py",
    "metrics/novelty.py",
    "reports/html/style.py",
    "reports/report_style.py",
    "reports/size_style.py",
    "reports/explanations/style.py",
    "reports/html/",
    "tasks/torch/synthetic.py",
    "tasks/tagging/torch/synthetic.py",
    "serve/",  # what the service answers, logs and counts is for programs
)
"""Files without texts for the command line."""
SEEN = (
    "serve/keys.py",
    "serve/model_path.py",
    "serve/server.py",
    "serve/telemetry.py",
    "serve/worker_process.py",
)
"""Files in these folders that have texts for the command line: errors at the start."""
PROSE = re.compile(r"[^\W\d_]{2,}[,;:]? (?:\S* )?[^\W\d_{]|[a-z}] [a-z]{2}|[a-z]{2}[,;:]? \{")
"""A string with at least two words, or a word and a field."""
CODE = re.compile(
    r"^\s+[A-Z]\w+ [A-Z]\w+ [A-Z]|\(\?|\\[dwsb]|\[\^|^#!|^<[a-z]+[ >]|</[a-z]+>|"
    r"^[A-Z\d-]+(\s[A-Z\d-]+)*$|^[a-z]+(_[a-z]+)+$|\{task\.|;\s*\}|"
    r"^import |^from [\w.]+ import|[{;]\s*--?\w+:|^DejaVu Sans$|^Last Resort$"
)
"""Expressions, markup, code and fonts."""
SHOWN = {
    "section", "note", "folded", "say", "opening", "add_column", "Table", "score_grid", "help", "count",
    "count_of", "average_row", "print_lines", "StepProgress", "describe", "choose", "grid_of",
    "_grid", "chapters",
}  # fmt: skip
"""Functions whose arguments are shown, also single words."""
NAMED = {"header", "columns", "_COLUMNS", "COLUMNS", "names", "caption", "purpose", "noun", "title", "unit"}
"""Variables and keyword arguments with texts."""
MARKUP = {"class_", "style", "header_style", "role", "viewBox", "xycoords", "textcoords", "loc", "alias"}
"""Keyword arguments that are not shown."""
VIEWS = re.compile(r"^reports/|^cli/views/|view\.py$|report\.py$|^experiments/tables\.py$")
"""Files in which the names above hold texts of one word."""
WORD = (
    r"(gonie|--[\w-]+|(\{\d\})+(=\w+)?|[A-Z]+|[\w.-]+=\S*|data|check|compare|train|tag|explain|evaluate|classify|export|"
    r"tokenise|convert|stats|recipes|cuda|cpu|jsonl|bold|red|green)"
)
COMMAND = re.compile(rf"\s*{WORD}(\s+{WORD})*")
"""A command or its options, which are the same in every language."""
GRAMMAR = {
    "",
    "s",
    "is",
    "are",
    "a",
    "an",
    "it",
    "them",
    "has",
    "have",
    "does",
    "do",
    "occurs",
    "occur",
    "applies",
    "apply",
}
"""Words that differ with a number, which other languages need not have."""
LEAST = 3
"""A template with fewer Latin letters and digits matches too many texts, or is Korean data."""
MAPPED = {"facts", "values", "MENTIONS", "WORDS", "names", "skipped", "noticed", "choices"}
"""Mappings whose keys or values are texts."""
HIDDEN_CALLS = {
    "compile", "sub", "search", "match", "fullmatch", "finditer", "split", "findall", "getLogger", "warn",
    "TypeVar", "NewType", "getattr", "hasattr", "setattr", "catch_warnings", "filterwarnings",
    "field_validator", "import_module", "encode", "removeprefix", "removesuffix", "startswith", "endswith",
    "partition", "replace", "cast", "_map", "_klue",
}  # fmt: skip
"""Functions whose arguments are not shown."""
OTHERS = {
    "cli/main.py (Typer)": (
        "Usage: ", "Arguments", "Options", "Commands", "Error", "[default: {0}]", "[required]",
        "Show this message and exit.",
    ),
    "cli/main.py (system)": (
        "No such file or directory", "Permission denied", "Is a directory", "Not a directory", "File exists",
        "No space left on device",
    ),
    "cli/serve.py (headings)": ("Limits", "Access"),
    "serve/server.py (system)": (
        "Address already in use", "Cannot assign requested address", "Name or service not known",
    ),
    "formats/jsonl.py (json)": (
        "Expecting value", "Expecting ',' delimiter", "Expecting ':' delimiter", "Extra data",
        "Expecting property name enclosed in double quotes", "Unterminated string starting at",
        "Illegal trailing comma before end of object", "Illegal trailing comma before end of array",
        "Invalid control character at", "Invalid control character {0} at", "Invalid \\escape",
        "Invalid \\escape: {0}", "Invalid \\uXXXX escape",
        "Unexpected UTF-8 BOM (decode using utf-8-sig)", "{0}: line {1} column {2} (char {3})",
    ),
    "formats/klue.py (whole)": ("the KLUE format cannot store plain labels",),
    "tasks/recipe.py (pydantic)": (
        "Input should be a valid integer", "Input should be a valid number", "Input should be a valid string",
        "Input should be a valid boolean", "Input should be a valid list",
    ),
    "reports (names)": (
        "attention", "erasure", "random", "control", "faithfulness", "input", "output", "text", "pair",
        "sentence", "texts", "pairs", "tagger", "taggers", "classifier", "classifiers", "train", "dev",
        "test",
        "note", "warning", "failed", "format", "separator", "scheme", "tab", "blank", "tabs", "blanks",
        "shortest", "median", "longest", "entity", "label", "confidence", "spurious", "missed", "tag",
        "arguments", "argument", "a number", "data", "model", "memory", "with", "without", "folder", "report",
        "dev F1", "test F1", "dev accuracy", "test accuracy", "best", "{0}  (95% {1} to {2})",
        "type", "error", "Accuracy ", "Accuracy", "Pearson ", "p(tagging)", "(start)", "(end)",
        "spans", "eojeol", "syllable", "morpheme", "word", "values", "eojeols", "syllables", "morphemes",
        "ETA", "{0}: {1}, {2}, ETA {3}", "{0} s", "{0} of {1}", "accuracy", "predicts", "steps",
        "size", "recipe", "parameters", "seed", "file", "members", "{0} {1} at {2}..{3} {4}",
        "for value", "for value; {0} unexplained", "{a|an} {0} file ({1})", "once", "examples", "characters",
        "seconds", "spaces", "commas", "semicolons", "choices", "relations", "column", "columns",
        "standard input", "Contents", "<{0}> without </{1}>", "</{0}> without <{1}>",
        'gonie {0} {1} "your text"', 'gonie {0} {1} "first text" "second text"', "Spearman",
        "dev F1 {0}", "dev accuracy {0}", "dev F1 {0}, test F1 {1}", "test F1 {0}",
        "dev accuracy {0}, test accuracy {1}", "test accuracy {0}", "dev Pearson {0}",
        "dev Pearson", "test Pearson",
        "{0} {row|rows} in {1} {part|parts}{2}", "to", "context", "pair classifiers", "none",
        "teacher", "student", "empty", "entities", "unlabelled texts", "repeated unlabelled sentences",
        "repeated unlabelled texts", "the labels of the training file",
        "{0} must follow an entity with the same label, but {1}", "{0} is not a tag of {1}",
        "{0} opens or continues an entity that is never closed",
        "If this is wrong, choose the format with --format NAME (in a recipe data.format)",
    ),
}  # fmt: skip
"""Texts of libraries, names that are also values, and parts of texts."""


EXAMPLES = {
    "gonie train ner mine.conll",
    "gonie train ner train.conll dev.conll test.conll --set model.encoder.hidden=300",
    "gonie train classify tickets.csv --text question --label intent --out runs/tickets",
    "gonie train ner --out runs/ner --resume",
    'gonie tag runs/ner "George is happy about the election outcome."',
    'gonie tag runs/ner --bias PER=1 --bias ORG=-0.5 "Finds more persons and fewer organisations."',
    'gonie tag runs/ner --nbest 3 "Is Jordan a person or a country?"',
    'gonie classify runs/subjectivity "a film that begs to be seen"',
    'gonie classify runs/relations "The <e1>fire</e1> was caused by the <e2>bomb</e2>."',
    'gonie classify runs/pairs "A man plays the flute." "A man makes music."',
    "gonie evaluate runs/ner test.conll",
    "gonie tag runs/ner --file letters.txt --output jsonl > tagged.jsonl",
    "gonie tag runs/ner --file tickets.csv --column question --output jsonl > tagged.jsonl",
    "cat words.conll | gonie tag runs/ner --input conll --output conll",
    "gonie tag runs/ner --file posts.txt --output jsonl --offsets utf16 > for-javascript.jsonl",
    'gonie tag http://127.0.0.1:8000/ner "Tagged by gonie serve."',
    'gonie tag llm:http://127.0.0.1:8080/v1 --shots-from train.conll "Tagged by a language model."',
    "gonie tag runs/ner --file a.jsonl --file b.parquet --out tagged --output parquet",
    "gonie evaluate runs/ner test.conll --mode strict --json scores.json --html report.html",
    "gonie evaluate runs/ner dev.conll --errors errors.tsv",
    "gonie evaluate runs/ner dev.conll --decode posterior --bias 0.5",
    "gonie evaluate runs/ner news=test.conll web=wnut.conll --map wnut",
    "gonie evaluate runs/ner test.jsonl --by year --noise --html report.html",
    "gonie evaluate runs/ner-1 test.conll --ensemble runs/ner-2 --ensemble runs/ner-3",
    "gonie evaluate runs/ner test.conll --mc-dropout 20",
    'gonie explain runs/pairs "A man plays the flute." "A man makes music."',
    'gonie explain runs/ner "George is happy about the election outcome." --nbest 3',
    'gonie explain runs/ner "Samsung managers met in Seoul." --span Samsung=ORG',
}
"""Examples of commands on help pages that have other texts or files in other languages."""


def texts() -> dict[str, list[str]]:
    """Return the templates of each source file, every one under the first file that has it."""
    found: dict[str, list[str]] = {}
    known: set[str] = set()
    for name, templates in _all_texts():
        own = [text for text in dict.fromkeys(templates) if text not in known]
        known.update(own)
        if own:
            found.setdefault(name, []).extend(own)
    return found


def _all_texts() -> Iterator[tuple[str, Iterable[str]]]:
    yield "cli (help)", _help_texts()
    yield from OTHERS.items()
    yield "recipes", map(recipe_summary, recipe_names())
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith(SEEN) or not name.startswith(UNSEEN):
            yield name, Module(ast.parse(path.read_text("utf-8")), view=bool(VIEWS.search(name))).texts()


def _help_texts() -> Iterator[str]:
    """Yield the help of commands, paragraph by paragraph, and of their options."""
    import typer

    from gonie.cli.hints import PROMPT, is_example
    from gonie.cli.main import app

    group = typer.main.get_command(app)
    for command in (group, *_commands(group)):
        helps = (param.help for param in command.params if getattr(param, "help", None))
        parts = [
            PROMPT + part if is_example(part) else part
            for part in paragraphs(command.help or "")
            if not is_example(part) or part in EXAMPLES
        ]
        for text in (*parts, *helps):
            yield text.replace("{", "{{").replace("}", "}}")


def _commands(group: object) -> Iterator[object]:
    for command in getattr(group, "commands", {}).values():
        yield command
        yield from _commands(command)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text, each on one line."""
    return [" ".join(part.split()) for part in text.split("\n\n") if part.strip()]


class Module:
    """The texts of one parsed source file."""

    def __init__(self, tree: ast.Module, *, view: bool) -> None:
        self.tree = tree
        self.view = view
        self.parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}

    def texts(self) -> Iterator[str]:
        """Yield the templates of the file, in the order of its lines."""
        nodes = [node for node in ast.walk(self.tree) if isinstance(node, ast.expr)]
        for node in sorted(nodes, key=lambda each: (each.lineno, each.col_offset)):
            if not _is_string(node) or self._is_part(node) or self._is_hidden(node):
                continue
            template = self.template(node)
            if noun := self._noun(node):
                yield noun
            elif self._is_said(node) or (
                _may_be_text(template) and (PROSE.search(template) or self._is_shown(node))
            ):
                yield template

    def template(self, node: ast.expr) -> str:
        """Return a string expression as a template with numbered fields."""
        found, number = "", 0
        for part in self._parts(node):
            if isinstance(part, str):
                found += part
            else:
                choices = self._choices(part)
                found += f"{{{number}}}" if choices is None else choices
                number += choices is None
        return found

    def _parts(self, node: ast.expr) -> Iterator[str | ast.expr]:
        """Yield literal text, with braces doubled, and the expressions between."""
        if isinstance(node, ast.Constant):
            yield from _constant(str(node.value))
        elif isinstance(node, ast.JoinedStr):
            for value in node.values:
                if isinstance(value, ast.FormattedValue):
                    yield value.value
                else:
                    yield str(value.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                yield from self._parts(side) if _is_string(side) else (side,)

    def _choices(self, node: ast.expr) -> str | None:
        """Return ``{is|are}`` for an expression that is one of two words."""
        if isinstance(node, ast.Name):
            node = self._assigned(node) or node
        if not isinstance(node, ast.IfExp):
            return None
        words = [each.value for each in (node.body, node.orelse) if isinstance(each, ast.Constant)]
        return f"{{{'|'.join(words)}}}" if len(words) == 2 and GRAMMAR.issuperset(words) else None

    def _assigned(self, name: ast.Name) -> ast.expr | None:
        """Return the only value that the function of a name assigns to it."""
        scope: ast.AST = name
        while scope in self.parents and not isinstance(scope, ast.FunctionDef):
            scope = self.parents[scope]
        values = [
            node.value
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign)
            if any(isinstance(target, ast.Name) and target.id == name.id for target in node.targets)
        ]
        return values[0] if len(values) == 1 else None

    def _noun(self, node: ast.expr) -> str:
        """Return the plural of a noun that is counted with ``count``."""
        call = self.parents[node]
        if isinstance(call, ast.Call) and _called(call) == "count" and node in call.args[1:]:
            return f"{self.template(node)}s"
        return ""

    def _is_part(self, node: ast.expr) -> bool:
        """Return whether a string is part of a longer one."""
        parent = self.parents[node]
        return (
            isinstance(parent, ast.JoinedStr)
            or (isinstance(parent, ast.FormattedValue) and parent.format_spec is node)
            or (isinstance(parent, ast.BinOp) and _is_string(parent))
        )

    def _is_hidden(self, node: ast.expr) -> bool:
        """Return whether a string is no text: a docstring, an annotation, an expression or a key."""
        child: ast.AST = node
        while (parent := self.parents.get(child)) is not None:
            if _hides(parent, child):
                return True
            if isinstance(parent, ast.stmt):
                return False
            child = parent
        return False

    def _is_said(self, node: ast.expr) -> bool:
        """Return whether a string is the argument of ``say``."""
        call = self.parents[node]
        return isinstance(call, ast.Call) and _called(call) == "say"

    def _is_shown(self, node: ast.expr) -> bool:
        """Return whether a single word is a text, by the call or the name that it is for."""
        child: ast.AST = node
        while (parent := self.parents.get(child)) is not None and not isinstance(child, ast.stmt):
            if isinstance(parent, ast.Call) and _called(parent) in SHOWN and child in parent.args:
                return True
            if not self.view:
                child = parent
                continue
            if isinstance(parent, ast.keyword) and parent.arg in NAMED:
                return True
            if isinstance(parent, ast.Assign | ast.AnnAssign):
                targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
                return any(_named(target) in NAMED | MAPPED for target in targets)
            if isinstance(parent, ast.Subscript) and child is parent.slice:
                return _named(parent.value) in MAPPED
            if isinstance(parent, ast.Call) and child is not parent.func and _called(parent) not in ("dict",):
                return False
            child = parent
        return False


def _hides(parent: ast.AST, child: ast.AST) -> bool:
    """Return whether strings in a part of a syntax node are not shown."""
    match parent:
        case ast.Compare() | ast.match_case() | ast.Assert():
            hidden = True
        case ast.Expr():
            hidden = isinstance(child, ast.Constant)
        case ast.Call():
            hidden = _called(parent) in HIDDEN_CALLS and child is not parent.func
        case ast.Attribute():
            hidden = parent.attr == "split"
        case ast.keyword():
            hidden = parent.arg in MARKUP
        case ast.AnnAssign() | ast.arg():
            hidden = child is parent.annotation
        case ast.FunctionDef():
            hidden = child is parent.returns or child in parent.decorator_list
        case ast.Subscript():
            hidden = child is parent.slice and _named(parent.value) not in MAPPED
        case _:
            hidden = False
    return hidden


def _is_string(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and (_is_string(node.left) or _is_string(node.right))
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


FIELD = r"(\{\w*(?::[^{}\s]*)?\})"


def _constant(text: str) -> Iterator[str | ast.expr]:
    """Yield a plain string; ``{}`` and ``{name}`` in it are fields for ``str.format``."""
    for part in re.split(FIELD, text):
        if re.fullmatch(FIELD, part):
            yield ast.Name(id="value")
        else:
            yield part.replace("{", "{{").replace("}", "}}")


def _called(call: ast.Call) -> str:
    return _named(call.func)


def _named(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _may_be_text(template: str) -> bool:
    """Return whether a template is no code, no command, and has letters enough to be found again."""
    if CODE.search(template) or COMMAND.fullmatch(template):
        return False
    return sum(character.isascii() and character.isalnum() for character in _literal(template)) >= LEAST


def _literal(template: str) -> str:
    return "".join(value for kind, value in pieces(template) if kind == "literal")


# --- the table -------------------------------------------------------------------------------------------


def read() -> dict[str, str]:
    """Return the table, from templates to translations."""
    groups = json.loads(TABLE.read_text("utf-8")) if TABLE.is_file() else {}
    return {key: text for group in groups.values() for key, text in group.items()}


def write(translations: dict[str, str]) -> None:
    """Write the table with the texts of the code, in their order."""
    table = {name: {text: translations.get(text, "") for text in own} for name, own in texts().items()}
    TABLE.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", "utf-8")


def problems(found: dict[str, list[str]], table: dict[str, str], *, empty: bool = True) -> list[str]:
    """Return what is wrong with a table: texts without a translation, stale ones, and other fields."""
    wanted = {text: name for name, own in found.items() for text in own}
    wrong = [f"{name}: not in the table: {text}" for text, name in wanted.items() if text not in table]
    wrong += [f"not in the code any more: {text}" for text in table if text not in wanted]
    for text, translation in table.items():
        if not translation:
            wrong += [f"{wanted.get(text)}: not translated: {text}"] if empty else []
        elif not fields(text) >= fields(translation):
            wrong.append(f"unknown field in the translation of: {text}")
        elif lost := fields(text) - fields(translation):
            wrong.append(f"no {{{min(lost)}}} in the translation of: {text}")
    return wrong


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--missing", nargs="?", const="src/gonie", metavar="PATH")
    parser.add_argument("--fill", metavar="FILE")
    options = parser.parse_args()
    table = read()
    if options.check:
        wrong = problems(texts(), table)
        print("\n".join(wrong) or "complete")
        return bool(wrong)
    if options.missing:
        under = options.missing.removeprefix("src/gonie").strip("/")
        missing = {
            text: ""
            for name, own in texts().items()
            if name.startswith(under)
            for text in own
            if not table.get(text)
        }
        print(json.dumps(missing, ensure_ascii=False, indent=1))
        return 0
    if options.fill:
        file = sys.stdin.read() if options.fill == "-" else Path(options.fill).read_text("utf-8")
        table |= {key: text for key, text in json.loads(file).items() if text}
    write(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
