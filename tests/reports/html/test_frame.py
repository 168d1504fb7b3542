"""The frame of HTML pages: safe to open, with all sections in order."""

from gonie.reports.html.frame import facts, folded, page, section
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
