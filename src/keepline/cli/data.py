"""The verbs that put data in and take it out: append, import, list, get, search, settle, forget, reset, undo."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from keepline.cli.app import AnySession, AsJson, Session, StoreAt, Tenant, User, app, engine, err, out, progress, show
from keepline.errors import BadMessage
from keepline.values.checkpoint import Reset
from keepline.values.message import Message
from keepline.values.summary import Segment


def as_dict(message: Message) -> dict[str, Any]:
    """A message for JSON: its body and what keepline knows of it."""
    return {
        "id": message.id, "seq": message.seq, "at": message.at.isoformat(), "message": message.to_dict(),
        "category": message.category, "retention": message.retention, "tokens": dict(message.counts),
        "erased": message.erased,
    }


@app.command(epilog='Example:  keepline append -u me -s trip "Never book a night above 120 euros."')
def append(
    text: Annotated[str, typer.Argument(help="What was said; - reads a JSON message or a list of them from stdin.")],
    user: User, session: Session, role: Annotated[str, typer.Option(help="Who said it.")] = "user",
    ts: Annotated[str | None, typer.Option(help="When: ISO 8601 with zone, or epoch seconds.")] = None,
    msg_id: Annotated[str | None, typer.Option("--id", help="Your id of the message; makes a repeat harmless.")] = None,
    category: Annotated[str | None, typer.Option(help="chat, constraint, fact, tool_result or greeting.")] = None,
    retention: Annotated[int | None, typer.Option(help="0 may be dropped … 3 never dropped.")] = None,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Add a message to a conversation's log, durably."""
    messages: Any = {"role": role, "content": text} if text != "-" else _stdin()
    with engine(store) as keep:
        stored = keep.append(
            messages, msg_id=msg_id, ts=ts, category=category, retention=retention, user=user, session=session, tenant=tenant
        )
    if json_:
        show([as_dict(m) for m in stored])
    else:
        out.print("\n".join(f"#{m.id}  {sum(m.counts.values())} tokens" for m in stored), highlight=False)


