"""Escaping of HTML: if these break, text of a corpus can become markup of the page."""

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.reports.html.markup import Markup, element, escape, fragment, join, language, row, table


class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def parse(markup):
    parser = Text()
    parser.feed(markup)
    parser.close()
    return parser


@settings(deadline=None, max_examples=200)
@given(st.text())
def test_any_text_is_escaped_in_content_and_attributes(text):
    parsed = parse(element("p", text, title=text))
    shown = "".join(map(str, escape(text)))
    assert [tag for tag, _ in parsed.tags] == ["p"]
    assert parsed.text == parsed.tags[0][1]["title"]
    kept = [letter for letter in text if letter.isprintable()]
    assert [letter for letter in parsed.text if letter in set(kept)] == kept
    assert "<" not in shown
    assert '"' not in shown


def test_scripts_and_quotes_are_escaped():
    assert element("p", "<script>alert(1)</script>") == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"
    assert element("a", class_='" onload="x') == '<a class="&quot; onload=&quot;x"></a>'


def test_control_characters_and_surrogates_become_visible():
    assert escape("a\0b\x1b\ud800\x7f\n\t") == "a␀b␛��\n\t"
    escape("\0\ud800").encode("utf-8")


def test_urls_are_shown_but_escaped_in_the_source():
    markup = element("p", "see https://example.org")
    assert "://" not in markup
    assert parse(markup).text == "see https://example.org"


def test_markup_is_escaped_once():
    inner = element("b", "a & b")
    assert element("p", inner) == "<p><b>a &amp; b</b></p>"
    assert fragment("<", None, inner, 3) == "&lt;<b>a &amp; b</b>3"
    assert join(["<", inner], ", ") == "&lt;, <b>a &amp; b</b>"
    assert isinstance(fragment("x"), Markup)


def test_rows_have_headers_and_escape_their_cells():
    assert row("PER", 3) == '<tr><th scope="row">PER</th><td>3</td></tr>'
    assert "<td>&lt;td onclick" in row("PER", "<td onclick=x>")


def test_cells_of_a_stacked_table_name_their_column():
    markup = row("PER", 3, "", names=("", "gold", "<b>"))
    assert markup == (
        '<tr><th scope="row">PER</th><td data-name="gold">3</td><td data-name="&lt;b&gt;"></td></tr>'
    )


def test_void_elements_have_no_end_tag():
    assert element("input", type="search") == '<input type="search">'


def test_tables_have_a_caption_and_a_header():
    markup = table(caption="Scores", header=("", "F1"), rows=[row("PER", 1)])
    assert "<caption>Scores</caption>" in markup
    assert '<th scope="col">F1</th>' in markup
    assert 'aria-label="Scores"' in markup


def test_text_with_hangul_is_marked_as_korean():
    assert language("see 서울") == "ko"
    assert language("ㅋㅋㅋ") == "ko"
    assert language("see Seoul") is None
    assert language("") is None
