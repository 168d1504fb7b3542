"""Reading words with their features and vectors, and notes about the data, for taggers and classifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from gonie.errors import RecipeError
from gonie.features.analyses import Analyses
from gonie.features.context import Context
from gonie.features.encoding import Encoding, Extractor, count, with_frequent
from gonie.features.gazetteer import Gazetteers, match_of, read_entries
from gonie.features.morpheme_features import MorphemeFeatures
from gonie.features.spaces import Spaces
from gonie.features.spelling import Spelling
from gonie.features.vectors import PretrainedVectors, Vectors, read_vectors
from gonie.tasks.paths import locate
from gonie.tasks.sections import CorpusConfig, CorpusRecipe
from gonie.tasks.torch.contextual import Sources, given_width, piece_tokenizer, spelled_bytes
from gonie.tasks.torch.start import Start
from gonie.text.fold import fold_text
from gonie.text.normalize import Normalization
from gonie.text.report import SHOWN_SPANS, Report
from gonie.text.schemes import Scheme
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.tokenizers.user_dictionary import read_user_dictionary
from gonie.text.types import Sentence

Note = Callable[[str], None]
SHOWN_CORRECTIONS = 5

Example = TypeVar("Example")


def vectors_of(data: CorpusConfig, start: Start | None = None) -> Vectors | None:
    """Read the pretrained vectors of the recipe, if it names any. A model with a start has those of it."""
    if data.vectors is None or start is not None:
        return None
    return read_vectors(locate(data.vectors), limit=data.vectors_limit, fold=data.fold_text)


def fit_encoding(
    recipe: CorpusRecipe,
    texts: Iterable[Sentence],
    scheme: Scheme,
    vectors: Vectors | None,
    extractors: list[Extractor],
    *,
    sources: Sources | None = None,
    start: Start | None = None,
    answered: Iterable[Sentence] = (),
) -> tuple[Encoding, Counter[str]]:
    """Fit the encoding to the training texts. Also return the count of each label.

    Frequent words of ``answered``, the texts of a teacher, are in the vocabulary too.

    With a ``start``, the encoding also has its vocabularies, and its labels if they are kept.
    """
    data = recipe.data
    normalization = Normalization(lowercase=data.lowercase, digits=data.digits)
    jamo = bool(recipe.model.chars and recipe.model.chars.jamo)
    counts, others = (
        count(each, normalization=normalization, jamo=jamo, extractors=extractors, fold=data.fold_text)
        for each in (texts, answered)
    )
    counts = with_frequent(counts, others, least=getattr(data, "answers_min_count", 1))
    encoding = Encoding.fit(
        counts,
        scheme=scheme,
        normalization=normalization,
        jamo=jamo,
        extractors=extractors,
        min_count=data.min_count,
        min_feature_count=data.min_feature_count,
        extra_words=vectors.words if vectors else (),
        longest=spelled_bytes(sources or {}),
        pieces=piece_tokenizer(sources or {}),
        external=given_width(sources or {}),
        fold=data.fold_text,
        correct_typos=data.correct_typos,
    )
    if start is not None:
        kept: tuple[str, ...] = ()
        if recipe.train.keep_labels:
            start.refuse_other_tags(scheme, "train.keep_labels")
            kept = start.word_encoding.labels
        encoding = encoding.merged(start.word_encoding, labels=[*encoding.labels, *kept])
    return encoding, counts.labels


def pretrained_table(
    vectors: Vectors | None, encoding: Encoding, seed: int, note: Note, start: Start | None = None
) -> PretrainedVectors | None:
    """Return a vector for every word of ``encoding``, those of ``start`` if there is one.

    ``note`` receives the coverage of the file.
    """
    if start is not None:
        return start.vectors(encoding)
    if vectors is None:
        return None
    pretrained = vectors.table_for(encoding.words, np.random.default_rng([seed, 2]))
    note("\n  ".join([str(vectors.path), *vectors.notes, *str(pretrained.coverage).splitlines()]))
    return pretrained


def note_corrections(encoding: Encoding, dev: Iterable[Sentence], note: Note) -> None:
    """Note how many dev tokens are looked up as other words (``data.correct_typos``), with examples.

    ``dev`` is read only with this setting.
    """
    if not encoding.correct_typos:
        return
    forms = Counter(word for sentence in dev for word in sentence.words)
    found = {form: word for form in forms if (word := encoding.correction(form)) is not None}
    most = sorted(found, key=lambda form: -forms[form])[:SHOWN_CORRECTIONS]
    such = f", such as {', '.join(f'{form} → {found[form]}' for form in most)}" if most else ""
    number = sum(forms[form] for form in found)
    note(f"data.correct_typos: {number:,} of {forms.total():,} dev tokens are looked up as other words{such}")


def build_tokenizer(data: CorpusConfig, forms: Sequence[str] = ()) -> Tokenizer:
    """Build the tokenizer of the recipe, with its user dictionary, and the forms that its back-off cuts."""
    entries = read_user_dictionary(locate(data.user_dictionary)) if data.user_dictionary else ()
    return tokenizer(
        language=data.language,
        unit=data.token_unit,
        fold=data.fold_text,
        user_dictionary=entries,
        backoff=forms if data.backoff and data.token_unit == "morpheme" else None,
    )


def read_gazetteers(data: CorpusConfig) -> Gazetteers:
    """Read the gazetteers of the recipe."""
    if not data.gazetteers:
        raise RecipeError(
            [
                "data.gazetteers: the model uses gazetteer features but there are no gazetteers; "
                "for example, --set data.gazetteers.city=cities.txt"
            ]
        )
    lists = {name: read_entries(locate(path)).entries for name, path in data.gazetteers.items()}
    if data.fold_text:
        lists = {name: tuple(tuple(map(fold_text, entry)) for entry in own) for name, own in lists.items()}
    return Gazetteers(lists=lists, match=match_of(data.language))


def build_extractors(
    recipe: CorpusRecipe, gazetteers: Callable[[CorpusConfig], Gazetteers] = read_gazetteers
) -> list[Extractor]:
    """Build the feature extractors of the model's parts. ``gazetteers`` reads the gazetteers."""
    data = recipe.data
    makers: dict[str, Callable[[], Extractor]] = {
        "spelling": Spelling,
        "context": lambda: Context(
            window=data.context_window, columns=data.further_columns, grams=data.context_grams
        ),
        "gazetteer": lambda: gazetteers(data),
        "morphemes": MorphemeFeatures,
        "spaces": Spaces,
        "analyses": Analyses,
    }
    return [makers[group]() for group in recipe.model.groups]


def sampled(examples: Iterable[Example], number: int) -> tuple[Example, ...]:
    """Return ``number`` examples evenly spaced over the stream, or all if there are fewer."""
    if not number:
        return ()
    total = sum(1 for _ in examples)
    chosen = {at * total // number for at in range(number)}
    return tuple(example for at, example in enumerate(examples) if at in chosen)


def tell(name: str, report: Report, note: Note) -> None:
    """Note what was found in a file."""
    note("\n  ".join([name, *report.lines(shown=SHOWN_SPANS)]))
