"""The table of promises: well formed, and enforced both ways."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from requirements import REQUIREMENTS

TESTS = Path(__file__).resolve().parents[1]


def run(folder: Path, rows: str, tests: str) -> str:
    """What pytest says of a project with these rows and tests."""
    (folder / "tests").mkdir()
    shutil.copy(TESTS / "conftest.py", folder / "tests")
    (folder / "tests/requirements.py").write_text(
        f"from collections import namedtuple\nR = namedtuple('R', 'source promise')\nREQUIREMENTS = {rows}\n", encoding="utf-8"
    )
    (folder / "tests/test_it.py").write_text("import pytest\n" + tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = req(id): a row\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=bare, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


ROWS = "{'A-1': R('somewhere', 'It works.')}"
PROVES = "@pytest.mark.req('A-1')\ndef test_it_works():\n    pass\n"


@pytest.mark.req("REQ-01")
def test_rows_and_tests_that_match_pass(tmp_path: Path) -> None:
    assert "1 passed" in run(tmp_path, ROWS, PROVES)


@pytest.mark.req("REQ-01")
@pytest.mark.parametrize(("rows", "tests", "why"), [
    (ROWS, PROVES + "def test_of_nothing():\n    pass\n", "tests/test_it.py::test_of_nothing"),
    ("{}", PROVES, "tests/test_it.py::test_it_works: A-1"),
    ("{'A-1': R('x', 'It works.'), 'A-2': R('x', 'It flies.')}", PROVES, "A-2: It flies."),
], ids=["a test without a row", "a test of an unknown row", "a row without a test"])
def test_what_does_not_match_fails_by_name(tmp_path: Path, rows: str, tests: str, why: str) -> None:
    said = run(tmp_path, rows, tests)
    assert why in said
    assert "passed" not in said


@pytest.mark.req("REQ-02")
def test_every_row_has_an_id_a_source_and_one_sentence() -> None:
    assert [i for i in REQUIREMENTS if not re.fullmatch(r"[A-Z]+-\d+", i)] == []
    assert [i for i, row in REQUIREMENTS.items() if not row.source or not row.promise.endswith(".")] == []
