"""Compaction: what the rounds leave, whoever writes the summaries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepline.errors import BadChoice
from keepline.evals import compaction

PLANTS = {
    "rule": ("From now on give me prices in Swiss francs first.", "Swiss francs first"),
    "number": ("My booking reference is KX-44712.", "KX-44712"),
    "negation": ("We never fly with Corvair after what happened.", "never fly with Corvair"),
    "hedge": ("We might move to Ghent in the spring, nothing is settled.", "might move to Ghent"),
}
TALE = "The harbour was dug in 1731 by hand, and the first ships brought salt, timber and wool from the north. " * 3


def scenario(**more: Any) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for n, (kind, (text, _)) in enumerate(PLANTS.items()):
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
        for i in range(5):
            ask = f"Tell me about harbour {n * 5 + i}, please, {kind} or not."
            messages += [{"role": "user", "content": ask}, {"role": "assistant", "content": TALE}]
    probes = [{"ask": "and now?", "must": [must], "kind": kind, "turn": 1} for kind, (_, must) in PLANTS.items()]
    budget = {"fraction": 0.2}
    return {"id": "c", "lang": "en", "messages": messages, "budget": budget, "tokenizer": "o200k_base", "probes": probes, **more}


@pytest.mark.req("EVAL-11")
@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("writer", ["extract", "copier", "liar"])
def test_what_was_said_survives_whoever_writes(write: Callable[..., Path], writer: str) -> None:
    found = compaction.run(write(scenario()), sizes=(0.3,), rounds=3, writer=writer)
    figures = found["by_size"]["0.3"]
    assert (figures["kept"], figures["probes"], figures["over_budget"]) == (4, 4, 0)
    assert figures["by_kind"] == {"hedge": "1/1", "negation": "1/1", "number": "1/1", "rule": "1/1"}
    assert (found["model_calls"] > 0) == (writer != "extract")


@pytest.mark.req("EVAL-11")
@pytest.mark.usefixtures("plain")
def test_a_window_without_pins_and_summary_loses_them_and_says_which(write: Callable[..., Path]) -> None:
    found = compaction.run(write(scenario()), sizes=(0.3,), rounds=2, mode="sliding", pins=False)
    assert found["by_size"]["0.3"]["kept"] < 4
    assert {m["kind"] for m in found["misses"]} <= set(PLANTS)


@pytest.mark.req("EVAL-11")
def test_stale_words_are_counted_and_an_unknown_writer_is_refused(write: Callable[..., Path]) -> None:
    stale = [{"text": "Swiss francs first", "ended_by": "never said"}]
    found = compaction.run(write(scenario(stale=stale)), sizes=(0.5,), rounds=1)
    assert (found["stale_of"], found["by_size"]["0.5"]["stale"]) == (1, 1)
    with pytest.raises(BadChoice, match="liar"):
        compaction.run(write(scenario()), writer="poet")
