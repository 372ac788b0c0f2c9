"""Products of one vector with many int8 rows: the whole cost of a dense search, spread over a few cores.

Pure arithmetic; the threads share nothing but the arrays.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats32 = NDArray[np.float32]

SCAN = 2048
"""Rows turned to float32 at a time: 4 MB, what a core's cache holds, and the fastest of 256 … 16,384 measured."""
ALONE = 16_384
"""Fewer rows than this a thread are not worth waking it: 1.3 ms on one core."""
THREADS = min(4, os.cpu_count() or 1)


def products(codes: NDArray[np.int8], scale: Floats32, vector: Floats32) -> Floats32:
    """float32 (n,): `codes` int8 (n, dim) × `vector` float32 (dim,), each row by its `scale` (n,)."""
    n = len(codes)
    found = np.empty(n, dtype=np.float32)
    parts = max(1, min(THREADS, n // ALONE))
    edges = [n * i // parts for i in range(parts + 1)]
    waiting = [_pool().submit(_part, codes, vector, found, lo, hi) for lo, hi in pairwise(edges[1:])]
    _part(codes, vector, found, 0, edges[1])
    for other in waiting:
        other.result()
    found *= scale
    return found


def _part(codes: NDArray[np.int8], vector: Floats32, found: Floats32, start: int, end: int) -> None:
    buffer = np.empty((min(SCAN, end - start), codes.shape[1]), dtype=np.float32)
    for lo in range(start, end, SCAN):
        part = codes[lo : min(lo + SCAN, end)]
        np.copyto(buffer[: len(part)], part, casting="unsafe")
        np.dot(buffer[: len(part)], vector, out=found[lo : lo + len(part)])


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max(1, THREADS - 1), thread_name_prefix="keepline-scan")


def best_of(values: NDArray[Any], first: NDArray[np.int64]) -> NDArray[Any]:
    """The largest of each run of `values` (n,); runs begin at `first` (m,). The very array when every run is one value."""
    return values if len(first) == len(values) else np.maximum.reduceat(values, first)
