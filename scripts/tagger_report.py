"""What the tagger gets right: tables for `training/REPORT.md`. Measures a model file; trains nothing."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from keepline.context.tag import CONSTRAINT, ENDS, FACT, LABELS, REPLACES, Found, Tagger
from keepline.values.message import Category, Message

Encode = Callable[[Sequence[str]], Any]


def report(
    model: Path, test: Sequence[Any], encode: Encode, message: Callable[[str], Message], talk: Sequence[Path], half: str
) -> str:
    """The report's tables as Markdown."""
    with np.load(model) as arrays:
        tagger = Tagger(dict(arrays))
    lines = [f"Examples not used in training: {len(test)}.", ""]
    for name, encoder in (("cues and encoder", encode), ("cues alone", None)):
        found = [_found(tagger, message(e.text), encoder) for e in test]
        lines += [f"## {name}", "", *_classes(test, found), "", *_pinning(test, found), "", *_calibration(test, found), ""]
    if talk:
        lines += ["| real talk | half | messages | tagged | pinned characters |", "|---|---|---|---|---|"]
    for path in talk:
        lines += _flags(tagger, path, encode, message, half)
    return "\n".join(lines)


def _found(tagger: Tagger, message: Message, encode: Encode | None) -> Found:
    pieces = tagger.prepare(message)
    vectors = encode([p.text for p in pieces]) if encode and pieces else None
    return tagger.judge(message, 0, pieces, vectors)


def _odds(found: Found) -> Any:
    """The probabilities of the message's most telling sentence."""
    if not found.said:
        return np.eye(len(LABELS))[0]
    return max(found.said, key=lambda s: s.keep + s.ending).odds


def _classes(test: Sequence[Any], found: Sequence[Found]) -> Iterator[str]:
    odds = np.stack([_odds(f) for f in found])
    truth = np.array([e.label for e in test])
    guess = odds.argmax(axis=1)
    lang = np.array([e.lang for e in test])
    yield "| class | en precision | en recall | en n | zh precision | zh recall | zh n |"
    yield "|---|---|---|---|---|---|---|"
    for k, name in enumerate(LABELS):
        cells = []
        for code in ("en", "zh"):
            own = lang == code
            right = int(((guess == k) & (truth == k) & own).sum())
            said, there = int(((guess == k) & own).sum()), int(((truth == k) & own).sum())
            cells += [f"{right / max(1, said):.2f}", f"{right / max(1, there):.2f}", str(there)]
        yield f"| {name} | " + " | ".join(cells) + " |"


def _pinning(test: Sequence[Any], found: Sequence[Found]) -> Iterator[str]:
    """How well the certainty of the best pin ranks what must stand (constraint, fact, replacing) above the rest."""
    yield "| | en | zh |"
    yield "|---|---|---|"
    rows: dict[str, list[str]] = {}
    for code in ("en", "zh"):
        own = [(e, f) for e, f in zip(test, found, strict=True) if e.lang == code]
        must = np.array([e.label in (CONSTRAINT, FACT, REPLACES) for e, _ in own])
        rules = np.array([e.label in (CONSTRAINT, REPLACES) for e, _ in own])
        rest = np.array([e.label not in (CONSTRAINT, FACT, REPLACES, ENDS) for e, _ in own])
        score = np.array([max((s.keep for s in f.said), default=0.0) for _, f in own])
        pinned = np.array([any(p.stands for p in f.tag.pins) for _, f in own])
        flagged = np.array([f.tag.category == Category.CONSTRAINT for _, f in own])
        rows.setdefault("must stand, pinned", []).append(f"{pinned[must].mean():.3f}")
        rows.setdefault("rules, pinned", []).append(f"{pinned[rules].mean():.3f}")
        rows.setdefault("chat, passing, greeting, pinned", []).append(f"{pinned[rest].mean():.3f}")
        rows.setdefault("chat, passing, greeting, called a constraint", []).append(f"{flagged[rest].mean():.3f}")
        high = np.quantile(score[rest], 0.95)
        rows.setdefault("must stand, above 95 % of the rest", []).append(f"{(score[must] > high).mean():.3f}")
        order = np.argsort(-score[must | rest])
        hits = must[must | rest][order]
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        rows.setdefault("average precision", []).append(f"{(precision * hits).sum() / hits.sum():.3f}")
    for name, cells in rows.items():
        yield f"| {name} | " + " | ".join(cells) + " |"


def _calibration(test: Sequence[Any], found: Sequence[Found]) -> Iterator[str]:
    yield "| certainty | sentences | mean certainty | must stand |"
    yield "|---|---|---|---|"
    score = np.array([max((s.keep for s in f.said), default=0.0) for f in found])
    must = np.array([e.label in (CONSTRAINT, FACT, REPLACES) for e in test])
    for lo in np.arange(0, 1, 0.1):
        own = (score >= lo) & (score < lo + 0.1 + 1e-9)
        if own.any():
            yield f"| {lo:.1f}–{lo + 0.1:.1f} | {own.sum()} | {score[own].mean():.2f} | {must[own].mean():.2f} |"


def _flags(
    tagger: Tagger, path: Path, encode: Encode, message: Callable[[str], Message], half: str
) -> Iterator[str]:
    """How often real talk is flagged, every turn taken as a user's: the worst case."""
    texts = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for n, line in enumerate(lines):
            if n % 2 == (half == "b"):
                texts += [t["text"] for t in json.loads(line)["turns"]]
    texts = list(dict.fromkeys(texts))
    step = max(1, len(texts) // 3000)
    found = [(t, _found(tagger, message(t), encode)) for t in texts[::step]]
    total = sum(len(t) for t, _ in found)
    pinned = sum(p.end - p.start for _, f in found for p in f.tag.pins if p.stands)
    share = {c: sum(f.tag.category == c for _, f in found) / len(found) for c in Category}
    rates = ", ".join(f"{c} {share[c]:.3f}" for c in (Category.CONSTRAINT, Category.FACT, Category.GREETING))
    yield f"| {path.name} | {half} | {len(found)} | {rates} | {pinned / max(1, total):.3f} |"
