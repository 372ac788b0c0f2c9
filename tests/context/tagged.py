"""Conversations put through the tagger by hand: messages in, tags out, with the embedded encoder or none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from keepline.context.tagging import tag_batch
from keepline.ports.encoder import Embed
from keepline.ports.flow import run
from keepline.ports.store import Row
from keepline.providers.encoders import encoder
from keepline.values.message import Message
from keepline.values.scope import Scope
from keepline.values.session import Session
from keepline.values.tag import Pin, Tag

AT = datetime(2026, 8, 12, 9, tzinfo=UTC)  # a Wednesday
SCOPE = Scope(user="ann", session="s")


@cache
def embedded() -> Any:
    """The embedded encoder, loaded once."""
    return encoder("use")


def say(content: Any, role: str = "user", **facts: Any) -> Message:
    return Message(body={"role": role, "content": content}, id="m", at=AT, **facts)


def tags(*messages: Message | str, vectors: bool = True) -> tuple[Tag, ...]:
    """The tags of one conversation."""
    said = [m if isinstance(m, Message) else say(m) for m in messages]
    rows = [Row(message=m.evolve(seq=n, id=f"m{n}")) for n, m in enumerate(said)]
    session = Session(name="s", number=1, started=AT, count=len(rows))
    meet = {Embed: (lambda need: embedded().encode(need.texts)) if vectors else (lambda need: None)}
    return run(tag_batch(SCOPE, session, rows, ()), meet)


def pinned(text: str, found: Tag) -> list[str]:
    """The words of a message's pins."""
    return [text[p.start : p.end] for p in found.pins]


def ended(found: Sequence[Tag]) -> set[tuple[int, int]]:
    """(seq that ends, seq that is ended) of all endings."""
    return {(p.ended_by, p.seq) for t in found for p in t.ends if p.ended_by is not None}


def standing(found: Sequence[Tag]) -> list[Pin]:
    """Pins that nothing ended."""
    gone = {(p.seq, p.start) for t in found for p in t.ends}
    return [p for t in found for p in t.pins if (p.seq, p.start) not in gone]
