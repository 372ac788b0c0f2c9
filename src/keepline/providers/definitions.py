"""What tool definitions and response formats cost beside a call's messages. Knows no vocabulary: it is given one's count.

Formula and constants: OpenAI cookbook, "How to count tokens with tiktoken", section 7 (`num_tokens_for_tools`), where they
equal the API's own figures. It covers flat parameters; what else a schema holds (nested objects, arrays, limits, defaults)
is counted here by the same rule, level by level, and as JSON text where the rule has no word for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Count = Callable[[str], int]

PROPERTIES, PROPERTY, ENUM, ENUM_ITEM, TOOLS_END = 3, 3, -3, 3, 12

FORMAT = 12
"""Tokens around a response format's schema: OpenAI writes it below a heading into the system text. Not published; an upper
figure by the heading's length."""

DEPTH = 32
"""Levels of a schema that are looked into."""

_COUNTED = ("type", "description", "enum", "properties", "items", "required")


def tools_cost(tools: Sequence[Mapping[str, Any]], count: Count, function: int | None) -> int:
    """Tokens of all tool definitions, OpenAI's shape (`function` with `parameters`) or Anthropic's (`input_schema`).

    `function` is what begins each by OpenAI's rule; None: the model reads definitions as JSON text, and that is counted.
    """
    if not tools:
        return 0
    if function is None:
        return sum(count(as_json(tool)) for tool in tools) + TOOLS_END
    return sum(_tool(tool, count, function) for tool in tools) + TOOLS_END


def format_cost(response_format: Mapping[str, Any] | None, count: Count) -> int:
    """Tokens of a response format: its JSON text and what is written around it; plain text costs nothing."""
    if not response_format or response_format.get("type") == "text":
        return 0
    return count(as_json(response_format)) + FORMAT


def as_json(value: Any) -> str:
    """`value` as compact JSON text, non-ASCII as it is; levels below `DEPTH` and foreign objects as short text."""
    return json.dumps(_shallow(value, 0), ensure_ascii=False, separators=(",", ":"))


def _shallow(value: Any, depth: int) -> Any:
    if isinstance(value, str | int | float | bool | None):
        return value
    if depth >= DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(k): _shallow(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_shallow(v, depth + 1) for v in value]
    return type(value).__name__


def _tool(tool: Mapping[str, Any], count: Count, function: int) -> int:
    inner = tool.get("function")
    spec = inner if isinstance(inner, Mapping) else tool
    schema = spec.get("parameters") or spec.get("input_schema")
    if "name" not in spec or not isinstance(schema, Mapping | None):
        return function + count(as_json(tool))  # a provider's own tool, by its settings
    line = f"{spec['name']}:{_sentence(spec.get('description'))}"
    return function + count(line) + (_object(schema, count, 0) if schema else 0)


def _object(schema: Mapping[str, Any], count: Count, depth: int) -> int:
    """An object's properties; beside them, whatever the rule has no word for."""
    total = 0
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and properties:
        total += PROPERTIES + sum(_property(str(k), v, count, depth) for k, v in properties.items())
    return total + _rest(schema, count, (*_COUNTED, "additionalProperties", "$schema", "title"))


def _property(name: str, schema: Any, count: Count, depth: int) -> int:
    if not isinstance(schema, Mapping) or depth >= DEPTH:
        return PROPERTY + count(f"{name}:{as_json(schema)}")
    total = PROPERTY
    options = schema.get("enum")
    if isinstance(options, list | tuple):
        total += ENUM + sum(ENUM_ITEM + count(o if isinstance(o, str) else as_json(o)) for o in options)
    kind = schema.get("type", "")
    total += count(f"{name}:{kind if isinstance(kind, str) else as_json(kind)}:{_sentence(schema.get('description'))}")
    if isinstance(schema.get("properties"), Mapping):
        total += _object({"properties": schema["properties"]}, count, depth + 1)
    if "items" in schema:
        total += _property("", schema["items"], count, depth + 1)
    return total + _rest(schema, count, _COUNTED)


def _rest(schema: Mapping[str, Any], count: Count, known: tuple[str, ...]) -> int:
    rest = {k: v for k, v in schema.items() if k not in known}
    return count(as_json(rest)) if rest else 0


def _sentence(text: Any) -> str:
    words = text if isinstance(text, str) else ""
    return words.removesuffix(".")
