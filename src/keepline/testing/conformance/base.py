"""What all suites share: how the store under test is opened. Knows no store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from keepline.ports.store import Store


class Suite:
    """Override `open_store` (a static method, so that other processes can call it too): the one thing that a suite cannot
    know. Its suites are abstract here and run only through an adapter author's subclass."""

    @staticmethod
    def open_store(folder: str) -> Store:
        """Open the one store of `folder`."""
        raise NotImplementedError(folder)

    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        """An empty store, closed afterwards."""
        opened = self.open_store(str(tmp_path))
        yield opened
        opened.close()
