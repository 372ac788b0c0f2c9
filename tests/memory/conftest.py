"""A hand over a real store: in memory, or in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hand import Hand

from keepline import stores


@pytest.fixture
def hand() -> Iterator[Hand]:
    store = stores.open("sqlite://:memory:")
    yield Hand(store)
    store.close()


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Hand]:
    store = stores.open(f"sqlite:///{tmp_path / 'log.db'}")
    yield Hand(store)
    store.close()
