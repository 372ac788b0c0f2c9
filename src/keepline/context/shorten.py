"""A message cut in the middle with a visible marker. Text only: signed blocks, calls and pictures stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepline.context.count import Meter
from keepline.context.words import BY_NAME
from keepline.memory.tools import failure, results
from keepline.values.message import Message, Role


def shorten(message: Message, most: int, meter: Meter, language: str) -> Message | None:
    """`message` in at most `most` tokens, its longest text cut in the middle; None when that cannot be done.

    The marker says how many tokens are missing and names the message that has them all. The end keeps at least half of
    what stays: a question usually stands there.
    """
    whole = meter.message(message.body)
    if whole <= most:
        return message
    path = _longest_text(message.body)
    if path is None:
        return None
    text = _get(message.body, path)
    words = BY_NAME[language]
    have = meter.counter.text(text)
    room = most - (whole - have) - meter.counter.text(words.gap.format(tokens=have, id=message.id)) - 4
    while room > 0:
        i, j = meter.counter.clip(text, room)
        gap = words.gap.format(tokens=have - room, id=message.id)
        cut = message.evolve(body=_put(message.body, path, f"{text[:i]}\n{gap}\n{text[j:]}"))
        over = meter.message(cut.body) - most
        if over <= 0:
            return cut
        room -= over
    return None


def failed(message: Message, names: Mapping[str, str], language: str) -> Message | None:
    """`message`, nothing but failed tool results, with each as `[TOOL_FAILED] name: reason` and the way back; None when a result
    in it is no failure. `names` are tools by call id."""
    whys = {call: failure(text, marked=marked) for call, text, marked in results(message)}
    if not whys or not message.only_answers or any(why is None for why in whys.values()):
        return None
    lines = {call: f"{failed_line(names.get(call, ''), why or '', language)} (#{message.id})" for call, why in whys.items()}
    if message.body.get("role") == Role.TOOL:
        return message.evolve(body={**message.body, "content": next(iter(lines.values()))})
    content = [{**b, "content": lines[str(b.get("tool_use_id", ""))]} for b in message.body["content"]]
    return message.evolve(body={**message.body, "content": content})


def failed_line(name: str, why: str, language: str) -> str:
    """`[TOOL_FAILED] name: reason`."""
    return f"{BY_NAME[language].failed} {name or '?'}: {why}"


def _longest_text(body: Mapping[str, Any]) -> tuple[int | str, ...] | None:
    """Where the longest plain text of the content stands, as a path of keys; None without any."""
    content = body.get("content")
    if isinstance(content, str):
        return ("content",)
    found: list[tuple[int, tuple[int | str, ...]]] = []
    for n, part in enumerate(content if isinstance(content, list) else ()):
        if not isinstance(part, Mapping):
            continue
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            found.append((len(part["text"]), ("content", n, "text")))
        elif part.get("type") == "tool_result" and isinstance(part.get("content"), str):
            found.append((len(part["content"]), ("content", n, "content")))
        elif part.get("type") == "tool_result" and isinstance(part.get("content"), list):
            found += [
                (len(p["text"]), ("content", n, "content", k, "text"))
                for k, p in enumerate(part["content"])
                if isinstance(p, Mapping) and isinstance(p.get("text"), str)
            ]
    return max(found)[1] if found else None


def _get(body: Any, path: tuple[int | str, ...]) -> str:
    for key in path:
        body = body[key]
    return str(body)


def _put(body: Any, path: tuple[int | str, ...], text: str) -> Any:
    if not path:
        return text
    copy: Any = dict(body) if isinstance(body, Mapping) else list(body)
    copy[path[0]] = _put(body[path[0]], path[1:], text)
    return copy
