"""The colours of labels: the same for the same labels, different while there are colours."""

from gonie.reports.html.colors import CLASSES, heat_class, label_classes
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


def test_shades_have_ten_steps_on_each_side():
    assert [heat_class(shade) for shade in (0, 0.04, 0.06, 0.72, 1, 3)] == [
        "h0",
        "h0",
        "h1",
        "h7",
        "h10",
        "h10",
    ]
    assert [heat_class(shade) for shade in (-0.04, -0.06, -1)] == ["h0", "n1", "n10"]
    assert all(f".h{step}, .n{step} {{ --a" in STYLE for step in range(1, 11))
