"""Long text in pieces that an encoder reads whole: at most about 256 of its tokens, cut at sentence ends. Knows no encoder."""

from __future__ import annotations

import regex

from keepline.values.text import safe_cut

TOKENS = 256
CHARACTERS_A_TOKEN = 3.6
"""Of Latin text in a multilingual sentence-piece vocabulary; a Chinese character is priced at most of a token."""
TOKENS_A_CHINESE_CHARACTER = 0.8
MOST = 2_000_000
"""Characters of one message that are indexed; a longer one (a pasted file) is found by its beginning and its end."""

_END = regex.compile(r"[.!?。！？…]+[\"'”’」』)\]]*\s*|\n+")
_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")


def chunks(text: str) -> list[tuple[int, int]]:
    """Spans [start, end) of `text`, in order and without overlap, each about `TOKENS` encoder tokens or less.

    A cut falls behind a sentence end or line break in the second half of a piece, else at a grapheme boundary. Blank text
    has none. Of a text longer than `MOST` characters the middle is left out.
    """
    if len(text) > MOST:
        head, tail = safe_cut(text, MOST // 2), safe_cut(text, len(text) - MOST // 2)
        return _split(text, 0, head) + _split(text, tail, len(text))
    return _split(text, 0, len(text))


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    size = _characters(text[start : start + 4000])
    while end - start > size:
        cut = start + size
        ends = [m.end() for m in _END.finditer(text, start + size // 2, cut)]
        cut = ends[-1] if ends else max(safe_cut(text, cut), start + 1)
        spans.append((start, cut))
        start = cut
    spans.append((start, end))
    return [(a, b) for a, b in spans if text[a:b].strip()]


def _characters(sample: str) -> int:
    """How many characters of text like `sample` make `TOKENS` tokens."""
    wide = len(_WIDE.findall(sample)) / max(len(sample), 1)
    return int(TOKENS / (wide * TOKENS_A_CHINESE_CHARACTER + (1 - wide) / CHARACTERS_A_TOKEN))
