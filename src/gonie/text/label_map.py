"""Maps between the label names of corpora: ``person`` of one is ``PER`` of another.

A map has rules ``OLD=NEW``. A label that becomes O is dropped. ``MAPS`` has the maps of common corpora to the
types that they share: PER, LOC and ORG, and for the Korean standards also dates, times and quantities, under
the names of KLUE. The guide to labels (docs/guides/labels.ko.md) gives the reasons for each rule.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches

from gonie.errors import InputError
from gonie.text.schemes import OUTSIDE, Scheme, from_spans, to_spans


def _map(per: str, loc: str, org: str, *, outside: str = "") -> dict[str, str]:
    groups = {"PER": per, "LOC": loc, "ORG": org, OUTSIDE: outside}
    return {name: new for new, names in groups.items() for name in names.split()}


def _klue(prefixes: str, *, outside: str, **names: str) -> dict[str, str]:
    """Return a map to KLUE's types: of labels that begin with the type, and of the ``names`` of each type."""
    kept = {label: label[:2] for label in prefixes.split()}
    return kept | {label: new for new, own in {**names, OUTSIDE: outside}.items() for label in own.split()}


MAPS: Mapping[str, Mapping[str, str]] = {
    "conll": _map("PER", "LOC", "ORG", outside="MISC"),
    "uner": _map("PER", "LOC", "ORG", outside="OTH"),
    "ontonotes": _map(
        "PERSON",
        "GPE LOC FAC",
        "ORG",
        outside="NORP PRODUCT EVENT WORK_OF_ART LAW LANGUAGE DATE TIME PERCENT MONEY QUANTITY ORDINAL "
        "CARDINAL",
    ),
    "wnut": _map("person", "location", "corporation group", outside="product creative-work"),
    "crossner": _map(
        "person politician scientist researcher writer musicalartist",
        "location country",
        "organisation politicalparty university band",
        outside="academicjournal album algorithm astronomicalobject award book chemicalcompound "
        "chemicalelement conference discipline election enzyme event field literarygenre magazine metrics "
        "misc musicalinstrument musicgenre poem product programlang protein song task theory",
    ),
    "klue": _map("PS", "LC", "OG", outside="DT TI QT"),
    "tta": _klue("PS LC OG DT TI QT", outside="AF CV AM PT FD TR EV MT TM"),
    "naver": _klue(
        "",
        PS="PER",
        LC="LOC",
        OG="ORG",
        DT="DAT",
        TI="TIM",
        QT="NUM",
        outside="AFW CVL ANM PLT FLD EVT MAT TRM",
    ),
    "nikl": _klue(
        "PS_NAME PS_CHARACTER PS_PET "
        "LCP_COUNTRY LCP_PROVINCE LCP_COUNTY LCP_CITY LCP_CAPITALCITY LCG_RIVER LCG_OCEAN LCG_BAY "
        "LCG_MOUNTAIN LCG_ISLAND LCG_CONTINENT LC_OTHERS "
        "OGG_ECONOMY OGG_EDUCATION OGG_MILITARY OGG_MEDIA OGG_SPORTS OGG_ART OGG_MEDICINE OGG_RELIGION "
        "OGG_SCIENCE OGG_LIBRARY OGG_LAW OGG_POLITICS OGG_FOOD OGG_HOTEL OGG_OTHERS "
        "DT_DURATION DT_DAY DT_WEEK DT_MONTH DT_YEAR DT_SEASON DT_GEOAGE DT_DYNASTY DT_OTHERS "
        "TI_DURATION TI_HOUR TI_MINUTE TI_SECOND TI_OTHERS "
        "QT_AGE QT_SIZE QT_LENGTH QT_COUNT QT_MAN_COUNT QT_WEIGHT QT_PERCENTAGE QT_SPEED QT_TEMPERATURE "
        "QT_VOLUME QT_ORDER QT_PRICE QT_PHONE QT_SPORTS QT_CHANNEL QT_ALBUM QT_ADDRESS QT_OTHERS",
        LC="AF_BUILDING AF_ROAD",
        outside="LC_SPACE "
        "AF_CULTURAL_ASSET AF_TRANSPORT AF_MUSICAL_INSTRUMENT AF_WEAPON AFA_DOCUMENT AFA_PERFORMANCE "
        "AFA_VIDEO AFA_ART_CRAFT AFA_MUSIC AFW_SERVICE_PRODUCTS AFW_OTHER_PRODUCTS "
        "CV_CULTURE CV_TRIBE CV_LANGUAGE CV_POLICY CV_LAW CV_CURRENCY CV_TAX CV_FUNDS CV_ART CV_SPORTS "
        "CV_SPORTS_POSITION CV_SPORTS_INST CV_PRIZE CV_RELATION CV_OCCUPATION CV_POSITION CV_FOOD CV_DRINK "
        "CV_FOOD_STYLE CV_CLOTHING CV_BUILDING_TYPE "
        "EV_ACTIVITY EV_WAR_REVOLUTION EV_SPORTS EV_FESTIVAL EV_OTHERS "
        "AM_INSECT AM_BIRD AM_FISH AM_MAMMALIA AM_AMPHIBIA AM_REPTILIA AM_TYPE AM_PART AM_OTHERS "
        "PT_FRUIT PT_FLOWER PT_TREE PT_GRASS PT_TYPE PT_PART PT_OTHERS "
        "FD_SCIENCE FD_SOCIAL_SCIENCE FD_MEDICINE FD_ART FD_HUMANITIES FD_OTHERS "
        "TR_SCIENCE TR_SOCIAL_SCIENCE TR_MEDICINE TR_ART TR_HUMANITIES TR_OTHERS "
        "MT_ELEMENT MT_METAL MT_ROCK MT_CHEMICAL "
        "TM_COLOR TM_DIRECTION TM_CLIMATE TM_SHAPE TM_CELL_TISSUE_ORGAN TM_SPORTS TMM_DISEASE TMM_DRUG "
        "TMI_HW TMI_SW TMI_SITE TMI_EMAIL TMI_MODEL TMI_SERVICE TMI_PROJECT TMIG_GENRE",
    ),
}
"""The maps that ship, by the name of the corpus or annotation scheme."""


