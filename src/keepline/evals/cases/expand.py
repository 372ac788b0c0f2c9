"""The text helpers of case files: `$repeat`, `$concat`, `$codepoint` give text, `$turns` and `$tool_rounds` messages, `$name` a
loop's value or a saved result, `{i}` its number. Plays nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\$([a-z_][a-z0-9_]*)(?:\.([a-z_]+))?")


def expand(value: Any, names: Mapping[str, Any]) -> Any:
    """`value` with its helpers resolved. `names` holds loop values, saved results, and `i` and `worker` where there are any.
    Helpers that a script of a model holds (`$echo_input`) stay as they are."""
    if isinstance(value, str):
        return _text(value, names)
    if isinstance(value, list):
        out: list[Any] = []
        for item in value:
            found = expand(item, names)
            spliced = isinstance(item, Mapping) and ("$turns" in item or "$tool_rounds" in item)
            out.extend(found) if spliced else out.append(found)
        return out
    if isinstance(value, Mapping):
        return _object(value, names)
    return value


def _object(value: Mapping[str, Any], names: Mapping[str, Any]) -> Any:
    if "$repeat" in value:
        return _text(value["$repeat"], names) * value["times"]
    if "$concat" in value:
        return "".join(expand(part, names) for part in value["$concat"])
    if "$codepoint" in value:
        return chr(int(value["$codepoint"], 16))
    if "$turns" in value:
        return [
            {"role": role, "content": expand(value[role], {**names, "i": k})}
            for k in range(value["$turns"]) for role in ("user", "assistant")
        ]
    if "$tool_rounds" in value:
        return [message for k in range(value["$tool_rounds"]) for message in _round(value, {**names, "i": k})]
    return {key: expand(inner, names) for key, inner in value.items()}


def _round(value: Mapping[str, Any], names: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    call = f"r{names['i']}"
    function = {"name": value["name"], "arguments": "{}"}
    return (
        {"role": "assistant", "content": None, "tool_calls": [{"id": call, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call, "content": expand(value["result"], names)},
    )


def _text(text: str, names: Mapping[str, Any]) -> Any:
    found = _NAME.fullmatch(text)
    if found and found[1] in names:
        value = names[found[1]]
        return getattr(value, found[2]) if found[2] else value
    for name, value in names.items():
        if "{" + name + "}" in text and isinstance(value, str | int):
            text = text.replace("{" + name + "}", str(value))
    return text
