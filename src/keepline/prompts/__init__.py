"""Prompts as files: one a language, with a name, a version and the shape of the reply in its head. Knows no model.

A file begins with lines `key: value` up to a line `---`; the rest is the text, with {fields} to fill in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from keepline.errors import BadChoice

LANGUAGES = ("en", "zh")

_STATEMENT = {
    "type": "object", "additionalProperties": False, "required": ["origin", "text", "sources"],
    "properties": {
        "origin": {"enum": ["user", "assistant"]},
        "text": {"type": "string"},
        "sources": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
}  # fmt: skip
SCHEMAS: dict[str, Mapping[str, Any]] = {
    "summary": {
        "type": "object", "additionalProperties": False, "required": ["statements", "open_tasks"],
        "properties": {
            "statements": {"type": "array", "items": _STATEMENT},
            "open_tasks": {"type": "array", "items": _STATEMENT},
        },
    },
}  # fmt: skip
"""The JSON schema of a reply by the name in a prompt's head."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prompt:
    """One prompt: its `name` and `version`, its `text` with fields, the `schema` of the reply, and `phrases` of its head."""

    name: str
    version: int
    text: str
    schema: Mapping[str, Any]
    phrases: Mapping[str, str]

    def filled(self, **fields: object) -> str:
        """The text with its fields filled in."""
        return self.text.format(**fields)


@cache
def load(name: str, language: str) -> Prompt:
    """The prompt `name` in `language` ("en", "zh"). Raises `BadChoice` for one that is not there."""
    file = files(__name__) / language / f"{name}.md"
    if language not in LANGUAGES or not file.is_file():
        raise BadChoice(what="prompt", value=f"{language}/{name}", choices="the files in keepline/prompts")
    head, _, text = file.read_text(encoding="utf-8").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    return Prompt(
        name=fields.pop("name"), version=int(fields.pop("version")), schema=SCHEMAS[fields.pop("reply")], text=text.strip(),
        phrases=fields,
    )
