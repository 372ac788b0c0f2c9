"""An engine in memory, and one in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from making import make

from keepline.engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    with make() as made:
        yield made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made, alone in its folder."""
    return tmp_path / "store" / "keepline.db"


@pytest.fixture
def filed(path: Path) -> Iterator[Engine]:
    with make(path) as made:
        yield made
