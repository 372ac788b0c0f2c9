"""How logic over a database asks for statements without executing them. Knows no SQL and no connection.

A step generator yields `Step`s and is sent, for each, the rows (a list of plain tuples) or, where a statement returns none,
an empty list. Whoever holds a connection drives it with `drive`; an error of a statement ends both.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from sqlalchemy.sql.base import Executable

from keepline.values.session import Session

R = TypeVar("R")
Rows = list[tuple[Any, ...]]
Params = dict[str, Any] | list[dict[str, Any]]


class Step(NamedTuple):
    """One statement with its parameters; a list of them runs it once for each."""

    statement: Executable
    params: Params


Steps = Generator[Step, Rows, R]


class Written(NamedTuple):
    """What a write came to: the owner's version after it (0: no owner), and whether words were erased."""

    version: int
    words_gone: bool


class Owned(NamedTuple):
    """An answer with the owners, (tenant, user), of the rows it was made from, for the guard to look at."""

    value: Any
    owners: frozenset[tuple[str, str]]


@dataclass(slots=True)
class Account:
    """The owner's row as a write finds it and will leave it, and the sessions it has met on the way.

    `who` are the parameters that name the owner; `version` is the `rev` of every row that this write touches.
    `erased`: the epoch rises; `words_gone`: something was erased at all, so the files must be cleaned.
    """

    who: dict[str, Any]
    exists: bool
    version: int = 0
    epoch: int = 0
    numbers: int = 0
    erased: bool = False
    words_gone: bool = False
    sessions: dict[str, Session | None] = field(default_factory=dict)

    @property
    def key(self) -> dict[str, Any]:
        """What begins the key of every row of this owner."""
        return {"tenant": self.who["t"], "user": self.who["u"]}


def many(statement: Executable, params: list[dict[str, Any]]) -> Steps[None]:
    """Run `statement` once for each of `params`, which may be none."""
    if params:
        yield Step(statement, params)


def drive(steps: Steps[R], execute: Callable[[Step], Rows]) -> R:
    """Run a step generator to its end and return its result; an error of `execute` leaves as it is."""
    try:
        step = next(steps)
        while True:
            step = steps.send(execute(step))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # a generator's return value is untyped at run time
    finally:
        steps.close()
