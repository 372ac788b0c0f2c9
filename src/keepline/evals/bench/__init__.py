"""Measures speed: appends, builds, searches, prefixes; beside each the same work by another package in the same run.

Each measurement runs in a process of its own, so that cold starts are cold and memory is nobody else's.
"""

from keepline.evals.bench.appending import append
from keepline.evals.bench.building import build
from keepline.evals.bench.prefixing import prefixes
from keepline.evals.bench.recalling import recall

__all__ = ["append", "build", "prefixes", "recall"]
