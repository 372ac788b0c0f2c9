"""The verbs of a session's life: begin anew, take it back, fork, checkpoints, an end after a time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Unpack

from keepline.engine.base import Base
from keepline.engine.bound import Who
from keepline.errors import BadChoice, NotFound
from keepline.memory import life
from keepline.values.checkpoint import Checkpoint, Reset
from keepline.values.scope import Scope
from keepline.values.session import SUMMARY, Session

MEMORIES = ("keep", "drop")


class Living(Base):
    """What happens to a session beside its log."""

    def reset(self, *, memory: str = "keep", **who: Unpack[Who]) -> Reset:
        """Begin the session's contexts anew: what was said before enters none of them. `memory="keep"`: its rules hold and it may
        be recalled; "drop": not even that. The log stays, and `undo` takes it back. Raises `BadChoice`, `NotFound`."""
        if memory not in MEMORIES:
            raise BadChoice(what="memory", value=memory, choices=", ".join(MEMORIES))
        scope = self._one(who, "reset")
        self._settle(scope)
        return self._begun(scope, self.desk.run(lambda: life.reset(scope, self._clock.now(), drop=memory == "drop")))

    def undo(self, **who: Unpack[Who]) -> Reset:
        """Take the session's last reset back. Raises `NotFound` when there is none."""
        scope = self._one(who, "undo")
        return self._begun(scope, self.desk.run(lambda: life.undo(scope)))

    def fork(self, name: str | None = None, *, at: int | None = None, **who: Unpack[Who]) -> Session:
        """A session that shares the first `at` messages of this one (default: all) and goes its own way; `name` is its id
        (default: this one's with ~2, ~3 …). Raises `NotFound`, `BadMessage`."""
        scope = self._one(who, "fork")
        return self.desk.run(lambda: life.fork(scope, name, at, self._clock.now(), secrets.token_bytes))

    def save(self, state: Mapping[str, Any], *, next: str | None = None, **who: Unpack[Who]) -> Checkpoint:
        """Keep a snapshot of the thread's state, with the step that is to follow. It outlives the process where the store does,
        and goes when a message that was there then is forgotten. Raises `NotFound`, `BadMessage`."""
        scope = self._one(who, "save")
        return self.desk.run(lambda: life.save(scope, state, next, self._clock.now(), secrets.token_bytes))

    def load(self, id: str | None = None, **who: Unpack[Who]) -> Checkpoint:
        """The thread's newest checkpoint, or the one with this id. Raises `NotFound`."""
        scope = self._one(who, "load")
        found = self.desk.run(lambda: life.checkpoints(scope, id, 1))
        if not found:
            raise NotFound(what="checkpoint", id=id or f"of session {scope.session}")
        return found[0]

    def checkpoints(self, *, limit: int = 20, **who: Unpack[Who]) -> tuple[Checkpoint, ...]:
        """The thread's checkpoints, newest first."""
        scope = self._one(who, "checkpoints")
        return self.desk.run(lambda: life.checkpoints(scope, None, limit))

    def expire(self, after_s: float, **who: Unpack[Who]) -> datetime:
        """Let the session be erased `after_s` seconds from now, as `forget` would → when. Raises `NotFound`, `BadChoice`."""
        if not after_s > 0:
            raise BadChoice(what="after_s", value=after_s, choices="seconds above 0")
        scope = self._one(who, "expire")
        return self.desk.run(lambda: life.expire(scope, timedelta(seconds=after_s), self._clock.now()))

    def _one(self, who: Who, verb: str) -> Scope:
        scope = self._scope(who)
        scope.need_session(verb)
        return scope

    def _begun(self, scope: Scope, done: Reset) -> Reset:
        self.desk.renew(scope, SUMMARY)
        return done
