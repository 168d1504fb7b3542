"""Files of external vectors: reading them, refusing broken ones, and attaching rows to texts."""

from __future__ import annotations

import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.encoding import Encoding, count
from gonie.features.external_vectors import (
    VectorFile,
    VectorOptions,
    check_vectors,
    checked_vector,
    open_for_model,
    read_vector_file,
    with_vectors,
)
from gonie.text.labelled_text import LabelledText
from gonie.text.normalize import Normalization
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence

TOKEN, TEXT = VectorOptions("token"), VectorOptions("text")
Save = Callable[..., Path]


@pytest.fixture
def save(tmp_path: Path) -> Save:
    """Return a function that saves arrays as .npz."""

    def call(**arrays: Any) -> Path:
        path = tmp_path / "v.npz"
        np.savez(path, **arrays)
        return path

    return call


def table(path: Path, **columns: Any) -> Path:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table(columns), path)
    return path


def rows(*sizes: int) -> list[Sentence]:
    """Return sentences of so many words, each on its own line."""
    return [
        Sentence(tuple(f"w{n}" for n in range(size)), path="train.conll", line=line)
        for line, size in enumerate(sizes, start=1)
    ]


def numbered(number: int, width: int = 2) -> np.ndarray:
    return np.arange(number * width, dtype=np.float32).reshape(number, width)


# --- reading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "i4", "u1"])
def test_numbers_of_any_type_become_float32(save: Save, kind: str) -> None:
    found = read_vector_file(save(x=np.array([[1, 2], [3, 4], [5, 6]], dtype=kind)), TOKEN)
    assert found.vectors.dtype == np.float32
    assert found.vectors.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert (found.width, found.ids) == (2, None)
    assert str(found).endswith("v.npz: 3 vectors of 2 numbers, one for each token, in the order of the file")


def test_one_of_several_arrays_is_named_and_another_has_ids(save: Save) -> None:
    path = save(a=numbered(2), b=numbered(2, 3), names=np.array(["x", "y"]), numbers=np.array([7, 8]))
    assert read_vector_file(path, VectorOptions("text", array="b")).width == 3
    assert read_vector_file(path, VectorOptions("text", "a", "names")).ids == ("x", "y")
    assert read_vector_file(path, VectorOptions("text", "a", "numbers")).ids == ("7", "8")
    with pytest.raises(InputError, match=r"several arrays may be the vectors: a, b\. Name one: .*array=a"):
        read_vector_file(path, TEXT)
    with pytest.raises(InputError, match="no array 'c'; it has a, b, names, numbers"):
        read_vector_file(path, VectorOptions("text", array="c"))
    with pytest.raises(InputError, match=r"v\.npz: 2 rows of vectors, but 3 ids"):
        read_vector_file(
            save(a=numbered(2), names=np.array(["x", "y", "z"])), VectorOptions("text", "a", "names")
        )
    path = save(a=numbered(2), b=numbered(2, 3))
    with pytest.raises(InputError, match="the array 'b' holds no ids"):
        read_vector_file(path, VectorOptions("text", "a", "b"))


def test_objects_are_never_unpickled(tmp_path: Path, save: Save) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path(tmp_path / "exploded").touch, ())

    path = save(x=np.array([[Bomb()]], dtype=object))
    with pytest.raises(InputError, match="'x' holds Python objects, which are never loaded"):
        read_vector_file(path, TOKEN)
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError, match=r"not an \.npz file"):
        read_vector_file(path, TOKEN)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
