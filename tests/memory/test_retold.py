"""What a model says of messages is kept only where the messages bear it out."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from keepline.memory.retold import retold
from keepline.memory.text.exact import changed, codes, names
from keepline.ports.model import Reply, json_in
from keepline.values.message import Message
from keepline.values.summary import Origin

AT = datetime(2026, 3, 4, tzinfo=UTC)


def said(*texts: tuple[str, str]) -> list[Message]:
    """Messages m0, m1 … of (role, words)."""
    return [
        Message(id=f"m{i}", seq=i, body={"role": role, "content": text}, at=AT)
        for i, (role, text) in enumerate(texts)
    ]


def reply(*statements: tuple[str, str, list[str]], tasks: tuple[tuple[str, str, list[str]], ...] = ()) -> Reply:
    def plain(rows: Any) -> list[dict[str, Any]]:
        return [{"origin": o, "text": t, "sources": s} for o, t, s in rows]

    value = {"statements": plain(statements), "open_tasks": plain(tasks)}
    return Reply(text=json.dumps(value), value=value)


TRIP = said(
    ("user", "I may fly to Oslo on 12 March, but not before noon. The budget is 1,280.50 euros, booking KX-4471."),
    ("assistant", "I suggest the Grand Hotel at 140 euros a night."),
    ("user", "Mr Zhao and Director Zhao are two people; ask only Mr Zhao."),
    ("tool", "Forecast for Oslo: rain, 4 degrees."),
)


@pytest.mark.req("SUM-02")
@pytest.mark.parametrize(
    ("origin", "text", "sources", "why"),
    [
        ("user", "User may fly to Oslo on 12 March, not before noon.", ["m0"], None),
        ("user", "Budget 1280.50 euros, booking KX-4471.", ["m0"], None),
        ("assistant", "Suggested the Grand Hotel, 140 euros a night.", ["m1"], None),
        ("user", "User may fly to Oslo on 13 March, not before noon.", ["m0"], "a number, date or identifier"),
        ("user", "Budget 1,280 euros, booking KX-4471.", ["m0"], "a number, date or identifier"),
        ("user", "Booking KX-4472, budget 1,280.50 euros.", ["m0"], "a number, date or identifier"),
        ("user", "User flies to Oslo on 12 March, not before noon.", ["m0"], "a hedge of its source is lost"),
        ("user", "User may fly to Oslo on 12 March before noon.", ["m0"], "a negation of its source is lost"),
        ("user", "User may fly to Bergen on 12 March, not before noon.", ["m0"], "a name"),
        ("user", "Ask Mr Zhao.", ["m2"], "a condition of its source is lost"),
        ("user", "User is staying at the Grand Hotel, 140 euros a night.", ["m1"], "words put into the user's mouth"),
        ("assistant", "The assistant set the budget of 1,280.50 euros.", ["m0"], "the user's words as the assistant's"),
        ("user", "It rains in Oslo, 4 degrees.", ["m3"], "a tool's result as a fact"),
        ("user", "User likes jazz.", ["m0"], "words that its source does not have"),
        ("user", "User may fly to Oslo.", ["m77"], "no source"),
        ("user", "User may fly to Oslo.", [], "no source"),
        ("nobody", "User may fly to Oslo.", ["m0"], "not of the asked shape"),
    ],
)
def test_a_statement_stands_only_if_its_sources_bear_it_out(origin: str, text: str, sources: list[str], why: str | None) -> None:
    ((statement, rule),) = retold(reply((origin, text, sources)), TRIP)
    if why is None:
        assert statement is not None, rule
        assert statement.text == text
    else:
        assert statement is None
        assert rule.startswith(why)


@pytest.mark.req("SUM-02")
@pytest.mark.parametrize(
    ("source", "text", "why"),
    [
        ("我对花生过敏，预算不超过 800 元", "用户对花生过敏，预算不超过 800 元", None),
        ("我对花生过敏，预算不超过 800 元", "用户预算 800 元", "a negation of its source is lost"),
        ("可能下周搬去苏州", "用户下周搬去苏州", "a hedge of its source is lost"),
        ("如果下雨就改到周六", "改到周六", "a condition of its source is lost"),
        ("如果下雨就改到周六", "如果下雨就改到周日", "a number, date or identifier"),
        ("张总和张经理是两个人，合同找张经理签", "合同找张总签", None),
        ("合同找张经理签", "合同找张总签", "a name"),
        ("提交信息里绝对不要加 Co-Authored-By", "提交信息可以加 Co-Authored-By", "a negation of its source is lost"),
        ("I always walk to work", "The user never walks to work", "a negation that its source does not have"),
        ("主机 10.20.30.41:49222", "主机 10.20.30.41:49221", "a number, date or identifier"),
        ("三个人，两间房", "五个人，两间房", "a number, date or identifier"),
    ],
)
def test_what_a_retelling_must_not_change(source: str, text: str, why: str | None) -> None:
    found = changed(text, [source])
    assert (found or "").startswith(why or "") if why else found is None


@pytest.mark.req("SUM-02")
def test_codes_and_names_are_found_in_both_languages() -> None:
    assert codes("退款 1,280.50 元，工单 7f3c9a1e-52bd，周五下午三点") >= {"1280.50", "7f3c9a1e-52bd", "周五"}
    assert codes("flight CA4502 at 08:10, two seats, Friday") >= {"ca4502", "08:10", "two", "friday"}
    assert names("Please ask Ilse Braun or 张总") == {"ilse", "braun", "张总"}


@pytest.mark.req("SUM-02")
def test_a_plain_reply_is_read_as_sentences_each_with_the_messages_it_retells() -> None:
    text = "- User may fly to Oslo on 12 March, not before noon.\n- User loves the opera.\n- Ask only Mr Zhao."
    kept = [s for s, _ in retold(Reply(text=text), TRIP) if s is not None]
    assert [(s.text, s.sources, s.origin) for s in kept] == [
        ("User may fly to Oslo on 12 March, not before noon.", (0,), Origin.USER), ("Ask only Mr Zhao.", (2,), Origin.USER),
    ]  # fmt: skip


@pytest.mark.req("SUM-02")
@pytest.mark.parametrize(
    "text",
    ["", "请提供需要总结的对话内容。", "{", "[]", "null", '{"statements": "none"}', '{"statements": [1, {}]}', "Error 503"],
)
def test_a_reply_that_is_none_gives_no_statement(text: str) -> None:
    assert [s for s, _ in retold(Reply(text=text, value=json_in(text)), TRIP) if s is not None] == []


@pytest.mark.req("SUM-02")
def test_a_model_that_repeats_itself_is_heard_once() -> None:
    again = reply(*[("user", "Ask only Mr Zhao.", ["m2"])] * 500)
    assert len(list(retold(again, TRIP))) == 1


@pytest.mark.req("SUM-01")
def test_open_tasks_are_marked() -> None:
    ((statement, _),) = retold(reply(tasks=(("user", "Ask only Mr Zhao.", ["m2"]),)), TRIP)
    assert statement is not None
    assert statement.open


@pytest.mark.req("SUM-02")
@pytest.mark.parametrize("text", ['{"a": 1}', 'Here it is:\n```json\n{"a": 1}\n```', 'Sure! {"a": 1} Anything else?'])
def test_json_is_found_where_models_put_it(text: str) -> None:
    assert json_in(text) == {"a": 1}
