"""What is known of models by name: vocabulary, window, largest reply, price of pictures. Knows no counting.

A name is matched by its longest prefix here, after its route (`openai/`, `azure/`, `bedrock/anthropic.` …) is taken off.
Vocabularies of OpenAI's models are those of tiktoken's own table; windows are those of the providers' model pages as of
November 2026. What is not here has no window and is counted by estimate: better than a wrong figure that looks exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from keepline.providers.images import Blocks, ImageRule, Patches, Tiles

K, M = 1_000, 1_000_000
_TILES = Tiles()


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """How a family of models counts.

    `name` identifies the figures: counts of one name are comparable. `vocabulary` is what is counted with; its figures are
    the provider's own if `exact`, else multiplied by `plain`, or by `cjk` for the share of Chinese, Japanese and Korean
    characters. `message`: tokens around each message. `function`: tokens that begin each tool definition by OpenAI's rule;
    None where the model reads definitions as JSON. `tools_extra`: tokens of any tools at all beside their definitions.
    """

    name: str
    vocabulary: str = "o200k_base"
    exact: bool = True
    plain: float = 1.0
    cjk: float = 1.0
    images: ImageRule = _TILES
    message: int = 3
    function: int | None = None
    tools_extra: int = 0


def _patched(factor: float, most: int = 1_536) -> Family:
    return Family(name=f"o200k_base+patch{factor:g}", images=Patches(factor=factor, most=most), function=7)


O200K = Family(name="o200k_base", function=7)
CL100K = Family(name="cl100k_base", vocabulary="cl100k_base", function=10)
# By the chat templates in the models' own repositories: begin, role, end of role, end of message; tools as JSON in the system
# text, with some 150 tokens of instructions.
QWEN3 = Family(name="qwen3", vocabulary="qwen3", message=4, tools_extra=150)
LLAMA3 = Family(name="llama3", vocabulary="llama3", message=4, tools_extra=150)
UNKNOWN = Family(name="estimate", exact=False, cjk=1.3)
# 530: the largest of Anthropic's published tool-use preambles ("Tool use pricing and tokens").
CLAUDE = Family(name="estimate-claude", exact=False, cjk=1.3, images=Blocks(), tools_extra=530)
# From Opus 4.7 on Claude has another vocabulary: up to 1.35 times the tokens for the same text (Anthropic's migration guide).
CLAUDE_NEW = Family(
    name="estimate-claude-4.7", exact=False, plain=1.35, cjk=1.35,
    images=Blocks(edge=2_576, most=4_784), tools_extra=530,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Model:
    """A row: how it counts, its window and its largest reply in tokens (None: not known)."""

    family: Family
    window: int | None = None
    output: int | None = None


_CLAUDE_200, _CLAUDE_1M = Model(CLAUDE, 200 * K, 64 * K), Model(CLAUDE, 1 * M, 128 * K)
_NEW_200, _NEW_1M = Model(CLAUDE_NEW, 200 * K, 64 * K), Model(CLAUDE_NEW, 1 * M, 128 * K)

MODELS: dict[str, Model] = {
    # OpenAI
    "gpt-3.5": Model(CL100K, 16_385, 4_096),
    "gpt-35": Model(CL100K, 16_385, 4_096),
    "gpt-4": Model(CL100K, 8_192, 8_192),
    "gpt-4-32k": Model(CL100K, 32_768, 8_192),
    "gpt-4-turbo": Model(CL100K, 128 * K, 4_096),
    "gpt-4-1106": Model(CL100K, 128 * K, 4_096),
    "gpt-4-0125": Model(CL100K, 128 * K, 4_096),
    "gpt-4-vision": Model(CL100K, 128 * K, 4_096),
    "gpt-4o": Model(O200K, 128 * K, 16_384),
    "chatgpt-4o": Model(O200K, 128 * K, 16_384),
    "gpt-4.1": Model(O200K, 1_047_576, 32_768),
    "gpt-4.1-mini": Model(_patched(1.62), 1_047_576, 32_768),
    "gpt-4.1-nano": Model(_patched(2.46), 1_047_576, 32_768),
    "gpt-4.5": Model(O200K, 128 * K, 16_384),
    "gpt-5": Model(O200K, 400 * K, 128 * K),
    "gpt-5-chat": Model(O200K, 128 * K, 16_384),
    "gpt-5.1-chat": Model(O200K, 128 * K, 16_384),
    "gpt-5.2-chat": Model(O200K, 128 * K, 16_384),
    "gpt-5-mini": Model(_patched(1.62), 400 * K, 128 * K),
    "gpt-5-nano": Model(_patched(2.46), 400 * K, 128 * K),
    "gpt-5.4": Model(_patched(1.2, 2_500), 1_050_000, 128 * K),
    "gpt-5.4-mini": Model(_patched(1.62), 400 * K, 128 * K),
    "gpt-5.4-nano": Model(_patched(2.46), 400 * K, 128 * K),
    "gpt-5.5": Model(_patched(1.2, 2_500), 1_050_000, 128 * K),
    "gpt-5.6": Model(_patched(1.2, 2_500), 1_050_000, 128 * K),
    "gpt-oss": Model(O200K, 131_072, 131_072),
    "o1": Model(O200K, 200 * K, 100 * K),
    "o1-mini": Model(O200K, 128 * K, 65_536),
    "o1-preview": Model(O200K, 128 * K, 32_768),
    "o3": Model(O200K, 200 * K, 100 * K),
    "o4-mini": Model(_patched(1.72), 200 * K, 100 * K),
    # Anthropic
    "claude": Model(CLAUDE_NEW),
    "claude-2": Model(CLAUDE, 200 * K, 4_096),
    "claude-3": Model(CLAUDE, 200 * K, 4_096),
    "claude-3-5": Model(CLAUDE, 200 * K, 8_192),
    "claude-3-7": _CLAUDE_200,
    "claude-sonnet-4": _CLAUDE_200,
    "claude-sonnet-4-6": _CLAUDE_1M,
    "claude-opus-4": Model(CLAUDE, 200 * K, 32 * K),
    "claude-opus-4-5": _CLAUDE_200,
    "claude-opus-4-6": _CLAUDE_1M,
    "claude-opus-4-7": _NEW_1M,
    "claude-opus-4-8": _NEW_1M,
    "claude-haiku-4": _CLAUDE_200,
    "claude-opus-5": _NEW_1M,
    "claude-sonnet-5": _NEW_1M,
    "claude-fable-5": _NEW_1M,
    # Open models, exact where `quicktok` is installed, else estimated
    "qwen2": Model(QWEN3, 32_768, 8_192),
    "qwen2.5": Model(QWEN3, 131_072, 8_192),
    "qwen3": Model(QWEN3, 131_072, 32_768),
    "llama-3": Model(LLAMA3, 8_192),
    "llama-3.1": Model(LLAMA3, 131_072),
    "llama-3.2": Model(LLAMA3, 131_072),
    "llama-3.3": Model(LLAMA3, 131_072),
    "meta-llama-3": Model(LLAMA3, 8_192),
    "meta-llama-3.1": Model(LLAMA3, 131_072),
    # Others: no vocabulary of theirs is to be had
    "gemini": Model(UNKNOWN, 1_048_576, 65_536),
    "gemini-1.5-pro": Model(UNKNOWN, 2_097_152, 8_192),
    "gemini-1.5-flash": Model(UNKNOWN, 1_048_576, 8_192),
    "gemini-2.0": Model(UNKNOWN, 1_048_576, 8_192),
    "deepseek": Model(UNKNOWN, 128 * K, 8_192),
    "mistral": Model(UNKNOWN, 32_768),
    "mistral-large": Model(UNKNOWN, 131_072),
    "mistral-small": Model(UNKNOWN, 131_072),
}

FAMILIES = {family.name: family for family in (UNKNOWN, *(row.family for row in MODELS.values()))}

_ROUTE = re.compile(r"^(?:.*/)?(?:ft:)?(?:(?:[a-z]{2,6}\.)?anthropic\.)?")


def bare(model: str) -> str:
    """A model's own name: lower case, without route, region and fine-tuning mark."""
    return _ROUTE.sub("", model.strip().lower(), count=1)


def find(model: str) -> Model | None:
    """The row of the longest prefix of `model`, or None. A prefix ends at a separator: `o1` is not the start of `o100`."""
    name = bare(model)
    if name.startswith("claude"):
        name = name.replace(".", "-")  # some routers write claude-opus-4.7
    while name:
        if name in MODELS:
            return MODELS[name]
        cut = max(name.rfind(mark) for mark in "-.:@_")
        name = name[: max(cut, 0)]
    return None


def window(model: str) -> int | None:
    """The window of a model in tokens, input and output together; None when it is not known."""
    row = find(model)
    return row.window if row else None


def largest_reply(model: str) -> int | None:
    """The most tokens that a model writes in one reply; None when that is not known."""
    row = find(model)
    return row.output if row else None
