"""Older messages that the question calls for, as stamped lines. Asks for hits; knows no ranking."""

from __future__ import annotations

from datetime import timedelta

from keepline.context.draft import USER_CODE, Draft, Piece
from keepline.context.render import piece_line
from keepline.context.shorten import failed_line
from keepline.context.stages.pin import ENDED, restate
from keepline.context.stages.recent import frame_tokens, summary_tokens
from keepline.context.turns import must_send
from keepline.context.words import BY_NAME
from keepline.memory.segment import holds
from keepline.memory.tools import failure, results
from keepline.ports.flow import Flow
from keepline.ports.store import CATEGORIES
from keepline.ports.view import Find, Hit, Words
from keepline.values.context import Entry, Fate, Section
from keepline.values.message import Message

GREETING = CATEGORIES.index("greeting")
RELEVANT_SHARE = 0.4
"""Of the room of recall, what the best hits may fill before sentences that may be standing rules get theirs: a question that
mentions a rule finds it among the first, one that does not finds it nowhere."""
EXPIRED = "an expired tool result"
CURRENT = timedelta(days=1)
"""How long a tool's result may be recalled: what a tool said yesterday is asked for anew today."""
QUERY_CHARACTERS = 1500
"""Of a longer question its end is used: what is asked usually stands behind what was pasted."""


def recall(draft: Draft) -> Flow[Draft]:
    """Put what the question recalls from before the window in `draft.pieces`, best first, as far as the share goes."""
    log = draft.log
    query = (draft.call.query or (yield from question(draft)))[-QUERY_CHARACTERS:]
    before = min(draft.window, len(log.view))
    if not query.strip() or not before:
        return draft
    hits, words = yield from _found(draft, query, before)
    left = (draft.room.aim - used(draft)) * RELEVANT_SHARE
    pieces: list[Piece] = []
    spare: list[Piece] = []
    entries: list[Entry] = []
    for hit in hits:
        message = words[hit.seq]
        if not log.held[hit.seq] or message.role.instructs or log.view.outline.category[hit.seq] == GREETING:
            continue
        if message.only_answers and draft.now - message.at > CURRENT:
            entries.append(_left_out(message, hit, EXPIRED))
            continue
        part, whole = _in_force(draft, message, hit)
        if not part.strip():
            if not whole:
                entries.append(_left_out(message, hit, ENDED))
            continue
        if (why := _failure(message)) is not None:
            part = failed_line(str(message.body.get("name") or ""), why, draft.language)
        text = part if why or not whole or len(part) >= len(message.text.strip()) else f"…{part.strip()}…"
        line = piece_line(message, text, draft.language, draft.plan.zone)
        piece = Piece(hit=hit, message=message, line=line, tokens=draft.meter.line(line))
        if piece.tokens <= left and not spare:
            left -= piece.tokens
            pieces.append(piece)
        else:
            spare.append(piece)
    return draft.evolve(pieces=tuple(pieces), spare=tuple(spare), entries=draft.noted(*entries))


def _in_force(draft: Draft, message: Message, hit: Hit) -> tuple[str, bool]:
    """The hit's words without sentences that a later message ended, and whether that is all of them: what the user withdrew
    must not come back as if it held."""
    ended = sorted((p.start, p.end) for p in draft.log.view.ended if p.seq == hit.seq and p.start < hit.end and p.end > hit.start)
    if not ended:
        return message.text[hit.start : hit.end], True
    kept, at = [], hit.start
    for start, end in ended:
        kept.append(message.text[at : max(at, start)])
        at = max(at, end)
    kept.append(message.text[at : hit.end])
    rest = [k for k in kept if any(c.isalnum() for c in k)]
    return f" {BY_NAME[draft.language].ended} ".join(rest) if rest else "", False


def _failure(message: Message) -> str | None:
    """Why the one tool result that the message is failed; None if it is something else."""
    found = list(results(message)) if message.only_answers else []
    return failure(found[0][1], marked=found[0][2]) if len(found) == 1 else None


def _left_out(message: Message, hit: Hit, rule: str) -> Entry:
    return Entry(
        section=Section.RECALL, fate=Fate.LEFT_OUT, rule=rule, ids=(message.id,), seqs=(hit.seq,), scores=hit.scores,
        back=f"keepline get {message.id}",
    )


def _found(draft: Draft, query: str, before: int) -> Flow[tuple[list[Hit], dict[int, Message]]]:
    """The best `recall_k` hits among messages in which every keyword stands as it is written, and their messages by seq."""
    call, wanted = draft.call, draft.plan.recall_k
    k = wanted
    while True:
        hits = yield Find(scope=call.scope, query=query, k=k, view=draft.log.view, before=before, keywords=call.keywords)
        words = yield Words(draft.log.view, tuple(sorted({h.seq for h in hits})))
        kept = [h for h in hits if not call.keywords or holds(words[h.seq].text, call.keywords)]
        if len(kept) >= wanted or len(hits) < k:
            return kept[:wanted], words
        k *= 4


def used(draft: Draft) -> int:
    """Tokens spoken for before recall: what must be sent, rounds, the window, and the pins' lines."""
    log = draft.log
    window = [i for i in range(draft.window, log.current) if i not in log.system]
    spent = draft.room.base + int(log.tokens[list(draft.rounds)].sum()) + int(log.tokens[window].sum())
    spent -= sum(int(log.tokens[i]) - draft.meter.message(m.body) for i, m in draft.cuts.items() if i in window)
    return spent + restate(draft, draft.window)[2] + frame_tokens(draft) + summary_tokens(draft)


def question(draft: Draft) -> Flow[str]:
    """The words of the current question."""
    log, n = draft.log, len(draft.log.view)
    asked = [i for i in must_send(draft.log) if log.role[i] == USER_CODE]
    stored = tuple(i for i in asked if i < n)
    words = (yield Words(log.view, stored)) if stored else {}
    return "\n".join((words[i] if i < n else log.own[i - n]).text for i in asked)


def entry(piece: Piece, fate: Fate, rule: str) -> Entry:
    """The ledger's line for a recalled piece."""
    return Entry(
        section=Section.RECALL, fate=fate, rule=rule, ids=(piece.message.id,), seqs=(piece.hit.seq,), tokens=piece.tokens,
        scores=piece.hit.scores, back=f"keepline get {piece.message.id}",
    )
