"""The frame of HTML pages: safe to open, with all sections in order."""

import re
from base64 import b64encode
from hashlib import sha256

from gonie.reports.html.frame import chapters, facts, folded, page, section
from gonie.reports.html.markup import element


def test_a_page_forbids_scripts_and_shows_its_sections_in_order(parse):
    made = page("<b>", section("first", "x"), None, section("second", element("p", "y")))
    parsed = parse(made)
    assert "default-src 'none'" in made
    assert [text for text in parsed.text if text in ("first", "x", "second", "y")] == [
        "first", "x", "second", "y",
    ]  # fmt: skip
    assert "b" not in [tag for tag, _ in parsed.tags]


def test_facts_are_listed_under_their_names(parse):
    assert parse(facts({"texts": "3", "seed": 7})).text == ["texts", "3", "seed", "7"]


def test_a_page_has_its_own_style_after_the_common_one(parse):
    made = page("t", style=".mine { color: red }")
    assert made.index("prefers-color-scheme: dark") < made.index(".mine")
    parse(made)


def test_folded_content_follows_its_summary(parse):
    assert parse(folded("<more>", element("p", "x"))).text == ["<more>", "x"]


def test_only_the_style_and_script_of_the_page_are_allowed(parse):
    made = page("t", style=".mine { color: red }", script="let a = '가'")
    policy = re.search('Content-Security-Policy" content="([^"]*)"', made).group(1)
    for tag in ("style", "script"):
        content = re.search(f"<{tag}>(.*?)</{tag}>", made, re.DOTALL).group(1)
        assert f"{tag}-src 'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'" in policy
    assert "unsafe" not in policy
    assert "<script>" not in page("t")


def test_chapters_are_linked_and_empty_ones_left_out(parse):
    made = chapters({"Errors": element("p", "x"), "Tags": None, "Details": element("p", "y")})
    assert parse(made).text == ["Errors", "Details", "Errors", "x", "Details", "y"]
    assert made.count("<section id=") == made.count("<a href=") == 2
    assert "<nav" not in chapters({"Errors": element("p", "x")})


def test_a_long_fact_has_a_line_of_its_own():
    assert 'class="wide"' in facts({"file": "/a/very/long/path/of/a/file.conll"})
    assert "wide" not in facts({"seed": 7})
