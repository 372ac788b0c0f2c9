"""What a retelling of a text must not change: numbers, identifiers, dates, names; and its negations, doubts and conditions.

Compares words with words; knows no message and no model. Errs towards "changed": a sentence dropped in doubt costs less than
a false one believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from keepline.memory.text.plain import plain
from keepline.memory.text.topics import topics

_CODE = re.compile(
    r"[a-z0-9][a-z0-9_.:/@#+*%-]*\d[a-z0-9_.:/@#+*%-]*|\d+|[\w.+-]+@[\w-]+\.\w[\w.]*|https?://[^\s，。；、）)]+", re.ASCII
)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_HAN_NUMBER = re.compile(
    r"[一二三四五六七八九十百千万亿两零〇半]{1,9}(?=[个条次天周月年日号点岁元块分秒页人斤楼层章版台份件位])"
    r"|[〇零一二三四五六七八九十百千万亿两]{3,}"
)
_WORD_NUMBER = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|half|twice|dozen)\b"
)
_TIME = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:january|february|march|april|june|july|august|september|october"
    r"|november|december)\b|\b(?:today|tomorrow|yesterday|tonight|noon|midnight)\b"
    r"|(?:周|星期|礼拜)[一二三四五六日天]|[今明后昨前]天|[上下本]周|[上下本]个?月"
)
_NAME = re.compile(r"\b[A-Z][\w'’]*[a-z][\w'’]*|\b[A-Z]{2,}\b")
_TITLED = re.compile(
    r"[\u4e00-\u9fff](?:总|经理|工程师|老师|医生|大夫|先生|女士|小姐|主任|院长|教授|律师|师傅|阿姨|叔叔|同学|董)"
)
_OPENERS = frozenset(re.findall(r"\S+", (
    "the a an user users assistant they he she it his her their this that these those and but or if when while because so also"
    " not no never always do don't please in on at for from with to of by as after before until unless all each every any some"
    " there who what where which how why may might can could would should must will is are was were has have had i we you my our"
    " your wants needs prefers likes dislikes asks asked plans planned says said told lives works suggested suggests proposed"
    " proposes recommended recommends offered offers explained confirmed mentioned requested requires decided chose agreed"
)))  # fmt: skip

NEGATION = re.compile(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoid(?:s|ed|ing)?|refus\w+|forbid\w*|forbidden|banned"
    r"|except|exclud\w+|skip|stop(?:s|ped)?|free of|unable|fail(?:s|ed)?)\b|\w+n't\b|\b\w+-free\b"
    r"|(?<!一)[不沒没無无勿莫禁戒忌](?!过|过了|错|同|仅|但|断|管|论|妨|免|少|知不觉)|别(?!人|的|墅|名|针|处)"
    r"|并非|绝非|拒绝|未(?!来|婚夫|必)|未必|避免|除了|取消|过敏"
)
HEDGE = re.compile(
    r"(?<!\d )\bmay\b(?! \d)"
    r"|\b(?:might|maybe|perhaps|probably|possibly|could|likely|seems?|seemingly|apparently|guess|suppose|not sure|unsure"
    r"|unclear|consider(?:s|ing)?|thinking (?:of|about)|i think|about to|hop(?:e|es|ing)|roughly|around|approximately"
    r"|tentative(?:ly)?|unconfirmed|rumou?r\w*|allegedly|heard)\b"
    r"|可能|也许|或许|大概|估计|好像|似乎|不一定|说不定|没准|应该是|考虑|打算|想要?|听说|据说|左右|暂定|未定|未必|不确定|怀疑|猜"
)
CONDITION = re.compile(
    r"\b(?:if|unless|whenever|when|once|until|till|provided|as long as|in case|only|except)\b"
    r"|如果|要是|假如|除非|只要|的话|若|直到|一旦|只有|仅限|除了|之前|以后|才(?!能|华|干)"
)
_CLASSES = (("negation", NEGATION), ("hedge", HEDGE), ("condition", CONDITION))
CLOSE = 0.5
"""From which share of shared content words on a source sentence is what a statement retells."""


def codes(text: str) -> frozenset[str]:
    """The numbers, identifiers, dates and times in `text`, in plain form, thousands not grouped."""
    low = _GROUPED.sub("", plain(text))
    return frozenset(low[a:b] for a, b in spans(low))


def spans(low: str) -> list[tuple[int, int]]:
    """Where in the plain text `low` its codes stand, in order; those of different kinds may overlap."""
    found = {(m.start(), m.start() + len(m.group().rstrip(".:/-,#"))) for m in _CODE.finditer(low)}
    for pattern in (_HAN_NUMBER, _WORD_NUMBER, _TIME):
        found |= {m.span() for m in pattern.finditer(low)}
    return sorted((a, b) for a, b in found if b > a)


def names(text: str) -> frozenset[str]:
    """Words that may be names: capitalised ones, and Chinese ones with a title; lower case. Words that merely open a sentence
    or are too common to be names are left out."""
    found = {m.group().lower().removesuffix("'s").removesuffix("’s") for m in _NAME.finditer(text)}
    return frozenset(n for n in found if n not in _OPENERS) | {m.group() for m in _TITLED.finditer(text)}


def is_identifier(code: str) -> bool:
    """Whether a code is more than a plain number: an order number, an address, a version."""
    return len(code) >= 4 and any(c.isdigit() for c in code) and not code.isdigit()


def changed(text: str, sources: Sequence[str]) -> str | None:
    """What `text` says otherwise than the sentences `sources` it retells (None: nothing was found), as a rule's name.

    Every code and name of it must stand in the sources; the sentences that it retells – those that share half of their content
    words with it, at least the nearest – must have a negation exactly when it has one, and no doubt or condition that it lacks.
    """
    whole = " ".join(sources)
    known = codes(whole)
    low = _GROUPED.sub("", plain(whole))
    if any(c not in known and (c.isdigit() or c not in low) for c in codes(text)):
        return "a number, date or identifier that its source does not have"
    if any(n not in low for n in names(text) if not _common(n)):
        return "a name that its source does not have"
    mine = topics(text)
    near = list(_retold(mine, sources))
    if not near:
        return "words that its source does not have"
    told = plain(text)
    for name, pattern in _CLASSES:
        theirs = any(pattern.search(plain(s)) for s in near)
        if theirs and not pattern.search(told):
            return f"a {name} of its source is lost"
        if name == "negation" and not theirs and pattern.search(told):
            return "a negation that its source does not have"
    return None


def _common(name: str) -> bool:
    return name in ("user", "assistant", "english", "chinese", "ok")


def _retold(mine: Mapping[str, float], sources: Sequence[str]) -> Iterator[str]:
    """The source sentences that words `mine` retell; none when even together they share too little with it."""
    words = set(mine)
    if not words:
        return
    shared = [(len(words & set(topics(s))), s) for s in sources]
    best = max((n for n, _ in shared), default=0)
    covered = set().union(*(set(topics(s)) for s in sources)) if sources else set()
    if not best or len(words & covered) < CLOSE * len(words):
        return
    for n, s in shared:
        size = len(topics(s))
        if n == best or (size and n >= CLOSE * size):
            yield s
