"""Tests the estimators for scikit-learn: in searches and pipelines, pickled, and by its own checks.

scikit-learn's checks pass tables of numbers. Those that need no data run as they are, and those about
behaviour have a twin here with texts. The others do not apply, for the reasons listed.
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gonie

if importlib.util.find_spec("sklearn") is None:
    pytest.skip("no scikit-learn: pip install '.[sklearn]' -c constraints.txt", allow_module_level=True)

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks

from gonie.sklearn import SequenceTagger, TextClassifier

TEXTS = ["a good film", "a bad film", "really good", "really bad", "so good", "so bad"] * 4
LABELS = ["pos", "neg"] * 12
WORDS = [["Anna", "Kim", "works", "in", "Seoul"], ["It", "rains"], ["Paul", "lives", "in", "Rome"]] * 6
TAGS = [["B-PER", "I-PER", "O", "O", "B-LOC"], ["O", "O"], ["B-PER", "O", "O", "B-LOC"]] * 6
SMALL = {"train.epochs": 4, "model.words.width": 8}
TINY = {"train.epochs": 10, "train.lr": 0.02, "model.words.width": 16, "model.encoder.hidden": 16}
TAGS_TINY = {**TINY, "model.elmo.bilm": "none"}

AS_THEY_ARE = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_requires_y_none",
    "check_set_params",
    "check_valid_tag_types",
}
WITH_TEXTS = {
    "check_classifiers_classes": "test_labels_keep_their_type",
    "check_dict_unchanged": "test_fit_and_predict",
    "check_dont_overwrite_parameters": "test_fit_and_predict",
    "check_estimators_empty_data_messages": "test_bad_input_is_refused",
    "check_estimators_fit_returns_self": "test_fit_and_predict",
    "check_estimators_overwrite_params": "test_fit_and_predict",
    "check_estimators_pickle": "test_pickle",
    "check_fit_check_is_fitted": "test_bad_input_is_refused",
    "check_fit_idempotent": "test_fitting_again_gives_the_same_model",
    "check_fit_score_takes_y": "test_fit_and_predict",
    "check_methods_sample_order_invariance": "test_predictions_do_not_depend_on_other_texts",
    "check_methods_subset_invariance": "test_predictions_do_not_depend_on_other_texts",
    "check_pipeline_consistency": "test_searches_and_pipelines",
    "check_classifier_data_not_an_array": "test_fit_and_predict",
}
NOT_APPLICABLE = {
    "a text is not a row of numbers": (
        "check_classifiers_train check_complex_data check_decision_proba_consistency check_dtype_object "
        "check_estimators_dtypes check_estimators_nan_inf check_f_contiguous_array_estimator check_fit1d "
        "check_fit2d_1feature check_fit2d_1sample check_fit2d_predict1d check_readonly_memmap_input "
        "check_positive_only_tag_during_fit check_classifiers_regression_target check_supervised_y_2d "
        "check_supervised_y_no_nan check_classifiers_one_label"
    ),
    "texts have no number of features": (
        "check_n_features_in check_n_features_in_after_fitting check_estimators_partial_fit_n_features"
    ),
    "texts are not sparse": (
        "check_estimator_sparse_array check_estimator_sparse_matrix check_estimator_sparse_tag "
        "check_sparsify_coefficients"
    ),
    "texts are not arrays": (
        "check_array_api_input check_array_api_mixed_inputs check_array_api_same_namespace"
    ),
    "fit takes no sample weights": (
        "check_all_zero_sample_weights_error check_classifiers_one_label_sample_weights "
        "check_sample_weight_equivalence_on_dense_data check_sample_weight_equivalence_on_sparse_data "
        "check_sample_weights_list check_sample_weights_not_an_array check_sample_weights_not_overwritten "
        "check_sample_weights_pandas_series check_sample_weights_shape"
    ),
    "there is no parameter class_weight or max_iter": (
        "check_class_weight_balanced_linear_classifier check_class_weight_classifiers "
        "check_non_transformer_estimators_n_iter"
    ),
}


def all_checks() -> dict[str, Any]:
    from sklearn.linear_model import LogisticRegression

    found = estimator_checks._yield_all_checks(LogisticRegression(), legacy=True)
    return {getattr(check, "func", check).__name__: check for check in found}


def test_every_check_is_accounted_for() -> None:
    other = {name for names in NOT_APPLICABLE.values() for name in names.split()}
    assert set(all_checks()) == AS_THEY_ARE | set(WITH_TEXTS) | other
    assert all(name in globals() for name in WITH_TEXTS.values())


@pytest.mark.parametrize("name", sorted(AS_THEY_ARE))
@pytest.mark.parametrize("estimator", [TextClassifier, SequenceTagger])
def test_checks_of_scikit_learn(name: str, estimator: type) -> None:
    all_checks()[name](estimator.__name__, estimator())


@pytest.fixture(scope="module")
def classifier() -> TextClassifier:
    return TextClassifier(settings=SMALL, seed=1).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def tagger() -> SequenceTagger:
    return SequenceTagger(settings=TAGS_TINY, seed=1).fit(WORDS, TAGS)


def test_fit_and_predict(classifier: TextClassifier, tagger: SequenceTagger) -> None:
    assert classifier.get_params()["settings"] == SMALL
    assert classifier.classes_.tolist() == ["neg", "pos"]
    chances = classifier.predict_proba(np.array(TEXTS))
    assert chances.shape == (24, 2)
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert (classifier.predict(TEXTS) == classifier.classes_[chances.argmax(axis=1)]).all()
    assert classifier.score(TEXTS, LABELS) == (classifier.predict(TEXTS) == np.array(LABELS)).mean() > 0.7

    predicted = tagger.predict(WORDS)
    assert predicted[0] == TAGS[0], "in the scheme of y"
    assert tagger.score(WORDS, TAGS) > 0.9
    assert set(tagger.classes_) == {"B-LOC", "B-PER", "I-LOC", "I-PER", "O"}
    chances = tagger.predict_proba(WORDS[:2])
    assert [each.shape for each in chances] == [(5, 5), (2, 5)]
    assert np.allclose(chances[0].sum(axis=1), 1.0)
    assert tagger.classes_[chances[0].argmax(axis=1)].tolist() == TAGS[0]
    empty = tagger.predict_proba([[]])
    assert empty[0].shape == (0, 5)


def test_labels_keep_their_type() -> None:
    model = TextClassifier(settings={**SMALL, "train.epochs": 1}).fit(TEXTS, [3, 10] * 12)
    assert model.classes_.tolist() == [3, 10]
    assert model.predict(TEXTS[:3]).dtype == model.classes_.dtype


def test_clone_and_parameters(classifier: TextClassifier) -> None:
    copy = clone(classifier)
    assert copy.get_params() == classifier.get_params()
    assert not hasattr(copy, "model_")
    assert copy.set_params(seed=2).seed == 2


def test_pickle(classifier: TextClassifier, tagger: SequenceTagger) -> None:
    assert (pickle.loads(pickle.dumps(classifier)).predict(TEXTS) == classifier.predict(TEXTS)).all()
    assert pickle.loads(pickle.dumps(tagger)).predict(WORDS) == tagger.predict(WORDS)


def test_fitting_again_gives_the_same_model(classifier: TextClassifier) -> None:
    again = clone(classifier).fit(TEXTS, LABELS)
    assert (again.predict_proba(TEXTS) == classifier.predict_proba(TEXTS)).all()


def test_predictions_do_not_depend_on_other_texts(classifier: TextClassifier, tagger: SequenceTagger) -> None:
    alone = np.concatenate([classifier.predict_proba([text]) for text in TEXTS])
    assert np.allclose(alone, classifier.predict_proba(TEXTS), atol=1e-6)
    assert np.allclose(alone[::-1], classifier.predict_proba(TEXTS[::-1]), atol=1e-6)
    assert [tagger.predict([words])[0] for words in WORDS] == tagger.predict(WORDS)


def test_searches_and_pipelines() -> None:
    search = GridSearchCV(
        TextClassifier(seed=1), {"settings": [{**SMALL, "train.epochs": 1}, SMALL]}, cv=2, error_score="raise"
    ).fit(TEXTS, LABELS)
    assert search.best_params_["settings"] in ({**SMALL, "train.epochs": 1}, SMALL)
    assert search.predict(TEXTS[:1])[0] in ("pos", "neg")
    scores = cross_val_score(SequenceTagger(settings=TAGS_TINY), WORDS, TAGS, cv=2, error_score="raise")
    assert scores.shape == (2,)
    lower = FunctionTransformer(lambda texts: [text.lower() for text in texts])
    pipeline = Pipeline([("lower", lower), ("classify", TextClassifier(settings=SMALL, seed=1))])
    assert (pipeline.fit(TEXTS, LABELS).predict(["A GOOD FILM"]) == pipeline.predict(["a good film"])).all()


def test_the_run_folder_is_kept_if_named(tmp_path: Path) -> None:
    SequenceTagger(settings={**TAGS_TINY, "train.epochs": 1}, out=tmp_path / "run").fit(WORDS, TAGS)
    assert gonie.load(tmp_path / "run", task="tag").tag_tokens([["Anna"]])[0].text == "Anna"


def test_bad_input_is_refused() -> None:
    with pytest.raises(NotFittedError):
        SequenceTagger().predict(WORDS)
    with pytest.raises(NotFittedError):
        TextClassifier().predict_proba(TEXTS)
    with pytest.raises(ValueError, match="X is empty"):
        TextClassifier().fit([], [])
    with pytest.raises(ValueError, match="different lengths: 2 and 1"):
        SequenceTagger().fit(WORDS[:2], TAGS[:1])
    with pytest.raises(ValueError, match="X is one text"):
        TextClassifier().fit("a good film", ["pos"])
    with pytest.raises(ValueError, match=r"X\[0\] is not a text: 3"):
        TextClassifier().fit([3], ["pos"])
    with pytest.raises(ValueError, match="several labels per text"):
        TextClassifier().fit(["a"], [["x", "y"]])


def test_a_missing_scikit_learn_is_explained() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; sys.modules['sklearn.base'] = None; import gonie.sklearn"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "gonie.sklearn needs scikit-learn, which is not installed" in ended.stderr
    assert "pip install 'gonie[sklearn]'" in ended.stderr
