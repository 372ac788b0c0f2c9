"""Pictures, files and sound: the providers' own examples, and bounds for what cannot be seen."""

from __future__ import annotations

import struct
from base64 import b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepline.providers.images import Blocks, ImageRule, Patches, Tiles, header_size, picture_size
from keepline.providers.tokenizers import counter


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def jpeg(width: int, height: int) -> bytes:
    exif = b"\xff\xe1" + struct.pack(">H", 40_002) + b"\xff\xc0" * 20_000  # a preview that looks like frames
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3)
    return b"\xff\xd8" + exif + b"\xff\xff" + frame[1:] + bytes(9)


def webp(width: int, height: int) -> bytes:
    sides = b"".join((side - 1).to_bytes(3, "little") for side in (width, height))
    return b"RIFF\0\0\0\0WEBPVP8X" + struct.pack("<I4x", 10) + sides


def webp_lossy(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8 " + bytes(7) + b"\x9d\x01\x2a" + struct.pack("<HH", width, height)


def webp_lossless(width: int, height: int) -> bytes:
    return b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14) + bytes(5)


def url(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(data).decode()}"


def said(part: dict[str, object], model: str = "gpt-4o") -> int:
    """What a part adds to a message."""
    count = counter(model)
    return count.message({"role": "user", "content": [part]}) - count.message({"role": "user", "content": []})


@pytest.mark.req("TOKENS-07")
@pytest.mark.parametrize("make", [png, gif, jpeg, webp, webp_lossy, webp_lossless])
@settings(max_examples=30, deadline=None)
@given(width=st.integers(1, 16_000), height=st.integers(1, 16_000))
def test_every_format_tells_its_size(make: object, width: int, height: int) -> None:
    assert callable(make)
    assert header_size(make(width, height)) == (width, height)
    assert picture_size(url(make(width, height))) == (width, height)


@pytest.mark.req("TOKENS-07")
@pytest.mark.parametrize(
    ("rule", "size", "detail", "tokens"),
    [
        (Tiles(), (1024, 1024), "high", 765),
        (Tiles(), (2048, 4096), "high", 1105),
        (Tiles(), (4096, 8192), "low", 85),
        (Tiles(), (512, 512), "auto", 255),
        (Patches(factor=1.0), (1024, 1024), "auto", 1024),
        (Patches(factor=1.0), (1800, 2400), "auto", 1452),
        (Patches(factor=1.62), (1024, 1024), "auto", 1659),
        (Blocks(), (1092, 1092), "auto", 1521),
        (Blocks(), (200, 200), "auto", 64),
    ],
)
def test_the_providers_examples(rule: ImageRule, size: tuple[int, int], detail: str, tokens: int) -> None:
    assert rule.cost(size, detail) == tokens


@pytest.mark.req("TOKENS-07")
@pytest.mark.parametrize(
    "rule", [Tiles(), Patches(factor=2.46), Patches(factor=1.2, most=2_500), Blocks(), Blocks(edge=2_576, most=4_784)]
)
@settings(max_examples=200, deadline=None)
@given(width=st.integers(1, 100_000), height=st.integers(1, 100_000))
def test_no_size_costs_more_than_the_unknown_one_and_none_is_free(rule: ImageRule, width: int, height: int) -> None:
    assert 0 < rule.cost((width, height), "auto") <= rule.cost(None, "auto")


@pytest.mark.req("TOKENS-07")
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4.1-mini", "claude-sonnet-4-5", "unknown"])
def test_a_picture_does_not_cost_by_its_bytes(model: str) -> None:
    costs = [
        said({"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * n}}, model)
        for n in (100, 70_000)
    ]
    assert costs[0] == costs[1]
    assert 0 < costs[0] < 5_000


@pytest.mark.req("TOKENS-07")
def test_all_shapes_of_a_picture_part_are_priced_alike() -> None:
    data = url(png(1024, 1024))
    bare = data.partition(",")[2]
    assert said({"type": "image_url", "image_url": {"url": data}}) == 765
    assert said({"type": "image_url", "image_url": data}) == 765
    assert said({"type": "input_image", "image_url": data, "detail": "low"}) == 85
    assert said({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": bare}}) == 765
    assert said({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}) == Tiles().cost(None, "auto")
    inside = [{"type": "image", "source": {"type": "base64", "data": bare}}]
    assert said({"type": "tool_result", "tool_use_id": "", "content": inside}) == 765 + 3


@pytest.mark.req("TOKENS-07")
def test_files_cost_by_pages_and_sound_by_seconds() -> None:
    book = b"%PDF-1.4\n" + b"<< /Type /Page >>\n" * 12 + b"<< /Type /Pages >>"
    assert said({"type": "file", "file": {"file_data": url(book, "application/pdf")}}) == 36_000
    assert said({"type": "file", "file": {"file_id": "file-1"}}) == 15_000
    huge = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x" * 2_000_000}
    assert said({"type": "document", "source": huge}) == 15_000
    wav = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16_000, 32_000, 2, 16) + bytes(320_000)
    ten_seconds = {"data": b64encode(wav).decode(), "format": "wav"}
    assert said({"type": "input_audio", "input_audio": ten_seconds}) == pytest.approx(100, abs=1)
    assert said({"type": "input_audio", "input_audio": {"data": "AAAA" * 30_000_000, "format": "mp3"}}) == 36_000


@pytest.mark.req("TOKENS-07")
def test_encoded_data_in_an_unknown_part_is_not_counted_as_words() -> None:
    part = {"type": "video", "video": {"mime": "video/mp4", "data": "AAECAwQF" * 100_000, "url": "data:video/mp4;base64,AAEC"}}
    assert 0 < said(part) < 60
