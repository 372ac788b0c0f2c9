"""The scores of a ranking: how much of what answers a question is among the first, or fits a budget. Pure reckoning; ranks
nothing."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import regex

from keepline.evals.figures import mean
from keepline.evals.formats import Corpus, Question

KS = (5, 10, 20)
_MARKS = regex.compile(r"[^\p{L}\p{M}\p{N}]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Packed:
    """What of a ranking fits a budget: indices of whole turns, best first, and their text with the dates' lines."""

    turns: tuple[int, ...]
    text: str


def score(corpus: Corpus, question: Question, ranked: Sequence[int], budgets: Sequence[int], count: Callable[[str], int],
          ) -> dict[str, float]:
    """The scores of one question. `ranked` are indices of turns, best first. `R@k`, `all@k` and `R@Nt` only with gold turns,
    `sessR@k` only with gold sessions, `ans@Nt` only with an answer."""
    found: dict[str, float] = {}
    index = {t.id: i for i, t in enumerate(corpus.turns)}
    gold = {index[g] for g in question.gold}
    for k in KS if gold else ():
        hits = len(gold.intersection(ranked[:k]))
        found[f"R@{k}"] = hits / len(gold)
        found[f"all@{k}"] = float(hits == len(gold))
    wanted = set(question.sessions)
    sessions = list(dict.fromkeys(corpus.turns[i].session for i in ranked))
    for k in KS if wanted else ():
        found[f"sessR@{k}"] = len(wanted.intersection(sessions[:k])) / len(wanted)
    answer = plain(question.answer or "")
    for budget in budgets if gold or answer else ():
        packed = pack(corpus, ranked, budget, count)
        if gold:
            found[f"R@{budget}t"] = len(gold.intersection(packed.turns)) / len(gold)
        if answer:
            found[f"ans@{budget}t"] = float(f" {answer} " in f" {plain(packed.text)} " or _joined(answer, packed.text))
    return found


def pack(corpus: Corpus, ranked: Sequence[int], budget: int, count: Callable[[str], int]) -> Packed:
    """Whole turns in rank order until the next does not fit `budget` tokens. A turn costs its line `speaker: text`, and the
    first one of each session a line `[date]`."""
    left = budget
    taken: list[int] = []
    lines: list[str] = []
    seen: set[str] = set()
    for i in ranked:
        turn = corpus.turns[i]
        own = [f"{turn.speaker}: {turn.text}\n" if turn.speaker else f"{turn.text}\n"]
        if turn.session not in seen:
            own.insert(0, f"[{turn.date}]\n")
        cost = sum(count(line) for line in own)
        if cost > left:
            break
        left -= cost
        seen.add(turn.session)
        taken.append(i)
        lines += own
    return Packed(turns=tuple(taken), text="".join(lines))


def plain(text: str) -> str:
    """An answer's normal form: NFKC, case folded, letters and digits only, words a space apart."""
    return _MARKS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _joined(answer: str, text: str) -> bool:
    """Whether an answer in a script without spaces stands in `text` (there, words have no edges to respect)."""
    return not answer.isascii() and answer.replace(" ", "") in plain(text).replace(" ", "")


def averages(rows: Sequence[Mapping[str, float]]) -> dict[str, float | None]:
    """Each score's mean over the questions that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: mean([row[name] for row in rows if name in row]) for name in sorted(names, key=_order)}


def _order(name: str) -> tuple[int, int]:
    kind, _, size = name.partition("@")
    kinds = ("R", "all", "sessR", "ans")
    return kinds.index(kind) * 2 + size.endswith("t"), int(size.rstrip("t"))
