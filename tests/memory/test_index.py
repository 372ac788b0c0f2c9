"""The warm recall index: grown or built at once it answers the same, within what may be found, from the owner's own figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexed import filled, found, row, seqs, unit

from keepline.memory.fuse import Signals, fuse
from keepline.memory.index import RecallIndex
from keepline.memory.segment import term_ids
from keepline.ports.store import IndexRow
from keepline.testing.fakes import HashEncoder

WORDS = ["boat", "house", "garden", "部署", "张总", "Ghent", "invoice", "cat", "rain",
         "云", "music", "doctor", "train", "合同", "bread"]
ENCODER = HashEncoder(32)


def said(text: str) -> np.ndarray[Any, Any]:
    return ENCODER.encode([text])[0]


def history(n: int, seed: int = 0, *, bare: float = 0.2) -> list[IndexRow]:
    """`n` messages of three sessions in turn, a fifth of them without vectors, every fourth of two chunks."""
    rng = np.random.default_rng(seed)
    rows: list[IndexRow] = []
    for i in range(n):
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(1 + (i % 4 == 0))]
        bared = rng.random() < bare
        for chunk, text in enumerate(texts):
            rows.append(row(i // 3, text, None if bared else said(text), number=i % 3, chunk=chunk, start=100 * chunk,
                            role="assistant" if i % 2 else "user"))  # fmt: skip
    return rows


def shown(index: RecallIndex, query: str, **more: Any) -> list[tuple[Any, ...]]:
    return [
        (r.number, r.seq, r.start, r.end, r.matched)
        for r in found(index, query, said(query), k=5, **more)
    ]


@pytest.mark.req("RECALL-05")
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 90), st.integers(0, 1000), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_an_index_that_grew_answers_as_one_built_at_once(n: int, seed: int, steps: list[int]) -> None:
    rows = history(n, seed)
    whole, grown = filled(*rows), RecallIndex()
    at, turn = 0, 0
    while at < len(rows):
        end = at + steps[turn % len(steps)]
        while end < len(rows) and rows[end].chunk:  # all chunks of a message come together
            end += 1
        grown.add(rows[at:end])
        at, turn = end, turn + 1
    assert len(grown) == len(whole) == n
    assert grown.coherence == pytest.approx(whole.coherence, abs=1e-6)
    for query in ("the boat in Ghent?", "云 部署", "bread and music"):
        assert shown(grown, query) == shown(whole, query)
        scores = [[r.score for r in found(i, query, said(query))] for i in (grown, whole)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)


@pytest.mark.req("RECALL-05")
def test_nothing_is_found_in_nothing() -> None:
    assert found(RecallIndex(), "boat", said("boat")) == []
    index = filled(*history(9))
    assert found(index, "boat", said("boat"), k=0) == []
    assert found(index, "boat", said("boat"), eligible=np.zeros(9, dtype=bool)) == []
    assert found(index, "zeppelin") == []


@pytest.mark.req("RECALL-05")
def test_only_what_may_be_found_is_found() -> None:
    index = filled(*history(30))
    mask = index.eligible([(1, 2, 7), (2, 0, 1)], frozenset({4}))
    assert mask.sum() == 5
    places = {(r.number, r.seq) for r in found(index, "boat house garden", said("boat"), k=100, eligible=mask)}
    assert places <= {(1, 2), (1, 3), (1, 5), (1, 6), (2, 0)}
    assert len(places) == 5


@pytest.mark.req("RECALL-05")
def test_a_message_has_a_word_if_any_of_its_chunks_has_it() -> None:
    index = filled(row(0, "boat house"), row(1, "garden"), row(1, "boat", chunk=1, start=50), row(2, "house"))
    boat, garden = (int(term_ids(w)[0][0]) for w in ("boat", "garden"))
    assert index.having([boat]).tolist() == [True, True, False]
    assert index.having([boat, garden]).tolist() == [False, True, False]
    assert index.having([]).all()
    assert not index.having([int(term_ids("zeppelin")[0][0])]).any()


@pytest.mark.req("RECALL-05")
def test_of_a_long_message_the_chunk_that_answers_is_shown() -> None:
    texts = ("the garden", "the boat in Ghent", "some bread")
    long = [row(0, t, said(t), chunk=c, start=100 * c) for c, t in enumerate(texts)]
    index = filled(*long, *(row(s, t, said(t)) for s, t in enumerate(("rain", "music", "cat"), 1)))
    (best, *_) = found(index, "boat in Ghent", said("boat in Ghent"))
    assert (best.seq, best.start, best.end) == (0, 100, 117)
    assert seqs(found(index, "boat in Ghent", said("boat in Ghent"))).count(0) == 1


@pytest.mark.req("RECALL-08")
def test_rows_without_vectors_are_found_by_their_words_among_rows_that_have_some() -> None:
    index = filled(row(0, "the boat"), *(row(s, f"bread {s}", said(f"bread {s}")) for s in range(1, 30)), row(30, "张总"))
    for query, seq in (("where is the boat?", 0), ("张总在哪？", 30)):
        (only,) = found(index, query, said(query), least=0.9)
        assert (only.seq, only.matched, only.cosine) == (seq, True, None)
        assert seq in seqs(found(index, query, said(query)))


@pytest.mark.req("RECALL-08")
def test_without_any_vector_only_messages_with_a_word_of_the_query_are_found() -> None:
    index = filled(row(0, "the boat"), row(1, "bread"), row(2, "a boat house"))
    assert set(seqs(found(index, "boat", said("boat")))) == {0, 2}
    assert set(seqs(found(index, "boat"))) == {0, 2}


@pytest.mark.req("RECALL-08")
def test_vectors_may_come_when_the_index_has_rows_already() -> None:
    index = filled(*(row(s, w) for s, w in enumerate(WORDS)))
    index.add([row(50, "an ocean", said("an ocean"))])
    assert seqs(found(index, "an oceans", said("an oceans"), least=0.5))[0] == 50


@pytest.mark.req("RECALL-06")
def test_vectors_in_bytes_rank_as_the_full_ones_do() -> None:
    rng = np.random.default_rng(7)
    n, dim = 1500, 256
    vectors = rng.normal(size=(n, dim)) + 0.6 * rng.normal(size=dim)  # with a direction in common, as encoders have
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    index = filled(*(row(i, "", v, number=i) for i, v in enumerate(vectors)))
    mean = vectors.mean(axis=0)
    kept = []
    for query in rng.normal(size=(40, dim)) + 0.6 * vectors[:40] * np.sqrt(dim):
        q = query / np.linalg.norm(query)
        a, b = vectors - mean, q - mean
        centred = a @ b / np.linalg.norm(a, axis=1) / np.linalg.norm(b)
        exact, _ = fuse(Signals(
            asks=False, rows=n, coherence=0, mean_length=0, lexical=np.zeros(n), session=np.zeros(n),
            own=np.zeros(n, dtype=bool), eligible=np.ones(n, dtype=bool), before=np.full(n, n), after=np.full(n, n),
            dense=vectors @ q, centred=centred,
        ))  # fmt: skip
        got = [r.number for r in found(index, "", q.astype(np.float32))]
        kept.append(len(set(got) & set(np.argsort(-exact)[:10].tolist())))
    assert np.mean(kept) >= 9.5
    assert min(kept) >= 8


@pytest.mark.req("RECALL-07")
def test_below_the_floor_nothing_is_found_without_a_word_of_the_query() -> None:
    near, far = unit(0.6, 0.8, 0), unit(1, 0, 0)
    index = filled(row(0, "France", far), row(1, "Lima", near), row(2, "Peru", unit(0, 0, 1)), row(3, "none"))
    query = unit(0, 1, 0)
    assert set(seqs(found(index, "Peru", query))) == {0, 1, 2, 3}
    assert set(seqs(found(index, "Peru", query, least=0.3))) == {1, 2}
    assert set(seqs(found(index, "Peru", query, least=0.9))) == {2}


@pytest.mark.req("RECALL-04")
def test_the_signals_of_a_hit_are_named() -> None:
    best = found(filled(*history(60)), "boat in Ghent?", said("boat in Ghent?"))[0]
    assert {"words", "meaning"} <= set(best.parts)
    assert best.score == pytest.approx(sum(best.parts.values()), abs=0.01)


@pytest.mark.req("RECALL-04")
def test_how_alike_neighbours_are_is_measured_from_the_messages_themselves() -> None:
    index = filled(row(0, "a", unit(1, 0)), row(1, "b", unit(1, 1)), row(2, "c"), row(3, "d", unit(0, 1)))
    assert index.likeness([(0, 0), (0, 1)]) == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert index.likeness([(0, 0), (0, 1), (0, 2), (0, 3)]) == pytest.approx(np.sqrt(0.5), abs=0.01)
    assert index.likeness([(0, 0), (0, 2)]) is None
    assert index.likeness([(0, 9), (5, 0)]) is None


@pytest.mark.req("RECALL-04")
def test_conversations_are_coherent_and_heaps_of_notes_are_not() -> None:
    rng = np.random.default_rng(1)
    heap = filled(*(row(i, "x", unit(*rng.normal(size=64))) for i in range(300)))
    drift = np.cumsum(rng.normal(size=(300, 64)) * (np.arange(300) % 5 == 0)[:, None], axis=0) + rng.normal(size=(300, 64)) * 0.5
    talk = filled(*(row(i, "x", unit(*v)) for i, v in enumerate(drift)))
    assert abs(heap.coherence) < 0.05
    assert talk.coherence > 0.15
    assert filled(row(0, "x", unit(1, 0))).coherence == 0
