"""The content security policy: only listed contents run, each by its hash."""

from base64 import b64encode
from hashlib import sha256

from gonie.reports.html.policy import content_policy


def test_contents_are_allowed_by_their_hash_and_nothing_else():
    policy = content_policy(styles=["p { color: red }"], scripts=["가()"])
    for content in ("p { color: red }", "가()"):
        assert b64encode(sha256(content.encode()).digest()).decode() in policy
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'; ")


def test_without_scripts_none_is_allowed_and_directives_can_be_added():
    policy = content_policy(styles=["x"], more=["connect-src 'self'"])
    assert "script-src" not in policy
    assert policy.endswith("; connect-src 'self'")
