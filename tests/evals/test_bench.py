"""The benches at small sizes: what they print, and made-up talk that is the same each time."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from keepline.evals import bench
from keepline.evals.bench.child import ChildFailed, beside, in_child
from keepline.evals.bench.speech import questions, sentences, talk
from keepline.evals.figures import mean, quantiles, rss_mb

pytestmark = pytest.mark.req("EVAL-10")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPLINE_HOME", str(tmp_path))
    monkeypatch.setenv("KEEPLINE_ENCODER", "none")


def all_skipped(peers: dict[str, Any]) -> bool:
    return bool(peers) and all("keepline[bench]" in peer["skipped"] for peer in peers.values())


def test_append_prints_its_quantiles_sizes_and_peers() -> None:
    found = bench.append(messages=20)
    assert found["messages"] == 20
    assert set(found["append_ms"]) == {"p50", "p95", "p99"}
    assert found["rss_mb"] > 10
    assert found["store_mb"] > 0
    assert find_spec("langgraph") or all_skipped(found["peers"])


def test_build_prints_figures_for_each_mode_and_budget() -> None:
    found = bench.build(messages=40, builds=2)
    assert (found["messages"], found["builds"]) == (40, 8)
    assert set(found["by"]) == {"hybrid 8000", "hybrid 32000", "auto 8000", "auto 32000"}
    assert set(found["build_ms"]) == {"p50", "p95", "p99"}
    assert find_spec("langchain_core") or all_skipped(found["peers"])


def test_recall_searches_in_a_process_of_its_own() -> None:
    found = bench.recall(memories=60, searches=3)
    assert (found["memories"], found["searches"]) == (60, 3)
    assert set(found["search_ms"]) == {"p50", "p95", "p99"}
    assert found["cold_ms"] > found["search_ms"]["p50"]
    assert find_spec("langgraph") or all_skipped(found["peers"])


def test_a_measurement_that_fails_says_why_and_a_peers_is_skipped() -> None:
    with pytest.raises(ChildFailed, match="nonsense"):
        in_child("building:fill", folder=".", nonsense=1)
    assert "nonsense" in beside({"peer": "building:fill"}, folder=".", messages=1, nonsense=1)["peer"]["skipped"]


def test_made_up_talk_is_the_same_each_time_and_memories_are_all_different() -> None:
    assert list(talk(50)) == list(talk(50))
    assert list(talk(50, seed=3)) != list(talk(50))
    assert [m["role"] for m in talk(4)] == ["user", "assistant", "user", "assistant"]
    assert len(set(sentences(2000))) == 2000
    assert len(set(questions(200))) == 200
    assert all(20 <= len(t) <= 200 or not t.isascii() for t in sentences(500))


def test_quantiles_and_means_are_those_of_the_values() -> None:
    assert quantiles([1.0, 2.0, 3.0, 4.0, 5.0], 50, 95) == {"p50": 3.0, "p95": 4.8}
    assert quantiles([], 50) == {}
    assert mean([1, 2]) == 1.5
    assert mean([]) is None
    assert rss_mb() > 1
