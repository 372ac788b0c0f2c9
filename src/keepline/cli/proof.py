"""The verbs that measure: eval and bench. Their figures are made in `evals`; this prints them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from keepline.cli.app import AsJson, app, out, progress, show

evals = typer.Typer(help="Measure keepline on your own files; formats: docs/reference/formats.md.", no_args_is_help=True)
benches = typer.Typer(help="Measure speed beside a peer in the same run.", no_args_is_help=True)
app.add_typer(evals, name="eval")
app.add_typer(benches, name="bench")

File = Annotated[Path, typer.Argument(help="A .jsonl file, or .jsonl.gz.")]


@evals.command(epilog="Example:  keepline eval retention scenarios.jsonl --mode auto --misses")
def retention(
    file: File, mode: Annotated[str, typer.Option(help="auto, full, sliding, summary, retrieval or hybrid.")] = "auto",
    fraction: Annotated[float | None, typer.Option(help="Budget as a share of the conversation, instead of the file's.")] = None,
    no_pins: Annotated[bool, typer.Option("--no-pins", help="Leave pins out: what the rest of the machinery keeps.")] = False,
    misses: Annotated[bool, typer.Option("--misses", help="List every missed probe with its reason.")] = False,
    json_: AsJson = False,
) -> None:
    """Are the user's rules still in the prompt when they matter?"""
    with progress("retention") as report:
        found = _room("retention").run(file, mode=mode, fraction=fraction, pins=not no_pins, progress=report)
    _print(found if misses or json_ else {k: v for k, v in found.items() if k != "misses"}, json_)


@evals.command(epilog="Example:  keepline eval compaction scenarios.jsonl --writer liar")
def compaction(
    file: File, mode: Annotated[str, typer.Option(help="auto, full, sliding, summary, retrieval or hybrid.")] = "summary",
    sizes: Annotated[str, typer.Option(help="What may be sent, as shares of the conversation.")] = "0.1,0.2,0.3",
    rounds: Annotated[int, typer.Option(min=1, help="How often all there is gets summarised.")] = 5,
    writer: Annotated[str, typer.Option(help="extract (no model), copier or liar: stand-in models.")] = "extract",
    no_pins: Annotated[bool, typer.Option("--no-pins", help="Leave pins out: what the rest of the machinery keeps.")] = False,
    misses: Annotated[bool, typer.Option("--misses", help="List every missed probe with its reason.")] = False,
    json_: AsJson = False,
) -> None:
    """What is left after round upon round of summarising?"""
    with progress("compaction") as report:
        found = _room("compaction").run(
            file, mode=mode, sizes=_shares(sizes), rounds=rounds, writer=writer, pins=not no_pins, progress=report
        )
    _print(found if misses or json_ else {k: v for k, v in found.items() if k != "misses"}, json_)


@evals.command(epilog="Example:  keepline eval recall corpus.jsonl.gz --budgets 500,2000 --json")
def recall(
    file: File, budgets: Annotated[str, typer.Option(help="Token budgets of R@Nt, comma-separated.")] = "500,1000,2000,4000",
    json_: AsJson = False,
) -> None:
    """Does recall find the turns that answer a question?"""
    sizes = _sizes(budgets)
    with progress("recall") as report:
        _print(_room("recall").run(file, budgets=sizes, progress=report), json_)


@evals.command(epilog="Example:  keepline eval entities labelled.jsonl --misses")
def entities(
    file: File, misses: Annotated[bool, typer.Option("--misses", help="List what was missed and what was found beside.")] = False,
    json_: AsJson = False,
) -> None:
    """Are orders, amounts, dates, people … found word for word?"""
    with progress("entities") as report:
        found = _room("entities").run(file, progress=report)
    _print(found if misses or json_ else {k: v for k, v in found.items() if k not in ("misses", "extra")}, json_)


@evals.command(epilog="Example:  keepline eval tags chats.jsonl --json")
def tags(file: File, json_: AsJson = False) -> None:
    """How much is tagged, and how much of the text is pinned?"""
    with progress("tags") as report:
        _print(_room("tags").run(file, progress=report), json_)


@evals.command(epilog="Example:  keepline eval cases cases.jsonl --json")
def cases(file: File, json_: AsJson = False) -> None:
    """Replay public faults and check the right outcome."""
    with progress("cases") as report:
        _print(_room("cases").run(file, progress=report), json_)


@benches.command("append", epilog="Example:  keepline bench append --messages 2000 --json")
def bench_append(messages: Annotated[int, typer.Option(min=1)] = 2000, json_: AsJson = False) -> None:
    """Durable, counted, chained appends: milliseconds a message."""
    with progress("append"):
        _print(_room("bench").append(messages=messages), json_)


@benches.command("build", epilog="Example:  keepline bench build --messages 10000 --json")
def bench_build(messages: Annotated[int, typer.Option(min=1)] = 10_000, json_: AsJson = False) -> None:
    """Building a context over a long session."""
    with progress("build"):
        _print(_room("bench").build(messages=messages), json_)


@benches.command("prefix", epilog="Example:  keepline bench prefix --turns 60 --json")
def bench_prefix(
    turns: Annotated[int, typer.Option(min=2)] = 60,
    mode: Annotated[str, typer.Option(help="auto, full, sliding, summary, retrieval or hybrid.")] = "auto", json_: AsJson = False,
) -> None:
    """How much of each call extends the one before, for prefix caches, beside a timestamp in the system text."""
    with progress("prefix"):
        _print(_room("bench").prefixes(turns=turns, mode=mode), json_)


@benches.command("recall", epilog="Example:  keepline bench recall --memories 100000 --json")
def bench_recall(memories: Annotated[int, typer.Option(min=1)] = 100_000, json_: AsJson = False) -> None:
    """Searching one user's memories, the query's embedding included."""
    with progress("recall"):
        _print(_room("bench").recall(memories=memories), json_)


def _room(name: str) -> Any:
    return import_module(f"keepline.evals.{name}")


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(n) for n in text.split(","))
    except ValueError:
        raise typer.BadParameter("give whole numbers with commas between, as in 500,2000") from None
    if min(sizes) < 1:
        raise typer.BadParameter("budgets must be at least 1 token")
    return sizes


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(n) for n in text.split(","))
    except ValueError:
        raise typer.BadParameter("give shares with commas between, as in 0.1,0.2") from None
    if not all(0 < s <= 1 for s in shares):
        raise typer.BadParameter("shares are above 0 and at most 1")
    return shares


def _print(found: dict[str, Any], json_: bool) -> None:
    if json_:
        show(found)
        return
    table = Table.grid(padding=(0, 2))
    for name, value in found.items():
        if isinstance(value, list):
            table.add_row(name, str(len(value)))
            for row in value:
                table.add_row("", "  ".join(f"{k}={v}" for k, v in row.items()) if isinstance(row, dict) else str(row))
        else:
            shown = "  ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else str(value)
            table.add_row(name, shown)
    out.print(table)
