"""What gonie says, in the language of its user.

Code is written in English, and English texts are the keys of a table per language (``ko.json``). The command
line sets the language once. Where a text is shown, ``say`` looks it up: errors as they are printed, notes on
consoles, help pages, and the fixed texts of HTML pages. A text without an entry stays English. Data, such as
labels, words and file names, is never passed to ``say`` on its own.

``templates.py`` describes the entries of a table. ``tools/messages.py`` finds the texts in the code.
"""

from gonie.messages.language import (
    LANGUAGES,
    VARIABLE,
    chosen_language,
    language,
    say,
    use_language,
    without_language,
)

__all__ = ["LANGUAGES", "VARIABLE", "chosen_language", "language", "say", "use_language", "without_language"]
