"""The evals' files as values, and the lines that are none."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepline.errors import BadLine, BadMessage
from keepline.evals import formats

PROBE = {"ask": "What can I drink?", "must": ["no milk"], "kind": "unmentioned", "turn": 1}
SCENARIO: dict[str, Any] = {
    "id": "s", "lang": "en", "messages": [{"role": "user", "content": "no milk please"}], "budget": {"fraction": 0.4},
    "tokenizer": "o200k_base", "probes": [PROBE],
}  # fmt: skip
TURN = {"id": "1", "speaker": "Ana", "session": "a", "date": "2024-05-01", "text": "The boiler is new"}
QUESTION = {"question": "What is new?", "gold": ["1"], "category": "single", "answer": None}
CORPUS: dict[str, Any] = {"name": "c", "lang": "en", "unit": "turn", "turns": [TURN], "questions": [QUESTION]}
CASE: dict[str, Any] = {"id": "x", "kind": "k", "steps": [{"op": "status"}], "expect": {"checks": [{"check": "no_exception"}]}}

pytestmark = pytest.mark.req("EVAL-01")


def without(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k != key}


def test_a_scenario_is_read_with_its_budget_probes_and_stale_words(write: Callable[..., Path]) -> None:
    stale = {"text": "no milk", "ended_by": "milk is fine now"}
    (first, second) = formats.scenarios(write(SCENARIO, {**SCENARIO, "budget": {"tokens": 900}, "stale": [stale]}))
    assert (first.fraction, first.tokens, first.stale) == (0.4, None, ())
    assert (second.fraction, second.tokens) == (None, 900)
    assert second.stale == (formats.Stale(text="no milk", ended_by="milk is fine now"),)
    assert first.probes[0] == formats.Probe(ask="What can I drink?", must=("no milk",), kind="unmentioned", turn=1)


def test_a_gzipped_corpus_reads_as_the_plain_one(write: Callable[..., Path]) -> None:
    plain = write(CORPUS)
    packed = plain.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert formats.corpora(packed) == formats.corpora(plain)


def test_an_answer_may_be_a_number_and_a_gold_may_be_a_session(write: Callable[..., Path]) -> None:
    question = {"question": "When?", "gold": [], "gold_sessions": ["a"], "before": 1, "category": "c", "answer": 2022}
    (corpus,) = formats.corpora(write({**CORPUS, "questions": [question]}))
    assert corpus.questions[0] == formats.Question(
        question="When?", gold=(), category="c", answer="2022", sessions=("a",), before=1
    )


def test_conversations_of_all_kinds_are_read_from_one_file(write: Callable[..., Path]) -> None:
    body = {"role": "user", "content": "hi"}
    corpus, chat, bare = formats.conversations(write(without(CORPUS, "questions"), {"messages": [body]}, [body]))
    assert isinstance(corpus, formats.Corpus)
    assert chat == bare == (body,)


@pytest.mark.parametrize(
    ("read", "line", "why"),
    [
        ("scenarios", without(SCENARIO, "messages"), "'messages' is missing"),
        ("scenarios", {**SCENARIO, "budget": {}}, "either 'fraction' or 'tokens'"),
        ("scenarios", {**SCENARIO, "budget": {"fraction": -1}}, "'fraction' must be a number above 0"),
        ("scenarios", {**SCENARIO, "budget": {"tokens": 0}}, "'tokens' must be a whole number above 0"),
        ("scenarios", {**SCENARIO, "tokenizer": "p50k_base"}, "'p50k_base' is not known"),
        ("scenarios", {**SCENARIO, "probes": [{**PROBE, "must": [" "]}]}, "'must' of a probe"),
        ("scenarios", {**SCENARIO, "messages": ["hi"]}, "messages[0] must be a message with a role"),
        ("corpora", {**CORPUS, "turns": [TURN, TURN]}, "the same 'id'"),
        ("corpora", {**CORPUS, "questions": [{**QUESTION, "gold": ["9"]}]}, "'9' of a question is the id of no turn"),
        ("corpora", {**CORPUS, "questions": [{**QUESTION, "before": 7}]}, "'before' is 7"),
        ("corpora", ["a list"], "list where an object with 'turns' should be"),
        ("cases", {**CASE, "steps": [{}]}, "'op' is missing"),
        ("cases", without(CASE, "expect"), "'expect' is missing"),
    ],
)
def test_a_line_that_does_not_fit_is_named_with_what_is_wrong(
    read: str, line: Any, why: str, write: Callable[..., Path]
) -> None:
    good = {"scenarios": SCENARIO, "corpora": CORPUS, "cases": CASE}[read]
    path = write(good, line)
    with pytest.raises(BadLine) as caught:
        getattr(formats, read)(path)
    assert caught.value.line == 2
    assert caught.value.file == str(path)
    assert why in caught.value.why


def test_a_truncated_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_text(json.dumps(SCENARIO) + "\n\n" + json.dumps(SCENARIO)[:40], encoding="utf-8")
    with pytest.raises(BadLine) as caught:
        formats.scenarios(path)
    assert caught.value.line == 3


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\xff\xfe{}"])
def test_a_file_without_lines_or_in_another_encoding_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(data)
    with pytest.raises(BadMessage, match=r"odd\.jsonl"):
        formats.cases(path)


def test_a_file_that_is_not_there_or_no_gzip_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.jsonl.gz").write_bytes(b"plain text")
    for name in ("absent.jsonl", "odd.jsonl.gz"):
        with pytest.raises(BadMessage, match="cannot be read"):
            formats.scenarios(tmp_path / name)
