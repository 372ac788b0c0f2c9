"""Which standing pins later words of the user end: withdrawn, replaced or limited. Never on doubt.

Pure. An ending needs a sentence that ends something (the tagger's odds, or the same attribute with another value) and one
clear target among the standing pins; otherwise both stay.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray

from keepline.context.tag import Said
from keepline.memory.text.dates import since, until
from keepline.memory.text.plain import plain
from keepline.memory.text.restated import restates
from keepline.memory.text.topics import numbers, topics
from keepline.values.message import Category
from keepline.values.tag import Pin

Vectors = Mapping[str, NDArray[np.float32]]

LOOKS_LIKE_AN_ENDING = 0.2
"""From which odds on a sentence is compared with the standing pins."""
CLEAR = 0.5
"""The least likeness of a target."""
NEAR = 0.38
"""The least likeness of what a sentence speaks of without surely ending it."""
MARGIN = 0.12
"""By how much a target must be likelier than the next pin that does not say the same."""

RIVALS = 12
"""Of the pins that have something in common with a sentence, so many are compared by their vectors too."""

_ALL = re.compile(
    r"\b(?:all|every(?:thing)?|any)\b.{0,30}\b(?:rules?|instructions?|preferences?|restrictions?|requests?"
    r"|constraints?|i (?:said|told you|asked))\b"
    r"|(?:所有|全部|全都|一切|统统|通通).{0,12}(?:规矩|要求|限制|规则|约定|偏好|说过的|指令)|(?:规矩|要求|限制"
    r"|规则|约定|偏好).{0,6}(?:全部|全都|统统|通通|一概|都).{0,4}(?:作废|取消|不算|不用|忘|清)"
)
_THAT = re.compile(
    r"\b(?:scrap|drop|forget|ignore|cancel|disregard|undo|strike|scratch) (?:that|it|what i (?:just )?said"
    r"|the last (?:one|rule|thing|request)|that (?:rule|one|last \w+))\b"
    r"|\btake (?:that|it) back\b|\bnever ?mind (?:that|what i|about that)|刚才(?:那条|那句|说的"
    r"|那个).{0,8}(?:算了|不算|作废|取消|收回|别管|忘)|当我没说|上一条.{0,6}(?:作废|取消|不算|收回)|收回(?:刚才"
    r"|上一|前面)"
)
_HOLDS_ONLY = re.compile(
    r"\b(?:only|just|rule|applies|apply|holds?|valid|expires?|ends?|runs?|lasts?|good|stands?|in force"
    r"|counts?)\b.{0,40}\b(?:until|till|'til|through|to|on|for|after|this)\b"
    r"|\b(?:until|till|through) .{1,30}\bonly\b|\bafter that\b|\bfrom then on\b|只到|就到|到.{1,10}(?:为止"
    r"|就结束|截止|作废|失效)|截止到?|截至|有效|只在|过了.{1,8}(?:就|再)|过后|之后(?:就)?(?:可以|不用|恢复"
    r"|照常)|只管|只限|仅限"
)
_NEGATES = re.compile(r"\b(?:no|not|never|don'?t|without|avoid|stop|nothing|isn'?t|aren'?t|can'?t|won'?t"
    r"|mustn'?t)\b|不|别|勿|禁|免|没|忌|戒|少")
_PERMITS = re.compile(
    r"\b(?:fine|okay|ok|allowed|welcome|again|go ahead|feel free|free to)\b|可以|也行|都行|没关系|无所谓|随便|不用|不必|照常"
)
_ADDS = re.compile(r"\b(?:also|too|either|as well|in addition)\b|也(?!行|可以)|还有|另外|同样")
_CHANGES = re.compile(
    r"\b(?:now|changed?|new|instead|switched|moved|raised|lowered|went (?:up|down)|updated?|correction|actually"
    r"|from now on|no longer|make (?:it|that)|renamed|replaced|isn'?t|not)\b"
    r"|改|换|现在|新|变|调|涨|降|升|搬|不再|不是|更正|纠正|说错|其实"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """A pin that stands, with its words."""

    pin: Pin
    text: str


def may_end(said: Said) -> bool:
    """Whether a sentence is worth comparing with the standing pins."""
    return said.ending >= 0.1 or said.keep >= 0.4


def concerned(said: Said, standing: Sequence[Standing], vectors: Vectors) -> Standing | None:
    """The standing pin that `said` most likely speaks of when it looks somewhat like an ending; None when it speaks of none.

    Words that may end a rule are as weighty as the rule: who reads the rule must read them too.
    """
    near = rivals(said, standing) if said.ending >= 0.1 else []
    if not near:
        return None
    likeness = _likeness(said.text, near, vectors)
    best = max(range(len(near)), key=lambda i: (likeness[i], near[i].pin.seq))
    return near[best] if likeness[best] >= NEAR else None


def rivals(said: Said, standing: Sequence[Standing]) -> list[Standing]:
    """The standing pins that the sentence may end, at most `RIVALS`: those whose vectors are worth asking for."""
    shares = _shares(said.text, standing)
    order = sorted((i for i, share in enumerate(shares) if share > 0), key=lambda i: (-shares[i], -standing[i].pin.seq))
    return [standing[i] for i in order[:RIVALS]]


def endings(said: Said, by: int, day: date, standing: Sequence[Standing], vectors: Vectors) -> tuple[Pin, ...]:
    """The pins that the sentence `said`, of message `by` said on `day`, ends; each carries `ended_by`.

    A pin that is limited to a day carries `until` instead: it holds to that day. `vectors` maps texts to unit vectors; without
    them only words in common count. () when there is no clear target, or on any doubt.
    """
    if not standing:
        return ()
    low = plain(said.text)
    if said.ending >= 0.3 and _ALL.search(low):
        return tuple(replace(s.pin, ended_by=by) for s in standing if s.pin.kind == Category.CONSTRAINT)
    if said.ending >= LOOKS_LIKE_AN_ENDING and _THAT.search(low) and len(topics(said.text)) <= 1:
        last = max(s.pin.seq for s in standing)
        latest = [s for s in standing if s.pin.seq == last]
        return (replace(latest[0].pin, ended_by=by),) if len(latest) == 1 and by - last <= 4 else ()
    if again := [s for s in standing if restates(said.text, s.text)]:
        return tuple(replace(s.pin, ended_by=by) for s in again)
    targets = _targets(said, standing, vectors)
    if not targets:
        return ()
    to = until(said.text, day)
    if (start := since(said.text, day)) is not None:
        to = start - timedelta(days=1)
    elif to is not None and not _HOLDS_ONLY.search(low):
        return ()  # a pause: the rule comes back, so both stand
    if to is not None:
        return tuple(replace(s.pin, until=to.isoformat()) for s in targets)
    return tuple(replace(s.pin, ended_by=by) for s in targets)


def _targets(said: Said, standing: Sequence[Standing], vectors: Vectors) -> list[Standing]:
    likeness = _likeness(said.text, standing, vectors)
    order = sorted(range(len(standing)), key=lambda i: (-likeness[i], -standing[i].pin.seq))
    best = order[0]
    if likeness[best] < _least(said, standing[best].text):
        return []
    same = [i for i in order if i == best or _same(standing[best], standing[i], vectors)]
    rest = [i for i in order if i not in same]
    if rest and likeness[best] - likeness[rest[0]] < MARGIN:
        return []
    return [standing[i] for i in same if i == best or likeness[i] >= CLEAR - 0.1]


def _least(said: Said, earlier: str) -> float:
    """How like its target a sentence must be: the less it looks like an ending, the more; no likeness is enough for one that
    neither looks like an ending nor must stand itself."""
    if said.ending >= 0.5:
        return CLEAR
    low, before = plain(said.text), plain(earlier)
    turned = bool(_NEGATES.search(low)) != bool(_NEGATES.search(before)) and not _ADDS.search(low)
    if said.keep < 0.5:
        return math.inf
    if said.ending >= LOOKS_LIKE_AN_ENDING:
        return 0.62 if turned or _PERMITS.search(low) else 0.7
    if turned:
        return 0.7 if said.ending >= 0.1 else 0.85
    return 0.7 if _other_value(said.text, earlier) and not _ADDS.search(low) else math.inf


def _likeness(text: str, standing: Sequence[Standing], vectors: Vectors) -> list[float]:
    """How surely each standing pin is what `text` speaks of, about 0..1: what they share, and cosine."""
    own = vectors.get(text)
    scores = []
    for s, share in zip(standing, _shares(text, standing), strict=True):
        alike = float(own @ vectors[s.text]) if own is not None and s.text in vectors else share * 0.6
        scores.append(0.6 * share + 0.55 * max(0.0, alike))
    return scores


def _shares(text: str, standing: Sequence[Standing]) -> list[float]:
    """Which share (0..1) of the topics of `text` each standing pin has, topics weighed by their rarity among the pins; words
    that no pin has count little."""
    own = topics(text)
    theirs = [topics(s.text) for s in standing]
    seen = Counter(token for found in theirs for token in found if token in own)
    rarity = {t: math.log(1 + len(standing) / n) + 0.3 for t, n in seen.items()}
    known = sum(w * rarity[t] for t, w in own.items() if t in seen)
    unknown = sum(w for t, w in own.items() if t not in seen and not t.startswith("@"))
    whole = known + 0.25 * unknown + 0.3
    return [sum(min(own[t], found[t]) * r for t, r in rarity.items() if t in found) / whole if known else 0.0 for found in theirs]


def _other_value(text: str, earlier: str) -> bool:
    """Whether both name values of their own and these differ."""
    a, b = numbers(text), numbers(earlier)
    return bool(a and b and a != b and _CHANGES.search(plain(text)))


def _same(one: Standing, other: Standing, vectors: Vectors) -> bool:
    """Whether two pins say the same thing."""
    a, b = topics(one.text), topics(other.text)
    union = sum(max(a.get(t, 0), b.get(t, 0)) for t in a.keys() | b.keys())
    shared = sum(min(a.get(t, 0), b.get(t, 0)) for t in a.keys() & b.keys())
    alike = float(vectors[one.text] @ vectors[other.text]) if one.text in vectors and other.text in vectors else 0.0
    return bool(union) and (shared / union >= 0.6 or alike >= 0.8 or (shared / union >= 0.35 and alike >= 0.65))
