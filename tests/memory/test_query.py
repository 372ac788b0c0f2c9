"""What a query is: does it ask, and by which of its words is it matched."""

from __future__ import annotations

import numpy as np
import pytest

from keepline.memory.query import MOST_TERMS, asks, read_query
from keepline.memory.segment import term_ids

ASKS = ["Where do I live?", "where does the parcel go", "Tell me about Lima", "我住在哪", "你去过根特吗",
        "几点开会", "who", "Ok?", "怎么办"]
STATES = ["I miss the sea.", "My dog is ill", "我今天很累", "The island was lovely", "Whatever", "好吗啡", ""]


@pytest.mark.req("RECALL-03")
@pytest.mark.parametrize("text", ASKS)
def test_a_question_is_known(text: str) -> None:
    assert asks(text)
    assert read_query(text).asks


@pytest.mark.req("RECALL-03")
@pytest.mark.parametrize("text", STATES)
def test_a_statement_is_known(text: str) -> None:
    assert not asks(text)


@pytest.mark.req("RECALL-03")
@pytest.mark.parametrize(("text", "words"), [
    ("Where do I keep the passport", "keep passport"), ("我 的 护照 在 哪", "护照"), ("what is it", "what is it"), ("", ""),
])
def test_a_query_is_matched_by_its_words_without_function_words(text: str, words: str) -> None:
    assert set(read_query(text).ids.tolist()) == set(term_ids(words, query=True)[0].tolist())


@pytest.mark.req("RECALL-03")
def test_a_word_said_often_weighs_more_but_not_without_end() -> None:
    once, thrice, often = (read_query("boat " * n).weights[0] for n in (1, 3, 500))
    assert once == 1
    assert thrice == often == pytest.approx(np.sqrt(3))


@pytest.mark.req("RECALL-03")
def test_of_a_pasted_page_not_every_word_is_looked_up() -> None:
    query = read_query(" ".join(f"word{i}" for i in range(1000)))
    assert len(query.ids) == len(query.weights) == MOST_TERMS