def test_numbers_that_are_not_finite_are_refused_with_their_row(save: Save, value: float) -> None:
    vectors = np.zeros((5, 2))
    vectors[3, 1] = value
    with pytest.raises(InputError, match=r"v\.npz: row 4 has a number that is NaN, .*\(1 row in all\)"):
        read_vector_file(save(x=vectors), TOKEN)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros(4)}, "no array of vectors, .*x float64"),
        ({"x": np.array(["a"])}, "no array of vectors"),
        ({"x": np.zeros((0, 3))}, "no vectors in the file"),
        ({"x": np.zeros((2, 0))}, "vectors of 0 numbers; they must have from 1"),
        ({"x": np.zeros((1, 20_000), dtype="f4")}, "vectors of 20,000 numbers"),
        ({}, "the file has no arrays"),
    ],
)
def test_arrays_that_are_no_vectors_are_refused(save: Save, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_vector_file(save(**arrays), TOKEN)


def test_other_damaged_and_missing_files_are_refused(tmp_path: Path, save: Save) -> None:
    with pytest.raises(InputError, match="file not found"):
        read_vector_file(tmp_path / "none.npz", TOKEN)
    with pytest.raises(InputError, match=r"it ends in '\.txt'"):
        read_vector_file(tmp_path / "v.txt", TOKEN)
    (tmp_path / "d.npz").mkdir()
    with pytest.raises(InputError, match="expected a file, got a folder"):
        read_vector_file(tmp_path / "d.npz", TOKEN)
    path = save(x=numbered(50))
    whole = path.read_bytes()
    path.write_bytes(whole[:200])
    with pytest.raises(InputError, match=r"not an \.npz file"):
        read_vector_file(path, TOKEN)
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", whole[:80])
    with pytest.raises(InputError, match="'x' is no array"):
        read_vector_file(path, TOKEN)
    np.save(tmp_path / "x.npy", numbered(50))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", (tmp_path / "x.npy").read_bytes()[:200])
    with pytest.raises(InputError, match=r"damaged \.npz file"):
        read_vector_file(path, TOKEN)
    broken = tmp_path / "v.parquet"
    broken.write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match="damaged Parquet file"):
        read_vector_file(broken, TOKEN)


@pytest.mark.parametrize("fixed", [True, False])
def test_a_parquet_column_of_lists_equals_the_array(tmp_path: Path, fixed: bool) -> None:
    pa = pytest.importorskip("pyarrow")
    vectors = numbered(7, 3)
    values = pa.array(vectors.ravel())
    column = pa.FixedSizeListArray.from_arrays(values, 3) if fixed else pa.array(vectors.tolist())
    path = table(tmp_path / "v.parquet", id=pa.array(list("abcdefg")), picture=column)
    found = read_vector_file(path, VectorOptions("text", ids="id"))
    assert np.array_equal(found.vectors, vectors)
    assert found.ids == tuple("abcdefg")
    assert np.array_equal(read_vector_file(path, VectorOptions("text", array="picture")).vectors, vectors)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"v": [[1.0], [1.0, 2.0]]}, TOKEN, "row 2 has 2 numbers, and the first row has 1"),
        ({"v": [[1.0], None]}, TOKEN, "row 2 has no vector"),
        ({"v": [[1.0], [None]]}, TOKEN, "row 2 has a missing number"),
        ({"v": [[1.0], [float("nan")]]}, TOKEN, "row 2 has a number that is NaN"),
        ({"v": [["a"]]}, TOKEN, "no column of lists of numbers: v"),
        ({"v": [1.0]}, TOKEN, "no column of lists of numbers: v"),
        ({"v": [[1.0]], "w": [[1.0]]}, TOKEN, "several columns may be the vectors: v, w"),
        ({"v": [[1.0]], "w": [1]}, VectorOptions("token", array="w"), "the column 'w' holds no lists"),
        ({"v": [[1.0]]}, VectorOptions("token", ids="id"), "no column 'id'"),
        ({"v": [[1.0]], "id": [None]}, VectorOptions("token", ids="id"), "row 1 has no id in 'id'"),
    ],
)
def test_broken_columns_are_refused(
    tmp_path: Path, columns: dict[str, Any], options: VectorOptions, message: str
) -> None:
    pa = pytest.importorskip("pyarrow")
    arrays = {
        name: pa.array(values, pa.string()) if values == [None] else pa.array(values)
        for name, values in columns.items()
    }
    with pytest.raises(InputError, match=message):
        read_vector_file(table(tmp_path / "v.parquet", **arrays), options)


