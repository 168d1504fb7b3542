"""Long lists: complete without scripts, and data never becomes part of a selector or of markup."""

import re

from gonie.reports.filtered_list import SCRIPT, ListItem, filtered_list
from gonie.reports.html.markup import element

HOSTILE = '"] , <script>alert(1)</script>'


def items():
    return [
        ListItem(
            element("p", "one"),
            kinds=["missed", "wrong type"],
            labels=["PER", HOSTILE],
            confidence=0.5,
            order=1,
        ),
        ListItem(element("p", "two"), kinds=["spurious"], labels=["LOC"], confidence=0.25, order=0),
    ]


def test_without_a_script_every_item_is_shown_and_the_controls_are_hidden(parse):
    page = parse(filtered_list(items()))
    articles = [found for tag, found in page.tags if tag == "article"]
    assert len(articles) == 2
    assert not any("hidden" in found for found in articles)
    hidden = [tag for tag, found in page.tags if "hidden" in found]
    assert hidden == ["div", "p", "button"]


def test_filters_are_numbers_and_names_are_text(parse):
    markup = filtered_list(items())
    page = parse(markup)
    kinds = [found["data-kinds"] for tag, found in page.tags if tag == "article"]
    labels = [found["data-labels"] for tag, found in page.tags if tag == "article"]
    assert kinds == ["0 2", "1"]
    assert labels == ["0 2", "1"]
    assert "<script" not in markup
    assert HOSTILE in page.text


def test_a_filter_with_one_choice_is_left_out():
    one = [each._replace(kinds=["wrong label"], labels=["X"]) for each in items()]
    assert re.findall(r'<select data-by="(\w+)"', filtered_list(one)) == ["order"]
    assert re.findall(r'<select data-by="(\w+)"', filtered_list(items())) == ["kinds", "labels", "order"]


def test_every_control_has_a_name(parse):
    tags = parse(filtered_list(items())).tags
    controls = [at for at, (tag, _) in enumerate(tags) if tag in ("input", "select")]
    assert all(tags[at - 1][0] == "label" for at in controls)


def test_the_script_inserts_no_markup():
    assert not re.search(r"innerHTML|insertAdjacent|document\.write|eval|Function\(|https?:|</", SCRIPT)
