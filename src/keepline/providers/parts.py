"""What is inside a message and what each part of it costs. Knows the shapes of OpenAI and Anthropic, and no vocabulary.

Text is counted by the function that is given; pictures, sound and files by `keepline.providers.images`; never base64 as text.
Of a part that is not known its JSON text counts, without encoded data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from keepline.providers.definitions import DEPTH, as_json
from keepline.providers.images import ImageRule, audio_cost, detail_of, file_cost, is_data, picture_size

Count = Callable[[str], int]

CALL = 3
"""Tokens around each tool call or result, beside its name, id and arguments. Not published; a message's overhead."""

REDACTED = 500
"""Tokens of a block of encrypted thinking: its bytes say nothing of its length."""


def message_parts(body: Mapping[str, Any], count: Count, images: ImageRule) -> int:
    """Tokens of a message body without its own overhead: role, name, content, refusal, tool calls and their answers, sound.
    `count` gives the tokens of text. Never raises, whatever the values are."""
    total = sum(_text(body.get(key), count) for key in ("role", "name", "refusal", "tool_call_id", "reasoning_content"))
    total += _content(body.get("content"), count, images, 0)
    calls = body.get("tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        total += _call(call, count)
    if body.get("function_call"):
        total += _call({"function": body["function_call"]}, count)
    if isinstance(body.get("audio"), Mapping):
        total += audio_cost(body["audio"].get("data"), body["audio"].get("format"))
    return total


def _text(value: Any, count: Count) -> int:
    return count(value) if isinstance(value, str) and value else 0


def _content(content: Any, count: Count, images: ImageRule, depth: int) -> int:
    if content is None or isinstance(content, str):
        return _text(content, count)
    if isinstance(content, list | tuple) and depth < DEPTH:
        return sum(_part(part, count, images, depth) for part in content)
    return _other(content, count)


def _part(part: Any, count: Count, images: ImageRule, depth: int) -> int:
    if not isinstance(part, Mapping):
        return _content(part, count, images, depth + 1)
    kind = str(part.get("type", ""))
    if kind in ("text", "input_text", "output_text", "refusal"):
        return sum(_content(part.get(key), count, images, depth + 1) for key in ("text", "refusal"))
    if kind in ("image_url", "input_image", "image"):
        return _image(part, images)
    if kind == "input_audio":
        sound = part.get("input_audio")
        return audio_cost(sound.get("data"), sound.get("format")) if isinstance(sound, Mapping) else audio_cost(None, None)
    if kind in ("file", "input_file", "document"):
        return _file(part, count, images, depth)
    return _block(kind, part, count, images, depth)


def _block(kind: str, part: Mapping[str, Any], count: Count, images: ImageRule, depth: int) -> int:
    """A block of Anthropic's, or of nobody we know."""
    if kind == "tool_use":
        return CALL + _text(part.get("name"), count) + _other(part.get("input"), count)
    if kind == "tool_result":
        return CALL + _text(part.get("tool_use_id"), count) + _content(part.get("content"), count, images, depth + 1)
    if kind == "thinking":
        return _text(part.get("thinking"), count)  # its signature is proof, not prompt
    if kind == "redacted_thinking":
        return REDACTED
    return _other(part, count)


def _call(call: Any, count: Count) -> int:
    if not isinstance(call, Mapping):
        return CALL + _other(call, count)
    spec = call.get("function") or call.get("custom")
    if not isinstance(spec, Mapping):
        return CALL + _other(call, count)
    given = spec.get("arguments", spec.get("input"))
    return CALL + _text(spec.get("name"), count) + (_text(given, count) if isinstance(given, str) else _other(given, count))


def _image(part: Mapping[str, Any], images: ImageRule) -> int:
    """OpenAI `image_url` (object or bare URL), Responses `input_image`, Anthropic `image` with its `source`."""
    holder = part.get("image_url", part.get("source"))
    inner = holder if isinstance(holder, Mapping) else {"url": holder}
    url = inner.get("url") or inner.get("data")
    detail = detail_of(inner) if "detail" in inner else detail_of(part)
    return images.cost(picture_size(url) if isinstance(url, str) else None, detail)


def _file(part: Mapping[str, Any], count: Count, images: ImageRule, depth: int) -> int:
    """OpenAI `file`, Responses `input_file`, Anthropic `document`: text by its words, all else by its pages."""
    holder = part.get("file", part.get("source", part))
    inner = holder if isinstance(holder, Mapping) else {}
    data = inner.get("file_data", inner.get("data"))
    named = sum(_text(value, count) for value in (inner.get("filename"), part.get("title"), part.get("context")))
    if inner.get("type") == "text":
        return named + _text(data, count)
    if inner.get("type") == "content":
        return named + _content(inner.get("content"), count, images, depth + 1)
    return named + file_cost(data)


def _other(value: Any, count: Count) -> int:
    return 0 if value is None else count(as_json(_without_data(value, 0)))


def _without_data(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return "…" if is_data(value) else value
    if isinstance(value, Mapping) and depth < DEPTH:
        return {k: _without_data(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple) and depth < DEPTH:
        return [_without_data(v, depth + 1) for v in value]
    return value
