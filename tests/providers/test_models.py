"""Names of models: what is known of them, and what is honestly not."""

from __future__ import annotations

import sys

import pytest
import quicktok
import tiktoken.model

from keepline.errors import MissingExtra
from keepline.providers import vocabulary as vocabularies
from keepline.providers.models import MODELS, bare, find, largest_reply, window
from keepline.providers.tokenizers import counter

DATED = {p.removesuffix("-") + "-2026-01-01": e for p, e in tiktoken.model.MODEL_PREFIX_TO_ENCODING.items()}
NOT_CHAT = ("text-", "ft:davinci", "ft:babbage", "davinci", "babbage")
CHAT = {
    model: encoding
    for model, encoding in {**tiktoken.model.MODEL_TO_ENCODING, **DATED}.items()
    if encoding in ("cl100k_base", "o200k_base") and not model.startswith(NOT_CHAT)
}


@pytest.mark.req("TOKENS-08")
@pytest.mark.parametrize("model", sorted(CHAT))
def test_openai_models_have_the_vocabulary_of_tiktokens_own_table(model: str) -> None:
    row = find(model)
    assert row is not None
    assert row.family.vocabulary == CHAT[model]
    assert row.family.exact


@pytest.mark.req("TOKENS-08")
@pytest.mark.parametrize(
    ("model", "name", "size"),
    [
        ("openai/gpt-4o-2024-08-06", "o200k_base", 128_000),
        ("azure/gpt-4", "cl100k_base", 8_192),
        ("GPT-4.1", "o200k_base", 1_047_576),
        ("gpt-4.1-mini-2025-04-14", "o200k_base+patch1.62", 1_047_576),
        ("o3-mini", "o200k_base", 200_000),
        ("ft:gpt-4o-mini:acme::7", "o200k_base", 128_000),
        ("claude-3.5-sonnet", "estimate-claude", 200_000),
        ("openrouter/anthropic/claude-opus-4.7", "estimate-claude-4.7", 1_000_000),
        ("us.anthropic.claude-opus-4-20250514-v1:0", "estimate-claude", 200_000),
        ("gemini-2.5-pro", "estimate", 1_048_576),
        ("deepseek-chat", "estimate", 128_000),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama3", 131_072),
        ("Qwen/Qwen3-8B", "qwen3", 131_072),
        ("o100", "estimate", None),
        ("gpt-6-astra", "estimate", None),
        ("", "o200k_base", None),
    ],
)
def test_a_name_finds_its_family_and_window(model: str, name: str, size: int | None) -> None:
    assert counter(model).name == name
    assert window(model) == size


@pytest.mark.req("TOKENS-08")
def test_an_open_model_is_exact_where_its_package_is_installed_and_estimated_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    chinese = "我们下周三之前要把报销系统迁移到新的服务器上"
    assert (counter("qwen3").exact, counter("qwen3").text(chinese)) == (True, len(quicktok.get_encoding("qwen3").encode(chinese)))
    assert counter("llama-3.1").text("<|eot_id|> \ud83d") > 3
    vocabularies._loaded.pop("qwen3")
    monkeypatch.setattr(sys, "meta_path", [])
    monkeypatch.delitem(sys.modules, "quicktok")
    assert (counter("qwen3").name, counter("qwen3").exact) == ("estimate", False)
    with pytest.raises(MissingExtra, match="open-models"):
        vocabularies.vocabulary("qwen3")


@pytest.mark.req("TOKENS-08")
def test_only_an_estimate_asks_for_a_margin() -> None:
    assert (counter("gpt-4o").exact, counter("gpt-4o").margin_share) == (True, 0.0)
    assert (counter("claude-opus-5").exact, counter("claude-opus-5").margin_share) == (False, 0.1)


@pytest.mark.req("TOKENS-08")
def test_counters_of_one_name_give_the_same_figures() -> None:
    families = {row.family.name: row.family for row in MODELS.values()}
    assert all(row.family == families[row.family.name] for row in MODELS.values())
    assert all(counter(name).name == name for name in families)


@pytest.mark.req("TOKENS-08")
def test_every_row_is_a_bare_name_and_replies_fit_their_window() -> None:
    for name, row in MODELS.items():
        assert bare(name) == name
        assert row.output is None or (row.window is not None and row.output <= row.window)
    assert largest_reply("gpt-4o") == 16_384
    assert largest_reply("unheard-of") is None
