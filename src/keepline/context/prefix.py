"""How much of a call's input extends the one before it, for the provider's prefix cache, and what broke it. Keeps nothing.

Holds digests and figures, never text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keepline.values.context import Context, Prefix
from keepline.values.message import canonical


@dataclass(frozen=True, slots=True)
class Head:
    """What one call sent: a digest and the tokens of each part, and what to call it; tools and format are the first part."""

    digests: tuple[bytes, ...]
    tokens: tuple[int, ...]
    names: tuple[str, ...]


def head_of(context: Context, fixed: Any, digest: Callable[[Mapping[str, Any]], bytes] | None = None) -> Head:
    """The head of a context; `fixed` are tools and format, as they are sent; `digest` may remember those of messages."""
    digest = digest or digest_of
    names = [f"{part} #{id}" if id else str(part) for part, id in zip(context.parts, context.ids, strict=True)]
    costs = context.costs
    rest = context.tokens - sum(costs)
    first = hashlib.blake2b(repr(fixed).encode("utf-8", "replace"), digest_size=16).digest()
    return Head(
        digests=(first, *map(digest, context.messages)), tokens=(rest, *costs), names=("tools and response format", *names)
    )


def prefix(last: Head, now: Head) -> Prefix:
    """What `now` shares with `last` from the start, in tokens, and the first part of `last` that is not where it was."""
    same = 0
    for a, b in zip(last.digests, now.digests, strict=False):
        if a != b:
            break
        same += 1
    kept = sum(now.tokens[:same])
    broken = last.names[same] if same < len(last.digests) else None
    return Prefix(kept=kept, of=sum(now.tokens), before=sum(last.tokens), broken_by=broken)


def digest_of(message: Mapping[str, Any]) -> bytes:
    """What two messages have in common exactly when a provider would read them alike and they have the same keys."""
    return hashlib.blake2b(canonical(message) + repr(sorted(message)).encode(), digest_size=16).digest()
