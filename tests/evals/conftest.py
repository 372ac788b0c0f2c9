"""What the tests of the evals share: a home of their own, words alone unless a test asks for the encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No encoder, and no settings of the person who runs the tests."""
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))
    monkeypatch.setenv("KEEPLINE_ENCODER", "none")


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """`write(*lines)`: a file with these values, a JSON line each."""

    def written(*lines: Any) -> Path:
        path = tmp_path / "eval.jsonl"
        path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
        return path

    return written