SHOWN = 20
"""The most rules that a message proposes."""
SIMILAR = 0.8
"""The least similarity of two spellings of a name (``difflib``): PERS and PER have 0.86, PRO and PER 0.67."""
LISTED = 8
"""The most labels that a message lists."""


class LabelMap:
    """Renames the labels of tags. Labels without a rule are kept.

    ``shipped`` are the labels whose rule comes from ``MAPS``. It may name a label that a model lacks.
    """

    def __init__(self, rules: Mapping[str, str], shipped: Collection[str] = ()) -> None:
        self.rules = dict(rules)
        self._shipped = frozenset(shipped)

    @property
    def own(self) -> list[str]:
        """The labels whose rule does not come from ``MAPS``."""
        return [old for old in self.rules if old not in self._shipped]

    def __bool__(self) -> bool:
        return bool(self.rules)

    def __getitem__(self, label: str) -> str:
        """Return the new name of a label."""
        return self.rules.get(label, label)

    def to_labels(self, known: Collection[str]) -> LabelMap:
        """Return the map with the new names of shipped rules as the ``known`` labels write them: PS for PER.

        If the new name is not known, but the old one is, the label keeps it. A shipped rule to a label that
        is not known under any name drops the old label. Any other one raises an error.
        """
        meant = propose(self.rules.values(), known) | {new: new for new in (*known, OUTSIDE)}
        if unknown := sorted({self.rules[old] for old in self.own} - {*known, OUTSIDE}):
            near = meant[unknown[0]] if meant[unknown[0]] != OUTSIDE else None
            raise InputError(
                f"the label map renames to labels that the model does not have: {', '.join(unknown)}",
                fix=f"Did you mean {near}?" if near else meant_label(unknown[0], known),
            )
        kept = {old: old for old, new in self.rules.items() if old in known and new not in (*known, OUTSIDE)}
        return LabelMap({old: meant[new] for old, new in self.rules.items()} | kept)

    def of_text(self, labels: Iterable[str]) -> tuple[str, ...]:
        """Return the new names of the labels of a text, without those that a rule drops."""
        kept = (label for label in labels if self.rules.get(label) != OUTSIDE)
        return tuple(dict.fromkeys(self[label] for label in kept))

    def rename(self, tags: Sequence[str], scheme: Scheme) -> list[str]:
        """Return the tags with new labels, in the same scheme."""
        if not scheme.has_spans:
            return [self[tag] for tag in tags]
        spans = [(start, end, self[label]) for start, end, label in to_spans(tags, scheme)]
        return from_spans([span for span in spans if span[2] != OUTSIDE], len(tags), scheme)

    def rename_spans(self, spans: Iterable[tuple[int, int, str]]) -> tuple[tuple[int, int, str], ...]:
        """Return the spans with new labels, without those that a rule drops."""
        renamed = ((start, end, self[label]) for start, end, label in spans)
        return tuple(span for span in renamed if span[2] != OUTSIDE)


