"""Label maps: entities keep their words and change only their names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text.label_map import (
    MAPS,
    LabelMap,
    check_known,
    nearest,
    parse_map,
    propose,
    shipped_map,
    unmatched_rules,
)
from gonie.text.schemes import IOB2, PLAIN, Scheme, to_spans

TAGS = ("B-person", "I-person", "O", "B-group", "B-product")


def test_a_misspelt_map_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match=r"no such label map: nikll\. Did you mean nikl\?"):
        parse_map(["nikll"])


def test_rules_rename_labels_and_drop_those_mapped_to_o() -> None:
    found = parse_map(["person=PER", "product=O"]).rename(TAGS, IOB2)
    assert found == ["B-PER", "I-PER", "O", "B-group", "O"]


def test_a_later_rule_replaces_that_of_a_shipped_map() -> None:
    found = parse_map(["wnut", "group=O"]).rename(TAGS, IOB2)
    assert found == ["B-PER", "I-PER", "O", "O", "O"]


def test_neighbouring_entities_with_the_same_new_label_stay_apart() -> None:
    """In IOB1 the second one needs a B, which the tags did not have before."""
    tags = ("I-corporation", "I-group")
    assert parse_map(["wnut"]).rename(tags, Scheme("IOB1")) == ["I-ORG", "B-ORG"]


@given(st.lists(st.sampled_from(["O", "B-a", "I-a", "B-b", "I-b"])))
def test_renaming_keeps_the_places_of_all_entities(tags: list[str]) -> None:
    names = {"a": "x", "b": "y"}
    renamed = LabelMap(names).rename(tags, IOB2)
    expected = [(start, end, names[label]) for start, end, label in to_spans(tags, IOB2)]
    assert to_spans(renamed, IOB2) == expected


def test_plain_labels_are_renamed_one_by_one() -> None:
    assert LabelMap({"NN": "NOUN"}).rename(("NN", "VB"), PLAIN) == ["NOUN", "VB"]


@pytest.mark.parametrize("rule", ["person", "=PER", "person=", "", "unknown-map"])
def test_an_invalid_rule_is_refused_with_the_known_maps(rule: str) -> None:
    with pytest.raises(InputError, match=r"invalid label map.*OLD=NEW.*crossner"):
        parse_map([rule])


def test_a_shipped_map_fits_a_model_with_other_names() -> None:
    fitted = parse_map(["wnut"]).to_labels(["PS", "LC", "OG", "DT"])
    assert [fitted[label] for label in ("person", "group", "product")] == ["PS", "OG", "O"]


def test_a_map_to_a_label_that_the_model_lacks_is_refused() -> None:
    told = r"that the model does not have: FOO\. The labels are LOC, PER"
    with pytest.raises(InputError, match=told):
        parse_map(["person=FOO"]).to_labels(["PER", "LOC"])


@pytest.mark.parametrize(("typed", "meant"), [("PERS", "PER"), ("loc", "LOC"), ("OG", "ORG")])
def test_the_new_name_of_a_rule_is_not_guessed(typed: str, meant: str) -> None:
    """The score would be that of another type than the one that was named."""
    with pytest.raises(InputError, match=f"not have: {typed}. Did you mean {meant}?"):
        parse_map([f"person={typed}"]).to_labels(["PER", "LOC", "ORG"])


def test_a_shipped_map_leads_to_the_general_type_of_a_model_with_special_ones() -> None:
    """Otherwise all people of a file would be scored as musicians, whatever the order of the labels."""
    types = [*MAPS["crossner"]]
    for known in (types, types[::-1]):
        fitted = parse_map(["ontonotes"]).to_labels(known)
        assert [fitted[label] for label in ("PERSON", "GPE", "ORG")] == ["person", "location", "organisation"]


def test_a_label_that_the_model_has_too_keeps_its_name() -> None:
    known = ["person", "researcher", "location", "country", "organisation"]
    fitted = parse_map(["wnut", "crossner"]).to_labels(known)
    assert [fitted[label] for label in known] == known
    assert fitted["group"] == "organisation"
    assert fitted["product"] == "O"


def test_a_proposed_map_uses_case_and_meaning() -> None:
    assert propose(["person", "Loc", "corporation", "song"], ["PER", "LOC", "ORG"]) == {
        "person": "PER",
        "Loc": "LOC",
        "corporation": "ORG",
        "song": "O",
    }


KLUE = {"PS", "LC", "OG", "DT", "TI", "QT"}


def test_shipped_maps_lead_to_the_shared_types() -> None:
    for name, rules in MAPS.items():
        types = KLUE if name in ("tta", "naver", "nikl") else {"PER", "LOC", "ORG"}
        assert set(rules.values()) == types | {"O"}, name


def test_the_fine_types_of_the_national_institute_are_all_mapped() -> None:
    """There are 150. Each one leads to its class, except for a few that KLUE treats otherwise."""
    rules = MAPS["nikl"]
    assert len(rules) == 150
    assert {label[:2] for label in rules} == set(MAPS["tta"])
    other = {old: new for old, new in rules.items() if new != MAPS["tta"][old[:2]]}
    assert other == {"AF_BUILDING": "LC", "AF_ROAD": "LC", "LC_SPACE": "O"}


@pytest.mark.parametrize("known", [["PS", "LC", "OG", "DT", "TI", "QT"], ["PER", "LOC", "ORG"]])
def test_korean_types_fit_models_of_either_names(known: list[str]) -> None:
    person, place, *rest = known
    fitted = parse_map(["nikl"]).to_labels(known)
    assert [fitted["PS_NAME"], fitted["AF_BUILDING"], fitted["AFA_VIDEO"]] == [person, place, "O"]
    assert fitted["DT_DAY"] == ("DT" if "DT" in rest else "O")
    assert propose(["PS_NAME", "LOC", "DAT"], known) == {
        "PS_NAME": person,
        "LOC": place,
        "DAT": "DT" if "DT" in rest else "O",
    }


def test_a_rule_adjusts_a_shipped_map() -> None:
    fitted = parse_map(["nikl", "AF_BUILDING=O"]).to_labels(["PS", "LC"])
    assert [fitted["AF_BUILDING"], fitted["LCP_CITY"]] == ["O", "LC"]


TYPES = ["DT", "LC", "OG", "PS", "QT", "TI"]


@pytest.mark.parametrize(
    ("labels", "name"),
    [
        (["PS_NAME", "OGG_ECONOMY", "QT_COUNT"], "nikl"),
        (["PER", "NUM", "CVL"], "naver"),
        (["AF", "CV", "PS"], "tta"),
        (["PERSON", "GPE", "DATE"], "ontonotes"),
        (["AF", "CV"], None),
        (["PER", "invented"], None),
    ],
)
def test_the_shipped_map_that_covers_the_labels_is_proposed(labels: list[str], name: str | None) -> None:
    assert shipped_map(labels, TYPES) == name
    if name is not None and not set(labels) & set(TYPES):
        with pytest.raises(InputError, match=f"Map them: --map {name}$"):
            check_known(labels, TYPES, "f")
    elif name is None:
        with pytest.raises(InputError, match=r"Map them: --map \w+="):
            check_known(labels, TYPES, "f")


@pytest.mark.parametrize(("folder", "name"), [("wnut17", "wnut"), ("crossner/*", "crossner")])
def test_the_labels_of_open_corpora_have_a_map(shared_data: Path, folder: str, name: str) -> None:
    """A model of PER, LOC and ORG that is scored on such a file is told which map to use."""
    files = [
        file
        for place in (shared_data / "ner").glob(folder)
        for file in place.glob("*")
        if file.suffix in (".txt", ".conll", ".annotated")
    ]
    assert files
    for file in files:
        tags = (line.split("\t")[1].strip() for line in file.read_text("utf-8").splitlines() if "\t" in line)
        labels = {tag[2:] for tag in tags if tag[:2] in ("B-", "I-")}
        assert labels <= MAPS[name].keys(), file
        assert shipped_map(labels, ["PER", "LOC", "ORG"]) == name, file


def test_of_several_types_with_the_same_meaning_the_nearest_is_chosen() -> None:
    """Otherwise musicians would be the persons of CrossNER, and bands its organisations."""
    types = [*MAPS["crossner"]]
    expected = {"location": "LOC", "organisation": "ORG", "person": "PER"}
    assert (
        nearest(types, ["LOC", "ORG", "PER"]) == nearest(reversed(types), ["LOC", "ORG", "PER"]) == expected
    )
    assert nearest(["FAC", "GPE", "LOC"], ["LC"]) == {"LOC": "LC"}
    assert nearest(["band"], ["ORG", "PER"]) == {"band": "ORG"}
    assert nearest(["song"], ["PER"]) == {}


def test_a_list_of_labels_says_how_many_there_are() -> None:
    labels = [f"t{number}" for number in range(13)]
    with pytest.raises(InputError, match="labels are t0, t1, t2, t3, t4, t5, t6, t7 and 5 more, and the"):
        check_known(labels, ["PER"], "f")


def test_a_misspelt_label_in_a_rule_is_told_with_the_label_that_was_meant() -> None:
    labels = {"person", "location"}
    (told,) = unmatched_rules({"persn": "PER", "location": "LOC"}, labels, "heads.pos.map")
    assert told.endswith(
        "heads.pos.map renames persn, which is no label of these files. Did you mean person?"
    )
    (told,) = unmatched_rules({"x": "O"}, labels, "data.map")
    assert told.endswith("The labels are location, person")


def test_a_shipped_map_may_have_rules_for_labels_that_a_file_lacks() -> None:
    assert not list(unmatched_rules(MAPS["crossner"], {"person"}, "data.map"))
    assert len(list(unmatched_rules({**MAPS["crossner"], "bnd": "ORG"}, {"person"}, "data.map"))) == 1
