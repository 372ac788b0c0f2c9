"""The commands in the documents run, in the order in which a reader would type them."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keepline.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "README.zh.md", "docs/quickstart.md", *(f"docs/howto/{p.name}" for p in (ROOT / "docs/howto").glob("*.md"))]
SHELL = re.compile(r"^ *```sh\n(.*?)^ *```$", re.M | re.S)


def commands(page: str) -> list[list[str]]:
    lines = "\n".join(SHELL.findall((ROOT / page).read_text(encoding="utf-8"))).splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [w[1:] for w in words if w and w[0] == "keepline"]


@pytest.mark.req("DOC-01")
@pytest.mark.parametrize("page", PAGES)
def test_every_keepline_command_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))
    for sample in (ROOT / "docs_src").glob("*.jsonl"):
        shutil.copy(sample, tmp_path)
    runner = CliRunner()
    if page.endswith(("build-a-context.md", "forget.md")):   # they go on with what the import brought
        assert runner.invoke(app, ["import", "-u", "ana", "chat.jsonl"]).exit_code == 0
    found = commands(page)
    assert found
    for words in found:
        result = runner.invoke(app, words)
        assert result.exit_code == 0, f"keepline {shlex.join(words)}: {result.output or result.exception!r}"
