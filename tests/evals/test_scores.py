"""Scores of rankings against values reckoned by hand. A token is a word here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepline.evals import recall, scores
from keepline.evals.formats import Corpus, Question, Turn
from keepline.evals.talk import messages_of, time_of


def words(text: str) -> int:
    return len(text.split())


def turn(n: int, text: str, session: str = "a", speaker: str = "Ana") -> Turn:
    return Turn(id=str(n), speaker=speaker, session=session, date="1 May 2024", text=text)


CORPUS = Corpus(name="c", lang="en", unit="turn", questions=(), turns=(
    turn(0, "the boiler is new"), turn(1, "it was dear"), turn(2, "Paris in May", "b"), turn(3, "好的，住在朝阳区。", "b", ""),
))  # fmt: skip


def asked(gold: tuple[str, ...] = (), answer: str | None = None, sessions: tuple[str, ...] = ()) -> Question:
    return Question(question="?", gold=gold, category="c", answer=answer, sessions=sessions)


@pytest.mark.req("EVAL-04")
def test_r_at_k_is_the_share_of_gold_among_the_first_k() -> None:
    ranked = [3, 0, *([3] * 4), 1]
    found = scores.score(CORPUS, asked(("0", "1")), ranked, (), words)
    assert found == {"R@5": 0.5, "all@5": 0.0, "R@10": 1.0, "all@10": 1.0, "R@20": 1.0, "all@20": 1.0}


@pytest.mark.req("EVAL-04")
def test_a_budget_takes_whole_turns_and_a_date_line_a_session_until_one_does_not_fit() -> None:
    # [1 May 2024] = 3; "Ana: the boiler is new" = 5; "Ana: it was dear" = 4; "Ana: Paris in May" = 4 and its session's date 3
    assert scores.pack(CORPUS, [0, 1, 2], 8, words).turns == (0,)
    assert scores.pack(CORPUS, [0, 1, 2], 12, words).turns == (0, 1)
    assert scores.pack(CORPUS, [0, 1, 2], 18, words).turns == (0, 1)
    packed = scores.pack(CORPUS, [0, 2, 1], 19, words)
    assert packed.turns == (0, 2, 1)
    assert packed.text == "[1 May 2024]\nAna: the boiler is new\n[1 May 2024]\nAna: Paris in May\nAna: it was dear\n"
    assert scores.pack(CORPUS, [0, 1, 2], 7, words).turns == ()


@pytest.mark.req("EVAL-04")
def test_r_at_n_tokens_is_the_share_of_gold_that_fits() -> None:
    found = scores.score(CORPUS, asked(("0", "1")), [2, 0, 1], (7, 15, 19), words)
    assert (found["R@7t"], found["R@15t"], found["R@19t"]) == (0.0, 0.5, 1.0)


@pytest.mark.req("EVAL-04")
@pytest.mark.parametrize(
    ("answer", "there"),
    [("Paris", 1.0), ("PARIS, in May!", 1.0), ("ris", 0.0), ("Lyon", 0.0), ("朝阳区", 1.0), ("朝阳路", 0.0)],
)
def test_an_answer_counts_by_whole_words_whatever_its_case_and_marks(answer: str, there: float) -> None:
    found = scores.score(CORPUS, asked(answer=answer), [2, 3], (100,), words)
    assert found == {"ans@100t": there}


@pytest.mark.req("EVAL-04")
def test_sessions_are_ranked_by_their_first_turn() -> None:
    many = Corpus(name="c", lang="en", unit="turn", questions=(), turns=tuple(turn(n, "x", f"s{n // 2}") for n in range(20)))
    found = scores.score(many, asked(sessions=("s0", "s6")), list(range(20)), (), words)
    assert (found["sessR@5"], found["sessR@10"]) == (0.5, 1.0)


@pytest.mark.req("EVAL-04")
def test_averages_are_over_the_questions_that_have_the_score() -> None:
    rows = [{"R@5": 1.0}, {"R@5": 0.0, "ans@500t": 1.0}, {"ans@500t": 0.0, "R@1000t": 0.25}]
    assert scores.averages(rows) == {"R@5": 0.5, "R@1000t": 0.25, "ans@500t": 0.5}
    assert list(scores.averages(rows)) == ["R@5", "R@1000t", "ans@500t"]


@pytest.mark.req("EVAL-05")
@pytest.mark.parametrize(
    ("date", "at"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:05 am on 1 January, 2024", datetime(2024, 1, 1, 0, 5, tzinfo=UTC)),
        ("29.12.2023", datetime(2023, 12, 29, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2025-12-22 (Monday)", datetime(2025, 12, 22, tzinfo=UTC)),
        ("2024年04月04日 周四 10:33", datetime(2024, 4, 4, 10, 33, tzinfo=UTC)),
        ("31.02.2024", None),
        ("some day", None),
        ("", None),
    ],
)
def test_a_turns_date_is_read_in_the_forms_that_corpora_use(date: str, at: datetime | None) -> None:
    assert time_of(date) == at


@pytest.mark.req("EVAL-05")
def test_the_assistant_has_its_role_and_friends_are_users_with_names() -> None:
    turns = tuple(turn(n, "hi", speaker=s) for n, s in enumerate(["Assistant", "User", "用户", "Ana", ""]))
    corpus = Corpus(name="c", lang="en", unit="turn", questions=(), turns=turns)
    assert [(m["role"], m.get("name")) for m in messages_of(corpus)] == [
        ("assistant", None), ("user", None), ("user", None), ("user", "Ana"), ("user", None)
    ]  # fmt: skip


def corpus_of(*questions: dict[str, Any]) -> dict[str, Any]:
    said = [("a", "The boiler was serviced in May"), ("a", "I like tea"), ("b", "The boiler broke"), ("b", "The roof leaks")]
    turns = [
        {"id": f"D{n}:1", "speaker": "Ana", "session": s, "date": "8 May, 2023", "text": t} for n, (s, t) in enumerate(said)
    ]
    return {"name": "c", "lang": "en", "unit": "turn", "turns": turns, "questions": list(questions)}


@pytest.mark.req("EVAL-04", "EVAL-05")
@pytest.mark.usefixtures("plain")
def test_a_run_asks_the_engine_and_sums_up_by_category(write: Callable[..., Path]) -> None:
    found = recall.run(
        write(corpus_of(
            {"question": "Who leaks?", "gold": ["D3:1"], "category": "roof", "answer": "The roof"},
            {"question": "What about the boiler?", "gold": ["D0:1", "D2:1"], "category": "boiler", "answer": None},
            {"question": "What of the garden?", "gold": [], "category": "none", "answer": None},
        )),
        budgets=(14, 500),
    )  # fmt: skip
    assert found["questions"] == 3
    assert found["R@5"] == found["R@500t"] == found["ans@500t"] == 1.0
    assert found["by_category"]["roof"]["questions"] == 1
    assert found["by_category"]["none"] == {"questions": 1}
    assert found["by_category"]["boiler"]["R@14t"] < 1.0
    assert set(found["search_ms"]) == {"p50", "p95"}
    assert found["ingest_turns_per_s"] > 0


@pytest.mark.req("EVAL-05")
@pytest.mark.usefixtures("plain")
def test_a_question_with_before_cannot_see_what_was_said_later(write: Callable[..., Path]) -> None:
    question = {"question": "the boiler", "gold": [], "gold_sessions": ["b"], "category": "c", "answer": None}
    early = recall.run(write(corpus_of({**question, "before": 2})))
    late = recall.run(write(corpus_of({**question, "before": 3})))
    assert (early["sessR@5"], late["sessR@5"]) == (0.0, 1.0)
