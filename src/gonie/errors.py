"""Every error a user can meet, as one small tree.

    GonieError                 anything gonie refuses; the command line prints it and exits 2
    ├── InputError             a file or text that cannot be read, with file:line where there is one
    ├── RecipeError            a recipe with one or more problems, all reported together
    ├── BundleError            a folder that is not a bundle this version can load
    ├── OutputError            a place that cannot be written
    ├── ResumeError            a run that cannot be resumed
    └── MissingExtraError      an optional dependency that is not installed

A message says what was expected, what was got and what to do.
"""

from __future__ import annotations

from os import PathLike


class GonieError(Exception):
    """The base of every refusal; its text is fit to show to a user as it is."""


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
    """A recipe that does not hold; ``problems`` lists everything wrong with it."""

    def __init__(self, problems: list[str], *, source: str = "recipe") -> None:
        head = f"{source}: {len(problems)} problem{'s' if len(problems) != 1 else ''}"
        super().__init__("\n".join([head, *(f"  - {problem}" for problem in problems)]))
        self.problems = problems


class BundleError(GonieError):
    """A folder that is not a bundle, or one of a version this gonie does not know."""


class OutputError(GonieError):
    """A file or folder that cannot be written."""


class ResumeError(GonieError):
    """A run folder that cannot be continued."""


class MissingExtraError(GonieError):
    """An optional dependency is not installed."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs {package}, which is not installed. Do: pip install 'gonie[{extra}]'"
        )
