"""Whose words they are: parts of a message that its author did not say but quoted, pasted or forwarded.

Finds quotation marks, code fences, quoting lines, log lines, forwarded e-mails, and what follows "translate this:".
Does not know what a sentence means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

Span = tuple[int, int]

_PAIRS = re.compile(
    r"“[^“”\n]{1,600}”|「[^「」\n]{1,600}」|『[^『』\n]{1,600}』|«[^«»\n]{1,600}»|\"[^\"\n]{1,600}\""
    r"|‘[^‘’\n]{1,400}’(?![A-Za-z])"
    r"|`[^`\n]{1,400}`|(?<![A-Za-z])'[^'\n]{12,400}'(?![A-Za-z])"
)
_FENCE = re.compile(r"^[ \t]*(```+|~~~+).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAGGED = re.compile(r"<(document|quote|blockquote|email|context|pre|code|article"
    r"|transcript)\b[^>]{0,200}>.*?(?:</\1>|\Z)", re.I | re.S)
_QUOTING = re.compile(r"^[ \t]*(?:>|＞|\|).*$", re.MULTILINE)
_LOG = re.compile(
    r"^[ \t]*(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\d{1,3}(?:\.\d{1,3}){3} "
    r"|(?:\S+ )?(?:TRACE|DEBUG|INFO|WARN(?:ING)?"
    r"|ERROR|FATAL|CRITICAL)\b[:\] ]|Traceback |  File \"|\s+at [\w$.]+\(|[$#] \w|>>> |(?:\w+\.)*\w*(?:Error"
    r"|Exception): )[^\n]*$",
    re.MULTILINE,
)
_MAIL = re.compile(
    r"^[ \t]*(?:-{2,} ?(?:Original|Forwarded)[^\n]*|(?:From|发件人|寄件人|寄件者)[:：][^\n]*\n(?:[ \t]*(?:To|Cc"
    r"|Date|Sent|Subject|收件人|主题|日期"
    r"|抄送|发送时间|收件者|主旨)[:：][^\n]*\n?)+|On [^\n]{5,80} wrote:[^\n]*|Begin forwarded message:[^\n]*)",
    re.MULTILINE,
)
_CODE = re.compile(
    r"^[ \t]*(?:(?:import|from|def|class|return|const|let|var|function|public|private|if|for|while|else"
    r"|#include|SELECT|INSERT|UPDATE"
    r"|package|func|fn|use|struct|@)\b[^\n]*[({:;=]\s*$|[^\n]*[;{}]\s*$|[})\];]+\s*$|</?[a-zA-Z][^\n]*>\s*$"
    r"|\"?[\w-]+\"?\s*[:=]\s*[\[{\"][^\n]*$)",
    re.MULTILINE,
)
_ASKS_WORK = (
    r"translat\w+|proof-?read\w*|summari[sz]e\w*|summary|re(?:write|phrase|word)\w*|paraphrase|polish|edit"
    r"|correct|fix|shorten|tidy|"
    r"review|critique|analy[sz]e|explain|grammar|check (?:this|the|my)|read (?:this|the)|look at this|tl;?dr"
    r"|reply to this|"
    r"翻译|翻譯|译成|翻成|润色|潤色|校对|校對|改写|改寫|总结|總結|概括|缩写|分析|解读|解读|解释|检查|修改|改改"
    r"|改一下|提炼|摘要|看看这|看看這|看下这|看一下"
)
_SHOWS = (
    r"here(?:'s| is| are) (?:the|an?|my|his|her|their|our|what)|below(?: is)?|(?:this"
    r"|following) (?:is )?(?:the |an? )?(?:text|e-?mail|"
    r"message|paragraph|letter|notice|article|passage|excerpt|quote|transcript|policy|clause|log|error|review"
    r"|post|tweet|draft|document)|"
    r"(?:sign|notice|letter|e-?mail|label|poster|contract|policy|handbook|manual|readme|docs?|leaflet|lease"
    r"|article|recipe|book|terms|"
    r"memo|menu|post|website|prompt) (?:says?|said|reads?|goes|states?)|(?:he|she|they|who|boss|manager"
    r"|landlord|teacher|doctor|client|customer) (?:said|wrote|"
    r"writes|texted|e-?mailed|posted|sent)(?: me)?(?: this)?|"
    r"原文|以下(?:是|为)|如下|下面(?:是|这|這)|这段|這段|这封|這封|这篇|這篇|这条|通知|公告|转发|轉發"
    r"|邮件(?:内容|里)|写着|寫著|写道|寫道|说明书|说道|上面说|贴出来|群里(?:说|发)|"
    r"合同(?:里|上)|规定(?:写|说)|条款"
)
_INTRODUCES = re.compile(rf"(?:{_ASKS_WORK}|{_SHOWS})[^\n。！？!?:：]{{0,60}}[:：]", re.IGNORECASE)
_OWN_AGAIN = re.compile(
    r"\s*(?:please|also|anyway|by the way|btw|from now on|remember|note that|can you|could you|thanks|that's"
    r"|what do you|i |i'm|i'd|my |"
    r"for my|and please|one more|另外|还有|還有|对了|對了|顺便|順便|以后|以後|今后|请|請|记住|記住|麻烦|麻煩"
    r"|帮我|幫我|我|你|谢谢|以上)",
    re.IGNORECASE,
)
_RULES_OF_OWN = re.compile(r"rules?|preferences?|things|要求|几点|幾點|注意|规矩|習慣|习惯|偏好|原则|记住|記住"
    r"|remember|note|about me|关于我|信息|info", re.I)
_ANNOUNCES = re.compile(
    r"\b(?:rules?|preferences?|requirements?|guidelines|instructions|standards|conventions|remember"
    r"|keep in mind|about (?:me|us)|my (?:details|profile|info)"
    r"|note the following|a few things|some things|things to know)\b[^\n:.]{0,40}[:：]"
    r"|(?:规矩|規矩|要求|注意|偏好|习惯|習慣|原则|原則|约定|約定|记住|記住|几点|幾點|几条|幾條|关于我|關於我"
    r"|我的情况|基本信息|资料)[^\n:：。]{0,12}[:：]",
    re.IGNORECASE,
)
_SAYS = re.compile(r"(?:\b(?:said|says?|wrote|told|asked|reads?|states?|called|titled|goes|shouted|texted"
    r"|posted|quote)\b|说|說|写|寫|问|道|喊|讲|称|叫做|念)[^“\"「『]{0,12}$", re.I)
_ROW = re.compile(r"[^\n]+")
_STOPS = ".!?。！？…"
_SEPARATOR = re.compile(r"[,|\t:;=/，：；、]| [-–—] ")
ROWS = 8
"""From how many lines on a list may be a table."""
LONG_QUOTE = 10
"""Words (a CJK character is one) from which a quotation is speech, not a name or a term."""


class _Line(NamedTuple):
    """A line of what may be a table: where it stands, its first two separators, whether it has digits and ends a sentence."""

    span: Span
    shape: str
    digits: bool
    stopped: bool


def announces_rules(text: str) -> bool:
    """Whether a list of the author's own rules or facts is announced ("My rules:", "几点要求："); the first and the last 2,000
    characters are looked at."""
    return bool(_ANNOUNCES.search(text, 0, 2000) or _ANNOUNCES.search(text, max(2000, len(text) - 2000)))


def quoted(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Spans between paired quotation marks, marks included, within text[start:end]."""
    for m in _PAIRS.finditer(text, start, len(text) if end is None else end):
        yield m.span()


