"""Engines for tests: a clock that stands, words as tokens, an encoder that can be switched off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from keepline.engine import Engine
from keepline.settings import load
from keepline.stores import open as open_store
from keepline.testing.fakes import FrozenClock, HashEncoder, PlainCounter

NOW = datetime(2026, 8, 12, 9, tzinfo=UTC)
ANN = {"user": "ann", "session": "s"}
BOB = {"user": "bob", "session": "s"}
_OWN = object()


class Shaky(HashEncoder):
    """An encoder that works while `up`, and whose complaint quotes what it was given, as many do."""

    up = True

    def encode(self, texts: Sequence[str]) -> Any:
        if not self.up:
            raise ConnectionError(f"cannot embed {texts[0]!r}")
        return np.asarray(super().encode(texts))


def make(
    store: str | Path = "sqlite://:memory:", *, encoder: Any = _OWN, counter: Any = None, clock: Any = None, model: Any = None,
    **more: Any,
) -> Engine:
    """An engine over `store`; `more` are settings."""
    chosen = load(environ={}, home="/nonexistent", **({"settle": "manual"} | more))
    return Engine(
        open_store(str(store)), settings=chosen, encoder=Shaky() if encoder is _OWN else encoder,
        counter=counter or PlainCounter(overhead=4), clock=clock or FrozenClock(NOW), model=model,
    )  # fmt: skip


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def talk(turns: int, words: int = 30) -> list[dict[str, Any]]:
    """Turns of one question and one answer, the answer of about `words` words."""
    return [m for i in range(turns) for m in (user(f"and then, {i}?"), assistant(f"a{i} " + "v " * words))]


def texts(messages: Sequence[Any]) -> list[str]:
    return [m.text for m in messages]


def said(context: Any) -> str:
    return "\n".join(str(m["content"]) for m in context.messages)


def everything(folder: Path) -> bytes:
    """All bytes of all files of a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
