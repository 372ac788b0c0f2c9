"""Figures of a run: quantiles, memory. Knows nothing of what was measured."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

Progress = Callable[[int, int], None]
"""Called as `progress(done, total)`."""


def quiet(_done: int, _total: int) -> None:
    """A progress that nobody watches."""


def quantiles(values: Sequence[float], *which: int, digits: int = 3) -> dict[str, float]:
    """`{"p50": …, "p95": …}` of `values` (linear between neighbours); nothing measured gives nothing."""
    return {f"p{q}": round(float(np.percentile(values, q)), digits) for q in which} if len(values) else {}


def mean(values: Sequence[float], digits: int = 4) -> float | None:
    """The mean, or None of nothing."""
    return round(float(np.mean(values)), digits) if len(values) else None


def rss_mb() -> float:
    """Memory of this process in MB (10⁶ bytes): what is resident now, or, where the system does not tell, the most there was."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return round(int(statm.read_text().split()[1]) * resource.getpagesize() / 1e6, 1)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6, 1)
