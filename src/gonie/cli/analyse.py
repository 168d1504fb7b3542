"""`gonie analyse`: the morphemes of Korean text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gonie.cli.options import GivenText


def analyse(
    text: GivenText = None,
    *,
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", help="File with one text per line: plain, .gz or .xz. Repeatable."),
    ] = None,
    output: Annotated[
        str,
        typer.Option(
            help="text: one sentence per line, form/tag joined by + in each eojeol; conll: columns of word, "
            "forms, tags, start and end; jsonl: sentences, tokens and morphemes with offsets."
        ),
    ] = "text",
    user_dictionary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Words that Kiwi must know: form TAB tag [TAB score], one per line."
        ),
    ] = None,
) -> None:
    """Split Korean text into morphemes with Sejong tags.

    Results are written in input order, each as soon as its line is read. Offsets count characters of the
    line. The analyser is Kiwi, which the extra `korean` of gonie installs. Tags that only Kiwi has become
    Sejong tags: VV-I is VV, W_URL is SW.

    Examples:

      gonie analyse "도서관에서 책을 읽었습니다."

      gonie analyse --file news.txt --output conll > news.conll

      gonie analyse --file news.txt --output jsonl --user-dictionary words.tsv > news.jsonl
    """
    from gonie.cli.inputs import text_lines
    from gonie.cli.views.analysis_output import analysis_writer
    from gonie.text.tokenizers import tokenizer
    from gonie.text.tokenizers.sejong_tags import with_sejong_tags
    from gonie.text.tokenizers.user_dictionary import read_user_dictionary

    entries = read_user_dictionary(user_dictionary) if user_dictionary else ()
    cut = tokenizer(language="ko", unit="morpheme", fold=True, user_dictionary=entries)
    write = analysis_writer(output)
    for line in text_lines(text, file or []):
        write(line, [with_sejong_tags(sentence) for sentence in cut(line)])
