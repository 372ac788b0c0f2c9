"""Asking for vectors. Knows no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Embed:
    """Need: vectors of `texts` → float32 (n, dim), rows of unit length, or None when no encoder works just now."""

    texts: tuple[str, ...]


class Encoder(Protocol):
    """Turns texts to unit vectors. `name` identifies the vector space: vectors of two names are never compared.
    `max_tokens` is the most of one text that it reads."""

    name: str
    dim: int
    max_tokens: int

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
