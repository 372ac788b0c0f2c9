"""The command line as a person or a script meets it: exit codes, what goes where, errors that help."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from keepline.cli import main


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is home and current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))
    monkeypatch.setenv("KEEPLINE_ENCODER", "none")
    return tmp_path


@pytest.fixture
def keepline(place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process, as `keepline WORDS`."""

    def run(*words: str, given: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["keepline", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO(given))
        with pytest.raises(SystemExit) as left:
            main()
        code = left.value.code
        return Done(code if isinstance(code, int) else 0 if code is None else 1, *capfd.readouterr())

    return run


@pytest.mark.req("CLI-03")
def test_results_are_one_json_document_in_utf_8_on_stdout_and_nothing_else(place: Path, keepline: Run) -> None:
    words = ["append", "-u", "ana", "-s", "trip", "你好", "--json"]
    command = [sys.executable, "-c", "from keepline.cli import main; main()", *words]
    added = subprocess.run(command, env={**os.environ, "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True)
    assert added.stderr == b""
    (message,) = json.loads(added.stdout.decode())
    assert message["message"] == {"role": "user", "content": "你好"}
    built = keepline("context", "-u", "ana", "-s", "trip", "--budget", "900", "--json", "And then?")
    assert json.loads(built.stdout)["messages"][-1] == {"role": "user", "content": "And then?"}
    assert json.loads(built.stdout)["ledger"]["window_sections"]["reserve"] == 180


@pytest.mark.req("CLI-03")
def test_messages_come_through_a_pipe_and_ids_make_a_repeat_harmless(keepline: Run) -> None:
    piped = json.dumps([{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}])
    assert keepline("append", "-u", "ana", "-s", "s", "-", given=piped).returncode == 0
    for _ in range(2):
        assert keepline("append", "-u", "ana", "-s", "s", "three", "--id", "mine").returncode == 0
    listed = json.loads(keepline("list", "-u", "ana", "-s", "s", "--json").stdout)
    assert [m["message"]["content"] for m in listed] == ["one", "two", "three"]


@pytest.mark.req("CLI-04")
@pytest.mark.parametrize(("words", "code", "said"), [
    (["get", "-u", "ana", "m99"], 2, "There is no message 'm99' for this user."),
    (["append", "-u", " ", "-s", "s", "hi"], 1, "No user: nothing is read or written"),
    (["append", "-u", "ana", "-s", "s", "hi", "--role", "robot"], 2, "robot"),
    (["append", "-u", "ana", "-s", "s", "hi", "--ts", "tomorrow"], 2, "Give ISO 8601 with a zone"),
    (["context", "-u", "ana", "-s", "s", "--budget", "17", "--mode", "clever", "hi"], 2, "Choose one of: auto, full"),
    (["status", "--store", "redis://here"], 2, "sqlite:///path.db"),
    (["forget", "-u", "ana", "--yes"], 2, "name message ids, a --session, or --everything"),
])
def test_an_error_is_one_helpful_line_and_never_a_traceback(keepline: Run, words: list[str], code: int, said: str) -> None:
    done = keepline(*words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.req("CLI-04")
def test_a_budget_that_cannot_be_met_says_the_sum_and_exits_with_1(keepline: Run) -> None:
    done = keepline("context", "-u", "ana", "-s", "s", "--budget", "16", "word " * 500, "--reserve", "0")
    assert done.returncode == 1
    assert "What must be sent needs" in done.stderr


@pytest.mark.req("CLI-04")
def test_a_file_that_is_not_a_store_is_left_as_it_is(place: Path, keepline: Run) -> None:
    (place / "notes.txt").write_text("these are my notes, not a store\n" * 50, encoding="utf-8")
    done = keepline("append", "-u", "ana", "-s", "s", "hi", "--store", "notes.txt")
    assert done.returncode == 1
    assert "is not a keepline store" in done.stderr
    assert (place / "notes.txt").read_text(encoding="utf-8") == "these are my notes, not a store\n" * 50


@pytest.mark.req("CLI-05")
def test_a_bad_line_stops_an_import_with_its_number_and_skipping_it_brings_the_rest(place: Path, keepline: Run) -> None:
    (place / "chat.jsonl").write_text(
        '{"role": "user", "content": "whole"}\n{"role": "user", "content": "cut\n{"role": "user", "content": "also whole"}\n',
        encoding="utf-8",
    )
    stopped = keepline("import", "-u", "ana", "chat.jsonl")
    assert stopped.returncode == 2
    assert "chat.jsonl, line 2:" in stopped.stderr
    skipped = json.loads(keepline("import", "-u", "ana", "--skip-bad", "--json", "chat.jsonl").stdout)
    assert [line for line, _ in skipped["skipped"]] == [2]
    again = json.loads(keepline("import", "-u", "ana", "--skip-bad", "--json", "chat.jsonl").stdout)
    assert (again["new"], again["unchanged"]) == (0, 2)


@pytest.mark.req("CLI-03")
def test_every_verb_explains_itself_with_an_example(keepline: Run) -> None:
    shown = keepline("--help").stdout
    verbs = "init demo append import context search list get settle forget status doctor config eval bench"
    assert [v for v in re.findall(r"\w+", verbs) if v not in shown] == []
    page = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text(encoding="utf-8")
    sections = page.split("\n## ")[1:]
    assert [s.splitlines()[0] for s in sections if "Example: `keepline " not in s] == []


@pytest.mark.req("CLI-06")
def test_doctor_checks_every_part_and_status_says_what_is_kept(keepline: Run) -> None:
    checks = json.loads(keepline("doctor", "--json").stdout)
    assert {c["check"] for c in checks} == {"version", "settings", "store", "tokens", "encoder"}
    assert all(c["ok"] for c in checks)
    keepline("append", "-u", "ana", "-s", "s", "hi")
    found = json.loads(keepline("status", "-u", "ana", "--json").stdout)
    assert (found["sessions"], found["messages"], found["persistent"]) == (1, 1, True)


@pytest.mark.req("CLI-06")
def test_config_says_where_each_setting_comes_from(place: Path, keepline: Run) -> None:
    (place / "config.toml").write_text("window = 4321\n", encoding="utf-8")
    found = json.loads(keepline("config", "show", "--json").stdout)
    assert (found["window"]["value"], found["window"]["from"]) == (4321, str(place / "config.toml"))
    assert found["encoder"]["from"] == "KEEPLINE_ENCODER"
    assert found["busy_s"]["from"] == "default"
    (place / "config.toml").write_text("window = 'wide'\n", encoding="utf-8")
    bad = keepline("config", "show")
    assert bad.returncode == 2
    assert "The setting window from" in bad.stderr
