"""What to type instead: the commands and options of other tools, misspelt ones, and misplaced arguments.

Each function returns or raises a message that names what is wrong and the command that is probably meant.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from gonie.errors import InputError
from gonie.messages import say

COMMANDS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("predict", "annotate", "infer"), ("gonie tag", "gonie classify")),
    **dict.fromkeys(("fit", "finetune", "fine-tune"), ("gonie train",)),
    **dict.fromkeys(("test", "eval", "score"), ("gonie evaluate",)),
    **dict.fromkeys(("tokenize", "tokenise"), ("gonie data tokenise",)),
    **dict.fromkeys(("check", "validate"), ("gonie data check",)),
    "convert": ("gonie data convert",),
    "stats": ("gonie data stats",),
    "list": ("gonie recipes",),
    "help": ("gonie --help",),
    "version": ("gonie --version",),
}
"""What to use instead of commands that other tools have."""

PROMPT = "$ "
"""Before examples in the table of messages."""
SET = "--set"
SPLITS = ("train", "dev", "test")
"""The files that follow the recipe, in their order."""
ALIKE = 0.75  # how similar a misspelt option is to the right one


@dataclass(frozen=True)
class Option:
    """An unknown option means another one: ``text``, with ``{}`` for the value.

    ``endings`` has other texts, by the ending of the value.
    """

    text: str
    takes_value: bool = True
    endings: Mapping[str, str] = field(default_factory=dict)

    def add(self, command: Correction, value: str) -> None:
        """Add the option to the corrected command."""
        fitting = (text for ending, text in self.endings.items() if value.endswith(ending))
        command.options.append(next(fitting, self.text).format(shlex.quote(value)))


@dataclass(frozen=True)
class Argument:
    """The value of an unknown option is an argument: the ``first`` one, or the next."""

    first: bool
    takes_value: bool = True

    def add(self, command: Correction, value: str) -> None:
        """Add the argument to the corrected command."""
        (command.first if self.first else command.arguments).append(value)


@dataclass(frozen=True)
class DataFile:
    """The value of an unknown option is a data file, which is typed after the recipe."""

    split: str
    takes_value: bool = True

    def add(self, command: Correction, value: str) -> None:
        """Add the file to the corrected command."""
        command.files[self.split] = value


@dataclass(frozen=True)
class Needless:
    """There is nothing to type instead of an unknown option. ``why`` says so in the message."""

    why: str
    takes_value: bool = True

    def add(self, command: Correction, value: str) -> None:
        """Add the reason to the message."""
        command.reasons.append(self.why)


Meant: TypeAlias = Option | Argument | DataFile | Needless
"""What an unknown option probably means."""


def _key(name: str) -> Option:
    return Option(f"{SET} {name}={{}}")


MODEL_OR_RECIPE, NEXT = Argument(first=True), Argument(first=False)
_OUT = dict.fromkeys(
    ("--output-dir", "--output_dir", "--out-dir", "--output", "--save", "--save-dir", "--model-dir", "-o"),
    Option("--out {}"),
)
_ON_GPU = dict.fromkeys(("--gpu", "--cuda", "--use-gpu"), Option("--device cuda", takes_value=False))
_TRAINING: dict[str, Meant] = {
    **_OUT,
    **_ON_GPU,
    "--cpu": Option("--device cpu", takes_value=False),
    "--epochs": _key("train.epochs"),
    "--num-epochs": _key("train.epochs"),
    "--max-epochs": _key("train.epochs"),
    "--lr": _key("train.lr"),
    "--learning-rate": _key("train.lr"),
    "--batch-size": _key("train.batch_sentences"),
    "--patience": _key("train.patience"),
    "--optimizer": _key("train.optimizer"),
    "--hidden": _key("model.encoder.hidden"),
    "--hidden-size": _key("model.encoder.hidden"),
    "--layers": _key("model.encoder.layers"),
    "--vectors": _key("data.vectors"),
    "--embeddings": _key("data.vectors"),
    "--language": _key("data.language"),
    "--format": _key("data.format"),
    "--tag-column": _key("data.tag_column"),
    "--tag-names": _key("data.tag_names"),
    "--word-column": _key("data.word_column"),
    "--recipe": MODEL_OR_RECIPE,
    "--config": MODEL_OR_RECIPE,
    "--model": Needless(
        "The recipe chooses the model (gonie recipes lists them), and --set changes its parts, such as "
        "--set model.encoder.kind=cnn",
    ),
}
_TRAIN = {
    **_TRAINING,
    "--text-column": Option("--text {}"),
    "--label-column": Option("--label {}"),
    **dict.fromkeys(
        ("--train", "--train-file", "--train-data", "--data", "--file", "--input", "-i"),
        DataFile("train"),
    ),
    **dict.fromkeys(("--dev", "--dev-file", "--valid", "--val", "--validation", "--eval"), DataFile("dev")),
    **dict.fromkeys(("--test", "--test-file"), DataFile("test")),
}
_MODEL = dict.fromkeys(("--model", "-m"), MODEL_OR_RECIPE)
_NO_DEVICE = dict.fromkeys(
    ("--gpu", "--cuda", "--use-gpu"),
    Needless("Exported models run on the CPU", takes_value=False),
) | {"--device": Needless("Exported models run on the CPU")}
_ANSWER: dict[str, Meant] = {
    **_MODEL,
    **_NO_DEVICE,
    "--text": NEXT,
    "--batch-size": Needless("Batches are chosen automatically"),
    **dict.fromkeys(("--input-file", "-i", "-f", "--in"), Option("--file {}")),
    **dict.fromkeys(("--output-file", "-o"), Option("> {}")),
    "--format": Option("--output {}", endings={"json": "--output jsonl"}),
    "--json": Option("--output jsonl", takes_value=False),
    "--jsonl": Option("--output jsonl", takes_value=False),
}
_EVALUATE: dict[str, Meant] = {
    **_MODEL,
    **_NO_DEVICE,
    **dict.fromkeys(("--test", "--data", "--file", "--gold", "--input", "-i"), NEXT),
    **dict.fromkeys(
        ("--out", "--output", "-o"),
        Option(
            "--json {}",
            endings={".html": "--html {}", ".tsv": "--errors {}", ".jsonl": "--errors {}"},
        ),
    ),
}

OPTIONS: Mapping[str, Mapping[str, Meant]] = {
    "train": _TRAIN,
    "pretrain": {
        **_TRAINING,
        **dict.fromkeys(("--train", "--data", "--file", "--input", "-i"), Option("--text {}")),
    },
    "compare": {
        **_TRAINING,
        **dict.fromkeys(("--train", "--data", "--file"), _key("data.train")),
        "--dev": _key("data.dev"),
        "--test": _key("data.test"),
        "--seed": _key("train.seed"),
    },
    "tag": _ANSWER,
    "classify": _ANSWER,
    "explain": {**_MODEL, **_NO_DEVICE, "--text": NEXT, "-o": Option("--html {}")},
    "evaluate": _EVALUATE,
    "export": {**_OUT, "--model": MODEL_OR_RECIPE, "--quantize": Option("--int8", takes_value=False)},
    "convert": {**_OUT, "--format": Option("--to {}")},
}
"""What options of other tools mean here, by command."""

_KEY = re.compile(r"[a-z]+(\.[\w-]+)+", re.ASCII)
_URL = re.compile(r"(?:^|=)((?:https?|ftp|s3|gs|hf)://\S+)$")


@dataclass
class Correction:
    """A command with its mistakes, and the parts of the command that was probably meant."""

    unknown: list[str] = field(default_factory=list)
    """Options that the command does not have."""
    mistakes: list[str] = field(default_factory=list)
    """Other mistakes."""
    reasons: list[str] = field(default_factory=list)
    unsolved: bool = False
    """Whether nothing is known about a mistake."""
    first: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """Data files by split."""
    options: list[str] = field(default_factory=list)

    def line(self, path: str) -> str:
        """Return the command as it is typed in a shell."""
        splits, options = [split for split in SPLITS if split in self.files], list(self.options)
        taken = len(self.first + self.arguments) - 1  # files that are already arguments, after the recipe
        files = [self.files[split] for split in splits]
        if tuple(splits) != SPLITS[taken : taken + len(splits)]:
            options += [f"{SET} data.{split}={shlex.quote(name)}" for split, name in self.files.items()]
            files = []
        words = map(shlex.quote, [*self.first, *self.arguments, *files])
        return " ".join([f"gonie {path}", *words, *options])

    def error(self, path: str) -> InputError:
        """Return the error that names the mistakes and the corrected command."""
        unknown = [f"gonie {path} has no option {' or '.join(self.unknown)}"] if self.unknown else []
        advice = f"See gonie {path} --help" if self.unsolved else f"Type: {self.line(path)}"
        return InputError("; ".join([*unknown, *self.mistakes]), fix=". ".join([*self.reasons, advice]))


def correct(path: str, args: Sequence[str], options: Mapping[str, bool]) -> Correction:
    """Find unknown options, and recipe keys without ``--set``, in the arguments of a command.

    ``path`` names the command, such as ``data check``. ``options`` are its options, and whether each takes a
    value.
    """
    found = Correction()
    meant = OPTIONS.get(path.rpartition(" ")[2], {})
    rest = list(args)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            found.options += map(shlex.quote, [word, *rest])
            break
        if not word.startswith("-") or word == "-":
            _argument(found, word, keys=SET in options)
        elif name == SET and name in options:
            _setting(found, value if equals else rest.pop(0) if rest else "", rest)
        elif name in options:
            found.options += map(shlex.quote, [word, *_taken(rest, not equals and options[name])])
        else:
            found.unknown.append(name)
            rule = meant.get(name) or _key_rule(name, options) or _near_rule(name, options)
            if rule is None:
                found.unsolved = True
                continue
            values = [value] if equals else _taken(rest, rule.takes_value)
            rule.add(found, values[0] if values else "")
    if found.first and found.arguments and _is_model(found.arguments[0]):
        del found.arguments[0]  # the model of the unknown option replaces it
    return found


def _is_model(word: str) -> bool:
    from gonie.tasks.load import is_model

    return is_model(Path(word))


def _argument(found: Correction, word: str, *, keys: bool) -> None:
    """Add an argument, or the setting that it is if ``--set`` is missing before it."""
    if keys and _KEY.fullmatch(word.partition("=")[0]) and "=" in word and not Path(word).exists():
        found.mistakes.append(f"{word} is a recipe key, which needs --set")
        found.options.append(f"--set {shlex.quote(word)}")
    else:
        found.arguments.append(word)


def _setting(found: Correction, word: str, rest: list[str]) -> None:
    """Add a setting. ``rest`` may begin with its value."""
    if "=" not in word and _KEY.fullmatch(word) and rest and not rest[0].startswith("-"):
        if rest[0] == "=" and len(rest) > 1:
            rest.pop(0)
        found.mistakes.append(f"--set {word} has no value")
        word = f"{word}={rest.pop(0).removeprefix('=')}"
    found.options.append(f"--set {shlex.quote(word)}")


def _taken(rest: list[str], takes_value: bool) -> list[str]:
    return [rest.pop(0)] if takes_value and rest else []


def _key_rule(name: str, options: Mapping[str, bool]) -> Meant | None:
    """Return the rule for a recipe key that is written as an option: ``--train.epochs 5``."""
    key = name.lstrip("-")
    return _key(key) if SET in options and _KEY.fullmatch(key) else None


def _near_rule(name: str, options: Mapping[str, bool]) -> Meant | None:
    near = next(iter(get_close_matches(name, options, n=1, cutoff=ALIKE)), None)
    if near is None:
        return None
    return Option(f"{near} {{}}" if options[near] else near, takes_value=options[near])


def explain_url(path: str, args: Sequence[str]) -> InputError | None:
    """Return the error for a web address in place of a file, if there is one."""
    urls = [(word, match[1]) for word in args if (match := _URL.search(word))]
    if not urls:
        return None
    url = urls[0][1]
    name = shlex.quote(url.partition("?")[0].rstrip("/").rpartition("/")[2] or "data")
    words = [shlex.quote(word.replace(url, name) if word.endswith(url) else word) for word in args]
    line = " ".join([f"gonie {path}", *words])
    if url.startswith(("http", "ftp")):
        fix = f"Download it first: curl -L -o {name} {shlex.quote(url)} && {line}"
    else:
        fix = f"Copy it to this machine first, for example as {name}, and type: {line}"
    return InputError(f"gonie reads files, not web addresses: {url}", fix=fix)


def explain_command(group: str, name: str, args: Sequence[str], known: Sequence[str]) -> InputError:
    """Return the error for a command that does not exist. ``group`` is ``gonie`` or ``gonie data``."""
    from gonie.tasks.recipe import recipe_names

    rest = "".join(f" {shlex.quote(word)}" for word in args)
    where = Path(name)
    near = get_close_matches(name, known, n=1)
    typed = f"{group.partition(' ')[2]} {name}".strip()
    wrong = f"no such command: {typed}"
    if name in COMMANDS:
        lines = [f"{command}{rest}" for command in COMMANDS[name]]
    elif name in recipe_names():
        lines = [f"gonie train {name}{rest}"]
    elif where.is_dir():
        lines = [f"gonie {command} {shlex.quote(name)}{rest}" for command in ("tag", "classify")]
    elif where.is_file():
        lines = [f"gonie train RECIPE {shlex.quote(name)}{rest}", f"gonie data check {shlex.quote(name)}"]
    elif near:
        lines = [f"{group} {near[0]}{rest}"]
    else:
        return InputError(wrong, fix=f"See {group} --help")
    return InputError(wrong, fix=f"Type: {say(' or ').join(lines)}")


def is_example(paragraph: str) -> bool:
    """Return whether a paragraph of help is an example of a command."""
    return paragraph.lstrip().startswith(("gonie ", "echo ", "cat "))


def say_example(paragraph: str) -> str:
    """Return an example of a help page in the language of the messages, with its indent.

    Examples are found by a prompt before them, so that the same commands in messages stay as they are.
    """
    command = paragraph.lstrip()
    return paragraph.removesuffix(command) + say(PROMPT + command).removeprefix(PROMPT)


def explain_usage(error: Any, path: str, command: Any, args: Sequence[str]) -> InputError:
    """Return an error of Typer in gonie's words, for the arguments ``args`` of ``command``."""
    kind = type(error).__name__
    param: Any = getattr(error, "param", None)
    if kind == "BadParameter" and param is not None:
        return InputError(_invalid(error.message, _name(param), _value_of(args, param.opts)))
    example = re.search(r"^ *(gonie .*)", command.help or "", re.MULTILINE)
    fix = f"For example: {say_example(example[1].strip())}" if example else f"See gonie {path} --help"
    message = error.format_message().rstrip(".")
    if kind == "MissingParameter":
        message = f"gonie {path} needs {_name(param)}"
    elif kind == "BadOptionUsage":
        option = next((each for each in command.params if error.option_name in each.opts), None)
        form = f": {error.option_name} {option.metavar}" if option and option.metavar else ""
        message = f"{error.option_name} needs a value{form}"
    elif extra := re.search(r"unexpected extra argument\S* \((.*)\)", message):
        noun = "arguments" if " " in extra[1] else "argument"
        message = f"gonie {path} takes no further {noun}: {extra[1]}"
    return InputError(message, fix=fix)