def parse_map(rules: Iterable[str], default: Mapping[str, str] | None = None) -> LabelMap:
    """Parse rules ``OLD=NEW`` and names of ``MAPS``. Later rules replace earlier ones and the ``default``."""
    found: dict[str, str] = dict(default or {})
    shipped = set(found)
    for rule in rules:
        old, equals, new = (part.strip() for part in rule.rpartition("="))
        if equals and old and new:
            found[old] = new
            shipped.discard(old)
        elif rule.strip() in MAPS:
            found |= MAPS[rule.strip()]
            shipped |= MAPS[rule.strip()].keys()
        else:
            near = get_close_matches(rule.strip(), MAPS, n=1)
            if near:
                raise InputError(f"no such label map: {rule.strip()}", fix=f"Did you mean {near[0]}?")
            raise InputError(
                f"invalid label map: {rule!r}",
                fix=f"Use OLD=NEW, OLD={OUTSIDE} to drop a label, or one of {', '.join(MAPS)}",
            )
    return LabelMap(found, shipped)


def shipped_map(labels: Collection[str], known: Collection[str]) -> str | None:
    """Return the name of the shipped map with a rule for each label that leaves most of a model's labels."""
    covering = [name for name, rules in MAPS.items() if set(labels) <= rules.keys()]
    left = {name: set(LabelMap(MAPS[name], MAPS[name]).to_labels(known).of_text(labels)) for name in covering}
    best = max(covering, key=lambda name: len(left[name]), default=None)
    return best if best is not None and left[best] else None


def check_known(labels: Sequence[str], known: Sequence[str], path: str) -> None:
    """Refuse a file none of whose labels a model knows, and propose a map, if possible a shipped one."""
    if labels and not set(labels) & set(known):
        shipped = shipped_map(labels, known)
        found = propose(labels, known)
        unclear = set(found.values()) == {OUTSIDE}
        rules = ["--map " + shlex.quote(f"{old}={'LABEL' if unclear else new}") for old, new in found.items()]
        rest = f" and so on for all {len(rules)}" if len(rules) > SHOWN else ""
        raise InputError(
            f"the file's labels are {_listed(labels)}, and the model's are {_listed(known)}",
            path=path,
            fix=f"Map them: --map {shipped}" if shipped else f"Map them: {' '.join(rules[:SHOWN])}{rest}",
        )


def unmatched_rules(rules: Mapping[str, str], labels: Collection[str], key: str) -> Iterator[str]:
    """Yield a message for each rule of ``key`` for a label that no file has. Rules of whole ``MAPS`` may."""
    shipped = {old for each in MAPS.values() if each.items() <= rules.items() for old in each}
    for old in rules:
        if old not in labels and old not in shipped:
            yield (
                f"warning: {key} renames {old}, which is no label of these files. {meant_label(old, labels)}"
            )


def meant_label(name: str, labels: Collection[str]) -> str:
    """Return a question about the label with the most similar name, or all labels."""
    near = get_close_matches(name, labels, n=1)
    return f"Did you mean {near[0]}?" if near else f"The labels are {_listed(sorted(labels))}"


def similar_label(name: str, known: Collection[str], *, meaning: bool) -> str | None:
    """Return a ``known`` label with nearly the same name, or with ``meaning`` one that means the same."""
    if meaning and (same := propose([name], known)[name]) != OUTSIDE:
        return same
    by_case = {label.casefold(): label for label in known}
    return next((by_case[near] for near in get_close_matches(name.casefold(), by_case, 1, SIMILAR)), None)


def _listed(labels: Sequence[str]) -> str:
    rest = len(labels) - LISTED
    return ", ".join(labels[:LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


def nearest(labels: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return a rule to each of the ``known`` labels from the label that means the same, if there is one.

    Of several, it is the first one of ``MAPS``.
    """
    rules = {new: old for old, new in propose(reversed(_in_order(labels)), known).items() if new != OUTSIDE}
    return {rules[new]: new for new in sorted(rules)}


def propose(labels: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return a rule for each of the labels to a ``known`` one with the same meaning, or else to O.

    Of several known ones, it is the first one of ``MAPS``.
    """
    same_case = {label.casefold(): label for label in known}
    shared = {old: new for old, new in MAPS["klue"].items() if new != OUTSIDE}
    rules = [(old, new) for each in MAPS.values() for old, new in each.items() if new != OUTSIDE]
    meaning = {old.casefold(): shared.get(new, new) for old, new in rules}
    by_meaning = {
        meaning[label.casefold()]: label
        for label in reversed(_in_order(known))
        if label.casefold() in meaning
    }
    return {
        label: same_case.get(label.casefold()) or by_meaning.get(meaning.get(label.casefold(), ""), OUTSIDE)
        for label in labels
    }


def _in_order(labels: Iterable[str]) -> list[str]:
    """Return the labels in the order in which ``MAPS`` list them: ``person`` before ``musicalartist``."""
    listed = [old.casefold() for rules in MAPS.values() for old in rules]
    first = {name: place for place, name in reversed([*enumerate(listed)])}
    return sorted(labels, key=lambda label: (first.get(label.casefold(), len(listed)), label))
