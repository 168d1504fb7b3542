"""The recipe keys of contextual sources, and those that ELMo adds."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gonie.tasks.contextual import ContextualConfig, SourceConfig
from gonie.tasks.elmo import ElmoConfig
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import load_recipe


def test_a_source_is_frozen_and_at_the_input_by_default() -> None:
    config = ContextualConfig()
    assert (config.at, config.dropout, config.tuned, config.cache) == ("input", 0.0, False, None)


@pytest.mark.parametrize(
    "values",
    [{"at": "middle"}, {"dropout": 1.0}, {"rate": 0.0}, {"rate": -1.0}, {"bilm": "x"}],
    ids=str,
)
def test_invalid_values_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ContextualConfig.model_validate(values)


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_every_source_has_the_common_keys_and_a_description(name: str) -> None:
    source = CONTEXTUAL[name]
    common = SourceConfig if source.vectors is None else ContextualConfig
    assert issubclass(source.section, common)
    assert source.description
    assert source.section.__doc__
    assert set(common.model_fields) < set(source.section.model_fields)
    assert set(source.section.of_files) <= set(source.section.model_fields)


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_loading_a_source_depends_on_keys_of_its_section(name: str) -> None:
    source = CONTEXTUAL[name]
    assert source.loaded_by
    assert set(source.loaded_by) <= set(source.section.model_fields)


def test_elmo_requires_a_language_model_and_a_valid_l2() -> None:
    with pytest.raises(ValidationError, match="bilm"):
        ElmoConfig.model_validate({})
    with pytest.raises(ValidationError, match="l2"):
        ElmoConfig.model_validate({"bilm": "lm", "l2": -1})
    config = ElmoConfig(bilm="lm")
    assert (config.normalize, config.l2) == (False, 0.001)


@pytest.mark.parametrize("recipe", ["bilstm-crf", "subjectivity", "pairs"])
def test_the_contextual_sources_of_a_recipe_are_its_sections(recipe: str) -> None:
    assert load_recipe(recipe).model.contextual == {}
    model = load_recipe(recipe, ["model.elmo.bilm=lm", "model.elmo.at=both"]).model
    assert model.contextual == {"elmo": ElmoConfig(bilm="lm", at="both")}
    assert model.elmo is model.contextual["elmo"]
    assert load_recipe(recipe, ["model.elmo.bilm=lm", "model.elmo=none"]).model.contextual == {}
