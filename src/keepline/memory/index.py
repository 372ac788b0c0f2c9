"""The warm recall index of one owner: an int8 matrix with a scale a row, postings, and who is whose neighbour.

Built from index rows and grown by them; searched whole. Every statistic is the owner's own. Knows no store and no encoder.
A row is a chunk of a message; an item is a message, its score that of its best chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.memory.fuse import Floats, Signals, fuse
from keepline.memory.postings import Postings, idf, saturated
from keepline.memory.query import Query
from keepline.memory.scan import SCAN, best_of, products
from keepline.ports.store import ROLES, IndexRow

Floats32 = NDArray[np.float32]

USER = ROLES.index("user")


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """An item found: its place, the span of its best chunk, its score and the parts of it; `cosine` of the best chunk (None
    without a vector), `matched` whether a word of the query stands in it."""

    number: int
    seq: int
    start: int
    end: int
    score: float
    cosine: float | None
    matched: bool
    parts: dict[str, float]


class RecallIndex:
    """All rows of one owner. Not thread-safe; its holder lets one thread in at a time."""

    def __init__(self) -> None:
        self._n = 0                                     # rows
        self._m = 0                                     # items
        self._row: dict[str, NDArray[Any]] = {                                # per row, grown by doubling
            "item": np.empty(0, dtype=np.int64), "session": np.empty(0, dtype=np.int64),
            "start": np.empty(0, dtype=np.int32), "end": np.empty(0, dtype=np.int32),
            "length": np.empty(0, dtype=np.float64), "scale": np.empty(0, dtype=np.float32),
            "codes": np.empty((0, 0), dtype=np.int8),
        }
        self._item: dict[str, NDArray[Any]] = {                              # per item
            "number": np.empty(0, dtype=np.int64), "seq": np.empty(0, dtype=np.int64), "first": np.empty(0, dtype=np.int64),
            "own": np.empty(0, dtype=bool), "before": np.empty(0, dtype=np.int64), "after": np.empty(0, dtype=np.int64),
            "session": np.empty(0, dtype=np.int64), "characters": np.empty(0, dtype=np.float64),
        }
        self._key: dict[tuple[int, int], int] = {}
        self._sessions: dict[int, int] = {}
        self._last: list[int] = []                      # per session, its newest item
        self._session_terms: list[float] = []
        self._postings = Postings()
        self._sum = np.zeros(0)                         # of all vectors
        self._with_vector = 0
        self._mean: tuple[Floats32 | None, Floats] = (None, np.empty(0))  # see _centre
        self._alike = [0.0, 0.0]                        # sum and number of cosines of direct neighbours

    def __len__(self) -> int:
        return self._m

    @property
    def nbytes(self) -> int:
        """Bytes held, near enough to bound them."""
        return sum(a.nbytes for a in (*self._row.values(), *self._item.values())) + self._postings.nbytes + 200 * self._m

    def knows(self, row: IndexRow) -> bool:
        """Whether this very message is in already."""
        return (row.number, row.seq) in self._key

    def add(self, rows: Sequence[IndexRow]) -> None:
        """Add rows of messages that are not in yet, all chunks of a message together, messages of a session in order."""
        if not rows:
            return
        n, k = self._n, len(rows)
        self._grow(n + k, next((len(r.vector) for r in rows if r.vector is not None), self._row["codes"].shape[1]))
        items = np.array([self._item_of(r, n + i) for i, r in enumerate(rows)], dtype=np.int64)
        row = self._row
        row["item"][n : n + k] = items
        row["session"][n : n + k] = self._item["session"][items]
        row["start"][n : n + k] = [r.start for r in rows]
        row["end"][n : n + k] = [r.end for r in rows]
        lengths = np.array([int(r.counts.sum()) for r in rows], dtype=np.float64)
        row["length"][n : n + k] = lengths
        for r, length in zip(rows, lengths, strict=True):
            self._session_terms[self._sessions[r.number]] += length
        self._take_vectors(rows, n)
        sizes = [len(r.terms) for r in rows]
        self._postings.add(
            np.concatenate([r.terms for r in rows]),
            np.repeat(np.arange(n, n + k, dtype=np.int32), sizes),
            np.concatenate([r.counts for r in rows]),
        )
        self._n += k

    def search(
        self, query: Query, vector: NDArray[np.float32] | None, k: int, eligible: NDArray[np.bool_] | None = None,
        *, least: float | None = None,
    ) -> list[Ranked]:
        """The best `k` items for `query` and its `vector` (dim,) float32, among `eligible` (len(self),) bool (None: all).
        With `least`, an item without any word of the query must have at least this cosine; without vectors it is not found."""
        if not self._m or k < 1:
            return []
        among = np.ones(self._m, dtype=bool) if eligible is None else eligible
        if not among.any():
            return []
        by_row, session = self._words(query)
        first = self._item["first"][: self._m]
        lexical = best_of(by_row, first)
        cosines = self._cosines(vector) if vector is not None and self._with_vector else None
        score, parts = fuse(self._signals(query, lexical, session, among, cosines))
        if cosines is None:
            score = np.where(lexical > 0, score, -np.inf)
        elif least is not None:
            known = np.where(self._row["scale"][: self._n] > 0, cosines[0], -1.0)
            score = np.where((lexical > 0) | (best_of(known, first) >= least), score, -np.inf)
        k = min(k, int(np.isfinite(score).sum()))
        if not k:
            return []
        top = np.argpartition(-score, k - 1)[:k]
        top = top[np.lexsort((-top, -score[top]))]
        best = by_row if cosines is None else cosines[0] + 1e-3 * by_row
        return [self._ranked(int(i), score, parts, best, cosines, lexical) for i in top]

    def eligible(self, spans: Sequence[tuple[int, int, int]], without: frozenset[int] = frozenset()) -> NDArray[np.bool_]:
        """(len(self),) bool: items of the sessions' stretches (number, lo, hi) with lo ≤ seq < hi, seqs in `without` left
        out."""
        number, seq = self._item["number"][: self._m], self._item["seq"][: self._m]
        mask = np.zeros(self._m, dtype=bool)
        for which, lo, hi in spans:
            mask |= (number == which) & (seq >= lo) & (seq < hi)
        if without:
            mask &= ~np.isin(seq, list(without))
        return mask

    def having(self, terms: Sequence[int]) -> NDArray[np.bool_]:
        """(len(self),) bool: items in which every one of these terms stands."""
        mask = np.ones(self._m, dtype=bool)
        for term in terms:
            rows, _ = self._postings.find(term)
            has = np.zeros(self._m, dtype=bool)
            has[self._row["item"][rows]] = True
            mask &= has
        return mask

    def likeness(self, keys: Sequence[tuple[int, int]]) -> float | None:
        """Mean cosine of consecutive items among `keys` (number, seq); None when fewer than two have vectors."""
        vectors = [self._vector(self._key[k]) for k in keys if k in self._key]
        known = [v for v in vectors if v is not None]
        if len(known) < 2:
            return None
        return float(np.mean([a @ b for a, b in pairwise(known)]))

    # ------------------------------------------------------------ signals

    def _signals(
        self, query: Query, lexical: Floats, session: Floats, among: NDArray[np.bool_],
        cosines: tuple[Floats, Floats] | None,
    ) -> Signals:
        m, item = self._m, self._item
        first = item["first"][:m]
        return Signals(
            asks=query.asks,
            rows=self._n,
            coherence=self.coherence,
            mean_length=float(item["characters"][:m].mean()),
            lexical=lexical,
            session=session[item["session"][:m]],
            own=item["own"][:m],
            eligible=among,
            before=item["before"][:m],
            after=item["after"][:m],
            dense=None if cosines is None else best_of(cosines[0], first),
            centred=None if cosines is None else best_of(cosines[1], first),
        )

    @property
    def coherence(self) -> float:
        """How much more alike direct neighbours are than two messages at random (mean cosine of neighbours − squared length
        of the mean vector): near 0 for a heap of single notes, .1 to .3 for conversations."""
        if self._alike[1] < 10 or not self._with_vector:
            return 0.0
        mean = self._sum / self._with_vector
        return self._alike[0] / self._alike[1] - float(mean @ mean)

    def _words(self, query: Query) -> tuple[Floats, Floats]:
        """BM25 by row (n,) and by session (s,)."""
        n, s = self._n, len(self._sessions)
        by_row, by_session = np.zeros(n), np.zeros(s)
        lengths = self._row["length"][:n]
        mean = float(lengths.mean())
        session_of = self._row["session"][:n]
        session_lengths = np.array(self._session_terms)
        session_mean = float(session_lengths.mean())
        for term, weight in zip(query.ids.tolist(), query.weights.tolist(), strict=True):
            rows, counts = self._postings.find(term)
            if not len(rows):
                continue
            tf: Floats = counts.astype(np.float64)
            by_row[rows] += weight * idf(n, len(rows)) * saturated(tf, lengths[rows], mean)
            total: Floats = np.bincount(session_of[rows], weights=tf, minlength=s).astype(np.float64)
            has = np.flatnonzero(total)
            by_session[has] += weight * idf(s, len(has)) * saturated(total[has], session_lengths[has], session_mean)
        return by_row, by_session

    def _cosines(self, vector: Floats32) -> tuple[Floats, Floats]:
        """(cosine, centred cosine) by row (n,); a row without a vector has the mean of the others."""
        n, scale = self._n, self._row["scale"][: self._n]
        mean, to_mean = self._centre()
        plain = self._scan(vector, 0)
        square, offset = float(mean @ mean), float(vector @ mean)
        spread = np.sqrt(np.maximum(1 - 2 * to_mean + square, 1e-6)) * np.sqrt(max(1 - 2 * offset + square, 1e-6))
        centred = (plain - to_mean - offset + square) / spread
        absent = scale == 0
        if absent.any():
            plain[absent], centred[absent] = plain[~absent].mean(), centred[~absent].mean()
        return plain[:n], centred[:n]

    def _centre(self) -> tuple[Floats32, Floats]:
        """The mean vector (dim,) and every row's product with it (n,). The mean is kept until rows have grown by a
        sixteenth: it hardly moves, and half of a search would go into the products."""
        mean, known = self._mean
        if mean is None or self._n > len(known) * 17 // 16:
            mean = (self._sum / self._with_vector).astype(np.float32)
            known = np.empty(0)
        if len(known) < self._n:
            known = np.concatenate([known, self._scan(mean, len(known))])
            self._mean = mean, known
        return mean, known

    def _scan(self, vector: Floats32, start: int) -> Floats:
        """Products of `vector` (dim,) with the rows from `start` on."""
        return products(self._row["codes"][start : self._n], self._row["scale"][start : self._n], vector)

    def _ranked(self, i: int, score: Floats, parts: dict[str, Floats], best: Floats,
                cosines: tuple[Floats, Floats] | None, lexical: Floats) -> Ranked:
        lo = int(self._item["first"][i])
        hi = int(self._item["first"][i + 1]) if i + 1 < self._m else self._n
        row = lo + int(np.argmax(best[lo:hi]))
        return Ranked(
            number=int(self._item["number"][i]), seq=int(self._item["seq"][i]), start=int(self._row["start"][row]),
            end=int(self._row["end"][row]), score=float(score[i]), matched=bool(lexical[i] > 0),
            cosine=None if cosines is None or self._row["scale"][row] == 0 else float(cosines[0][row]),
            parts={name: round(float(part[i]), 4) for name, part in parts.items()},
        )

    # ------------------------------------------------------------ growing

    def _item_of(self, r: IndexRow, row: int) -> int:
        known = self._key.get((r.number, r.seq))
        if known is not None:
            return known
        m = self._m
        item = self._item
        if m >= len(item["seq"]):
            for name, column in item.items():
                item[name] = _grown(column, m + 1)
        session = self._sessions.setdefault(r.number, len(self._sessions))
        if session == len(self._last):
            self._last.append(-1)
            self._session_terms.append(0.0)
        before = self._last[session]
        if before >= 0:
            item["after"][before] = m
        self._last[session] = m
        item["number"][m], item["seq"][m], item["first"][m], item["own"][m] = r.number, r.seq, row, r.role == USER
        item["before"][m], item["after"][m], item["session"][m], item["characters"][m] = before, -1, session, r.length
        self._key[r.number, r.seq] = m
        self._m += 1
        return m

    def _take_vectors(self, rows: Sequence[IndexRow], n: int) -> None:
        at = [i for i, r in enumerate(rows) if r.vector is not None]
        self._row["scale"][n : n + len(rows)] = 0
        if not at:
            return
        vectors = np.stack([np.asarray(rows[i].vector, dtype=np.float32) for i in at])
        scale = np.abs(vectors).max(axis=1) / 127
        scale[scale == 0] = 1
        where = n + np.array(at)
        self._row["codes"][where] = np.rint(vectors / scale[:, None]).astype(np.int8)
        self._row["scale"][where] = scale
        if not len(self._sum):
            self._sum = np.zeros(vectors.shape[1])
        self._sum += vectors.sum(axis=0)
        self._with_vector += len(at)
        self._take_neighbours(np.unique(self._row["item"][where]))

    def _take_neighbours(self, items: NDArray[np.int64]) -> None:
        """Add the cosines of new `items` with those before them, of vectors as they are kept: however the rows came in, the
        sum is the same."""
        items = items[self._item["before"][items] >= 0]
        first, codes, scale = self._item["first"], self._row["codes"], self._row["scale"]
        here, there = first[items], first[self._item["before"][items]]
        both = (scale[here] > 0) & (scale[there] > 0)
        here, there = here[both], there[both]
        for lo in range(0, len(here), SCAN):
            a, b = here[lo : lo + SCAN], there[lo : lo + SCAN]
            dots = np.einsum("ij,ij->i", codes[a].astype(np.float32), codes[b].astype(np.float32))
            self._alike[0] += float((dots * scale[a] * scale[b]).sum(dtype=np.float64))
        self._alike[1] += len(here)

    def _vector(self, item: int) -> NDArray[np.float32] | None:
        row = int(self._item["first"][item])
        scale = self._row["scale"][row]
        return None if scale == 0 else self._row["codes"][row].astype(np.float32) * scale

    def _grow(self, rows: int, dim: int) -> None:
        codes = self._row["codes"]
        if codes.shape[1] != dim:
            self._row["codes"] = np.zeros((len(codes), dim), dtype=np.int8)
        if rows > len(self._row["item"]):
            for name, column in self._row.items():
                self._row[name] = _grown(column, rows)


def _grown(column: NDArray[Any], least: int) -> NDArray[Any]:
    """A copy with room for `least` rows, and a quarter more so that growing is rare."""
    size = max(64, least + least // 4)
    grown = np.zeros((size, *column.shape[1:]), dtype=column.dtype)
    grown[: len(column)] = column
    return grown
