"""Other letter case: the words of an example in lower case, in capitals, or each with a capital."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

FORMS: tuple[Callable[[str], str], ...] = (str.lower, str.upper, str.capitalize)


class OtherCase:
    """Writes all words of an example in one case, as headlines and chats do: lower, upper or title.

    Title case capitalises each word.
    """

    def __call__(self, words: Sequence[str], generator: np.random.Generator) -> list[str]:
        """Return the words in a case that is drawn."""
        form = FORMS[generator.integers(len(FORMS))]
        return [form(word) for word in words]
