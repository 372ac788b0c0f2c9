"""What pictures, sound and files cost, by the providers' published rules. Knows headers of picture files, never their pixels.

Sources: OpenAI "Images and vision" (tiles of 512 px; patches of 32 px, at most 1,536) and "Audio" (one token per 100 ms of
a user's speech); Anthropic "Vision" (patches of 28 px) and "PDF support" (1,500–3,000 tokens of text a page, and the page as
a picture). Where a size cannot be known without fetching or decoding, the rule's largest figure stands in: a picture is
never free, and never costs by the length of its base64 text.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Size = tuple[int, int]
"""Width and height in pixels."""

HEAD = 65_536 * 4 // 3
"""Characters of base64 that are decoded to find a size: a JPEG may carry a 64 KB preview before it."""

PAGE = 3_000
"""Tokens of a page of a PDF, Anthropic's upper figure."""

PAGES_UNKNOWN, PAGES_MOST = 5, 100
"""Pages of a file that cannot be read here, and of one whose pages are many."""

AUDIO_SECOND = 10
"""Tokens of a second of speech (OpenAI: one per 100 ms)."""

AUDIO_UNKNOWN, AUDIO_MOST = 60, 3_600
"""Seconds of speech of unknown length, and of the longest."""

_HEADERS = {"wav": 32_000, "mp3": 16_000}
_SIDE_MOST = 100_000


class ImageRule(Protocol):
    """How one family of models prices a picture."""

    def cost(self, size: Size | None, detail: str) -> int:
        """Tokens of a picture of `size` (None: not known) seen in `detail` (low, high, auto)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tiles:
    """OpenAI, gpt-4o and its kin: `low` for the whole in small, `tile` for each 512 px square after scaling into 2048 × 2048
    and then to a short side of at most 768. Models that charge less (gpt-5: 70 and 140, o1 and o3: 75 and 150) are counted
    at these figures too, so that they share their stored counts."""

    low: int = 85
    tile: int = 170

    def cost(self, size: Size | None, detail: str) -> int:
        if detail == "low":
            return self.low
        width, height = size or (2048, 768)
        shrink = min(1.0, 2048 / max(width, height))
        shrink *= min(1.0, 768 / (min(width, height) * shrink))
        across, down = (math.ceil(round(side * shrink, 3) / 512) for side in (width, height))
        return self.low + self.tile * across * down


@dataclass(frozen=True, kw_only=True, slots=True)
class Patches:
    """OpenAI, mini, nano and newer models: 32 px patches, at most `most` after shrinking (`low`: the 256 of 512 × 512 px;
    `original`: 10,000), times a factor of the model."""

    factor: float
    most: int = 1_536

    def cost(self, size: Size | None, detail: str) -> int:
        most = {"low": 256, "original": 10_000}.get(detail, self.most)
        if size is None:
            return math.ceil(most * self.factor)
        width, height = size
        patches = math.ceil(width / 32) * math.ceil(height / 32)
        if patches > most:
            patches = self._shrunk(width, height, most)
        return math.ceil(patches * self.factor)

    @staticmethod
    def _shrunk(width: int, height: int, most: int) -> int:
        scale = math.sqrt(most * 32 * 32 / (width * height))
        across, down = width * scale / 32, height * scale / 32
        scale *= min(math.floor(across) / across, math.floor(down) / down) if min(across, down) >= 1 else 1
        return min(most, math.ceil(round(width * scale / 32, 3)) * math.ceil(round(height * scale / 32, 3)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Blocks:
    """Anthropic: 28 px blocks after shrinking to a long edge of `edge` px and at most `most` blocks."""

    edge: int = 1_568
    most: int = 1_568

    def cost(self, size: Size | None, detail: str) -> int:  # noqa: ARG002  # Claude has no levels of detail
        width, height = size or (self.edge, self.edge)
        shrink = min(1.0, self.edge / max(width, height))
        blocks = math.ceil(round(width * shrink / 28, 3)) * math.ceil(round(height * shrink / 28, 3))
        return max(1, min(self.most, blocks))


def picture_size(url: str) -> Size | None:
    """Width and height of the picture in a `data:` URL or bare base64 text, from its first bytes; None if not found."""
    if url.startswith(("http://", "https://", "file:", "gs:")):
        return None
    at = url.find(",", 0, 256) + 1 if url.startswith("data:") else 0
    return header_size(_decode(url, at))


def _decode(text: str, at: int) -> bytes:
    """The first bytes of base64 `text[at:]`; what is no base64 is skipped."""
    part = text[at : at + HEAD].encode("ascii", "ignore").translate(None, b" \r\n\t=")
    return b64decode(part[: len(part) // 4 * 4])


def header_size(head: bytes) -> Size | None:
    """Width and height by the first bytes of a PNG, GIF, WebP or JPEG file; None for others, and for absurd sizes."""
    size: Size | None = None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    elif head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        size = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP" and len(head) >= 30:
        size = _webp(head)
    elif head[:2] == b"\xff\xd8":
        size = _jpeg(head)
    return size if size and all(0 < side <= _SIDE_MOST for side in size) else None


def _webp(head: bytes) -> Size | None:
    kind = head[12:16]
    if kind == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return None


def _jpeg(head: bytes) -> Size | None:
    """By the first start-of-frame segment (ITU-T T.81, table B.1: C0–CF but C4, C8 and CC)."""
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        mark = head[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[at + 7 : at + 9], "big"), int.from_bytes(head[at + 5 : at + 7], "big")
        alone = mark in (0xFF, 0x01) or 0xD0 <= mark <= 0xD8  # fill byte, or a mark without a length
        at += (1 if mark == 0xFF else 2) if alone else 2 + max(2, int.from_bytes(head[at + 2 : at + 4], "big"))
    return None


def audio_cost(data: Any, kind: Any) -> int:
    """Tokens of recorded speech: base64 `data` of format `kind` (wav, else taken as 128 kbit/s), else of unknown length."""
    seconds = float(AUDIO_UNKNOWN)
    if isinstance(data, str) and data:
        head = _decode(data[:128], 0)
        rate = int.from_bytes(head[28:32], "little") if head[:4] == b"RIFF" and len(head) >= 32 else 0
        seconds = len(data) * 3 / 4 / (rate or _HEADERS.get(str(kind), 16_000))
    return math.ceil(min(max(seconds, 1.0), AUDIO_MOST) * AUDIO_SECOND)


_PDF_PAGE = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")


def file_cost(data: Any) -> int:
    """Tokens of a file: by its pages if it is a PDF in base64 that shows them in its first 48 KB, else of a usual length."""
    pages = 0
    if isinstance(data, str) and not data.startswith(("http://", "https://")):
        pages = len(_PDF_PAGE.findall(_decode(data, data.find(",", 0, 256) + 1 if data.startswith("data:") else 0)))
    return PAGE * min(max(pages, PAGES_UNKNOWN), PAGES_MOST)


def is_data(text: str) -> bool:
    """Whether a string is encoded bytes rather than words: a `data:` URL, or 256 or more characters of one base64 run."""
    encoded = text.startswith("data:") and ";base64," in text[:256]
    return encoded or (len(text) >= 256 and not _NOT_BASE64.search(text[:4_096]))


_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=_\r\n-]")


def detail_of(part: Mapping[str, Any]) -> str:
    """The level of detail that a part asks for: low, high, original or auto."""
    asked = part.get("detail")
    return asked if isinstance(asked, str) and asked in ("low", "high", "original") else "auto"
