"""Text to the terms that keyword recall matches: one folded form on both sides, right for Chinese and for mixed text.

Folding is NFKC and case folding; stored and shown text is never folded. Words are runs of letters and digits; scripts that
are written without spaces give every character and every pair of neighbours. Knows no index and no language.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import regex
from numpy.typing import NDArray

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_RUN = regex.compile(rf"([{_UNSPACED}]+)|((?:(?![{_UNSPACED}])[\p{{L}}\p{{M}}\p{{N}}])+)")
_MOST_CHARACTERS = 200_000
"""Characters of one piece that are looked at: pieces are far shorter, a query may not be."""


def folded(text: str) -> str:
    """The form in which text is compared: NFKC, case-folded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def holds(text: str, words: Iterable[str]) -> bool:
    """Whether each of `words` stands in `text` as it is written, letter for letter once both are folded."""
    wanted = [folded(word) for word in words]
    there = folded(text) if wanted else ""
    return all(word in there for word in wanted)


def terms(text: str, *, query: bool = False) -> list[str]:
    """The terms of `text` in order, repeats kept.

    A word of letters and digits is one term, in its stem. In unspaced scripts every pair of neighbours is a term, and every
    single character too; a `query` asks for single characters only where a run has just one (云 finds, 部署 is not 部 or 署).
    """
    found: list[str] = []
    for unspaced, word in _RUN.findall(folded(text[:_MOST_CHARACTERS])):
        if word:
            found.append(stem(word))
            continue
        if not query or len(unspaced) == 1:
            found.extend(unspaced)
        found.extend(unspaced[i : i + 2] for i in range(len(unspaced) - 1))
    return found


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """An English word without its plural, -ed, -ing or -ly ending; anything with a digit or too short stays.

    The S-stemmer of Harman, "How effective is suffixing?" (JASIS 1991), with its three plural rules, and three endings
    more that leave at least four letters.
    """
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        word = word[:-3] + "y"
    elif word.endswith("s") and not word.endswith(("us", "ss", "aes", "ees", "oes")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def term_ids(text: str, *, query: bool = False) -> tuple[NDArray[np.uint64], NDArray[np.uint16]]:
    """The terms of `text` as numbers: ids u64 (k,) sorted and unique, counts u16 (k,).

    An id is the first 8 bytes of the term's BLAKE2b digest: no vocabulary has to be kept, shared or erased.
    """
    counts: dict[int, int] = {}
    for term in terms(text, query=query):
        key = _id(term)
        counts[key] = counts.get(key, 0) + 1
    ids = np.fromiter(sorted(counts), dtype=np.uint64, count=len(counts))
    return ids, np.fromiter((min(counts[int(i)], 65_535) for i in ids), dtype=np.uint16, count=len(ids))


@lru_cache(maxsize=131_072)
def _id(term: str) -> int:
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")
