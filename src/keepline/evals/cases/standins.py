"""Encoders and a model as cases want them: none, down, the same vector for all, of another size, or with a limit; replies by a
script. They mean nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepline.errors import ModelDown
from keepline.ports.encoder import Encoder
from keepline.ports.model import Ask, Reply
from keepline.ports.tokens import TokenCounter
from keepline.providers.tokenizers import counter
from keepline.testing.fakes import EncoderDown, HashEncoder, ScriptedModel


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


class Scripted:
    """The model of a case: the replies of its latest `llm_script`, in order, the last one again and again; down, or with a limit,
    when a step says so. `calls` are the tokens of each request, `requests` their words."""

    name = "scripted"
    window = 0

    def __init__(self, counter: TokenCounter) -> None:
        self.calls: list[int] = []
        self.requests: list[str] = []
        self.limit: int | None = None
        self.down = False
        self._count = counter.text
        self._model = ScriptedModel()

    def script(self, replies: Sequence[Any]) -> None:
        """Give these replies from now on: text, JSON, or `{"$echo_input": true, "prefix": …}`."""
        self._model = ScriptedModel([_said(r) for r in replies])

    def reply(self, ask: Ask) -> Reply:
        """The next reply. Raises `ModelDown` when it is down, has no script, or is asked too much."""
        request = f"{ask.system}\n{ask.text}"
        self.calls.append(self._count(request))
        self.requests.append(request)
        if self.down:
            raise ModelDown(model=self.name, why="told to be down")
        if self.limit is not None and self.calls[-1] > self.limit:
            raise ModelDown(model=self.name, why=f"HTTP 400: {self.calls[-1]} tokens, at most {self.limit}")
        return self._model.reply(ask)


def _said(reply: Any) -> str | Callable[[Ask], str]:
    if isinstance(reply, Mapping) and reply.get("$echo_input"):
        prefix = str(reply.get("prefix", ""))
        return lambda ask: prefix + ask.text
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)


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