@app.command("import", epilog="Example:  keepline import -u me chat.jsonl")
def import_(
    file: Annotated[Path, typer.Argument(help="JSONL: a message a line, or a conversation a line; - reads stdin.")],
    user: User,
    session: Annotated[str | None, typer.Option("--session", "-s", help="The conversation, when lines name none.")] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Go on without lines that cannot be read; report them.")] = False,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Add conversations from a file. Running it again adds only what is missing."""
    stdin = str(file) == "-"
    with engine(store) as keep, progress("import") as report, lines_of(file) as lines:
        done = keep.import_lines(
            lines, name="stdin" if stdin else str(file), skip_bad=skip_bad, progress=report, user=user,
            session=session or (None if stdin else file.name.split(".")[0]), tenant=tenant,
        )
    if json_:
        show(asdict(done))
    else:
        out.print(f"{done.conversations} conversations: {done.new} messages new, {done.unchanged} unchanged, "
                  f"{done.changed} changed, {len(done.skipped)} lines skipped", highlight=False)
        for line, why in done.skipped:
            err.print(f"  line {line}: {why}", highlight=False, markup=False)


@app.command("list", epilog="Example:  keepline list -u me -s trip --after 100 --limit 20")
def list_(
    user: User, session: AnySession = None,
    after: Annotated[int, typer.Option(help="Only messages behind this position.")] = -1,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 100,
    pins: Annotated[bool, typer.Option("--pins", help="The standing rules and facts instead, ended ones too.")] = False,
    summaries: Annotated[bool, typer.Option("--summaries", help="The segments of the summary instead.")] = False,
    entities: Annotated[bool, typer.Option("--entities", help="What was named instead: orders, amounts, people …")] = False,
    kind: Annotated[str | None, typer.Option(help="With --entities: only of this kind.")] = None,
    covered_by: Annotated[str | None, typer.Option(help="Only messages that this segment of the summary stands for.")] = None,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """List a conversation's messages; without a session, the conversations."""
    with engine(store) as keep:
        rows: list[Any]
        if entities:
            named = keep.entities(kind=kind, limit=limit, user=user, session=session, tenant=tenant)
            rows = [asdict(e) for e in named]
            lines = [f"#{e.id}  {e.kind}: {e.surface}" + (f"  ({e.value})" if e.value != e.surface else "") for e in named]
        elif session is None:
            rows = [
                {"session": s.name, "messages": s.count, "started": s.started.isoformat()}
                for s in keep.sessions(user=user, tenant=tenant)
            ]
            lines = [f"{r['session']}  {r['messages']} messages  since {r['started']}" for r in rows]
        elif pins:
            standing = keep.pins(user=user, session=session, tenant=tenant)
            rows = [
                {"id": s.id, "text": s.text, "kind": s.pin.kind, "certainty": s.pin.certainty, "ended_by": s.ended_by}
                for s in standing
            ]
            lines = [f"#{r['id']}  {r['text']}" + (f"  (ended by #{r['ended_by']})" if r["ended_by"] else "") for r in rows]
        elif summaries:
            found = keep.summaries(user=user, session=session, tenant=tenant)
            rows = [{"id": s.id, "lo": s.lo, "hi": s.hi, **s.to_dict()} for s in found]
            lines = [line for s in found for line in segment_lines(s)]
        else:
            messages = keep.list(
                user=user, session=session, tenant=tenant, after=after, limit=limit, covered_by=covered_by
            )
            rows = [as_dict(m) for m in messages]
            lines = [f"#{m.id}  {m.role}: {one_line(m.text)}" if not m.erased else f"#{m.id}  (erased)" for m in messages]
            if len(messages) == limit:
                err.print(f"more may follow: keepline list --after {messages[-1].seq}", highlight=False)
    if json_:
        show(rows)
    else:
        for line in lines:
            out.print(line, highlight=False, markup=False)


@app.command(epilog="Example:  keepline get -u me m17")
def get(
    id: Annotated[str, typer.Argument(help="The message's id, as in #m17.")], user: User, store: StoreAt = None,
    tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Show one message whole, as it came."""
    with engine(store) as keep:
        message = keep.get(id, user=user, tenant=tenant)
    if json_:
        show(as_dict(message))
    else:
        out.print(f"#{message.id}  {message.at.isoformat()}  {message.role}", style="dim", highlight=False)
        out.print(message.text or json.dumps(message.to_dict(), ensure_ascii=False), highlight=False, markup=False)


@app.command(epilog='Example:  keepline search -u me "where does the parcel go"')
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in your words.")], user: User, session: AnySession = None,
    k: Annotated[int, typer.Option("-k", min=1, help="At most so many.")] = 10,
    keyword: Annotated[list[str] | None, typer.Option("--keyword", help="Must occur; may be given several times.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show the signals behind each score.")] = False,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Find what was said, by meaning and by words."""
    with engine(store) as keep:
        found = keep.search(query, k=k, keywords=tuple(keyword or ()), user=user, session=session, tenant=tenant)
    if json_:
        show([{"score": f.score, "scores": dict(f.scores), "session": f.session, **as_dict(f.message)} for f in found])
        return
    for f in found:
        out.print(f"{f.score:6.2f}  #{f.message.id}  {f.message.role}: {one_line(f.message.text[f.start : f.end])}",
                  highlight=False, markup=False)
        if explain:
            out.print("        " + "  ".join(f"{k} {v:.2f}" for k, v in f.scores.items()), style="dim", highlight=False)


@app.command(epilog="Example:  keepline settle -u me")
def settle(
    user: Annotated[str | None, typer.Option("--user", "-u", help="Only this person's conversations.")] = None,
    session: AnySession = None,
    summarise: Annotated[bool | None, typer.Option(
        "--summarise/--no-summarise", help="All there is to summarise, or nothing (default: what is due).")] = None,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Bring tags and the recall index up to the newest message, and make the summaries that are due."""
    with engine(store) as keep, progress("settle") as report:
        done = keep.settle(progress=report, summarise=summarise, user=user, session=session, tenant=tenant)
    if json_:
        show({"sessions": done.sessions, "messages": dict(done.messages), "summarised": done.summarised, "seconds": done.seconds})
    else:
        brought = ", ".join(f"{n} in {view}" for view, n in (*done.messages.items(), ("summaries", done.summarised)))
        out.print(f"{done.sessions} conversations settled ({brought}) in {done.seconds:.1f} s", highlight=False)


@app.command(epilog="Example:  keepline forget -u me m17 m18    (or a whole conversation: -s trip)")
def forget(
    user: User, ids: Annotated[list[str] | None, typer.Argument(help="Message ids; none: the whole conversation.")] = None,
    session: AnySession = None,
    everything: Annotated[bool, typer.Option("--everything", help="All of this user.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Erase messages, a conversation, or all of a user. It cannot be undone."""
    if not ids and session is None and not everything:
        raise BadMessage(where="forget", why="name message ids, a --session, or --everything")
    what = f"{len(ids)} messages" if ids else f"conversation {session}" if session else f"everything of {user}"
    if not yes:
        typer.confirm(f"Erase {what}?", abort=True, err=True)
    with engine(store) as keep:
        erased = keep.forget(ids or None, user=user, session=None if ids else session, tenant=tenant)
    if json_:
        show({"erased": erased})
    else:
        out.print(f"{erased} messages erased", highlight=False)


@app.command(epilog="Example:  keepline reset -u me -s trip --memory drop")
def reset(
    user: User, session: Session,
    memory: Annotated[str, typer.Option(help="keep: rules hold and may be recalled; drop: not even that.")] = "keep",
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Begin a conversation's contexts anew; the log stays, and undo takes it back."""
    with engine(store) as keep:
        done = keep.reset(memory=memory, user=user, session=session, tenant=tenant)
    _print_reset(done, json_)


@app.command(epilog="Example:  keepline undo -u me -s trip")
def undo(user: User, session: Session, store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False) -> None:
    """Take the last reset of a conversation back."""
    with engine(store) as keep:
        done = keep.undo(user=user, session=session, tenant=tenant)
    _print_reset(done, json_)


def _print_reset(done: Reset, json_: bool) -> None:
    if json_:
        show(asdict(done))
    else:
        out.print(f"contexts begin at message {done.cleared}, memory at message {done.dropped}", highlight=False)


@contextmanager
def lines_of(file: Path) -> Iterator[Iterable[str]]:
    """The lines of a UTF-8 file (`.gz` too), or of stdin for `-`. What is not UTF-8 shows as U+FFFD in the line it is in."""
    if str(file) == "-":
        yield sys.stdin
        return
    try:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", errors="replace") as opened:
            yield opened
    except OSError as error:
        raise BadMessage(where=str(file), why=f"cannot be read: {error.strerror or error}") from None


def segment_lines(s: Segment) -> Iterator[str]:
    """A segment for the terminal: its head, and a line a statement."""
    dropped = f", {sum(s.dropped.values())} dropped" if s.dropped else ""
    yield f"{s.id}  messages {s.lo}–{s.hi - 1} by {s.maker}: {s.before} → {s.after} tokens{dropped}"
    for statement in s.statements:
        yield f"    {statement.origin}{' (open)' if statement.open else ''}: {one_line(statement.text)}"


def one_line(text: str, most: int = 100) -> str:
    """The text folded to one line of at most `most` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= most else folded[: most - 1] + "…"


def _stdin() -> Any:
    text = sys.stdin.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadMessage(where="stdin", why=f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
