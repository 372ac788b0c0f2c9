"""The verbs about keepline itself: init, status, doctor, config."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields
from typing import Annotated

import typer
from rich.table import Table

import keepline
from keepline.cli.app import AnySession, AsJson, StoreAt, Tenant, app, engine, err, out, show
from keepline.errors import KeeplineError
from keepline.settings import Settings, load, origins

SECRETS = {f.name for f in fields(Settings) if f.metadata["secret"]}
"""Settings whose values are never shown."""

config = typer.Typer(help="Show the settings and where each comes from.", no_args_is_help=True)
app.add_typer(config, name="config")


@app.command(epilog="Example:  keepline init --store sqlite:///chat.db")
def init(store: StoreAt = None, json_: AsJson = False) -> None:
    """Make the store, if there is none, and say where it is."""
    with engine(store) as keep:
        where = keep.settings.address
    if json_:
        show({"store": where})
    else:
        out.print(f"ready: {where}", highlight=False, soft_wrap=True)
        out.print("next:  keepline demo    or    keepline import -u me chat.jsonl", style="dim", highlight=False)


@app.command(epilog="Example:  keepline status -u me")
def status(
    user: Annotated[str | None, typer.Option("--user", "-u", help="Of this person.")] = None, session: AnySession = None,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """How things stand: what is kept, what is pending, what is degraded."""
    with engine(store) as keep:
        found = keep.status(user=user, session=session, tenant=tenant)
    if json_:
        show(asdict(found))
        return
    table = Table.grid(padding=(0, 2))
    for name, value in asdict(found).items():
        if name == "notes":
            continue
        shown = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
        table.add_row(name, shown)
    out.print(table)
    for note in found.notes:
        err.print(f"note: {note}", highlight=False, markup=False)


@config.command("show", epilog="Example:  keepline config show --json")
def config_show(json_: AsJson = False) -> None:
    """Every setting: its value, where that comes from, and why one would change it."""
    found = {n: ("…" if v and n in SECRETS else v, origin) for n, (v, origin) in origins().items()}
    why = {f.name: f.metadata["why"] for f in fields(Settings)}
    if json_:
        show({name: {"value": value, "from": origin, "why": why[name]} for name, (value, origin) in found.items()})
        return
    table = Table("setting", "value", "from", "why", box=None, pad_edge=False)
    for name, (value, origin) in found.items():
        table.add_row(name, str(value), origin, why[name])
    out.print(table)


@app.command(epilog="Example:  keepline doctor")
def doctor(store: StoreAt = None, json_: AsJson = False) -> None:
    """Check every part, and say what to do about what is not right."""
    results = []
    for name, check in _checks(store):
        started = time.perf_counter()
        try:
            found, good = check(), True
        except KeeplineError as error:
            found, good = str(error), False
        results.append({"check": name, "ok": good, "found": found, "ms": round((time.perf_counter() - started) * 1000, 1)})
    if json_:
        show(results)
    else:
        for r in results:
            mark = "[green]✓[/]" if r["ok"] else "[red]✗[/]"
            out.print(f"{mark} {r['check']}: ", end="")
            out.print(str(r["found"]), highlight=False, markup=False, soft_wrap=True)
    if not all(r["ok"] for r in results):
        raise typer.Exit(1)


def _checks(store: str | None) -> Iterator[tuple[str, Callable[[], str]]]:
    yield "version", lambda: f"keepline {keepline.__version__}, Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"
    yield "settings", lambda: f"{sum(origin != 'default' for _, origin in origins().values())} changed from their defaults"
    yield "store", lambda: _store(store)
    yield "tokens", _tokens
    yield "encoder", _encoder


def _store(store: str | None) -> str:
    with engine(store) as keep:
        behind = keep.status().behind
    waiting = ", ".join(f"{n} conversations behind in {view}" for view, n in behind.items() if n)
    return f"{keep.settings.address}: opens and answers" + (f"; {waiting} (keepline settle)" if waiting else "")


def _tokens() -> str:
    from keepline.providers.tokenizers import counter

    name = load().vocabulary
    return f"{name}: 你好 hello = {counter(name).text('你好 hello')} tokens, offline"


def _encoder() -> str:
    from keepline.providers.encoders import encoder

    found = encoder(load().encoder)
    return f"{found.name}, {found.encode(['hello']).shape[1]} dimensions" if found else "none: recall by keywords only"
