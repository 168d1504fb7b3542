"""The colours of labels: the same for the same labels, different while there are colours."""

from gonie.reports.html.colors import CLASSES, label_classes
from gonie.reports.html.style import STYLE


def test_different_labels_have_different_colours_while_there_are_colours():
    labels = [f"T{number}" for number in range(len(CLASSES))]
    assert len(CLASSES) >= 10
    assert len(set(label_classes(labels).values())) == len(labels)
    assert set(label_classes([*labels, "more"]).values()) == set(CLASSES)
    assert label_classes([]) == {}


def test_neither_order_nor_repetition_matters():
    found = label_classes(["PER", "LOC", "PER", "ORG"])
    assert found == label_classes(["ORG", "LOC", "PER"])
    assert len(set(found.values())) == 3


def test_the_style_sheet_has_every_class():
    assert all(f".{name} {{ --tone" in STYLE for name in CLASSES)
