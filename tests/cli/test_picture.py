"""The picture of a window: all of the budget, to scale, and the reasons readable on any terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from keepline.cli.show import holds
from keepline.cli.window import COLUMNS, ORDER, ROWS, cells, draw, shares, short
from keepline.cli.words import RULES_ZH, SECTIONS, WORDS, rule, terminal_language
from keepline.values.context import Context, Entry, Fate, Ledger, Section


def ledger(**changes: object) -> Ledger:
    entries = (
        Entry(section=Section.RECALL, fate=Fate.KEPT, rule="recalled", ids=("m4",), tokens=31),
        Entry(section=Section.PINS, fate=Fate.KEPT, rule="may be a rule: spare room", ids=("m3",), tokens=9),
        Entry(section=Section.PINS, fate=Fate.KEPT, rule="standing constraint", ids=("m2",), tokens=12),
        Entry(section=Section.OTHER, fate=Fate.LEFT_OUT, rule="older than the window", ids=("m5", "m9"), count=5, tokens=90),
        Entry(section=Section.PINS, fate=Fate.LEFT_OUT, rule="ended by a later message", ids=("m1",), by="m8"),
    )
    figures = {"id": "c1", "at": "2026-08-12T09:00:00+00:00", "session": "s", "mode": "hybrid", "asked": "auto",
               "why": "everything fits", "vocabulary": "o200k_base", "exact": True, "window": 1000, "reserve": 200,
               "margin": 0, "limit": 800, "tokens": 543, "entries": entries,
               "sections": {"system": 100, "pins": 43, "recent": 300, "recall": 80, "pending": 20}}
    return Ledger(**{**figures, **changes})


def drawn(width: int, language: str = "en", texts: dict[str, str] | None = None) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(draw(ledger(), language, texts or {"m2": "never peanuts, and no nuts of any other kind either"}))
    return console.file.getvalue().splitlines()


@pytest.mark.req("CLI-01")
def test_sections_reserve_and_free_space_sum_to_the_window() -> None:
    parts = shares(ledger())
    assert sum(parts.values()) == 1000
    assert (parts["reserve"], parts["free"], parts["recent"]) == (200, 257, 300)


@pytest.mark.req("CLI-01")
@given(st.dictionaries(st.sampled_from(ORDER), st.integers(0, 10**6), min_size=1).filter(lambda d: any(d.values())))
def test_the_grid_is_full_and_shows_every_section_that_has_a_token(parts: dict[str, int]) -> None:
    grid = cells(parts, sum(parts.values()))
    assert len(grid) == COLUMNS * ROWS
    assert set(grid) == {s for s, n in parts.items() if n}


@pytest.mark.req("CLI-01")
@pytest.mark.parametrize(("tokens", "said"), [(860, "860"), (1200, "1.2k"), (47_000, "47k"), (200_000, "200k")])
def test_token_counts_are_said_as_people_say_them(tokens: int, said: str) -> None:
    assert short(tokens) == said


@pytest.mark.req("CLI-02")
@pytest.mark.parametrize("width", [60, 80, 200])
def test_on_a_narrow_terminal_the_words_give_way_and_the_reason_stays(width: int) -> None:
    (line,) = [line for line in drawn(width) if "#m2" in line]
    assert "standing constraint" in line
    assert ("never peanuts, and no nuts of any other kind either" in line) == (width == 200)
    (ended,) = [line for line in drawn(width) if "#m1 " in line]
    assert "ended by a later message · by #m8" in ended


@pytest.mark.req("CLI-02")
def test_pins_come_first_the_sure_ones_before_the_others() -> None:
    lines = [line.split()[0] for line in drawn(120) if line.startswith("  #")]
    assert lines == ["#m2", "#m3", "#m4", "#m1", "#m5…#m9"]


@pytest.mark.req("CLI-02")
def test_a_window_is_described_in_chinese_as_well() -> None:
    text = "\n".join(drawn(100, "zh"))
    assert "留给回答" in text
    assert "被后来的话终止 · 被 #m8 终止" in text
    assert "5 条消息" in text
    assert set(WORDS["zh"]) == set(WORDS["en"])
    assert set(SECTIONS["zh"]) == set(SECTIONS["en"])
    assert rule("recent questions are less alike than 0.35", "zh") == "最近的问题彼此相似度低于 0.35"
    assert rule("ended by its own words, until 2026-08-14", "zh") == "按原话到 2026-08-14 为止"
    assert rule("a rule of another release", "zh") == "a rule of another release"
    assert all(rule(r, "en") == r for r in RULES_ZH)


@pytest.mark.req("CLI-02")
@pytest.mark.parametrize(("asked", "environ", "language"), [
    ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
    ("", {"LANG": "zh_CN.UTF-8"}, "zh"),
    ("", {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
    ("", {}, "en"),
])
def test_the_terminal_says_the_language(
    asked: str, environ: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert terminal_language(asked) == language


@pytest.mark.req("CLI-01")
def test_a_rule_with_quotation_marks_is_found_in_what_was_built_and_the_question_does_not_count() -> None:
    messages = ({"role": "user", "content": 'for customers\nwrite "Phase Two"'}, {"role": "user", "content": "and lanterns?"})
    built = Context(messages=messages, ledger=ledger())
    assert holds(built, 'customers write "Phase Two"', "and lanterns?")
    assert not holds(built, "lanterns", "and lanterns?")
