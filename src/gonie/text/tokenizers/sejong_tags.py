"""Sejong tags in place of Kiwi's, for people and other tools. Models keep Kiwi's tags as features.

Kiwi extends the tag set of the Sejong corpus. Its extensions become the tag that Sejong's guidelines have for
such a form, or ``NA``, "cannot be analysed". An adverb with a derivational suffix is one adverb in Sejong:
요란/NNG+히/XSM becomes 요란히/MAG. The free tags ``USER0`` to ``USER4`` stay, because users give them a
meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gonie.text.tokenizers.morphemes import format_morphemes, parse_morphemes
from gonie.text.types import Morpheme, Sentence

ADVERB, ADVERB_SUFFIX = "MAG", "XSM"
SEJONG: Mapping[str, str] = {
    "SSO": "SS",
    "SSC": "SS",
    "SB": "SW",
    "UN": "NA",
    **dict.fromkeys(("W_URL", "W_EMAIL", "W_HASHTAG", "W_MENTION", "W_EMOJI"), "SW"),
    "W_SERIAL": "SN",
    **dict.fromkeys(("Z_CODA", "Z_SIOT"), "NA"),
}
"""The Sejong tag of each tag that only Kiwi has. ``VV-R`` and ``VV-I`` and the like lose their suffix."""

_TAGS = (
    "NNG NNP NNB NP NR VV VA VX VCP VCN MM MMA MMD MMN MAG MAJ IC JKS JKC JKG JKO JKB JKV JKQ JX JC EP EF EC "
    "ETN ETM XPN XSN XSV XSA XSM XR SF SP SS SE SO SL SH SW SN NF NV NA NAP"
)
TAGS = frozenset(_TAGS.split())
"""The tags of the Sejong corpus, and those that 모두의 말뭉치 adds."""
_USER = frozenset(f"USER{number}" for number in range(5))


def is_sejong_tag(tag: str) -> bool:
    """Return whether this is a tag of Sejong, or of Kiwi, which extends them."""
    return sejong_tag(tag) in TAGS or tag in _USER


def sejong_tag(tag: str) -> str:
    """Return the Sejong tag for a tag of Kiwi, except for the suffix of an adverb."""
    return SEJONG.get(tag) or tag.removesuffix("-R").removesuffix("-I")


def with_sejong_tags(sentence: Sentence) -> Sentence:
    """Return a sentence of morphemes with Sejong tags. The parts of an adverb become one word."""
    analyses: list[tuple[Morpheme, ...]] = []
    starts: list[int] = []
    ends: list[int] = []
    for (start, end), column in zip(sentence.offsets(), sentence.columns["morphemes"], strict=True):
        morphemes = parse_morphemes(column)
        if analyses and ends[-1] == start and morphemes[:1] and morphemes[0].tag == ADVERB_SUFFIX:
            analyses[-1] += morphemes
            ends[-1] = end
        else:
            analyses.append(morphemes)
            starts.append(start)
            ends.append(end)
    surface = sentence.surface
    return replace(
        sentence,
        words=tuple(surface[start:end] for start, end in zip(starts, ends, strict=True)),
        tags=None,
        columns={"morphemes": tuple(format_morphemes(_tagged(each)) for each in analyses)},
        text=surface,
        starts=tuple(starts),
        ends=tuple(ends),
    )


def _tagged(morphemes: Sequence[Morpheme]) -> list[Morpheme]:
    found: list[Morpheme] = []
    for each in morphemes:
        if each.tag == ADVERB_SUFFIX and found:
            found[-1] = Morpheme(form=found[-1].form + each.form, tag=ADVERB)
        else:
            found.append(
                Morpheme(form=each.form, tag=ADVERB if each.tag == ADVERB_SUFFIX else sejong_tag(each.tag))
            )
    return found
