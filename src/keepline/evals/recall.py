"""Does recall find the turns that answer a question? Takes a conversation in as a user's sessions and asks the engine's search.

Judges ranked turns (`scores`); knows nothing of how they are ranked.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from keepline.engine import Engine
from keepline.evals.figures import Progress, quantiles, quiet
from keepline.evals.formats import Corpus, Question, corpora
from keepline.evals.ground import fresh
from keepline.evals.scores import KS, averages, score
from keepline.evals.talk import messages_of, time_of
from keepline.providers.tokenizers import counter
from keepline.testing.fakes import FrozenClock

BUDGETS = (500, 1000, 2000, 4000)
LEAST_TOKENS = 6
"""No turn with its line costs less: bounds how deep a ranking is asked for to fill a budget."""
DEEPEST = 500
"""Turns of a ranking that are looked at for the largest budget."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A question's category, its scores, and the milliseconds of a search for the first 20, the query's vector included."""

    category: str
    scores: dict[str, float]
    ms: float


def run(path: str | Path, *, budgets: Sequence[int] = BUDGETS, progress: Progress = quiet) -> dict[str, Any]:
    """Ask every question of `path` → the JSON of docs/reference/formats.md: scores over all questions and by category, search
    latency, turns taken in a second. `budgets` in tokens (cl100k_base). Raises `BadLine`, `BadMessage`."""
    found = corpora(path)
    total = sum(len(c.questions) for c in found)
    asked: list[Asked] = []
    seconds = 0.0
    for corpus in found:
        with fresh(clock=FrozenClock(_after(corpus))) as engine:
            reader, count = Reader(engine, corpus), cache(counter("cl100k_base").text)
            for question in sorted(corpus.questions, key=lambda q: _end(q, corpus)):
                reader.read(_end(question, corpus))
                asked.append(_ask(engine, corpus, question, budgets, count))
                progress(len(asked), total)
            seconds += reader.seconds
    by_category: dict[str, list[dict[str, float]]] = defaultdict(list)
    for one in asked:
        by_category[one.category].append(one.scores)
    turns = sum(len(c.turns) for c in found)
    return {
        "questions": len(asked),
        **averages([one.scores for one in asked]),
        "search_ms": quantiles([one.ms for one in asked], 50, 95),
        "ingest_turns_per_s": round(turns / seconds, 1) if seconds else None,
        "by_category": {c: {"questions": len(rows), **averages(rows)} for c, rows in sorted(by_category.items())},
    }


def _end(question: Question, corpus: Corpus) -> int:
    return len(corpus.turns) if question.before is None else question.before


def _after(corpus: Corpus) -> datetime:
    """A day after the corpus's last: a log takes nothing from the future."""
    dated = [at for t in corpus.turns if (at := time_of(t.date))]
    return max(dated, default=datetime(2026, 1, 1, tzinfo=UTC)) + timedelta(days=1)


class Reader:
    """Takes a corpus in, turn by turn in its order: a question with `before` is asked when the log is that long, so that it
    cannot see what comes later. `seconds` is the time it took, the index included."""

    def __init__(self, engine: Engine, corpus: Corpus) -> None:
        self._engine = engine
        self._corpus = corpus
        self._bodies = messages_of(corpus)
        self._at = 0
        self.seconds = 0.0

    def read(self, end: int) -> None:
        """Take in what is missing of the first `end` turns, and index it."""
        if end <= self._at:
            return
        started = time.perf_counter()
        turns = self._corpus.turns
        for session, group in groupby(range(self._at, end), key=lambda i: turns[i].session):
            part = list(group)
            self._engine.append(
                [self._bodies[i] for i in part], msg_id=[f"t{i}" for i in part], ts=[time_of(turns[i].date) for i in part],
                user="eval", session=session or "0",
            )
        self._at = end
        self._engine.search("?", k=1, user="eval")  # what is behind is indexed before a search
        self.seconds += time.perf_counter() - started


def _ask(
    engine: Engine, corpus: Corpus, question: Question, budgets: Sequence[int], count: Callable[[str], int]
) -> Asked:
    started = time.perf_counter()
    engine.search(question.question, k=max(KS), least=None, user="eval")
    ms = (time.perf_counter() - started) * 1000
    deep = min(DEEPEST, max(*KS, max(budgets, default=0) // LEAST_TOKENS), len(corpus.turns))
    hits = engine.search(question.question, k=deep, least=None, user="eval")
    ranked = [int(h.message.id[1:]) for h in hits]
    return Asked(category=question.category, scores=score(corpus, question, ranked, budgets, count), ms=ms)
