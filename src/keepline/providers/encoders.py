"""Encoders that come with keepline, by name. Knows nothing of what the vectors are compared with."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from keepline.errors import BadChoice
from keepline.values.text import clean

if TYPE_CHECKING:
    from keepline.providers.use import Network

READ = (1_536, 8_192)
"""Characters that are tokenised first, and if they are not `max_tokens` tokens: the rest of a longer text is not read."""

BATCH_TOKENS = 384
"""Tokens that go through the network together: beyond it nothing gets faster, only larger."""

REMEMBERED, SHORT = 8_192, 120
"""Vectors of texts up to `SHORT` characters that are kept: "ok", "谢谢", and the question that is asked again."""


def encoder(name: str) -> SentenceEncoder | None:
    """The encoder `name`: `use` (Universal Sentence Encoder multilingual v3, 512 dimensions, embedded) or `none` (None).

    Raises `BadChoice` for another name. Loads nothing yet.
    """
    if name == "none":
        return None
    if name != "use":
        raise BadChoice(what="the encoder", value=name, choices="use, none")
    return SentenceEncoder()


class SentenceEncoder:
    """The embedded encoder (`keepline.ports.encoder.Encoder`). Threads may share it; the weights are loaded once in a
    process, at the first text (about a second, 100 MB)."""

    name = "use-multilingual-v3-512"
    dim = 512
    max_tokens = 256

    def __init__(self, threads: int = 1) -> None:
        """`threads` of the linear algebra library are used. More than one costs twice the processor time and saves 4 % of
        the time that passes (two cores, batches of 32)."""
        self._threads = threads
        self._known: dict[str, NDArray[np.float32]] = {}

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit rows (n, 512) float32. Reads the first 256 tokens of each text, with the marks of begin and end. A text of
        nothing but whitespace is the first axis; surrogate halves read as U+FFFD."""
        out = np.zeros((len(texts), self.dim), np.float32)
        new: dict[str, list[int]] = {}
        for n, text in enumerate(texts):
            head = text[: READ[-1]]
            if head in self._known:
                out[n] = self._known[head]
            elif not head.strip():
                out[n, 0] = 1
            else:
                new.setdefault(head, []).append(n)
        for heads, vectors in self._encoded(list(new)):
            for head, vector in zip(heads, vectors, strict=True):
                out[new[head]] = vector
                self._remember(head, vector)
        return out

    def _remember(self, head: str, vector: NDArray[np.float32]) -> None:
        if len(head) <= SHORT:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[head] = vector.copy()

    def _encoded(self, heads: list[str]) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Texts and their vectors, a batch at a time."""
        if not heads:
            return
        network = _network()
        batch: list[str] = []
        tokens: list[list[int]] = []
        size = 0
        with network.threads(self._threads):
            for head in heads:
                ids = self._ids(network, head)
                if batch and size + len(ids) > BATCH_TOKENS:
                    yield batch, _forward(network, tokens)
                    batch, tokens, size = [], [], 0
                batch.append(head)
                tokens.append(ids)
                size += len(ids)
            yield batch, _forward(network, tokens)

    def _ids(self, network: Network, head: str) -> list[int]:
        most = self.max_tokens - 2
        for reach in READ:
            ids = network.tokenize(clean(head[:reach]))
            if len(ids) > most or len(head) <= reach:
                break
        return [1, *ids[:most], 2]


_loading, _running = threading.Lock(), threading.Lock()
_loaded: list[Network] = []


def _network() -> Network:
    """The process's one network."""
    if not _loaded:
        with _loading:
            if not _loaded:
                from keepline.providers.use import Network  # noqa: PLC0415  # only who encodes pays for the weights

                _loaded.append(Network())
    return _loaded[0]


def _forward(network: Network, tokens: list[list[int]]) -> NDArray[np.float32]:
    with _running:  # a batch takes some 10 ms, so a query waits no longer than that for a long job beside it
        return network.forward(tokens)
