"""OpenAI chat messages as other providers' calls want them. Pure; what a dialect cannot say is left out, nothing is invented.

After Anthropic's Messages API and OpenAI's Responses API as of November 2026. Anthropic's own blocks pass through untouched.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepline.values.message import content_text

Body = Mapping[str, Any]
_DATA = re.compile(r"^data:(?P<type>[\w.+-]+/[\w.+-]+);base64,(?P<data>.*)$", re.DOTALL)
_INSTRUCTS = ("system", "developer")


def to_anthropic(messages: Sequence[Body]) -> dict[str, Any]:
    """`{"system", "messages"}` for `client.messages.create(**…)`: system text apart, results of tools as blocks of the user's
    message that follows their call, neighbours of one role as one message. `system` is absent when there is none."""
    system = [b for m in messages if m.get("role") in _INSTRUCTS for b in _anthropic_blocks(m)]
    turns: list[dict[str, Any]] = []
    for m in messages:
        if m.get("role") in _INSTRUCTS:
            continue
        role = "assistant" if m.get("role") == "assistant" else "user"
        if isinstance(m.get("content"), str) and m.get("content") and not m.get("tool_calls") and m.get("role") != "tool":
            content: Any = m["content"]
        else:
            content = list(_anthropic_blocks(m))
        if not content:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = _as_blocks(turns[-1]["content"]) + _as_blocks(content)
        else:
            turns.append({"role": role, "content": content})
    if not system:
        return {"messages": turns}
    plain = all(set(b) == {"type", "text"} for b in system)
    return {"system": "\n\n".join(b["text"] for b in system) if plain else system, "messages": turns}


def to_responses(messages: Sequence[Body]) -> dict[str, Any]:
    """`{"instructions", "input"}` for `client.responses.create(**…)`: the leading system text as instructions (absent when there
    is none), calls and results of tools as items of their own. Signed `thinking` is only Anthropic's and is left out."""
    rest = list(messages)
    lead: list[str] = []
    while rest and rest[0].get("role") in _INSTRUCTS:
        lead.append(content_text(rest.pop(0).get("content")))
    items = [item for m in rest for item in _response_items(m)]
    return {"instructions": "\n\n".join(lead), "input": items} if lead else {"input": items}


# ---------------------------------------------------------------- Anthropic


def _as_blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _anthropic_blocks(m: Body) -> Iterator[dict[str, Any]]:
    if m.get("role") == "tool":
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": m.get("tool_call_id", "")}
        content = m.get("content")
        result["content"] = content if isinstance(content, str) else list(map(_anthropic_part, content or ()))
        yield {**result, "is_error": True} if m.get("is_error") else result
        return
    content = m.get("content")
    for part in _as_blocks(content) if content else []:
        block = _anthropic_part(part if isinstance(part, Mapping) else {"type": "text", "text": str(part)})
        if block.get("type") != "text" or block.get("text"):
            yield block
    for call in m.get("tool_calls") or ():
        function = call.get("function") or {}
        yield {"type": "tool_use", "id": call.get("id", ""), "name": function.get("name", ""), "input": _arguments(function)}


def _anthropic_part(part: Body) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "image_url":
        url = part["image_url"].get("url", "") if isinstance(part.get("image_url"), Mapping) else str(part.get("image_url"))
        return {"type": "image", "source": _source(url)}
    if kind == "file" and isinstance(part.get("file"), Mapping):
        file = part["file"]
        source = {"type": "file", "file_id": file["file_id"]} if file.get("file_id") else _source(str(file.get("file_data", "")))
        return {"type": "document", "source": source} | ({"title": file["filename"]} if file.get("filename") else {})
    return copy.deepcopy(dict(part))


def _source(url: str) -> dict[str, Any]:
    data = _DATA.match(url)
    if data is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": data["type"], "data": data["data"]}


def _arguments(function: Body) -> Any:
    """A call's arguments as JSON; text that is none is kept under `arguments`."""
    text = function.get("arguments") or "{}"
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        return {"arguments": text}
    return value if isinstance(value, Mapping) else {"arguments": value}


# ---------------------------------------------------------------- Responses


def _response_items(m: Body) -> Iterator[dict[str, Any]]:
    role = str(m.get("role"))
    if role == "tool":
        content = m.get("content")
        output = content if isinstance(content, str) else content_text(content)
        yield {"type": "function_call_output", "call_id": m.get("tool_call_id", ""), "output": output}
        return
    content = m.get("content")
    parts = content if isinstance(content, list) else []
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "tool_result":
            output = content_text(part.get("content"))
            yield {"type": "function_call_output", "call_id": part.get("tool_use_id", ""), "output": output}
    said = [item for p in parts if (item := _response_part(p, role)) is not None] if parts else content
    if said:
        yield {"role": role, "content": said}
    for call in m.get("tool_calls") or ():
        function = call.get("function") or {}
        yield _call(call.get("id", ""), function.get("name", ""), function.get("arguments") or "{}")
    for part in parts:
        if isinstance(part, Mapping) and part.get("type") == "tool_use":
            yield _call(part.get("id", ""), part.get("name", ""), json.dumps(part.get("input") or {}, ensure_ascii=False))


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}


def _response_part(part: Any, role: str) -> dict[str, Any] | None:
    if isinstance(part, str):
        part = {"type": "text", "text": part}
    kind = part.get("type")
    if kind in ("tool_use", "tool_result", "thinking", "redacted_thinking"):
        return None
    if kind == "text":
        return {"type": "output_text" if role == "assistant" else "input_text", "text": part.get("text", "")}
    if kind == "image_url":
        image = part["image_url"] if isinstance(part.get("image_url"), Mapping) else {"url": part.get("image_url")}
        found = {"type": "input_image", "image_url": image.get("url")}
        return found | ({"detail": image["detail"]} if image.get("detail") else {})
    if kind == "image" and isinstance(part.get("source"), Mapping):
        source = part["source"]
        url = source.get("url") or f"data:{source.get('media_type')};base64,{source.get('data')}"
        return {"type": "input_image", "image_url": url}
    if kind == "file" and isinstance(part.get("file"), Mapping):
        return {"type": "input_file", **part["file"]}
    return copy.deepcopy(dict(part))
