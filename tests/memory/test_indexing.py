"""From the log to the recall index: the view moves only with vectors, and words are found meanwhile."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hand import Hand, system, talk

from keepline.memory.indexing import WarmIndex, day_words, settle_recall
from keepline.memory.segment import term_ids
from keepline.ports.encoder import Embed
from keepline.ports.flow import run
from keepline.ports.store import GetIndex, GetSession, IndexRow, Read, SetPosition, Write
from keepline.ports.view import Find, Hit
from keepline.testing.fakes import HashEncoder
from keepline.values.session import RECALL

ENCODER = HashEncoder()


class Recall:
    """Drives the index of one hand's user; `up` says whether the encoder works."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.up = True
        self.asked = 0
        self.warm = WarmIndex()

    def _embed(self, need: Embed) -> Any:
        self.asked += 1
        return ENCODER.encode(need.texts) if self.up else None

    def drive(self, flow: Any) -> Any:
        return run(flow, {Read: self.hand.store.read, Write: self.hand.store.write, Embed: self._embed})

    def settle(self, session: str = "s", start: int = 0, limit: int = 256, *, dense: bool = True) -> tuple[int, bool]:
        return self.drive(settle_recall(self.hand.scope(session), start, limit, dense))

    def position(self, session: str = "s") -> int:
        return self.hand.store.read(Read((GetSession(self.hand.scope(session)),)))[0].positions.get(RECALL, 0)

    def rows(self) -> tuple[IndexRow, ...]:
        return self.hand.store.read(Read((GetIndex(self.hand.scope(None)),)))[0]

    def find(self, query: str, **more: Any) -> tuple[Hit, ...]:
        self.drive(self.warm.refresh(self.hand.scope(None)))
        vector = ENCODER.encode([query])[0] if self.up else None
        return self.warm.find(Find(scope=self.hand.scope(None), query=query, k=10, **more), vector)

    def seqs(self, query: str, **more: Any) -> list[int]:
        return [h.seq for h in self.find(query, **more)]


@pytest.fixture
def recall(hand: Hand) -> Iterator[Recall]:
    return Recall(hand)


@pytest.mark.req("RECALL-08")
def test_the_view_moves_when_rows_have_their_vectors(recall: Recall) -> None:
    recall.hand.append(talk("one", "two", "three"))
    assert recall.settle() == (3, True)
    assert recall.position() == 3
    assert [r.seq for r in recall.rows() if r.vector is not None] == [0, 1, 2]
    assert recall.settle() == (0, True)


@pytest.mark.req("RECALL-08")
def test_while_the_encoder_is_down_words_are_found_and_vectors_come_later(recall: Recall) -> None:
    recall.hand.append(talk("the boat is in Ghent", "部署完成"))
    recall.up = False
    assert recall.settle() == (2, False)
    assert recall.position() == 0
    assert recall.seqs("boat") == [0]
    assert recall.seqs("部署") == [1]
    recall.up = True
    assert recall.settle() == (2, True)
    assert recall.position() == 2
    assert all(r.vector is not None for r in recall.rows())
    (hit, *_) = recall.find("boats of Ghent")
    assert hit.seq == 0
    assert hit.scores["cosine"] > 0.2


@pytest.mark.req("RECALL-08")
def test_what_was_indexed_beyond_a_gap_does_not_move_the_view_past_it(recall: Recall) -> None:
    recall.hand.append(talk("one", "two", "three", "four"))
    recall.up = False
    assert recall.settle(limit=2) == (2, False)
    recall.up = True
    assert recall.settle(start=2) == (2, True)
    assert recall.position() == 0
    assert recall.settle() == (4, True)
    assert recall.position() == 4


@pytest.mark.req("RECALL-08")
def test_without_an_encoder_the_view_moves_on_words_alone(recall: Recall) -> None:
    recall.hand.append(talk("one", "two"))
    assert recall.settle(dense=False) == (2, True)
    assert recall.position() == 2
    assert recall.asked == 0


@pytest.mark.req("RECALL-08")
def test_messages_without_words_are_done_without_asking_the_encoder(recall: Recall) -> None:
    recall.up = False
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    silent = {"role": "assistant", "content": None, "tool_calls": [call]}
    recall.hand.append([system("Be brief."), {"role": "user", "content": " "}, silent])
    assert recall.settle() == (3, True)
    assert (recall.rows(), recall.asked) == ((), 0)


@pytest.mark.req("RECALL-08")
def test_a_settling_that_was_overtaken_never_moves_the_view_back(recall: Recall) -> None:
    recall.hand.append(talk(*(f"message {i}" for i in range(10))))
    late = settle_recall(recall.hand.scope(), 0, 4, True)
    recall.settle(limit=8)
    assert recall.drive(late) == (2, True)
    assert recall.position() == 10
    stale = settle_recall(recall.hand.scope(), 0, 4, True)
    assert recall.drive(stale) == (0, True)
    assert recall.position() == 10


@pytest.mark.req("RECALL-08")
def test_what_was_erased_is_not_indexed(recall: Recall) -> None:
    stored = recall.hand.append(talk("the boat", "the house"))
    recall.hand.blot(stored[0].id)
    assert recall.settle() == (2, True)
    assert recall.seqs("boat house") == [1]


