"""Postings that grow answer as postings that were built at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepline.memory import postings
from keepline.memory.postings import Postings, idf, saturated

ROWS = st.lists(st.dictionaries(st.integers(0, 2**64 - 1) | st.integers(0, 5), st.integers(1, 65_535), max_size=6), max_size=120)


def add(to: Postings, rows: list[dict[int, int]], first: int = 0) -> None:
    """Add whole rows, given as term → count."""
    terms = [t for r in rows for t in sorted(r)]
    at = [first + i for i, r in enumerate(rows) for _ in r]
    counts = [r[t] for r in rows for t in sorted(r)]
    to.add(np.array(terms, np.uint64), np.array(at, np.int32), np.array(counts, np.uint16))


def answer(of: Postings, term: int) -> dict[int, int]:
    rows, counts = of.find(term)
    assert len(set(rows.tolist())) == len(rows)
    return dict(zip(rows.tolist(), counts.tolist(), strict=True))


def truth(rows: list[dict[int, int]], term: int) -> dict[int, int]:
    return {i: r[term] for i, r in enumerate(rows) if term in r}


@pytest.mark.req("RECALL-05")
@given(ROWS, st.integers(1, 7), st.integers(0, 30))
def test_grown_row_by_row_or_built_at_once_the_answers_are_the_same(rows: list[dict[int, int]], step: int, merge_at: int) -> None:
    grown, whole = Postings(), Postings()
    add(whole, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postings, "MERGE_AT", merge_at)  # small, so that a few rows reach every state: tail, joined tail, merged
        for at in range(0, len(rows), step):
            add(grown, rows[at : at + step], at)
            if at % 3 == 0:
                assert answer(grown, 3) == truth(rows[: at + step], 3)
    for term in {t for r in rows for t in r} | {0, 3, 2**64 - 1}:
        assert answer(grown, term) == answer(whole, term) == truth(rows, term)


@pytest.mark.req("RECALL-05")
def test_a_term_that_nobody_has_is_nowhere() -> None:
    empty = Postings()
    assert answer(empty, 7) == {}
    add(empty, [{1: 1}])
    assert answer(empty, 7) == {}


@pytest.mark.req("RECALL-04")
def test_a_rare_word_weighs_more_and_none_weighs_less_than_nothing() -> None:
    assert idf(100, 1) > idf(100, 50) > idf(100, 100) > 0


@pytest.mark.req("RECALL-04")
def test_a_word_repeated_or_in_a_shorter_text_says_more() -> None:
    tf = saturated(np.array([1.0, 2.0, 100.0, 1.0, 1.0]), np.array([10.0, 10.0, 10.0, 5.0, 40.0]), 10.0)
    assert tf[0] == pytest.approx(1.0)
    assert tf[0] < tf[1] < tf[2] < 2.2
    assert tf[3] > tf[0] > tf[4]
