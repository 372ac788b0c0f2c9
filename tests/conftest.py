"""A test names the promise that it proves: `@pytest.mark.req("STORE-03")`. Rows and tests must match both ways."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from requirements import REQUIREMENTS  # after the path is set


def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    named: set[str] = set()
    bare, unknown = [], []
    for item in items:
        ids = [i for mark in item.iter_markers("req") for i in mark.args]
        named.update(ids)
        if not ids:
            bare.append(item.nodeid)
        unknown += [f"{item.nodeid}: {i}" for i in ids if i not in REQUIREMENTS]
    if bare or unknown:
        raise pytest.UsageError("tests without a row of tests/requirements.py:\n  " + "\n  ".join(bare + unknown))
    whole = not config.option.keyword and not config.option.markexpr and config.args == config.getini("testpaths")
    missing = [f"{i}: {row.promise}" for i, row in REQUIREMENTS.items() if i not in named]
    if whole and missing:
        raise pytest.UsageError("rows of tests/requirements.py without a test:\n  " + "\n  ".join(missing))
