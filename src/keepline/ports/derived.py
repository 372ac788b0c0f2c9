"""Rows that were made from the log – summaries, entities, checkpoints – and what a store is asked about them. Knows no kind of
row in particular, and no SQL.

Each row names the messages it was made from. Erasing one of them erases the row in the same write and takes the view of the
row's kind back to where the row began, so that nothing derived outlives its source and the gap is seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepline.values.scope import Scope
from keepline.values.session import Span

WHOLE = -1
"""The `number` of a row that is about its owner and not about one session."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived:
    """One derived row of an owner.

    (`kind`, `id`) name it. It is about rows `lo` ≤ seq < `hi` of session `number` (`WHOLE`: about the owner). `key` is what it
    is looked up by, exactly (empty: nothing). `at`: epoch seconds UTC, when what it says was said or made, as its kind has
    it. `body` is JSON. `sources` are the (number, seq) of all messages it was made from.
    """

    kind: str
    id: str
    at: float
    body: Mapping[str, Any]
    number: int = WHOLE
    lo: int = 0
    hi: int = 0
    key: str = ""
    sources: tuple[tuple[int, int], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class GetDerived:
    """→ tuple of `Derived` of the owner in (number, lo, id) order, written after version `since` only.

    Those of `kind`; with `spans`, only rows that lie wholly within one of them; with `keys` or `ids`, only these; with `prefix`,
    only keys that begin with it. `limit`: the newest so many by `at` (still in that order).
    """

    scope: Scope
    kind: str
    spans: tuple[Span, ...] | None = None
    ids: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    prefix: str | None = None
    since: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class PutDerived:
    """Insert rows, or replace those of the same kind and id. A row of which a source was erased, or never was, is skipped."""

    scope: Scope
    rows: tuple[Derived, ...]


@dataclass(frozen=True, slots=True)
class DropDerived:
    """Delete rows of `kind` by id, words and lineage, and their bytes in the file. Unknown ids change nothing."""

    scope: Scope
    kind: str
    ids: tuple[str, ...]
