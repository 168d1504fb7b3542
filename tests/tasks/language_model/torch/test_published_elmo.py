"""Published ELMo weights give the vectors of the authors' code, and invalid files are refused."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from torch import Tensor

from gonie.errors import InputError, MissingExtraError
from gonie.tasks.language_model.torch.embedder import Embedder
from gonie.tasks.language_model.torch.folder import SavedBilm
from gonie.tasks.language_model.torch.published_elmo import read_published
from gonie.tasks.language_model.torch.spelled_cache import SpelledCache

LISTS, SENTENCES = 3, 10
MARKS = {"<S>": 0, "</S>": 1}


@pytest.fixture(scope="module")
def fixture(shared_data: Path) -> Path:
    folder = shared_data / "elmo_fixture"
    if not folder.is_dir():
        pytest.skip(f"no published ELMo at {folder}")
    return folder


@pytest.fixture(scope="module")
def imported(fixture: Path) -> SavedBilm:
    return read_published(fixture / "options.json", fixture / "lm_weights.hdf5")


@pytest.fixture(scope="module")
def sentences(fixture: Path) -> list[list[list[str]]]:
    lists = json.loads((fixture / "sentences.json").read_text("utf-8"))
    assert [len(texts) for texts in lists] == [SENTENCES] * LISTS
    return [[text.split() for text in texts] for texts in lists]


def published(fixture: Path, number: int, sentence: int) -> np.ndarray:
    """Return the authors' top layer of a sentence, both directions concatenated: (T, 2P)."""
    with h5py.File(fixture / f"lm_embeddings_{number}.hdf5") as file:
        return np.concatenate(list(file[str(sentence)][...]), axis=1)


def words_of(saved: SavedBilm, words: list[str]) -> tuple[Tensor, Tensor]:
    """Return the vectors of the words (1, T, P) and of the marks (2, P)."""
    cache = SpelledCache(saved.bilm.words, longest=saved.shape.longest)
    places = cache.places(words)
    return cache.table[places].unsqueeze(0), cache.marks()


@pytest.mark.parametrize("number", range(LISTS))
@torch.no_grad()
def test_with_carried_states_the_top_layer_matches_the_authors_code(
    fixture: Path, imported: SavedBilm, sentences: list[list[list[str]]], number: int
) -> None:
    """Each list is a row of their batches; rows are run one by one because each ends at its own length."""
    carried = imported.bilm.start(torch.empty(1, 0, imported.shape.width))
    for place, words in enumerate(sentences[number]):
        x, marks = words_of(imported, words)
        layers, carried = imported.bilm.read_on(x, marks, carried)
        np.testing.assert_allclose(
            layers[-1, 0].numpy(), published(fixture, number, place), rtol=0, atol=1e-5
        )


def test_without_carried_states_their_first_batch_is_reproduced(
    fixture: Path, imported: SavedBilm, sentences: list[list[list[str]]]
) -> None:
    """No states are carried into the first batch."""
    for number, layers in enumerate(Embedder(imported).layers([texts[0] for texts in sentences])):
        np.testing.assert_allclose(layers[-1], published(fixture, number, 0), rtol=0, atol=1e-5)


@torch.no_grad()
def test_word_vectors_match_the_authors_code(fixture: Path, imported: SavedBilm) -> None:
    vocabulary = (fixture / "vocab_test.txt").read_text("utf-8").split()
    vectors, marks = words_of(imported, vocabulary)
    for row, word in enumerate(vocabulary):
        if word in MARKS:  # their vocabulary contains the marks of a sentence as words
            vectors[0, row] = marks[MARKS[word]]
    with h5py.File(fixture / "elmo_token_embeddings.hdf5") as file:
        np.testing.assert_allclose(vectors[0].numpy(), file["embedding"][...], rtol=0, atol=1e-5)


# --- a small model in the published format, written here -------------------------------------------------

P, H, D, FILTERS = 3, 4, 2, [(1, 2), (3, 5)]
TOTAL = sum(number for _, number in FILTERS)
Changed = Callable[[dict[str, Any], dict[str, np.ndarray]], None]


