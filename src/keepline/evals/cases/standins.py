"""Encoders as cases want them: none, down, the same vector for all, of another size, or with a limit. They mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.ports.encoder import Encoder
from keepline.providers.tokenizers import counter
from keepline.testing.fakes import EncoderDown, HashEncoder


def stand_in(step: Mapping[str, Any], usual: Encoder | None) -> Encoder | None:
    """The encoder that a `set_fake_embedder` step asks for; `usual` is the one without it (None: no encoder)."""
    mode = step.get("mode", "ok")
    if mode == "off":
        return None
    if mode == "constant":
        return Constant(step.get("dim", 64))
    base = HashEncoder(step["dim"], name=step.get("name")) if "dim" in step else usual
    if mode == "down":
        return Down(base or HashEncoder())
    if "max_input_tokens" in step:
        return Limited(base or HashEncoder(), step["max_input_tokens"])
    return base


class Constant:
    """Every text gets the same vector."""

    max_tokens = 256

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.name = f"constant-{dim}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows (n, dim), all alike."""
        return np.full((len(texts), self.dim), self.dim**-0.5, np.float32)


class Down:
    """An encoder in an outage: the name and size of another, and no answers."""

    def __init__(self, base: Encoder) -> None:
        self.name, self.dim, self.max_tokens = base.name, base.dim, base.max_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises `EncoderDown`."""
        raise EncoderDown(f"down, with {len(texts)} texts to encode")


class Limited:
    """An encoder that refuses any text of more than `most` tokens (o200k_base), as an HTTP service answers 400."""

    def __init__(self, base: Encoder, most: int) -> None:
        self._base, self._most, self._count = base, most, counter("o200k_base").text
        self.name, self.dim, self.max_tokens = base.name, base.dim, base.max_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Rows of the encoder behind it; raises `EncoderDown` for a text over the limit."""
        longest = max(map(self._count, texts), default=0)
        if longest > self._most:
            raise EncoderDown(f"400: {longest} tokens, at most {self._most}")
        return self._base.encode(texts)