def _name(param: Any) -> str:
    """Return the name of an option or argument as help shows it."""
    return str(param.opts[0] if param.param_type_name == "option" else param.metavar or param.opts[0])


def _invalid(message: str, name: str, value: str) -> str:
    """Return what is wrong with the value of an option, given Typer's message."""
    choices = re.search(r"is not one of (.*?)\.?$", message)
    if choices:
        wanted: str | None = " or ".join(choices[1].replace("'", "").rsplit(", ", 1))
    else:
        wanted = next((words for part, words in _WANTED.items() if part in message), None)
    if wanted is None:
        said = (
            message.removeprefix("Value error, ").rstrip(".").replace("greater than or equal to", "at least")
        )
        return re.sub(f"^{name}: Input should be (.*)", rf"{name} must be \1: {value}", f"{name}: {said}")
    return f"{name} must be {wanted}: {value}"


_WANTED = {"integer": "a whole number", "float": "a number", "valid number": "a number"}
"""What a value must be, by words in Typer's message."""


def _value_of(args: Sequence[str], names: Sequence[str]) -> str:
    """Return the value that was given to an option."""
    for at, word in enumerate(args):
        name, equals, value = word.partition("=")
        if name in names:
            return value if equals else next(iter(args[at + 1 :]), "")
    return ""
