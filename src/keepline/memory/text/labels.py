"""Words that a writer labels a rule or a fact: "RULE: …", "Hard constraint: …", "规则：…", up to the end of the paragraph.

Knows the labels only. Whether the words are the writer's own is for others to say.
"""

from __future__ import annotations

import re

_RULE = (
    r"(?:(?:hard|safety|house|standing|ground|project|coding|style|strict|firm|my|our|user) ){0,2}"
    r"(?:rules?|constraints?|requirements?|preferences?|polic(?:y|ies)|instructions?|goal(?: state)?|goals)"
    r"|(?:硬性|安全|个人|用户|我的|固定|长期|项目){0,2}(?:规则|规矩|约束|要求|偏好|约定|原则|目标)"
)
_FACT = r"(?:(?:key|user|my|project|important) ){0,1}facts?|(?:重要|用户|个人|关键)?(?:事实|情况|信息)"
_LABEL = re.compile(rf"(?:^|\n)[ \t>*#_\[【-]*(?:(?P<rule>{_RULE})|(?P<fact>{_FACT}))[ \t*_\]】]*[:：](?!//)", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def labelled(text: str) -> list[tuple[int, int, bool]]:
    """The stretches that are labelled, as (start, end, whether a rule rather than a fact), in order, apart from each other."""
    found: list[tuple[int, int, bool]] = []
    for m in _LABEL.finditer(text):
        stop = _PARAGRAPH.search(text, m.end())
        end = stop.start() if stop else len(text)
        if found and found[-1][1] > m.start():
            found[-1] = (found[-1][0], m.start(), found[-1][2])
        found.append((m.start(), end, m.group("rule") is not None))
    return found
