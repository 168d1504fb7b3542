"""Shapes of English tokens: every shape matches its example, and no character is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.tokenizers.shapes import SHAPES, TOKEN

EXAMPLES = dict(
    pair.split(" ")
    for pair in r"""mark ,  entity &amp;  link https://a.b/c  email a.b@c.org  domain foo.com/x  file a.pdf
newsgroup alt.fan  path /usr/bin/ls  mention @me  hashtag #fun  emoji 👍🏽  smile :-)  grin :D  eyes ^_^
plural 80's  date 9/11  phone 713-853-3989  extension 345-9945  number 1,000.5  currency US$  language C++
dotted U.S.  initial J.  abbreviation Mr.  ampersand AT&T  slashed w/o  masked sh*t  clipped goin'  clitic 's
brand Yahoo!  word e-mail  stops ?!  rule -=-=-  arrow ->  quotes `'  run --  other —""".replace(
        "\n", "  "
    ).split("  ")
)


@pytest.mark.parametrize("name", [name for name in SHAPES if name != "times"])
def test_each_shape_matches_its_example(name):
    match = TOKEN.fullmatch(EXAMPLES[name])
    assert match
    assert match.lastgroup == name


def test_a_multiplication_is_split_at_its_sign():
    assert [match[0] for match in TOKEN.finditer("3x5")] == ["3", "x", "5"]


@settings(deadline=None, max_examples=300)
@given(text=st.text(min_size=1))
def test_shapes_cover_every_character(text):
    chunk = "".join(text.split())
    assert "".join(match[0] for match in TOKEN.finditer(chunk)) == chunk
