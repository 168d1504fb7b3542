"""Tests the addresses of services and their models."""

from __future__ import annotations

from pathlib import Path

import pytest

from gonie.client.address import ServiceAddress, is_url
from gonie.errors import InputError


@pytest.mark.parametrize(
    ("url", "base", "model"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", None),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000", None),
        ("http://127.0.0.1:8000/ner", "http://127.0.0.1:8000", "ner"),
        ("https://example.com/gonie/ner/", "https://example.com/gonie", "ner"),
        ("http://[::1]:8000/%EA%B0%9C%EC%B2%B4", "http://[::1]:8000", "개체"),
    ],
)
def test_the_last_part_of_the_path_is_the_model(url: str, base: str, model: str | None) -> None:
    assert ServiceAddress.parse(url) == ServiceAddress.parse(Path(url)) == (base, model)
    assert ServiceAddress.parse(str(ServiceAddress(base, model))) == (base, model)


def test_a_named_model_leaves_the_path_to_the_service() -> None:
    address = ServiceAddress.parse("https://example.com/gonie/", "a/b")
    assert address == ("https://example.com/gonie", "a/b")
    assert str(address) == "https://example.com/gonie/a%2Fb"


def test_folders_are_no_urls() -> None:
    assert not any(
        map(is_url, ("runs/ner", "http", "http:", "https://", "./http://x", Path("runs"), "httpx/a"))
    )
    assert is_url("HTTP://HOST")


@pytest.mark.parametrize(
    "url",
    [
        *("runs/ner", "", None, "ftp://x", "http://u:p@x", "http://x/?a=1", "http://x/#a"),
        *("http://x:abc", "http://x:99999", "http://[::1"),
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(InputError, match=r"URL of a service"):
        ServiceAddress.parse(url)
