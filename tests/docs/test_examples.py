"""The documents' examples do what the documents say of them."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import keepline

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "docs_src").glob("*.py"))


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))


def played(name: str) -> dict[str, Any]:
    """Run the example → its names."""
    return runpy.run_path(str(ROOT / "docs_src" / name))


@pytest.mark.req("DOC-01")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_every_example_runs_in_an_empty_folder(path: Path) -> None:
    played(path.name)


@pytest.mark.req("DOC-01")
@pytest.mark.parametrize(("name", "rules"), [
    ("start.py", ("allergic to peanuts", "Never book a night above 120 euros")),
    ("start_zh.py", ("对花生过敏", "酒店每晚不要超过 900 元")),
])
def test_the_first_five_minutes_pin_both_rules_and_find_the_allergy(
    name: str, rules: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    after = played(name)
    pinned = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("pinned", "长期有效"))]
    assert all(any(rule in line for line in pinned) for rule in rules)
    assert after["context"].tokens <= after["context"].ledger.limit
    assert rules[0] in after["found"].message.text or rules[0] in str(after["messages"])


@pytest.mark.req("DOC-01")
def test_the_openai_example_sends_the_log_and_keeps_the_answer() -> None:
    reply = played("with_openai.py")["reply"]
    sent: list[Any] = []

    def create(*, model: str, messages: list[dict[str, Any]]) -> Any:
        sent.extend(messages)
        message = SimpleNamespace(content=f"an answer of {model}")
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    with keepline.open("chat.db") as engine:
        chat = engine.user("ana").session("trip")
        assert reply(client, chat, "Hello there") == "an answer of gpt-4o"
        assert sent == [{"role": "user", "content": "Hello there"}]
        assert [m.role for m in chat.list()] == ["user", "assistant"]


@pytest.mark.req("DOC-01")
def test_a_resent_history_adds_one_message_and_an_edited_one_forks(capsys: pytest.CaptureFixture[str]) -> None:
    played("resent.py")
    assert capsys.readouterr().out.split() == ["True", "1", "True"]


@pytest.mark.req("DOC-01")
def test_the_building_example_keeps_its_budgets_recalls_the_order_and_itemises_the_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    after = played("building.py")
    out = capsys.readouterr().out
    assert after["built"].to_openai() == [{"role": "user", "content": "Hello!"}]
    assert "[(" in out.splitlines()[1]                       # something was recalled
    assert "system text, tools and overhead" in out.splitlines()[-1]


@pytest.mark.req("DOC-01")
def test_what_the_caller_says_of_a_message_holds(capsys: pytest.CaptureFixture[str]) -> None:
    played("overriding.py")
    assert capsys.readouterr().out.split() == ["1", "fact"]


@pytest.mark.req("DOC-01")
def test_the_forgetting_example_leaves_nothing_of_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    played("forgetting.py")
    erased, is_erased, found, checked = capsys.readouterr().out.splitlines()
    assert (erased, is_erased) == ("1", "True")
    assert "7741" not in found
    assert int(checked) == 2