LOG = [
    "今天把服务部署到云上，张总已经确认。", "cafe\u0301 au lait at nine", "订单号ＡＢ１２３，已付款！",
    unicodedata.normalize("NFD", "Tôi bị bệnh tim"),
    "用k8s部署三个节点(生产环境)", "Le rendez‑vous: “St. Pieters” — 18:30", "本当にありがとう", "部门负责签署合同",
]
FINDS = [
    ("部署", {0, 4}), ("张总", {0}), ("云", {0}), ("café", {1}), ("cafe\u0301", {1}), ("CAFÉ", {1}), ("AB123", {2}),
    ("ａｂ１２３", {2}),
    ("付款", {2}), ("bệnh", {3}), (unicodedata.normalize("NFD", "bệnh"), {3}), ("k8s", {4}),
    ("K8S 部署", {0, 4}), ("pieters", {5}), ("ありがとう", {6}),
    ("合同", {7}),
]  # fmt: skip


@pytest.fixture(scope="module")
def worded() -> Iterator[Recall]:
    """A log of many scripts, indexed by words alone."""
    from keepline import stores  # noqa: PLC0415  # SQLAlchemy loads only where a store is opened

    store = stores.open("sqlite://:memory:")
    recall = Recall(Hand(store))
    recall.up = False
    recall.hand.append([{"role": "user", "content": text} for text in LOG])
    recall.settle(dense=False)
    yield recall
    store.close()


@pytest.mark.req("RECALL-01")
@pytest.mark.parametrize(("query", "expected"), FINDS)
def test_words_of_every_script_are_found_with_no_encoder(worded: Recall, query: str, expected: set[int]) -> None:
    assert set(worded.seqs(query)) == expected


@pytest.mark.req("RECALL-01")
def test_the_span_of_a_hit_is_in_the_text_as_it_was_written(worded: Recall) -> None:
    (hit,) = worded.find("ＡＢ１２３")
    assert LOG[hit.seq][hit.start : hit.end] == LOG[2]


@pytest.mark.req("RECALL-01")
def test_a_day_finds_what_was_said_on_it(recall: Recall) -> None:
    recall.hand.append(talk("a", "b"), ts=["2026-05-03T10:00:00Z", "2026-06-30T10:00:00Z"])
    recall.settle(dense=False)
    recall.up = False
    assert recall.seqs("what was said in May") == [0]
    assert recall.seqs("6月30日")[0] == 1
    assert day_words(datetime(2026, 8, 3, tzinfo=UTC)) == "2026-08-03 3 August 2026 8月3日"


@pytest.mark.req("RECALL-07")
def test_every_keyword_must_occur(recall: Recall) -> None:
    recall.hand.append(talk("the boat in Ghent", "the boat in Bruges", "a house in Ghent"))
    recall.settle()
    assert recall.seqs("boat", keywords=("Ghent", "boat")) == [0]
    assert set(recall.seqs("anything at all", keywords=("ghent",))) == {0, 2}
    assert recall.seqs("boat", keywords=("zeppelin",)) == []


@pytest.mark.req("RECALL-05")
def test_a_warm_index_takes_what_was_written_since_and_starts_anew_when_rows_were_replaced(recall: Recall) -> None:
    recall.hand.append(talk("the boat"))
    recall.settle()
    assert recall.seqs("boat") == [0]
    recall.hand.append(talk("another boat"))
    recall.settle()
    assert sorted(recall.seqs("boat")) == [0, 1]
    recall.up = False
    recall.hand.append(talk("a third boat"))
    recall.settle(start=2)
    assert sorted(recall.seqs("boat")) == [0, 1, 2]
    recall.up = True
    recall.settle()
    fresh = Recall(recall.hand)
    assert [(h.seq, h.score) for h in recall.find("boat")] == [(h.seq, pytest.approx(h.score)) for h in fresh.find("boat")]


@pytest.mark.req("WARM-02")
def test_a_warm_index_forgets_what_was_erased_beside_it(recall: Recall) -> None:
    stored = recall.hand.append(talk("the boat", "the boathouse boat"))
    recall.settle()
    assert sorted(recall.seqs("boat")) == [0, 1]
    recall.hand.blot(stored[0].id)
    assert recall.seqs("boat") == [1]
    recall.hand.erase(None, None)
    assert recall.seqs("boat") == []


@pytest.mark.req("RECALL-05")
def test_another_persons_words_change_no_score(recall: Recall) -> None:
    recall.hand.append(talk("the boat in Ghent", "bread", "rain"))
    recall.settle()
    before = recall.find("boat in Ghent")
    other = Recall(Hand(recall.hand.store, "bob"))
    other.hand.append(talk(*("the boat in Ghent" for _ in range(50))))
    other.settle()
    again = Recall(recall.hand)
    assert again.find("boat in Ghent") == before
    assert len(other.find("boat")) == 10


@pytest.mark.req("RECALL-08")
def test_a_position_set_by_somebody_else_meanwhile_stops_the_write(recall: Recall) -> None:
    from keepline.errors import Moved  # noqa: PLC0415

    recall.hand.append(talk("one", "two"))
    flow = settle_recall(recall.hand.scope(), 0, 10, True)
    answers: dict[type, Any] = {
        Read: recall.hand.store.read, Write: recall.hand.store.write,
        Embed: lambda need: (
            recall.hand.store.write(Write((SetPosition(recall.hand.scope(), RECALL, 2),))), np.zeros((len(need.texts), 4)))[1],
    }  # fmt: skip
    with pytest.raises(Moved):
        run(flow, answers)
    assert recall.rows() == ()


@pytest.mark.req("RECALL-01")
def test_terms_are_kept_in_the_store_as_they_were_counted(recall: Recall) -> None:
    recall.hand.append(talk("boat boat Ghent"))
    recall.settle()
    (kept,) = recall.rows()
    ids, counts = term_ids("boat boat Ghent")
    have = dict(zip(kept.terms.tolist(), kept.counts.tolist(), strict=True))
    assert {i: have[i] for i in ids.tolist()} == dict(zip(ids.tolist(), counts.tolist(), strict=True))
