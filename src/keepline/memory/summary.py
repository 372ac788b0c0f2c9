"""Rolling summaries: a stretch of the log becomes a segment of statements, checked against the words it was made from.

With a model, one question a batch, and only when the governor allows; what the sources do not bear out is dropped, and the
user's own sentences take its room. Without one, those sentences alone. Nothing that was made before is ever read again:
every segment is made from messages, so errors cannot pile up. Knows no store and no vendor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import numpy as np

from keepline.memory.extract import asked_tools, said, select
from keepline.memory.retold import covered, retold
from keepline.memory.text.sentences import width
from keepline.ports.derived import Derived, GetDerived, PutDerived
from keepline.ports.flow import Flow
from keepline.ports.model import Ask, Reply
from keepline.ports.store import ROLES, Expect, GetPins, GetRows, Read, SetPosition, Write
from keepline.ports.tokens import TokenCounter
from keepline.ports.view import Look, View
from keepline.prompts import Prompt, load
from keepline.values.message import Message, Role
from keepline.values.scope import Scope
from keepline.values.session import SUMMARY, Session, Span
from keepline.values.summary import EXTRACT, Origin, Segment, Statement
from keepline.values.tag import Pin

KEPT_TURNS = 2
"""The newest turns are never summarised: they are what is being talked about."""
LEAST_REPLY = 256
"""No reply is bounded tighter than this many tokens: JSON has a frame."""
STAMPS = 0.75
"""Of the room for a batch in the model's window, what its messages may take: stamps take the rest, and the model may count
by another vocabulary."""
NOT_SMALLER = "what was written is no smaller than its source"


@dataclass(frozen=True, kw_only=True, slots=True)
class Governor:
    """When and how much is summarised. `batch` tokens a segment; with a model, only from `start` tokens on that no segment
    covers, then at most once in `messages` messages or `minutes` minutes, and only while all its calls together took less than
    `bill` of what the conversation's own calls cost at least. `words`: the size of a segment in English words (Chinese: half as
    many again, in characters)."""

    batch: int = 4_000
    start: int = 12_000
    messages: int = 20
    minutes: float = 30.0
    bill: float = 0.1
    words: int = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Writer:
    """Who writes summaries: a model of this name and `window` in tokens (0: not known), or none (the user's own sentences),
    under a governor; `counter` counts, `language` is the statements' (empty: the conversation's)."""

    counter: TokenCounter
    governor: Governor = field(default_factory=Governor)
    model: str = ""
    window: int = 0
    language: str = ""


def settle_summary(scope: Scope, writer: Writer, now: datetime, *, forced: bool = False) -> Flow[Segment | None]:
    """Make the next segment of the session, if one is due → it, or None. `forced`: whatever the governor says.

    Raises what the model raises; then nothing is written and the view stays behind.
    """
    view: View = yield Look(scope, writer.counter.name, True)
    session = view.session
    if session is None:
        return None
    (rows,) = yield Read((GetDerived(scope, SUMMARY, spans=session.spans),))
    made = [Segment.of(r.id, r.number, r.lo, r.hi, r.body) for r in rows]
    own = {s.lo: s.hi for s in made if s.number == session.number}
    at = max(session.positions.get(SUMMARY, 0), session.start)
    while at in own:  # one was taken back by an erasure, those behind it still stand
        at = own[at]
    goal = min([_goal(view), *(lo for lo in own if lo > at)])
    end = _end_of_batch(view, at, goal, _batch(writer))
    waiting = int(np.maximum(view.outline.tokens[at:goal], 0).sum())
    if end <= at or (not forced and (waiting < writer.governor.batch or not _due(view, made, waiting, writer, now))):
        return None
    place = (Span(number=session.number, lo=at, hi=end),)
    stored, pins = yield Read((GetRows(scope, place), GetPins(scope, place)))
    messages = [r.message for r in stored if not r.message.erased and not r.message.role.instructs]
    segment = yield from _segment(messages, pins, session, (at, end), writer)
    before = int(np.maximum(view.outline.tokens[at:end], 0).sum())
    segment = _smaller(replace(segment, made=now.astimezone(UTC).isoformat(), before=before), messages, pins, writer)
    row = Derived(
        kind=SUMMARY, id=segment.id, number=session.number, lo=at, hi=end, at=now.timestamp(), body=segment.to_dict(),
        sources=tuple((session.number, m.seq) for m in messages),
    )
    expect = Expect(scope, view=SUMMARY, position=session.positions.get(SUMMARY, 0))
    yield Write((PutDerived(scope, (row,)), SetPosition(scope, SUMMARY, end)), (expect,))
    return segment


def gap(messages: Sequence[Message], pins: Sequence[Pin], governor: Governor) -> tuple[Statement, ...]:
    """The statements of a stretch that no segment covers yet, a segment's worth for each batch of it."""
    found = said(messages, _by_seq(pins))
    language = _language(messages)
    batches = max(1, sum(width(m.text) for m in messages) // (4 * governor.batch))
    return select(found, _cap(governor, language) * batches) + tuple(asked_tools(messages, load("summarise", language).phrases))


# ---------------------------------------------------------------- when


def _turns(view: View) -> np.ndarray:
    outline = view.outline
    return np.flatnonzero((outline.role == ROLES.index("user")) & ~view.answering & ~outline.erased)


def _goal(view: View) -> int:
    """The seq where the newest turns begin: no segment reaches beyond."""
    turns = _turns(view)
    return int(turns[-KEPT_TURNS]) if len(turns) >= KEPT_TURNS else 0


def _end_of_batch(view: View, at: int, goal: int, batch: int) -> int:
    """Where the batch from `at` ends: after whole turns of at most `batch` tokens together, one turn at least."""
    ends = [*(int(s) for s in _turns(view) if at < s < goal), *([goal] if goal > at else [])]
    spent = np.cumsum(np.maximum(view.outline.tokens[at:goal], 0))
    fitting = [e for e in ends if int(spent[e - at - 1]) <= batch]
    return fitting[-1] if fitting else ends[0] if ends else at


def _due(view: View, made: Sequence[Segment], waiting: int, writer: Writer, now: datetime) -> bool:
    """Whether a segment may be made now: always without a model. A run of model calls that has begun goes on until less than
    a batch is left."""
    g, session = writer.governor, view.session
    if not writer.model or session is None:
        return True
    asked = [s for s in made if s.maker != EXTRACT]
    last = max(asked, key=lambda s: s.made, default=None)
    if last is None or last.head != session.count:
        if waiting < g.start:
            return False
        if last is not None and session.count - last.head < g.messages:
            waited = now - datetime.fromisoformat(last.made)
            if waited < timedelta(minutes=g.minutes):
                return False
    return sum(s.spent for s in asked) <= g.bill * _bill(view, g)


def _bill(view: View, g: Governor) -> int:
    """What the conversation's own calls cost at least, in tokens: each turn sent what was said before it, or `start` tokens of
    it if that is less."""
    so_far = np.cumsum(np.maximum(view.outline.tokens, 0))
    return int(np.minimum(so_far[_turns(view)], g.start).sum())


# ---------------------------------------------------------------- what


def _batch(writer: Writer) -> int:
    """Tokens of a batch: the governor's, or what the model's window leaves beside the prompt and the reply."""
    if not writer.model or not writer.window:
        return writer.governor.batch
    prompt = writer.counter.text(load("summarise", writer.language or "zh").text)
    room = int((writer.window - prompt - _most(writer)) * STAMPS)
    return max(1, min(writer.governor.batch, room))


def _most(writer: Writer) -> int:
    most = max(LEAST_REPLY, writer.governor.words * 4)
    return min(most, writer.window // 3) if writer.window else most


def _segment(
    messages: Sequence[Message], pins: Sequence[Pin], session: Session, place: tuple[int, int], writer: Writer
) -> Flow[Segment]:
    spoken = writer.language or _language(messages)
    prompt, cap = load("summarise", spoken), _cap(writer.governor, spoken)
    own = said(messages, _by_seq(pins))
    asked = bool(writer.model and own)
    kept: list[Statement] = []
    dropped: Counter[str] = Counter()
    spent = 0
    if asked:
        reply, spent = yield from _ask(messages, prompt, writer, spoken)
        for statement, why in retold(reply, messages):
            if statement is None:
                dropped[why] += 1
            else:
                kept.append(statement)
        kept = list(select(kept, cap))
    left = cap - sum(width(s.text) for s in kept)
    kept += select([s for s in own if not covered(s, kept)], left)
    kept.sort(key=lambda s: s.sources)
    statements = (*kept, *asked_tools(messages, prompt.phrases))
    return Segment(
        id=f"s{session.number}.{place[0]}", number=session.number, lo=place[0], hi=place[1], statements=statements,
        maker=writer.model if asked else EXTRACT, before=0, after=_size(statements, writer), made="", head=session.count,
        dropped=dict(dropped), spent=spent,
    )  # fmt: skip


def _ask(messages: Sequence[Message], prompt: Prompt, writer: Writer, language: str) -> Flow[tuple[Reply, int]]:
    """The model's reply, and the tokens it took: as the provider says, else counted here."""
    words = writer.governor.words if language == "en" else writer.governor.words * 3 // 2
    system, text = prompt.filled(words=words), _rendered(messages, writer)
    reply: Reply = yield Ask(purpose="summarise", system=system, text=text, schema=prompt.schema, most=_most(writer))
    if reply.usage:
        return reply, reply.usage.input + reply.usage.output
    return reply, sum(map(writer.counter.text, (system, text, reply.text)))


def _smaller(segment: Segment, messages: Sequence[Message], pins: Sequence[Pin], writer: Writer) -> Segment:
    """The segment, or the user's sentences alone where it is no smaller than what it stands for, or none of them."""
    if segment.after < segment.before:
        return segment
    statements = select(said(messages, _by_seq(pins)), _cap(writer.governor, _language(messages)))
    statements = statements if _size(statements, writer) < segment.before else ()
    return replace(segment, statements=statements, after=_size(statements, writer), dropped={**segment.dropped, NOT_SMALLER: 1})


def _rendered(messages: Sequence[Message], writer: Writer) -> str:
    """The messages as lines for the model: ids, speakers, dates; a tool's result only as "returned"; in a batch that one huge
    turn makes, each is cut in the middle to its share, and the whole to the batch."""
    batch, counter = _batch(writer), writer.counter
    shown = [(m, "(result returned)" if m.role is Role.TOOL or m.only_answers else " ".join(m.text.split())) for m in messages]
    shown = [(m, text) for m, text in shown if text]
    if sum(counter.text(text) for _, text in shown) > batch:
        shown = [(m, _clipped(text, max(24, batch // len(shown)), counter)) for m, text in shown]
    text = "\n".join(f"[{m.id} · {m.role} · {m.at:%Y-%m-%d}] {text}" for m, text in shown)
    return _clipped(text, int(batch / STAMPS), counter)


def _clipped(text: str, tokens: int, counter: TokenCounter) -> str:
    head, tail = counter.clip(text, tokens)
    return text if head >= tail else f"{text[:head]} […] {text[tail:]}"


def _size(statements: Sequence[Statement], writer: Writer) -> int:
    return sum(writer.counter.text(s.text) for s in statements if s.origin is not Origin.TOOL)


def _by_seq(pins: Sequence[Pin]) -> dict[int, list[Pin]]:
    found: dict[int, list[Pin]] = {}
    for p in pins:
        found.setdefault(p.seq, []).append(p)
    return found


def _language(messages: Sequence[Message]) -> str:
    """The language most of the user's words are in."""
    text = "".join(m.text[:400] for m in messages if m.role is Role.USER)
    return "zh" if width(text) > 1.2 * len(text) else "en"


def _cap(governor: Governor, language: str) -> int:
    """The width of a segment: an English word is six wide, a Chinese character two."""
    return governor.words * (6 if language == "en" else 3)
