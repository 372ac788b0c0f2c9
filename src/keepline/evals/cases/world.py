"""Where a case is played: a store of its own in a file, an engine over it, and what the steps left behind. Knows no step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from keepline.engine import Engine
from keepline.evals.cases.results import Result
from keepline.evals.cases.standins import Scripted
from keepline.evals.ground import Moment, fresh, words
from keepline.ports.encoder import Encoder
from keepline.values.message import Message

NOTES = "notes"
"""The session that remembered sentences go to when the step names none."""
NO_LIMIT = 1 << 40
"""More messages than any case has."""


class World:
    """One case's world. `saved` holds a step's results by name, one a round of its loop; `errors` what steps raised that no
    check waits for; `inputs` the caller's objects as they were and as they are."""

    def __init__(self, *, awaited: frozenset[str] = frozenset(), engine: Engine | None = None) -> None:
        """`awaited` are the names of steps that must be refused. With `engine` the world is a guest in another one's store."""
        self._folder = None if engine else tempfile.TemporaryDirectory(prefix="keepline-case-")
        self.address = engine.settings.address if engine else f"sqlite:///{self._folder.name}/case.db" if self._folder else ""
        self.awaited = awaited
        self.clock = Moment()
        self.counter = words()
        self.saved: dict[str, list[Result]] = {}
        self.errors: list[str] = []
        self.inputs: list[tuple[Any, Any]] = []
        self.users: dict[str, None] = {}
        self.imports: list[str] = []
        self.llm = Scripted(self.counter)
        self.engine = engine or self._open()
        self.usual = self.engine.desk.encoder

    def _open(self, encoder: Encoder | str | None = "") -> Engine:
        return fresh(store=self.address, clock=self.clock, encoder=encoder, model=self.llm, settle="inline")

    def reopen(self) -> None:
        """Close the store and open it anew, nothing warm left; a stand-in encoder stays."""
        self.use(self.engine.desk.encoder)

    def use(self, encoder: Encoder | None) -> None:
        """Close the store and open it with this encoder."""
        self.engine.close()
        self.engine = self._open(encoder)

    def messages(self, user: str, session: str | None = None) -> tuple[Message, ...]:
        """What the store has of a user, oldest session first."""
        sessions = self.engine.sessions(user=user)
        return tuple(
            m for s in sessions if session in (None, s.name)
            for m in self.engine.list(limit=NO_LIMIT, user=user, session=s.name)
        )

    def census(self) -> int:
        """How many messages there are of all users seen so far."""
        return sum(not m.erased for user in self.users for m in self.messages(user))

    def latest(self) -> dict[str, Result]:
        """The last result by name."""
        return {name: results[-1] for name, results in self.saved.items()}

    def files(self) -> Iterator[Path]:
        """Every file that the store owns."""
        return (p for p in Path(self.address.removeprefix("sqlite:///")).parent.rglob("*") if p.is_file())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._folder is not None:
            self.engine.close()
            self._folder.cleanup()
