"""Products of a vector with many rows: the same on one thread and on several."""

from __future__ import annotations

import numpy as np
import pytest

from keepline.memory import scan
from keepline.memory.scan import best_of, products


@pytest.mark.req("RECALL-06")
@pytest.mark.parametrize("n", [0, 1, 7, scan.ALONE - 1, 2 * scan.ALONE + 5])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_products_are_those_of_the_rows_by_their_scales(n, threads, monkeypatch):
    monkeypatch.setattr(scan, "THREADS", threads)
    rng = np.random.default_rng(3)
    codes = rng.integers(-127, 128, (n, 16), dtype=np.int8)
    scale, vector = rng.random(n, dtype=np.float32), rng.standard_normal(16).astype(np.float32)
    assert np.allclose(products(codes, scale, vector), (codes.astype(np.float32) @ vector) * scale, rtol=1e-4, atol=1e-4)


@pytest.mark.req("RECALL-06")
def test_the_best_of_each_run():
    values = np.array([1.0, 5.0, 2.0, 4.0])
    assert best_of(values, np.array([0, 2])).tolist() == [5.0, 4.0]
    assert best_of(values, np.arange(4)) is values
