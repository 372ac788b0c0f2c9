"""What a text names: found word for word, with a value to look it up by; what is no name is left alone."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from keepline.evals import entities as evals
from keepline.memory.text.calendar import number
from keepline.memory.text.entities import MOST, entities

SAID = date(2026, 8, 12)  # a Wednesday
LABELLED = Path(__file__).parents[2] / "evals" / "entities"


def named(text: str) -> list[tuple[str, str, str]]:
    return [(str(e.kind), e.surface, e.value) for e in entities(text, SAID)]


@pytest.mark.req("ENT-01")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("退款１,２８０.５０元", [("amount", "１,２８０.５０元", "CNY 1280.50")]),
        ("一万两千元", [("amount", "一万两千元", "CNY 12000.00")]),
        ("It was $1.2 million", [("amount", "$1.2 million", "USD 1200000.00")]),
        ("38万元", [("amount", "38万元", "CNY 380000.00")]),
        ("by 3 May", [("date", "3 May", "2026-05-03")]),
        ("on 2026/3/4", [("date", "2026/3/4", "2026-03-04")]),
        ("下周三", [("date", "下周三", "2026-08-19")]),
        ("周五见", [("date", "周五", "2026-08-14")]),
        ("tomorrow", [("date", "tomorrow", "2026-08-13")]),
        ("三月五号", [("date", "三月五号", "2026-03-05")]),
        ("next Friday", [("date", "next Friday", "2026-08-14")]),
        ("下午三点半", [("time", "下午三点半", "15:30")]),
        ("at 6 pm.", [("time", "6 pm", "18:00")]),
        ("12:05", [("time", "12:05", "12:05")]),
        ("张总和张经理", [("person", "张总", "张总"), ("person", "张经理", "张经理")]),
        ("Mr Zhao, not Director Zhao", [("person", "Mr Zhao", "Mr Zhao"), ("person", "Director Zhao", "Director Zhao")]),
        ("电话是138 1234 5678", [("phone", "138 1234 5678", "13812345678")]),
        ("+86 139 0000 1111", [("phone", "+86 139 0000 1111", "13900001111")]),
        ("工单 7f3c9a1e-52bd-4e0b-9d61-0aa4c7d1f2e8",
         [("id", "7f3c9a1e-52bd-4e0b-9d61-0aa4c7d1f2e8", "7f3c9a1e-52bd-4e0b-9d61-0aa4c7d1f2e8")]),
        ("车牌沪A·D1234", [("plate", "沪A·D1234", "沪AD1234")]),
        ("use v2.1-rc1", [("version", "v2.1-rc1", "2.1-rc1")]),
        ("在协和医院", [("organisation", "协和医院", "协和医院")]),
        ("order no. a-1003", [("order", "a-1003", "A-1003")]),
    ],
)  # fmt: skip
def test_what_is_named_is_found_as_it_stands_with_a_value(text: str, found: list[tuple[str, str, str]]) -> None:
    assert named(text) == found


@pytest.mark.req("ENT-01")
@pytest.mark.parametrize(
    "text",
    ["", "今天马上就高兴", "Will you mark it, please? May I?", "the order of things", "https://a.example/v1.2.3/A-1003",
     "10 of 12", "and so on. Then", "谢谢，文件已经收到", "a 5 percent chance", "路上有点堵", "Monday's", "成本很高，方法不对"],
)  # fmt: skip
def test_what_is_no_name_is_left_alone(text: str) -> None:
    assert [n for n in named(text) if n[0] not in ("date",)] == []


@pytest.mark.req("ENT-01")
def test_a_huge_text_is_read_at_its_ends_and_gives_a_bounded_number() -> None:
    text = "order A-1003 " + "x " * 200_000 + "order A-1004"
    assert [v for _, _, v in named(text)] == ["A-1003", "A-1004"]
    assert len(named("order A-1003, " * 2_000)) == MOST


@pytest.mark.req("ENT-01")
@pytest.mark.parametrize(
    ("text", "value"), [("三百五十", 350), ("两", 2), ("十二", 12), ("一亿", 1e8), ("1.5", 1.5), ("x", None), ("", None)]
)
def test_numbers_are_read_in_figures_and_numerals(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.req("ENT-02")
@pytest.mark.parametrize(("part", "least"), [("open", 0.97), ("held", 0.94)])
def test_of_the_labelled_messages_nearly_all_are_found_and_no_two_people_merged(part: str, least: float) -> None:
    found = evals.run(LABELLED / f"{part}.jsonl.gz")
    assert found["messages"] == 150
    assert found["share"] >= least
    assert found["merged"] == 0
