"""Which rows have which term: sorted postings that grow at the tail. Knows no text and no ranking beyond BM25.

BM25 after Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.2, with the idf of
Lucene, log(1 + (N − n + ½) / (n + ½)), which is never negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

K1, B = 1.2, 0.75
MERGE_AT = 50_000
"""Entries of the tail that are searched one by one; a longer tail is merged when it exceeds a quarter of the rest."""


class Postings:
    """Term ids u64 → rows i32 and counts u16. `lengths` are the terms of each row."""

    def __init__(self) -> None:
        self._terms = np.empty(0, dtype=np.uint64)
        self._starts = np.zeros(1, dtype=np.int64)
        self._rows = np.empty(0, dtype=np.int32)
        self._counts = np.empty(0, dtype=np.uint16)
        self._tail: list[tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint16]]] = []
        self._tail_size = 0

    def add(self, terms: NDArray[np.uint64], rows: NDArray[np.int32], counts: NDArray[np.uint16]) -> None:
        """Add entries (k,) of rows that are not in yet."""
        if not len(terms):
            return
        self._tail.append((terms, rows, counts))
        self._tail_size += len(terms)
        if self._tail_size > max(MERGE_AT, len(self._rows) // 4):
            self._merge()
        elif len(self._tail) > 64:
            self._tail = [self._joined()]

    def find(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
        """(rows, counts) of one term."""
        key = np.uint64(term)
        at = int(np.searchsorted(self._terms, key))
        hit = at < len(self._terms) and self._terms[at] == key
        lo, hi = (self._starts[at], self._starts[at + 1]) if hit else (0, 0)
        rows, counts = self._rows[lo:hi], self._counts[lo:hi]
        if not self._tail:
            return rows, counts
        terms, tail_rows, tail_counts = self._joined()
        self._tail = [(terms, tail_rows, tail_counts)]
        mask = terms == key
        if not mask.any():
            return rows, counts
        return np.concatenate([rows, tail_rows[mask]]), np.concatenate([counts, tail_counts[mask]])

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes + self._counts.nbytes + self._terms.nbytes + self._starts.nbytes + 14 * self._tail_size

    def _joined(self) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint16]]:
        if len(self._tail) == 1:
            return self._tail[0]
        terms, rows, counts = zip(*self._tail, strict=True)
        return np.concatenate(terms), np.concatenate(rows), np.concatenate(counts)

    def _merge(self) -> None:
        terms, rows, counts = self._joined()
        old = np.repeat(self._terms, np.diff(self._starts))
        terms = np.concatenate([old, terms])
        order = np.argsort(terms, kind="stable")
        terms = terms[order]
        self._rows = np.concatenate([self._rows, rows])[order]
        self._counts = np.concatenate([self._counts, counts])[order]
        first = np.flatnonzero(np.append(True, terms[1:] != terms[:-1])) if len(terms) else np.empty(0, dtype=np.int64)
        self._terms, self._starts = terms[first], np.append(first, len(terms))
        self._tail, self._tail_size = [], 0


def idf(among: int, having: int) -> float:
    """The weight of a term that `having` of `among` documents have."""
    return float(np.log(1 + (among - having + 0.5) / (having + 0.5)))


def saturated(
    counts: NDArray[np.floating[Any]], lengths: NDArray[np.floating[Any]], mean_length: float
) -> NDArray[np.floating[Any]]:
    """BM25's term-frequency part for counts (k,) in documents of `lengths` (k,)."""
    return np.asarray(counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths / max(mean_length, 1e-9))))
