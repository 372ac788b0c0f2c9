"""Rows of the recall index made by hand: text with vectors that one chooses."""

from __future__ import annotations

from typing import Any

import numpy as np

from keepline.memory.index import Ranked, RecallIndex
from keepline.memory.query import read_query
from keepline.memory.segment import term_ids
from keepline.ports.store import ROLES, IndexRow


def row(
    seq: int, text: str, vector: Any = None, *, number: int = 0, chunk: int = 0, start: int = 0, role: str = "user"
) -> IndexRow:
    """The index row of one chunk: `text` at `start` of message `seq`, with its unit vector or none."""
    ids, counts = term_ids(text)
    return IndexRow(
        number=number, seq=seq, chunk=chunk, start=start, end=start + len(text), role=ROLES.index(role), at=float(seq),
        length=start + len(text), terms=ids, counts=counts, vector=None if vector is None else np.asarray(vector, np.float16),
    )


def unit(*values: float) -> np.ndarray[Any, Any]:
    made = np.array(values, dtype=np.float32)
    return made / np.linalg.norm(made)


def filled(*rows: IndexRow) -> RecallIndex:
    index = RecallIndex()
    index.add(rows)
    return index


def found(index: RecallIndex, query: str, vector: Any = None, *, k: int = 10, **more: Any) -> list[Ranked]:
    return index.search(read_query(query), vector, k, **more)


def seqs(ranked: list[Ranked]) -> list[int]:
    return [r.seq for r in ranked]
