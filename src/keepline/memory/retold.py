"""What a model wrote about messages, statement by statement: kept where the messages bear it out, dropped with a reason where
not. Fails closed: what is in doubt is dropped. Asks nothing and keeps nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepline.memory.text.exact import changed, codes
from keepline.memory.text.sentences import sentences
from keepline.memory.text.topics import topics
from keepline.ports.model import Reply
from keepline.values.message import Message, Role
from keepline.values.summary import Origin, Statement

Judged = tuple[Statement | None, str]
"""A statement, or None and the rule by which it was dropped."""
WEIGHT = {Origin.USER: 3.0, Origin.ASSISTANT: 0.5}
"""What a statement weighs among others: what the user said before what the assistant proposed."""
MOST_STATEMENTS = 100
"""Of a reply, no more are looked at: a model that repeats itself costs no more than its reply."""
COVERED = 0.6
"""The share of a sentence's content words from which on it is retold."""
_MARK = re.compile(r"^\s*(?:[-*•]|\[[^\]]{1,80}\]|\w{1,12}[:：])\s*", re.ASCII)


def retold(reply: Reply, messages: Sequence[Message]) -> Iterator[Judged]:
    """The statements of a model's reply about `messages`, each judged.

    A reply that is not of the asked shape is read as sentences, each looking for the messages of the user that it retells.
    """
    by_id = {m.id: m for m in messages}
    found: list[Judged] = []
    if isinstance(reply.value, Mapping) and isinstance(reply.value.get("statements"), list):
        for name in ("statements", "open_tasks"):
            part = reply.value.get(name)
            found += [_checked(plain, by_id, open=name == "open_tasks") for plain in (part if isinstance(part, list) else ())]
    else:
        spans = list(sentences(reply.text))[:MOST_STATEMENTS]
        texts = [_MARK.sub("", reply.text[start:end]).strip() for start, end in spans]
        found += [_placed(text, messages) for text in texts if text]
    said: set[str] = set()
    for statement, why in found[:MOST_STATEMENTS]:
        if statement is not None and statement.text in said:
            continue
        if statement is not None:
            said.add(statement.text)
        yield statement, why


def covered(own: Statement, kept: Sequence[Statement]) -> bool:
    """Whether a sentence of the user is already retold, with all its codes, by statements that cite its message."""
    retelling = [s for s in kept if s.origin is Origin.USER and own.sources[0] in s.sources]
    if not retelling:
        return False
    words, shown = set(topics(own.text)), set().union(*(topics(s.text) for s in retelling))
    return codes(own.text) <= set().union(*(codes(s.text) for s in retelling)) and len(words & shown) >= COVERED * len(words)


def _checked(plain: Any, by_id: Mapping[str, Message], *, open: bool) -> Judged:
    """A statement of the asked shape, its sources and its speaker checked."""
    if not isinstance(plain, Mapping) or not isinstance(plain.get("text"), str) or not isinstance(plain.get("sources"), list):
        return None, "not of the asked shape"
    origin = {"user": Origin.USER, "assistant": Origin.ASSISTANT}.get(str(plain.get("origin")))
    if origin is None:
        return None, "not of the asked shape"
    cited = [by_id[i] for i in (str(s).lstrip("#") for s in plain["sources"]) if i in by_id]
    if not cited:
        return None, "no source"
    if any(m.role is Role.TOOL or m.only_answers for m in cited):
        return None, "a tool's result as a fact"
    if any((m.role is Role.USER) != (origin is Origin.USER) for m in cited):
        return None, "words put into the user's mouth" if origin is Origin.USER else "the user's words as the assistant's"
    return _borne_out(" ".join(plain["text"].split()), origin, cited, open=open)


def _placed(text: str, messages: Sequence[Message]) -> Judged:
    """A sentence without sources: those of the user's messages that share most with it, if they bear it out."""
    mine = set(topics(text))
    shared = [(len(mine & set(topics(m.text))), m) for m in messages if m.role is Role.USER and not m.only_answers]
    best = max((n for n, _ in shared), default=0)
    if not best:
        return None, "no source"
    return _borne_out(" ".join(text.split()), Origin.USER, [m for n, m in shared if n == best][:3], open=False)


def _borne_out(text: str, origin: Origin, cited: Sequence[Message], *, open: bool) -> Judged:
    source = [m.text[a:b] for m in cited for a, b in sentences(m.text)]
    why = changed(text, source) if text else "empty"
    if why is not None:
        return None, why
    first = min(cited, key=lambda m: m.seq)
    return Statement(
        origin=origin, text=text, sources=tuple(sorted({m.seq for m in cited})), at=first.at.isoformat(),
        weight=WEIGHT[origin] + 0.5 * open, open=open,
    ), ""  # fmt: skip
