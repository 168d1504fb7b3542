"""The content security policy of pages: only the style sheets and scripts of gonie itself are allowed.

Each is allowed by its SHA-256 hash. ``'unsafe-inline'`` is never used, so a script, a style attribute or an
event handler in hostile text does nothing, even if an escape were missing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256


def content_policy(*, styles: Sequence[str], scripts: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """Return a policy that allows inline style sheets and scripts with exactly these contents.

    ``more`` are further directives, such as ``connect-src 'self'`` for a page of the service.
    """
    return "; ".join(
        [
            "default-src 'none'",
            _allowed("style-src", styles),
            *([_allowed("script-src", scripts)] if scripts else []),
            "base-uri 'none'",
            "form-action 'none'",
            *more,
        ]
    )


def _allowed(directive: str, contents: Sequence[str]) -> str:
    return " ".join([directive, *(f"'sha256-{_hash(each)}'" for each in contents)])


def _hash(content: str) -> str:
    return b64encode(sha256(content.encode()).digest()).decode("ascii")