def foreign(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The spans of text[start:end] that are not its author's own words, in order and apart: fences, tagged documents,
    quoting lines, logs, code, forwarded mail, and what an introduction like "translate this:" brings."""
    end = len(text) if end is None else end
    spans: list[Span] = []
    for pattern in (_FENCE, _TAGGED, _QUOTING, _LOG):
        spans += [m.span() for m in _within(pattern, text, start, end)]
    code = [m.span() for m in _within(_CODE, text, start, end)]
    spans += code if len(code) > 1 else []
    spans += [(m.start(), end) for m in _within(_MAIL, text, start, end)][:1]
    spans += _introduced(text, start, end)
    spans += _listing(text, start, end)
    return _merge(spans)


def speech(text: str, start: int, end: int) -> list[Span]:
    """Quotations in text[start:end] that are somebody's speech: long ones, and shorter ones after a word of saying."""
    found = []
    for a, b in quoted(text, start, end):
        words = len(re.findall(r"[A-Za-z0-9']+|[\u4e00-\u9fff]", text[a:b]))
        if words >= LONG_QUOTE or (words >= LONG_QUOTE // 2 and _SAYS.search(text, max(start, a - 30), a)):
            found.append((a, b))
    return found


def _within(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    return pattern.finditer(text, start, end)


def _introduced(text: str, start: int, end: int) -> Iterator[Span]:
    """What an introduction brings: to the end of its paragraph block, until a paragraph speaks as the author again."""
    at = start
    while m := _INTRODUCES.search(text, at, end):
        at = m.end()
        if _RULES_OF_OWN.search(m.group()):
            continue
        stop = end
        for gap in re.finditer(r"\n[ \t]*\n", text[at:end]):
            if text[at : at + gap.start()].strip() and _OWN_AGAIN.match(text, at + gap.end(), end):
                stop = at + gap.start()
                break
        if text[at:stop].strip():
            yield at, stop
        at = max(stop, at + 1)


def _listing(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of at least `ROWS` lines built alike, most with digits: a table, an inventory, a ledger."""
    run: list[_Line] = []
    for m in _ROW.finditer(text, start, end):
        line = m.group().strip().lstrip("-*•· ")
        if not line:
            continue
        if run and len(line) > 160:
            yield from _rows(run)
            run = []
        else:
            shape = "".join(_SEPARATOR.findall(line)[:2])
            run.append(_Line(m.span(), shape, any(c.isdigit() for c in line), line[-1] in _STOPS))
    yield from _rows(run)


def _rows(run: list[_Line]) -> Iterator[Span]:
    """The rows of a run: its lines of the commonest shape, and figures between them that end no sentence. What is said before,
    between or after the rows is its author's."""
    if len(run) < ROWS:
        return
    shapes = [line.shape for line in run if line.shape]
    common = max(sorted(set(shapes)), key=shapes.count, default="")
    digits = sum(line.digits for line in run)
    if shapes.count(common) * 10 < len(run) * 6 or digits * 10 < len(run) * 5:
        return
    inner = range(1, len(run) - 1)
    for n, line in enumerate(run):
        if line.shape == common or (n in inner and line.digits and not line.stopped):
            yield line.span


def _merge(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for a, b in sorted(spans):
        if merged and a <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(b, merged[-1][1]))
        else:
            merged.append((a, b))
    return merged
