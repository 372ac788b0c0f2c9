"""keepline: context and memory for LLM applications. What goes into this call, what outlives it, and why.

    import keepline

    engine = keepline.open("chat.db")
    engine.append({"role": "user", "content": "Never suggest anything with peanuts."}, user="u1", session="s1")
    context = engine.context([{"role": "user", "content": "What shall I cook?"}], budget=8000, user="u1", session="s1")
    client.chat.completions.create(model="gpt-4o", messages=context.to_openai())

The public face is `__all__`; everything is loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepline.engine import AsyncEngine, Engine
    from keepline.engine import open_engine as open  # keepline.open(…) reads as it should
    from keepline.errors import KeeplineError
    from keepline.settings import Settings
    from keepline.values.budget import Budget
    from keepline.values.context import Context, Ledger
    from keepline.values.message import Category, Message, Retention, Role
    from keepline.values.scope import Scope

__version__ = "0.1.0"

_HOMES = {
    "AsyncEngine": ("keepline.engine", "AsyncEngine"),
    "Budget": ("keepline.values.budget", "Budget"),
    "Category": ("keepline.values.message", "Category"),
    "Context": ("keepline.values.context", "Context"),
    "Engine": ("keepline.engine", "Engine"),
    "KeeplineError": ("keepline.errors", "KeeplineError"),
    "Ledger": ("keepline.values.context", "Ledger"),
    "Message": ("keepline.values.message", "Message"),
    "Retention": ("keepline.values.message", "Retention"),
    "Role": ("keepline.values.message", "Role"),
    "Scope": ("keepline.values.scope", "Scope"),
    "Settings": ("keepline.settings", "Settings"),
    "open": ("keepline.engine", "open_engine"),
}

__all__ = [
    "AsyncEngine", "Budget", "Category", "Context", "Engine", "KeeplineError", "Ledger", "Message", "Retention", "Role",
    "Scope", "Settings", "open",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'keepline' has no attribute {name!r}")
    module, attribute = _HOMES[name]
    value = globals()[name] = getattr(import_module(module), attribute)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
