"""Signals to one score: what counts, how much, and what counts nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from keepline.memory.fuse import WEIGHTS, Signals, fuse, positive, standard, w_structure

NONE = np.zeros(4)
ALL = np.ones(4, dtype=bool)


def signals(**given: Any) -> Signals:
    """Four messages of one session in a row; what is not given says nothing."""
    base: dict[str, Any] = {
        "asks": True, "rows": 4, "coherence": 0.0, "mean_length": 50.0, "lexical": NONE, "session": NONE,
        "own": np.zeros(4, dtype=bool), "eligible": ALL, "before": np.array([4, 0, 1, 2]), "after": np.array([1, 2, 3, 4]),
    }
    return Signals(**(base | given))


def best(s: Signals) -> int:
    return int(np.argmax(fuse(s)[0]))


@pytest.mark.req("RECALL-04")
def test_what_may_not_be_found_has_no_score() -> None:
    eligible = np.array([True, False, True, True])
    score, _ = fuse(signals(lexical=np.array([1.0, 9.0, 0, 0]), eligible=eligible))
    assert score[1] == -np.inf
    assert np.isfinite(score[eligible]).all()
    assert int(np.argmax(score)) == 0


@pytest.mark.req("RECALL-04")
def test_without_vectors_words_alone_decide() -> None:
    score, parts = fuse(signals(lexical=np.array([0.0, 2.0, 5.0, 0])))
    assert set(parts) == {"words"}
    assert list(np.argsort(-score)[:2]) == [2, 1]


@pytest.mark.req("RECALL-04")
def test_a_question_leans_on_words_and_a_statement_on_meaning() -> None:
    both = {"lexical": np.array([4.0, 0, 0, 0]), "dense": np.array([0.1, 0.25, 0.1, 0.1])}
    asked, stated = (fuse(signals(asks=asks, **both))[1] for asks in (True, False))
    assert asked["words"][0] == pytest.approx(stated["words"][0] * WEIGHTS.lexical / WEIGHTS.lexical_stated)
    assert asked["meaning"][1] < stated["meaning"][1]


@pytest.mark.req("RECALL-04")
def test_the_parts_of_a_score_sum_to_it() -> None:
    s = signals(lexical=np.array([1.0, 0, 2, 0]), dense=np.array([0.3, 0.1, 0.2, 0.9]), centred=np.array([0.1, 0, 0.1, 0.8]),
                session=np.array([1.0, 1, 1, 1]), coherence=0.15, mean_length=900.0, own=np.array([True, False, True, False]))
    score, parts = fuse(s)
    assert set(parts) == {"words", "meaning", "neighbours", "session", "own words"}
    assert np.allclose(score, sum(parts.values()))


@pytest.mark.req("RECALL-04")
def test_in_a_conversation_the_neighbour_of_a_match_is_found_and_in_a_heap_of_notes_it_is_not() -> None:
    lexical = np.array([9.0, 0, 0, 0])
    talk, _ = fuse(signals(lexical=lexical, coherence=0.15))
    heap, _ = fuse(signals(lexical=lexical, coherence=0.02))
    assert talk[0] > talk[1] > talk[2] > talk[3]
    assert heap[1] == heap[2] == heap[3]


@pytest.mark.req("RECALL-04")
def test_what_may_not_be_found_lends_nothing_to_its_neighbours() -> None:
    eligible = np.array([False, True, True, True])
    score, _ = fuse(signals(lexical=np.array([9.0, 0, 0, 0]), eligible=eligible, coherence=0.15))
    assert score[1] == score[2] == score[3]


@pytest.mark.req("RECALL-04")
def test_structure_counts_less_for_a_statement_and_never_without_bound() -> None:
    asked, stated = (w_structure(signals(asks=a, coherence=9.0), WEIGHTS) for a in (True, False))
    assert asked == WEIGHTS.coherence_most
    assert stated == WEIGHTS.coherence_most * WEIGHTS.stated_structure
    assert w_structure(signals(coherence=-1.0), WEIGHTS) == 0


@pytest.mark.req("RECALL-04")
def test_what_all_messages_have_in_common_counts_less_the_longer_the_log() -> None:
    dense, centred = np.array([0.9, 0.1, 0.1, 0.1]), np.array([0.1, 0.9, 0.1, 0.1])
    assert best(signals(dense=dense, centred=centred, rows=4)) == 0
    assert best(signals(dense=dense, centred=centred, rows=20_000)) == 1


@pytest.mark.req("RECALL-04")
@given(arrays(np.float64, 4, elements=st.floats(0, 100)), arrays(np.bool_, 4))
def test_scores_are_numbers_whatever_the_signals(lexical: np.ndarray[Any, Any], eligible: np.ndarray[Any, Any]) -> None:
    score, parts = fuse(signals(lexical=lexical, dense=lexical / 100, centred=lexical / 100, eligible=eligible, coherence=0.3))
    assert not np.isnan(score).any()
    assert all(np.isfinite(part).all() for part in parts.values())
    assert (np.isfinite(score) == eligible).all()
    assert np.isfinite(positive(lexical, eligible)).all()
    assert np.isfinite(standard(lexical, eligible)).all()
