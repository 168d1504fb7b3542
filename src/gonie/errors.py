"""The exceptions that gonie raises for errors a user can fix.

    GonieError                 base class; the command line prints the message and exits with status 2
    ├── InputError             a file, text or argument that cannot be used, with file:line if known
    ├── RecipeError            a recipe with one or more problems, all reported together
    ├── BundleError            a folder that is not a bundle or that this version cannot load
    ├── OutputError            a file or folder that cannot be written
    ├── ResumeError            a run that cannot be resumed
    ├── MissingExtraError      an optional dependency that is not installed
    └── ServiceError           a service that cannot be reached or that failed

A message says what is wrong, with the value, and then how to fix it.
"""

from __future__ import annotations

import re
from os import PathLike

OPTION = re.compile(r"--([\w-]+) (\S+) \(in a recipe ([\w.]+)\)")
"""An option in a message that is a recipe key in training. Commands and functions show the form they take."""

TRAINING = re.compile(r"To train on it, run: .+?\. (?=If this is wrong)|\. To train on such words, .+$")
"""A sentence in a message that only training shows."""


class GonieError(Exception):
    """Base class of gonie's exceptions. The message can be shown to a user as it is."""


class InputError(GonieError, ValueError):
    """Input that cannot be used: ``path:line: what is wrong. How to fix it``."""

    def __init__(
        self,
        message: str,
        *,
        fix: str = "",
        path: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{place}{message}" + (f". {fix}" if fix else ""))
        self.path = path
        self.line = line


class RecipeError(GonieError):
    """An invalid recipe. ``problems`` lists everything that is wrong with it, ``source`` is its name."""

    def __init__(self, problems: list[str], *, source: str = "") -> None:
        place = f"{source}: " if source else ""
        listed = [f"{len(problems)} problems", *(f"  - {problem}" for problem in problems)]
        super().__init__(place + (problems[0] if len(problems) == 1 else "\n".join(listed)))
        self.problems = problems


class BundleError(GonieError):
    """A folder that is not a bundle, is damaged, or has a format that this version cannot load."""


class OutputError(GonieError):
    """A file or folder that cannot be written."""


class ResumeError(GonieError):
    """A run folder that cannot be resumed."""


class MissingExtraError(GonieError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed. Run: pip install 'gonie[{extra}]'"
        )


class ServiceError(GonieError):
    """A service (``gonie serve``) that cannot be reached or that failed.

    ``status`` is the HTTP status and ``type`` the type of the problem (``urn:gonie:queue-full``), if there
    was an answer.
    """

    def __init__(self, message: str, *, status: int | None = None, type: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.type = type