# --- attaching -------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=3), min_size=1, max_size=6),
    ids=st.booleans(),
    per=st.sampled_from(["token", "text"]),
    data=st.data(),
)
def test_rows_stay_with_their_texts(sizes: list[list[int]], ids: bool, per: Any, data: st.DataObject) -> None:
    """Compared with a search for each text, whose vectors have its number. Texts may have many sentences."""
    order = data.draw(st.permutations(range(len(sizes)))) if ids else list(range(len(sizes)))
    lengths = [1 if per == "text" else sum(own) for own in sizes]
    table = [[text, place] for text in order for place in range(lengths[text])]
    if not table:
        return
    file = VectorFile(
        "v.npz",
        np.array(table, dtype=np.float32),
        per,
        tuple(f"t{text}" for text in order for _ in range(lengths[text])) if ids else None,
    )
    sentences = [
        Sentence(("w",) * size, id=f"t{number}", line=number, text=f"text {number}")
        for number, own in enumerate(sizes)
        for size in own
    ]
    if ids and per == "token" and 0 in lengths:
        with pytest.raises(InputError, match="no row for the id"):
            list(file.attach(sentences))
        return
    seen: dict[int, int] = {}
    for sentence in file.attach(sentences):
        assert sentence.vectors is not None
        text = sentence.line
        if per == "text":
            assert sentence.vectors.tolist() == [text, 0]
            continue
        start = seen.get(text, 0)
        assert sentence.vectors.tolist() == [[text, start + place] for place in range(len(sentence))]
        seen[text] = start + len(sentence)


def test_too_few_and_too_many_rows_are_refused() -> None:
    few, many = VectorFile("v.npz", numbered(4), "token"), VectorFile("v.npz", numbered(9), "token")
    with pytest.raises(InputError, match=r"v\.npz: 4 vectors, but train\.conll needs more, .* at line 2"):
        list(few.attach(rows(3, 2)))
    with pytest.raises(InputError, match=r"9 vectors, but train\.conll needs 5, one for each token .* row 6"):
        list(many.attach(rows(3, 2)))
    text = VectorFile("v.npz", numbered(4), "text")
    with pytest.raises(InputError, match="needs 2, one for each text that gonie reads: row 3 is left over"):
        list(text.attach(rows(3, 2)))


def test_a_part_of_the_sentences_is_not_yet_the_end() -> None:
    stream = VectorFile("v.npz", numbered(5), "token").attach(rows(3, 2))
    assert next(stream).vectors.tolist() == numbered(3).tolist()  # type: ignore[union-attr]


def named(ids: str, per: Any) -> VectorFile:
    return VectorFile("v.npz", numbered(len(ids)), per, tuple(ids))


def test_ids_that_are_missing_repeated_or_apart_are_refused() -> None:
    texts = [
        LabelledText("a", id="a", path="t.jsonl", line=1),
        LabelledText("b", id="b", path="t.jsonl", line=2),
    ]
    found = list(named("bca", "text").attach_texts(texts))
    assert [each.vectors.tolist() for each in found] == [[4, 5], [0, 1]]  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"no row for the id 'b' of t\.jsonl, line 2"):
        list(named("ca", "text").attach_texts(texts))
    with pytest.raises(InputError, match=r"row 3 has the id 'a' again\. Write one row for each text"):
        list(named("aba", "text").attach_texts(texts))
    with pytest.raises(InputError, match=r"row 2 has the id 'a' again\. Write one row for each text"):
        list(named("aab", "text").attach_texts(texts))
    with pytest.raises(InputError, match="row 4 has the id 'a' again, apart from its other rows"):
        list(named("aaba", "token").attach([]))
    with pytest.raises(InputError, match=r"t\.jsonl:7: a text without an id"):
        list(named("ab", "text").attach_texts([LabelledText("c", path="t.jsonl", line=7)]))
    sentence = Sentence(("x", "y"), id="a", path="t.jsonl", line=3)
    with pytest.raises(InputError, match="3 rows for the id 'a', from row 2; the text has 2 tokens"):
        list(named("baaa", "token").attach([sentence]))


# --- vectors of a model ----------------------------------------------------------------------------------


