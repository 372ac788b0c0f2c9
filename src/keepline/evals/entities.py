"""Is what a message names found, word for word? Reads labelled messages; judges by kind and words."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from keepline.errors import BadLine
from keepline.evals.figures import Progress, quiet
from keepline.memory.text.entities import entities


def run(path: str | Path, *, progress: Progress = quiet) -> dict[str, Any]:
    """Find the entities of every labelled message of `path` and compare. `found` of `labelled` are right in kind and words;
    `extra` are found and not labelled; `merged` pairs of different people that got one value. Raises `BadLine`."""
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    extra: list[dict[str, str]] = []
    missed: list[dict[str, str]] = []
    merged = messages = 0
    for messages, (text, said, labels) in enumerate(_lines(Path(path)), 1):  # the count is reported
        found = entities(text, said)
        left = [(str(e.kind), e.surface) for e in found]
        for label in labels:
            total[label[0]] += 1
            if label in left:
                left.remove(label)
                right[label[0]] += 1
            else:
                missed.append({"kind": label[0], "surface": label[1], "text": text})
        extra += [{"kind": kind, "surface": surface, "text": text} for kind, surface in left]
        people = [e for e in found if e.kind == "person"]
        merged += sum(a.value == b.value and a.surface != b.surface for i, a in enumerate(people) for b in people[:i])
        progress(messages, messages)
    labelled = sum(total.values())
    return {
        "messages": messages, "labelled": labelled, "found": sum(right.values()),
        "share": round(sum(right.values()) / labelled, 4) if labelled else None, "merged": merged,
        "by_kind": {k: f"{right[k]}/{n}" for k, n in sorted(total.items())}, "extra": extra, "misses": missed,
    }  # fmt: skip


def _lines(path: Path) -> Iterator[tuple[str, date, list[tuple[str, str]]]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for n, line in enumerate(file, 1):
            try:
                row = json.loads(line)
                yield row["text"], date.fromisoformat(row["said"]), [(e["kind"], e["surface"]) for e in row["entities"]]
            except (ValueError, KeyError, TypeError) as error:
                raise BadLine(file=path.name, line=n, why=f"text, said or entities: {error}") from None
