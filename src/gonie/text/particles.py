"""Korean particles: what may follow a name without a space, as 에서는 in 서울에서는.

Many particles have two forms. After a final consonant they are 은, 이, 을, 과 and 으로; otherwise they are
는, 가, 를, 와 and 로. So 는 in 김하나는 is a particle, and 는 in 한국는 is not. Forms of the copula (이다)
and suffixes that are often written without a space (씨, 측, 때문) count as particles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_ENDINGS = "V" + "C" * 7 + "R" + "C" * 19
"""For each of the 28 final consonants of a syllable: V if there is none, R for ㄹ, C for any other."""

Particles = Mapping[str, str]
"""Particles with the endings that they may follow."""


def _particles(*, closed: str = "", opened: str = "", either: str = "") -> dict[str, str]:
    """Return particles that follow a final consonant, none, or either."""
    groups = {"RC": closed, "V": opened, "VRC": either}
    return {particle: endings for endings, names in groups.items() for particle in names.split()}


_TITLES: Particles = _particles(either="씨 양 군 모 측")
"""Suffixes that mark a name, even if it is also a common word: 전씨는, 이모, 남측."""

_COMMON = frozenset("이그저나너내네제전안시서한수것때중일남")
"""Words of one syllable that are far more common than names with the same syllable."""

_STATES = re.compile("남북|북남|[한미중일북러]{2,}")
"""Names of states by one syllable, as they are written together: 한미, 남북."""

_INNER: Particles = {
    **_TITLES,
    **_particles(closed="과 이 이랑 이나 이라 이라고 이라도", opened="와 랑 나 라 라고 라도"),
    **_particles(either="에 에서 에게 에게서 께 께서 한테 한테서 하고 서 에다 에다가"),
    **_particles(either="부터 까지 처럼 보다 만 만큼 마다 조차 마저 뿐 밖에 대로 같이 끼리"),
    **_particles(either="들 님 팀 역 등 때문 쯤 경 간 동안 정도 이상 이하 짜리 이기"),
    **_particles(either="지역 판 짱 땜 형"),
    **dict.fromkeys(("으로", "으로서", "으로써"), "C"),
    **dict.fromkeys(("로", "로서", "로써"), "VR"),
}
"""Particles and suffixes that others may follow."""
_LONGEST = max(map(len, _INNER))

_LAST: Particles = {
    **_particles(closed="은 이 을 아 이야 이여", opened="는 가 를 야 여", either="의 도 요 커녕"),
    **_particles(closed="이란 이든 이든지 이야말로 이나마", opened="란 든 든지 야말로 나마"),
    **_particles(closed="이라는 이라며 이라면 이라서", opened="라는 라며 라면 라서"),
    **_particles(closed="이며 이고 이자 이던 이네 이네요", opened="며 고 자 던 네 네요", either="인 임 일"),
    **_particles(
        closed="이지만 이므로 이니 이냐 이죠 이지", opened="지만 니 냐 죠 지", either="인데 인가 인지"
    ),
    **_particles(
        closed="이었다 이었고 이었던 이었으며", opened="였다 였고 였던 였으며", either="이다 입니다"
    ),
    **_particles(closed="이에요 이었지만 이었어", opened="예요 였지만 였어 다"),
}
"""Particles and forms of the copula that no other one follows."""


def may_follow(name: str, rest: str) -> bool:
    """Tell whether ``rest``, the end of a word that begins with ``name``, is empty or consists of particles.

    After a common word of one syllable it begins with a title or with names of states: 이는 is hardly ever
    somebody called 이, but 이씨는 is.
    """
    states = _STATES.match(name + rest)
    if states and states.end() > len(name):
        name, rest = states[0], (name + rest)[states.end() :]
    if name in _COMMON:
        titles = (title for title in _TITLES if rest.startswith(title))
        return not rest or any(_are_particles(rest[len(title) :], title) for title in titles)
    return _are_particles(rest, name)


def _are_particles(rest: str, before: str) -> bool:
    """Tell whether ``rest`` is empty or consists of particles, the first of which may follow ``before``."""
    ends = {0}  # of the first particles
    for start in range(len(rest)):
        if start in ends:
            last = rest[start - 1] if start else before[-1:]
            if _fits(rest[start:], _LAST, last):
                return True
            further = range(start + 1, min(start + _LONGEST, len(rest)) + 1)
            ends.update(end for end in further if _fits(rest[start:end], _INNER, last))
    return len(rest) in ends


def _fits(particle: str, known: Particles, last: str) -> bool:
    """Tell whether a particle is known and agrees with the ``last`` character before it, if it is Hangul."""
    endings = known.get(particle)
    return endings is not None and (not _is_syllable(last) or _ending(last) in endings)


def _is_syllable(character: str) -> bool:
    return "가" <= character <= "힣"


def _ending(syllable: str) -> str:
    return _ENDINGS[(ord(syllable) - ord("가")) % len(_ENDINGS)]
