"""What the recipe of any contextual source may say, and what ELMo adds to it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gonie.tasks.contextual import ContextualConfig
from gonie.tasks.elmo import ElmoConfig
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import load_recipe


def test_a_source_is_fixed_and_at_the_input_unless_the_recipe_says_otherwise() -> None:
    config = ContextualConfig()
    assert (config.at, config.dropout, config.tuned, config.cache) == ("input", 0.0, False, None)


@pytest.mark.parametrize(
    "values",
    [{"at": "middle"}, {"dropout": 1.0}, {"rate": 0.0}, {"rate": -1.0}, {"bilm": "x"}],
    ids=str,
)
def test_what_no_source_can_do_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ContextualConfig.model_validate(values)


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_every_source_has_the_common_keys_and_describes_itself(name: str) -> None:
    source = CONTEXTUAL[name]
    assert issubclass(source.section, ContextualConfig)
    assert source.description
    assert source.section.__doc__
    assert set(ContextualConfig.model_fields) < set(source.section.model_fields)


@pytest.mark.parametrize("name", CONTEXTUAL)
def test_loading_a_source_depends_on_keys_that_it_has(name: str) -> None:
    source = CONTEXTUAL[name]
    assert source.loaded_by
    assert set(source.loaded_by) <= set(source.section.model_fields)


def test_elmo_needs_a_language_model_and_may_say_how_its_layers_are_mixed() -> None:
    with pytest.raises(ValidationError, match="bilm"):
        ElmoConfig.model_validate({})
    with pytest.raises(ValidationError, match="l2"):
        ElmoConfig.model_validate({"bilm": "lm", "l2": -1})
    config = ElmoConfig(bilm="lm")
    assert (config.normalize, config.l2) == (False, 0.001)


@pytest.mark.parametrize("recipe", ["ner", "subjectivity", "pairs"])
def test_the_sources_of_a_recipe_are_the_sections_that_it_has(recipe: str) -> None:
    assert load_recipe(recipe).model.contextual == {}
    model = load_recipe(recipe, ["model.elmo.bilm=lm", "model.elmo.at=both"]).model
    assert model.contextual == {"elmo": ElmoConfig(bilm="lm", at="both")}
    assert model.elmo is model.contextual["elmo"]
    assert load_recipe(recipe, ["model.elmo.bilm=lm", "model.elmo=none"]).model.contextual == {}
