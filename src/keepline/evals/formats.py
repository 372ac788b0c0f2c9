"""The evals' files, read to values: retention scenarios, recall corpora, conversations, cases. One JSON object a line; `.gz` too.

Knows shapes; judges nothing. A line that does not fit is named with its number and what is wrong with it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from keepline.errors import BadLine, BadMessage

T = TypeVar("T")
Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """A question, and texts of which one must stand in what is sent with it. `turn` is where the rule was said, `kind` whether
    the question mentions it."""

    ask: str
    must: tuple[str, ...]
    kind: str
    turn: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Stale:
    """Words that no longer hold, and words of the message that ended them."""

    text: str
    ended_by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A conversation, its budget (a share of its tokens, or tokens; exactly one is not None), probes and stale words."""

    id: str
    lang: str
    messages: tuple[Body, ...]
    fraction: float | None
    tokens: int | None
    probes: tuple[Probe, ...]
    stale: tuple[Stale, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One turn of a corpus; `speaker` and `date` may be empty."""

    id: str
    speaker: str
    session: str
    date: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """A question with the ids of the turns that answer it, or `sessions`, the sessions that do. `before`: only turns before
    this index may be searched."""

    question: str
    gold: tuple[str, ...]
    category: str
    answer: str | None = None
    sessions: tuple[str, ...] = ()
    before: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """One conversation with questions about it."""

    name: str
    lang: str
    unit: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A public fault: steps to play and checks that must hold then, both as their file has them."""

    id: str
    kind: str
    steps: tuple[Mapping[str, Any], ...]
    checks: tuple[Mapping[str, Any], ...]


def scenarios(path: str | Path) -> tuple[Scenario, ...]:
    """The retention scenarios of a file. Raises `BadLine`, `BadMessage` (the file cannot be read)."""
    return _read(path, _scenario)


def corpora(path: str | Path) -> tuple[Corpus, ...]:
    """The conversations of a recall corpus. Raises as `scenarios`."""
    return _read(path, _corpus)


def cases(path: str | Path) -> tuple[Case, ...]:
    """The cases of a file. Raises as `scenarios`."""
    return _read(path, _case)


def conversations(path: str | Path) -> tuple[Corpus | tuple[Body, ...], ...]:
    """Conversations of either kind: recall corpora, or lines with (or that are) chat messages. Raises as `scenarios`."""
    return _read(path, _conversation)


# ---------------------------------------------------------------- lines


class _Wrong(Exception):
    """What is wrong with a line."""


def _read(path: str | Path, parse: Callable[[Any], T]) -> tuple[T, ...]:
    found = []
    for number, line in _lines(Path(path)):
        try:
            found.append(parse(json.loads(line)))
        except json.JSONDecodeError as error:
            why = f"it is not whole JSON ({error.msg} at character {error.pos + 1})"
            raise BadLine(file=str(path), line=number, why=why) from None
        except _Wrong as error:
            raise BadLine(file=str(path), line=number, why=str(error)) from None
    if not found:
        raise BadMessage(where=str(path), why="it has no lines")
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except (OSError, EOFError) as error:
        raise BadMessage(where=str(path), why=f"it cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except UnicodeDecodeError as error:
        raise BadMessage(where=str(path), why=f"it is not UTF-8: {error.reason} at byte {error.start}") from None


def _take(value: Any, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
    """`value[key]`, which must be of `kind`; absent or null gives `default`, if there is one."""
    if not isinstance(value, Mapping):
        raise _Wrong(f"{type(value).__name__} where an object with {key!r} should be")
    found = value.get(key)
    if found is None and default is not ...:
        return default
    if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        wanted = " or ".join(_NAMES.get(k, k.__name__) for k in kinds)
        raise _Wrong(f"{key!r} must be {wanted}" if key in value else f"{key!r} is missing; it must be {wanted}")
    return found


_NAMES: dict[type, str] = {str: "text", list: "a list", int: "a whole number", float: "a number", dict: "an object"}


def _texts(value: Any, key: str, default: Any = ...) -> tuple[str, ...]:
    found = _take(value, key, list, default)
    if not all(isinstance(t, str) for t in found):
        raise _Wrong(f"{key!r} must be a list of texts")
    return tuple(found)


def _bodies(found: Sequence[Any], what: str) -> tuple[Body, ...]:
    for i, body in enumerate(found):
        if not isinstance(body, Mapping) or not isinstance(body.get("role"), str):
            raise _Wrong(f"{what}[{i}] must be a message with a role")
    return tuple(found)


# ---------------------------------------------------------------- what a line holds


def _scenario(value: Any) -> Scenario:
    budget = _take(value, "budget", dict)
    fraction, tokens = budget.get("fraction"), budget.get("tokens")
    if (fraction is None) == (tokens is None):
        raise _Wrong("'budget' must have either 'fraction' or 'tokens'")
    if fraction is not None and not (isinstance(fraction, int | float) and fraction > 0):
        raise _Wrong("the budget's 'fraction' must be a number above 0")
    if tokens is not None and not (isinstance(tokens, int) and tokens > 0):
        raise _Wrong("the budget's 'tokens' must be a whole number above 0")
    vocabulary = _take(value, "tokenizer", str, "o200k_base")
    if vocabulary != "o200k_base":
        raise _Wrong(f"'tokenizer' {vocabulary!r} is not known; budgets are reckoned in o200k_base")
    return Scenario(
        id=_take(value, "id", str), lang=_take(value, "lang", str, ""), fraction=fraction, tokens=tokens,
        messages=_bodies(_take(value, "messages", list), "messages"),
        probes=tuple(_probe(p) for p in _take(value, "probes", list)),
        stale=tuple(
            Stale(text=_take(s, "text", str), ended_by=_take(s, "ended_by", str)) for s in _take(value, "stale", list, [])
        ),
    )


def _probe(value: Any) -> Probe:
    must = _texts(value, "must")
    if not any(m.strip() for m in must):
        raise _Wrong("'must' of a probe needs at least one text")
    return Probe(
        ask=_take(value, "ask", str), must=must, kind=_take(value, "kind", str, "unmentioned"), turn=_take(value, "turn", int, 0)
    )


def _corpus(value: Any) -> Corpus:
    turns = tuple(
        Turn(id=_take(t, "id", str), speaker=_take(t, "speaker", str, ""), session=_take(t, "session", str, "0"),
             date=_take(t, "date", str, ""), text=_take(t, "text", str))
        for t in _take(value, "turns", list)
    )
    ids = {t.id for t in turns}
    if len(ids) < len(turns):
        raise _Wrong("two of its turns have the same 'id'")
    return Corpus(
        name=_take(value, "name", str), lang=_take(value, "lang", str, ""), unit=_take(value, "unit", str, "turn"), turns=turns,
        questions=tuple(_question(q, ids, len(turns)) for q in _take(value, "questions", list)),
    )


def _question(value: Any, ids: set[str], turns: int) -> Question:
    gold = _texts(value, "gold", [])
    unknown = next((g for g in gold if g not in ids), None)
    if unknown is not None:
        raise _Wrong(f"the gold {unknown!r} of a question is the id of no turn")
    before = _take(value, "before", int, None)
    if before is not None and not 0 <= before <= turns:
        raise _Wrong(f"'before' is {before}, but there are {turns} turns")
    answer = _take(value, "answer", (str, int, float), None)
    return Question(
        question=_take(value, "question", str), gold=gold, category=_take(value, "category", str, ""),
        answer=None if answer is None else str(answer), sessions=_texts(value, "gold_sessions", []), before=before,
    )


def _case(value: Any) -> Case:
    steps = _take(value, "steps", list)
    checks = _take(_take(value, "expect", dict), "checks", list)
    for step in steps:
        _take(step, "op", str)
    for check in checks:
        _take(check, "check", str)
    return Case(id=_take(value, "id", str), kind=_take(value, "kind", str, ""), steps=tuple(steps), checks=tuple(checks))


def _conversation(value: Any) -> Corpus | tuple[Body, ...]:
    if isinstance(value, list):
        return _bodies(value, "the line")
    if isinstance(value, Mapping) and "turns" in value:
        return _corpus({"name": "", "questions": [], **value})
    return _bodies(_take(value, "messages", list), "messages")
