"""The window of recent turns: it moves in jumps, stays within its cap, and depends on the log and the budget only."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepline.context.stages.recent import jump
from keepline.errors import BadBudget
from keepline.values.budget import Budget

TURNS = st.lists(st.integers(1, 400), min_size=1, max_size=120)


def window(turns: list[int], cap: int, evict_to: float = 0.6) -> int:
    """The number of the first turn kept, for turns of one message each."""
    before = np.concatenate([[0], np.cumsum(turns)])
    return jump(before, np.arange(len(turns)), len(turns), cap, evict_to)


@pytest.mark.req("CTX-06")
def test_a_log_within_the_cap_is_kept_whole():
    assert window([10] * 10, 100) == 0


@pytest.mark.req("CTX-06")
def test_the_window_stands_still_between_jumps_and_then_frees_the_stated_share():
    firsts = [window([10] * n, 100) for n in range(1, 41)]
    moves = [n for n, (a, b) in enumerate(pairwise(firsts), start=2) if a != b]
    assert firsts[:10] == [0] * 10
    assert moves == [11, 15, 19, 23, 27, 31, 35, 39]
    assert firsts[10] == 4


@pytest.mark.req("CTX-06")
def test_with_evict_to_one_the_window_moves_at_every_call():
    assert [window([10] * n, 100, 1.0) for n in (10, 11, 12, 13)] == [0, 1, 2, 3]


@pytest.mark.req("CTX-06")
@given(TURNS, st.integers(1, 3000), st.sampled_from([0.1, 0.5, 0.6, 0.9, 1.0]))
def test_the_window_never_exceeds_its_cap_and_never_moves_back(turns, cap, evict_to):
    last = 0
    for n in range(1, len(turns) + 1):
        first = window(turns[:n], cap, evict_to)
        assert sum(turns[first:n]) <= cap
        assert first >= last
        last = first


@pytest.mark.req("CTX-01")
def test_the_default_reserve_is_a_fifth_of_the_window():
    assert Budget(window=10_000).limit == 8_000


@pytest.mark.req("CTX-01")
def test_a_reserve_that_leaves_no_input_is_lowered_and_says_so():
    budget = Budget(window=4096, reserve=4096)
    assert (budget.limit, budget.lowered) == (2048, True)


@pytest.mark.req("CTX-01")
@pytest.mark.parametrize("bad", [
    {"window": 0}, {"window": -5}, {"window": 100, "reserve": -1}, {"window": 100, "margin": -1}, {"window": 10.5},
    {"window": True}, {"window": 100, "max_messages": 0},
])
def test_a_negative_or_impossible_budget_names_the_field(bad):
    with pytest.raises(BadBudget) as caught:
        Budget(**bad)
    assert caught.value.field == list(bad)[-1]
    assert str(caught.value.value) in str(caught.value)
