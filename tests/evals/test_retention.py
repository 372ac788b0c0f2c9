"""Retention: what counts as kept, the budget, stale words, and why a probe was missed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepline.errors import BadChoice
from keepline.evals import retention, tags
from keepline.evals.formats import Scenario, Stale
from keepline.evals.ground import words
from keepline.values.context import Context, Section

RULE = "Please never suggest anything with peanuts."
FILLER = "Tell me something about the history of the harbour in the old town"
TALE = "The harbour was dug in 1731 by hand, and the first ships brought salt, timber and wool from the north. " * 4


def scenario(*probes: dict[str, Any], first: str = RULE, fraction: float = 0.3, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": first}, {"role": "assistant", "content": "Understood."}]
    for n in range(12):
        messages += [{"role": "user", "content": f"{FILLER}, part {n}."}, {"role": "assistant", "content": TALE}]
    return {"id": "s", "lang": "en", "messages": messages, "budget": {"fraction": fraction}, "tokenizer": "o200k_base",
            "probes": list(probes), **more}  # fmt: skip


def probe(must: str, ask: str = "What shall I cook tonight?", **more: Any) -> dict[str, Any]:
    return {"ask": ask, "must": [must], "kind": "unmentioned", "turn": 1, **more}


def context(*texts: str, pending: str = "and now?") -> Context:
    messages = tuple({"role": "user", "content": t} for t in (*texts, pending))
    parts = (*(Section.RECENT for _ in texts), Section.PENDING)
    return Context(messages=messages, ledger=None, parts=parts)  # type: ignore[arg-type]  # the ledger is not looked at


@pytest.mark.req("EVAL-02")
@pytest.mark.usefixtures("plain")
def test_a_rule_far_back_is_kept_within_the_budget_and_lost_without_pins(write: Callable[..., Path]) -> None:
    path = write(scenario(probe("never suggest anything with peanuts")))
    found = retention.run(path, mode="sliding")
    assert (found["probes"], found["kept"], found["over_budget"]) == (1, 1, 0)
    assert found["kept_by_turn"] == {"1": 1}
    assert found["kept_by_kind"] == {"unmentioned": 1}
    assert found["tokens"]["max"] <= 0.3 * 2 * sum(words().text(TALE) for _ in range(12))
    assert set(found["build_ms"]) == {"p50", "p95"}
    assert found["misses"] == []
    bare = retention.run(path, mode="sliding", pins=False)
    assert (bare["kept"], bare["kept_by_turn"], bare["probes_by_turn"]) == (0, {"1": 0}, {"1": 1})


@pytest.mark.req("EVAL-02")
@pytest.mark.usefixtures("plain")
def test_words_of_the_question_itself_do_not_count(write: Callable[..., Path]) -> None:
    asking = probe("the green umbrella", ask="Where is the green umbrella?")
    found = retention.run(write(scenario(asking)), mode="sliding")
    assert found["kept"] == 0
    assert found["misses"][0]["why"] == "the conversation does not say it"


@pytest.mark.req("EVAL-02")
def test_words_are_compared_after_nfkc_with_whitespace_folded() -> None:
    assert retention.folded("ＡＢ１２３ \n no\u00a0milk ") == "AB123 no milk"
    assert retention.sent(context("one\n two", pending="three")) == ("one two",)


@pytest.mark.req("EVAL-02")
def test_the_budget_is_the_share_of_text_tokens_and_four_a_message_rounded_down() -> None:
    counter = words()
    one = Scenario(id="s", lang="en", fraction=0.4, tokens=None, probes=(), messages=(
        {"role": "user", "content": "hello world"}, {"role": "assistant", "content": None, "tool_calls": []},
    ))  # fmt: skip
    assert retention.cost(one.messages, counter) == 2 + 4 + 0 + 4
    assert retention.budget_of(one, counter) == 4
    assert retention.budget_of(one, counter, fraction=0.55) == 5
    fixed = Scenario(id="s", lang="en", fraction=None, tokens=77, probes=(), messages=one.messages)
    assert retention.budget_of(fixed, counter) == 77


@pytest.mark.req("EVAL-03")
def test_stale_words_survive_unless_what_ended_them_stands_on_their_line_or_later() -> None:
    stale = Stale(text="no food after eight", ended_by="snacks are fine again")
    assert retention.survives(stale, context("rule: no food after eight"))
    assert not retention.survives(stale, context("rule: no food after eight", "snacks are fine again"))
    assert not retention.survives(stale, context("no food after eight\nsnacks are fine again"))
    assert retention.survives(stale, context("snacks are fine again\nno food after eight"))
    assert not retention.survives(stale, context("nothing of the kind", pending="no food after eight"))


@pytest.mark.req("EVAL-03")
@pytest.mark.usefixtures("plain")
def test_a_run_counts_stale_words_only_where_the_file_has_some(write: Callable[..., Path]) -> None:
    stale = [{"text": "never suggest anything with peanuts", "ended_by": "peanuts are fine again"}]
    found = retention.run(write(scenario(probe("peanuts"), stale=stale)), mode="sliding")
    assert (found["stale"], found["stale_of"]) == (1, 1)
    assert "stale" not in retention.run(write(scenario(probe("peanuts"))), mode="sliding")


@pytest.mark.req("EVAL-03")
@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(
    ("first", "must", "why"),
    [
        ("Good morning!", "Good morning", "not tagged: #m0 is greeting"),
        (RULE + " Thank you!", "Thank you", "the pin of #m0 leaves these words out"),
        (RULE, "peanuts", "#m0 is pinned, but was not looked at in this build (certainty"),
    ],
)
def test_a_miss_says_what_became_of_the_sentence(first: str, must: str, why: str, write: Callable[..., Path]) -> None:
    found = retention.run(write(scenario(probe(must), first=first)), mode="sliding", pins=False)
    assert found["misses"][0]["why"].startswith(why)


@pytest.mark.req("EVAL-03")
@pytest.mark.usefixtures("plain")
def test_a_rule_that_only_the_assistant_said_is_missed_as_such(write: Callable[..., Path]) -> None:
    line = scenario(probe("always bring a torch"))
    line["messages"][1]["content"] = "You should always bring a torch."
    found = retention.run(write(line), mode="sliding")
    assert found["misses"][0]["why"] == "said by assistant, not by the user"


@pytest.mark.req("EVAL-02")
@pytest.mark.usefixtures("plain")
def test_a_mode_that_is_not_there_is_refused_and_a_fraction_replaces_the_files(write: Callable[..., Path]) -> None:
    path = write(scenario(probe("peanuts")))
    with pytest.raises(BadChoice):
        retention.run(path, mode="clever")
    done: list[tuple[int, int]] = []
    small = retention.run(path, mode="sliding", fraction=0.2, progress=lambda n, of: done.append((n, of)))
    large = retention.run(path, mode="sliding", fraction=0.6)
    assert small["tokens"]["max"] < large["tokens"]["max"]
    assert done == [(1, 1)]


@pytest.mark.req("EVAL-06")
@pytest.mark.usefixtures("plain")
def test_tags_are_counted_for_chats_and_corpora(write: Callable[..., Path]) -> None:
    chat = {"messages": [{"role": "user", "content": RULE}, {"role": "assistant", "content": "Fine."}]}
    said_by = [("Ana", "Good morning!"), ("Ben", "The train was late and full of people")]
    turns = [{"id": str(n), "speaker": s, "session": "1", "date": "", "text": t} for n, (s, t) in enumerate(said_by)]
    found = tags.run(write(chat, {"name": "c", "turns": turns, "questions": []}))
    assert found["messages"] == sum(found["by_category"].values()) == sum(found["by_retention"].values()) == 4
    assert found["by_category"]["constraint"] == 1
    counted = words()
    said = [RULE, "Fine.", *(t["text"] for t in turns)]
    assert found["pinned_tokens_share"] == round(counted.text(RULE) / sum(map(counted.text, said)), 4)
