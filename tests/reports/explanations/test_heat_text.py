"""Heat maps on a terminal: the text is unchanged and cannot control the terminal."""

from __future__ import annotations

from rich.text import Text

from gonie.reports.explanation import TokenWeights
from gonie.reports.explanations.heat_text import coloured, heat_text, key_text
from gonie.reports.explanations.layout import TextPiece

ROW = [TextPiece("not", 0), TextPiece("  "), TextPiece("bad", 1), TextPiece("\n"), TextPiece("at", 2)]
SIGNED = TokenWeights("erasure", "positive", ((0.5, -0.25, 0.0),), (0.25,))
SHARES = TokenWeights("attention", "positive", ((0.25, 0.7, 0.05),), (1.0,))


def styled(text: Text) -> dict[str, str]:
    """Return the style of each styled word."""
    return {text.plain[span.start : span.end]: str(span.style) for span in text.spans}


def test_without_colours_important_words_are_followed_by_numbers() -> None:
    assert heat_text([ROW], SIGNED, colours=False).plain == "not(+0.500)  bad(-0.250)\nat"
    assert heat_text([ROW], SHARES, colours=False).plain == "not(0.25)  bad(0.7)\nat"


def test_with_colours_signs_also_differ_in_style() -> None:
    text = heat_text([ROW], SIGNED, colours=True)
    assert text.plain == "not  bad\nat"
    styles = styled(text)
    assert "underline" in styles["not"]
    assert "italic" in styles["bad"]
    assert "at" not in styles
    assert all("black on" in style for style in styles.values())


def test_sentences_follow_their_bars() -> None:
    weights = TokenWeights("attention", "x", ((0.25,), (0.75,)), (0.25, 0.75))
    rows = [[TextPiece("Good.", 0), TextPiece("\n\n")], [TextPiece("Bad.", 0)]]
    assert heat_text(rows, weights, colours=True).plain == "  0.250 ██     Good.\n  0.750 ██████ Bad."


def test_a_heavier_word_is_darker() -> None:
    def light(shade: float) -> int:
        color = coloured(shade, (40, 180, 130)).bgcolor
        assert color is not None
        return sum(color.get_truecolor())

    assert light(0.1) > light(0.5) > light(1.0)
    assert "opposes" in key_text().plain


def test_a_text_cannot_control_the_terminal() -> None:
    weights = TokenWeights("erasure", "x", ((1.0, 1.0),), (2.0,))
    shown = heat_text(
        [[TextPiece("\x1b[2J", 0), TextPiece("<e1>", 1, added=True), TextPiece("\u202e")]],
        weights,
        colours=False,
    )
    assert "\x1b" not in shown.plain
    assert "\u202e" not in shown.plain
    assert "[<e1>](+1.000)" in shown.plain