def test_given_vectors_are_for_the_text_or_for_its_words() -> None:
    first, second = with_vectors(rows(1, 2), numbered(3), 2)
    assert (first.vectors.tolist(), second.vectors.tolist()) == ([[0, 1]], [[2, 3], [4, 5]])  # type: ignore[union-attr]
    assert [each.vectors.tolist() for each in with_vectors(rows(1, 2), [7, 8], 2)] == [[7, 8]] * 2  # type: ignore[union-attr]
    for wrong in (numbered(2), [1.0], np.zeros((3, 3))):
        with pytest.raises(InputError, match=r"expected vectors of shape .* got"):
            with_vectors(rows(1, 2), wrong, 2)
    with pytest.raises(InputError, match="not vectors of numbers: 'x'"):
        with_vectors(rows(1), "x", 2)
    with pytest.raises(InputError, match="NaN"):
        with_vectors(rows(1), [np.nan, 0], 2)
    with pytest.raises(InputError, match="the model reads no external vectors"):
        with_vectors(rows(1), [1, 2], 0)
    assert checked_vector([1, 2], 2).tolist() == [1, 2]


def test_a_file_of_another_width_is_refused_for_a_model(save: Save) -> None:
    path = save(x=numbered(3, 4))
    assert open_for_model(path, width=4, recipe={}, per="text").per == "text"
    recipe = {"model": {"external": {"per": "text", "array": "x"}}}
    assert open_for_model(path, width=4, recipe=recipe, per="token").per == "text"
    with pytest.raises(InputError, match="vectors of 4 numbers, but the model was trained with 5"):
        open_for_model(path, width=5, recipe={}, per="token")
    with pytest.raises(InputError, match="reads no external vectors"):
        open_for_model(path, width=0, recipe={}, per="token")


def encoding(width: int) -> Encoding:
    normalization = Normalization(lowercase=True, digits=True)
    counts = count(rows(3), normalization=normalization, jamo=False, extractors=())
    return Encoding.fit(
        counts,
        scheme=PLAIN,
        normalization=normalization,
        jamo=False,
        extractors=(),
        min_count=1,
        min_feature_count=1,
        external=width,
    )


@settings(deadline=None)
@given(sizes=st.lists(st.tuples(st.integers(1, 5), st.booleans()), min_size=1, max_size=8), data=st.data())
def test_a_batch_has_the_vectors_of_its_tokens(sizes: list[tuple[int, bool]], data: st.DataObject) -> None:
    """Of sentences with a vector for each token, and others with one vector; padding is zero."""
    generator = np.random.default_rng(0)
    sentences = [
        Sentence(("w0",) * size, vectors=generator.normal(size=3 if whole else (size, 3)).astype("f4"))
        for size, whole in sizes
    ]
    corpus = encoding(3).encode(sentences)
    chosen = data.draw(st.lists(st.integers(0, len(sizes) - 1), min_size=1, max_size=6))
    batch = corpus.batch(np.array(chosen))
    assert batch["external"].dtype == np.float32
    for row, number in enumerate(chosen):
        size = sizes[number][0]
        expected = np.broadcast_to(sentences[number].vectors, (size, 3))  # type: ignore[arg-type]
        assert np.array_equal(batch["external"][row, :size], expected)
        assert not batch["external"][row, size:].any()


def test_an_encoding_keeps_its_width_and_refuses_other_sentences() -> None:
    own = encoding(2)
    again = Encoding.from_json(own.to_json())
    assert (again.external, encoding(0).to_json().get("external")) == (2, None)
    assert (again.merged(own).external, again.with_labels(["A"], PLAIN).external) == (2, 2)
    sentence = Sentence(("w0", "w1"), path="a.conll", line=3)
    with pytest.raises(
        InputError, match=r"a\.conll:3: the model reads external vectors, and this text has none"
    ):
        own.encode([sentence])
    with pytest.raises(InputError, match=r"expected vectors of shape \(2,\) .* got \(1, 2\)"):
        check_vectors(Sentence(("w0", "w1"), vectors=numbered(1)), 2)
    assert own.encode([]).tokens == 0


def test_a_part_of_a_sentence_has_the_vectors_of_its_words() -> None:
    sentence = Sentence(tuple("abcd"), vectors=numbered(4))
    assert sentence.part(1, 3).vectors.tolist() == numbered(4)[1:3].tolist()  # type: ignore[union-attr]
    whole = Sentence(tuple("abcd"), vectors=numbered(1)[0])
    assert whole.part(1, 3).vectors is whole.vectors
    assert Sentence(tuple("abcd")).part(1, 3).vectors is None