def options() -> dict[str, Any]:
    return {
        "bidirectional": True,
        "lstm": {
            "dim": H,
            "projection_dim": P,
            "n_layers": 2,
            "use_skip_connections": True,
            "cell_clip": 3,
            "proj_clip": 3,
        },
        "char_cnn": {
            "embedding": {"dim": D},
            "filters": [list(pair) for pair in FILTERS],
            "n_highway": 1,
            "n_characters": 262,
            "max_characters_per_token": 50,
            "activation": "relu",
        },
        "n_train_tokens": 768648884,
    }


def arrays() -> dict[str, np.ndarray]:
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, D)}
    for i, (kernel, number) in enumerate(FILTERS):
        shapes |= {f"CNN/W_cnn_{i}": (1, kernel, D, number), f"CNN/b_cnn_{i}": (number,)}
    for name in ("carry", "transform"):
        shapes |= {f"CNN_high_0/W_{name}": (TOTAL, TOTAL), f"CNN_high_0/b_{name}": (TOTAL,)}
    shapes |= {"CNN_proj/W_proj": (TOTAL, P), "CNN_proj/b_proj": (P,)}
    for direction in range(2):
        for layer in range(2):
            place = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{place}/W_0": (2 * P, 4 * H), f"{place}/B": (4 * H,), f"{place}/W_P_0": (H, P)}
    chance = np.random.default_rng(3)
    return {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """Writes the two files of a model, with a change."""

    def write(change: Changed = lambda _, __: None) -> tuple[Path, Path]:
        said, numbers = options(), arrays()
        change(said, numbers)
        paths = tmp_path / "options.json", tmp_path / "weights.hdf5"
        paths[0].write_text(json.dumps(said), "utf-8")
        with h5py.File(paths[1], "w") as file:
            for name, array in numbers.items():
                file[name] = array
        return paths

    return write


def test_gates_are_reordered_and_the_forget_bias_is_added(written: Callable[..., tuple[Path, Path]]) -> None:
    layer = read_published(*written()).bilm.back.layers[1]
    place = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"
    theirs = arrays()
    for ours, number in enumerate([0, 2, 1, 3]):  # input, forget, cell, output among i, j, f, o
        gate, own = slice(number * H, (number + 1) * H), slice(ours * H, (ours + 1) * H)
        np.testing.assert_array_equal(layer.input_weight[own].detach(), theirs[f"{place}/W_0"][:P, gate].T)
        np.testing.assert_array_equal(layer.state_weight[own].detach(), theirs[f"{place}/W_0"][P:, gate].T)
        np.testing.assert_array_equal(layer.bias[own].detach(), theirs[f"{place}/B"][gate] + (number == 2))
    np.testing.assert_array_equal(layer.projection.detach(), theirs[f"{place}/W_P_0"].T)


@pytest.mark.parametrize("rows", [261, 262])
def test_byte_vectors_load_with_and_without_a_padding_row(
    written: Callable[..., tuple[Path, Path]], rows: int
) -> None:
    """If ids were off by one, the vectors would be wrong but look normal."""

    def change(_: dict[str, Any], numbers: dict[str, np.ndarray]) -> None:
        if rows == 262:
            numbers["char_embed"] = np.concatenate([np.ones((1, D), np.float32), numbers["char_embed"]])

    weight = read_published(*written(change)).bilm.words.bytes.weight.detach()
    assert weight[0].eq(0).all()
    np.testing.assert_array_equal(weight[1:], arrays()["char_embed"])


def test_some_options_may_be_null(written: Callable[..., tuple[Path, Path]]) -> None:
    def change(said: dict[str, Any], _: dict[str, np.ndarray]) -> None:
        said["lstm"] |= {"use_skip_connections": False, "cell_clip": None, "proj_clip": None}
        said["char_cnn"]["n_highway"] = None

    saved = read_published(*written(change))
    assert not saved.shape.skip
    assert (saved.shape.cell_clip, saved.shape.highways) == (0.0, 0)
    assert (saved.language, saved.unit) == ("en", "word")


def set_option(section: str, key: str, value: object) -> Changed:
    def change(said: dict[str, Any], _: dict[str, np.ndarray]) -> None:
        said[section][key] = value

    return change


def drop_option(section: str, key: str) -> Changed:
    return lambda said, _: said[section].pop(key)


def drop_array(name: str) -> Changed:
    return lambda _, numbers: numbers.pop(name)  # type: ignore[return-value]


def poison(_: dict[str, Any], numbers: dict[str, np.ndarray]) -> None:
    numbers["CNN_proj/b_proj"][1] = np.nan


def put_words(_: dict[str, Any], numbers: dict[str, np.ndarray]) -> None:
    numbers["CNN_proj/b_proj"] = np.array([b"one", b"two", b"three"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_option("lstm", "dim", 5), "W_0 of shape (6, 20) by the options, got (6, 16)"),
        (set_option("lstm", "n_layers", 3), "Cell2/LSTMCell/W_0 (6, 16). Check that"),
        (set_option("lstm", "projection_dim", 7), "CNN_proj/W_proj of shape (7, 7) by the options"),
        (set_option("lstm", "cell_clip", None), "cell_clip and state_clip must be set together"),
        (set_option("lstm", "dim", "wide"), "lstm.dim: Input should be a valid integer"),
        (drop_option("lstm", "dim"), "lstm.dim: Field required"),
        (set_option("char_cnn", "activation", "tanh"), "activation: Input should be 'relu' (it is 'tanh')"),
        (set_option("char_cnn", "n_characters", 300), "char_cnn.n_characters: Input should be 261 or 262"),
        (set_option("char_cnn", "embedding", {"dim": 3}), "char_embed of shape (261, 3) by the options"),
        (set_option("char_cnn", "filters", [[1, 2], [4, 5]]), "CNN/W_cnn_1 of shape (1, 4, 2, 5)"),
        (set_option("char_cnn", "filters", []), "filters: "),
        (drop_array("char_embed"), "array not found: char_embed (261, 2)"),
        (drop_array("CNN_high_0/b_carry"), "array not found: CNN_high_0/b_carry (7)"),
        (poison, "CNN_proj/b_proj has values that are not finite"),
        (put_words, "cannot read the numbers of CNN_proj/b_proj"),
    ],
)  # fmt: skip
def test_files_that_do_not_fit_are_refused_in_one_line(
    written: Callable[..., tuple[Path, Path]], change: Changed, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_published(*written(change))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"lstm": 3', b"\xff\xfe", b"3", b"[" * 100_000])
def test_an_invalid_options_file_is_refused(
    written: Callable[..., tuple[Path, Path]], content: bytes
) -> None:
    options, weights = written()
    options.write_bytes(content)
    with pytest.raises(InputError, match=r"options\.json: invalid (JSON|options of an ELMo model)"):
        read_published(options, weights)


@pytest.mark.parametrize("content", [b"", b"not HDF5", None])
def test_an_invalid_weights_file_is_refused(
    written: Callable[..., tuple[Path, Path]], content: bytes | None
) -> None:
    options, weights = written()
    weights.write_bytes(weights.read_bytes()[:700] if content is None else content)
    with pytest.raises(InputError, match=r"weights\.hdf5: not an HDF5 file"):
        read_published(options, weights)


def test_a_group_in_place_of_an_array_is_refused(written: Callable[..., tuple[Path, Path]]) -> None:
    def change(_: dict[str, Any], numbers: dict[str, np.ndarray]) -> None:
        numbers["char_embed/odd"] = numbers.pop("char_embed")

    with pytest.raises(InputError, match="array not found: char_embed"):
        read_published(*written(change))


def test_without_h5py_the_error_says_what_to_install(
    written: Callable[..., tuple[Path, Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = written()
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gonie\[train\]'"):
        read_published(*paths)
