"""The shape of the command line: the root command, the options every verb shares, and how errors leave.

Exit codes: 0 done · 1 keepline could not do it (the error says why and what to do) · 2 the command was used wrongly ·
130 stopped by Ctrl-C. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from keepline.engine import Engine, open_engine
from keepline.errors import InputError, KeeplineError

app = typer.Typer(
    name="keepline",
    help="Context and memory for LLM applications: what goes into this call, what outlives it, and why.\n\n"
    "Start with:  keepline demo",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console()
err = Console(stderr=True)

User = Annotated[str, typer.Option("--user", "-u", help="Whose data: the person's id.", envvar="KEEPLINE_USER")]
Session = Annotated[str, typer.Option("--session", "-s", help="Which conversation.", envvar="KEEPLINE_SESSION")]
AnySession = Annotated[str | None, typer.Option("--session", "-s", help="Only this conversation.")]
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant that the user belongs to.", hidden=True)]
StoreAt = Annotated[
    str | None,
    typer.Option("--store", help="The store: a path or an address such as sqlite:///chat.db.", envvar="KEEPLINE_STORE"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


@contextmanager
def engine(store: str | None, **settings: Any) -> Iterator[Engine]:
    """An engine for one command, closed at its end. Views settle when the command asks for them."""
    opened = open_engine(store, settle="manual", **settings)
    try:
        yield opened
    finally:
        opened.close()


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr while the work lasts; nothing when stderr is not a terminal. Yields `report(done, total)`."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def show(value: Any) -> None:
    """One JSON document on stdout, in UTF-8 whatever the terminal."""
    sys.stdout.buffer.write((json.dumps(value, ensure_ascii=False, indent=2, default=str) + "\n").encode())
    sys.stdout.buffer.flush()


def main() -> None:
    """Run the command line; a keepline error is one line on stderr, never a traceback."""
    try:
        app()
    except KeeplineError as error:
        err.print(f"[bold red]keepline:[/] {_plain(error)}", highlight=False, soft_wrap=True)
        sys.exit(2 if isinstance(error, InputError) else 1)
    except KeyboardInterrupt:
        err.print("stopped; what was acknowledged is kept, running the command again goes on from there")
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)


def _plain(error: Exception) -> str:
    return str(error).replace("[", "\\[")
