"""What a message is, and which of its sentences must stand: cues and vectors weighed by a small trained model.

Pure: vectors are handed in, none are asked for. Knows nothing of stores, budgets or earlier messages; `endings.py` finds what
a message ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from keepline.memory.text.features import Place, cues, ngrams
from keepline.memory.text.filler import opening
from keepline.memory.text.labels import labelled
from keepline.memory.text.quotes import announces_rules, foreign, speech
from keepline.memory.text.sentences import clauses, sentences, width
from keepline.values.message import Category, Message, Retention, Role
from keepline.values.tag import RULE_FROM, Pin, Tag

LABELS = ("chat", "constraint", "fact", "passing", "greeting", "ends", "replaces")
"""What a sentence can be: `ends` withdraws or limits something said before, `replaces` also says what holds instead."""
CHAT, CONSTRAINT, FACT, PASSING, GREETING, ENDS, REPLACES = range(7)

CANDIDATE_FROM = 0.01
"""The least certainty with which a sentence is kept as a candidate: chosen so that hardly a rule falls below it."""
MOST_PINS = 60
"""The most pins found in one message: beyond it, it is a document."""
CATEGORY_FROM = 0.5
"""The least certainty with which a message is called a constraint or a fact."""
USUAL_SENTENCES = 4
"""How many sentences a message has in which each is as likely a rule as in the examples; in longer ones each is less likely."""
CLAUSES_FROM = 90
"""From this width on a sentence is looked at clause by clause, to pin what matters of it."""
GOES_WITH = 0.1
"""From this probability on a clause stays with a surer one beside it or one further: half a rule is worse than a long line."""
LABELLED = 0.95
"""How surely a sentence is what its author labels it."""
HOPE = 0.06
"""The least probability by cues alone for which clauses are worth their vectors."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A sentence, or a clause of sentence `of` (-1: a sentence). `text` is what is embedded: the author's own words."""

    start: int
    end: int
    text: str
    cues: NDArray[np.float32]
    grams: NDArray[np.int64]
    of: int = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """One sentence with its probabilities, float32 (7,) over `LABELS`, and the span of it that would be pinned."""

    start: int
    end: int
    text: str
    odds: NDArray[np.float32]

    @property
    def keep(self) -> float:
        """How surely this must stand."""
        return float(self.odds[CONSTRAINT] + self.odds[FACT] + self.odds[REPLACES])

    @property
    def ending(self) -> float:
        """How surely this ends something said before."""
        return float(self.odds[ENDS] + self.odds[REPLACES])

    @property
    def kind(self) -> Category:
        """Which kind of pin it would be."""
        return Category.CONSTRAINT if self.odds[CONSTRAINT] >= self.odds[FACT] else Category.FACT


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """What a message was found to be, and its sentences, for whoever looks for endings."""

    tag: Tag
    said: tuple[Said, ...] = field(default=())


SPACE = "use-multilingual-v3-512"
"""The vector space that the packaged weights were trained in; with vectors of another, cues alone decide."""


class Tagger:
    """Finds the category, retention and pins of messages with one set of weights; see `training/REPORT.md`.

    Probabilities are the mean of a linear model over cues, n-grams and the sentence's vector, and of small networks with one
    hidden layer over cues and vector.
    """

    def __init__(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        self._cues = weights["cues"]
        self._grams = weights["grams"]
        self._vector = weights["vector"]
        self._bias = weights["bias"]
        self._nets = weights["inner"], weights["inner_bias"], weights["outer"], weights["outer_bias"]
        self._alone = weights["alone_cues"], weights["alone_grams"], weights["alone_bias"]

    def prepare(self, message: Message) -> tuple[Piece, ...]:
        """The pieces of a user's message whose `text` should be embedded; () for other messages."""
        if message.erased or message.only_answers or message.body.get("role") != Role.USER:
            return ()
        text = message.text
        spans = sentences(text)
        outside = _own(text, spans)
        wide = width(text) if len(text) < 5000 else len(text)
        pieces: list[Piece] = []
        for n, (start, end) in enumerate(spans):
            if (start, end) not in outside:
                continue
            place = Place(index=n, count=len(spans), width=wide, bulleted=text[start] in "-*•·")
            at = len(pieces)
            pieces.append(_piece(text, start, end, place))
            pieces += self._parts(text, pieces[at], at, place)
        return tuple(pieces)

    def judge(
        self, message: Message, number: int, pieces: Sequence[Piece], vectors: NDArray[np.float32] | None
    ) -> Found:
        """What `message` (of session `number`) is, with its pins.

        `pieces` are as prepared; `vectors` float32 (len(pieces), dim), or None when no encoder works: then cues alone decide.
        What the caller gave wins over what is found.
        """
        odds = self._odds(pieces, vectors) if pieces else np.zeros((0, len(LABELS)), np.float32)
        said = self._said(message.text, pieces, _among(odds, message.text, sum(p.of < 0 for p in pieces)))
        said = _as_labelled(said, message.text)
        category, retention = self._kind(message, said)
        pins = tuple(
            Pin(number=number, seq=message.seq, start=s.start, end=s.end, kind=s.kind, certainty=min(0.999, s.keep))
            for s in _surest(said)
        )  # fmt: skip
        if message.given:
            category = message.category or category
            retention = _retention(category) if message.retention is None else message.retention
            pins = _given(message, number, category, retention, pins)
        return Found(
            tag=Tag(number=number, seq=message.seq, category=category, retention=retention, pins=pins), said=said
        )

    def _parts(self, text: str, whole: Piece, at: int, place: Place) -> list[Piece]:
        if width(text, whole.start, whole.end) < CLAUSES_FROM:
            return []
        spans = clauses(text, whole.start, whole.end)
        if len(spans) < 2:
            return []
        parts = [_piece(text, a, b, place, of=at) for a, b in spans]
        hope = self._odds([whole, *parts], None)[:, [CONSTRAINT, FACT, ENDS, REPLACES]].sum(axis=1).max()
        return parts if hope >= HOPE else []

    def _odds(self, pieces: Sequence[Piece], vectors: NDArray[np.float32] | None) -> NDArray[np.float32]:
        """Probabilities, float32 (len(pieces), 7)."""
        by_cue, by_gram, bias = self._alone if vectors is None else (self._cues, self._grams, self._bias)
        shown = np.stack([p.cues for p in pieces])
        scores = shown @ by_cue + bias
        for n, piece in enumerate(pieces):
            if len(piece.grams):
                scores[n] += by_gram[piece.grams].sum(axis=0) / np.sqrt(len(piece.grams))
        if vectors is None:
            return _softmax(scores)
        odds = _softmax(scores + vectors @ self._vector)
        inner, inner_bias, outer, outer_bias = self._nets
        both = np.concatenate([shown, vectors], axis=1)
        layers = zip(inner, inner_bias, outer, outer_bias, strict=True)
        nets = [_softmax(np.maximum(both @ a + b, 0) @ c + d) for a, b, c, d in layers]
        return np.mean([odds, np.mean(nets, axis=0)], axis=0, dtype=np.float32) if nets else odds

    def _said(self, text: str, pieces: Sequence[Piece], odds: NDArray[np.float32]) -> tuple[Said, ...]:
        said: list[Said] = []
        for n, piece in enumerate(pieces):
            if piece.of >= 0:
                continue
            parts = [i for i, p in enumerate(pieces[n + 1 :], n + 1) if p.of == n]
            for start, end, own in _cores(piece, n, [(pieces[i], i) for i in parts], odds):
                said.append(Said(start=opening(text, start, end), end=end, text=piece.text, odds=own))
        return tuple(said)

    def _kind(self, message: Message, said: Sequence[Said]) -> tuple[Category, Retention]:
        if message.role.instructs:
            return Category.CONSTRAINT, Retention.NEVER_DROPPED
        if message.only_answers:
            return Category.TOOL_RESULT, Retention.DEFAULT
        if not said:
            short = message.role != Role.USER and len(message.text) < 40 and self._greets(message)
            return (Category.GREETING, Retention.DROPPABLE) if short else (Category.CHAT, Retention.DEFAULT)
        best = max(said, key=lambda s: s.keep)
        if best.keep >= CATEGORY_FROM:
            return best.kind, Retention.IMPORTANT
        if all(s.odds.argmax() == GREETING for s in said):
            return Category.GREETING, Retention.DROPPABLE
        if any(s.odds.argmax() in (PASSING, FACT) for s in said):
            return Category.FACT, Retention.DEFAULT
        return Category.CHAT, Retention.DEFAULT

    def _greets(self, message: Message) -> bool:
        text = message.text
        pieces = [_piece(text, a, b, Place(width=len(text))) for a, b in sentences(text)]
        return bool(pieces) and bool((self._odds(pieces, None)[:, GREETING] > 0.8).all())


@cache
def packaged() -> Tagger:
    """The tagger with the weights that come with keepline."""
    with resources.files("keepline.context").joinpath("tagger.npz").open("rb") as file:
        return Tagger(dict(np.load(file)))


def _softmax(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds: NDArray[np.float32] = (powers / powers.sum(axis=1, keepdims=True)).astype(np.float32)
    return odds


def _as_labelled(said: tuple[Said, ...], text: str) -> tuple[Said, ...]:
    """The sentences; those that the author labelled a rule or a fact are one as good as surely."""
    stretches = labelled(text)
    if not stretches:
        return said
    return tuple(_declared(s, next((rule for start, end, rule in stretches if start <= s.start < end), None)) for s in said)


def _declared(s: Said, rule: bool | None) -> Said:
    """The sentence as its label says: a rule, a fact, or (None) not labelled."""
    if rule is None:
        return s
    odds = (1 - LABELLED) * s.odds
    odds[CONSTRAINT if rule else FACT] += LABELLED
    return replace(s, odds=odds)


def _among(odds: NDArray[np.float32], text: str, count: int) -> NDArray[np.float32]:
    """The probabilities for `count` sentences of one message: a longer message brings more talk rather than more rules, so
    the prior of a rule falls as the sentences grow, unless they are announced as rules."""
    if count <= USUAL_SENTENCES or announces_rules(text):
        return odds
    tempered = odds.copy()
    tempered[:, [CONSTRAINT, FACT, ENDS, REPLACES]] *= USUAL_SENTENCES / count
    result: NDArray[np.float32] = tempered / tempered.sum(axis=1, keepdims=True)
    return result


def _surest(said: Sequence[Said]) -> list[Said]:
    """What is pinned, in order: of a message with more than `MOST_PINS`, the surest."""
    stands = [s for s in said if s.keep >= CANDIDATE_FROM]
    surest = sorted(stands, key=lambda s: -s.keep)[:MOST_PINS]
    return sorted(surest, key=lambda s: s.start)


def _piece(text: str, start: int, end: int, place: Place, of: int = -1) -> Piece:
    spoken = speech(text, start, end)
    own = text[start:end] if not spoken else _without(text, start, end, spoken)
    share = 1.0 if not spoken else 1 - sum(b - a for a, b in spoken) / (end - start)
    begin = 0 if spoken else opening(text, start, end) - start
    own = own[begin:]
    here = Place(index=place.index, count=place.count, width=place.width, bulleted=place.bulleted, own=share)
    return Piece(start=start, end=end, text=own, cues=cues(own, here), grams=ngrams(own), of=of)


def _without(text: str, start: int, end: int, spoken: Sequence[tuple[int, int]]) -> str:
    kept, at = [], start
    for a, b in spoken:
        kept += [text[at : a + 1], "…", text[b - 1 : b]]
        at = b
    return "".join([*kept, text[at:end]])


def _own(text: str, spans: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The sentences that the author says: not in pasted parts, and not mostly somebody's speech."""
    if not spans:
        return set()
    pasted = foreign(text) if len(text) < 200_000 else _foreign_edges(text, spans)
    kept = set()
    for start, end in spans:
        inside = sum(max(0, min(end, b) - max(start, a)) for a, b in pasted)
        spoken = sum(b - a for a, b in speech(text, start, end))
        if inside * 2 < end - start and spoken * 10 < (end - start) * 8:
            kept.add((start, end))
    return kept


def _foreign_edges(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pasted parts of a very long text: its examined beginning and its end, each by itself."""
    middle = len(text) // 2
    head = max((b for a, b in spans if a < middle), default=0)
    tail = min((a for a, b in spans if a >= middle), default=len(text))
    open_fence = text.count("\n```", 0, tail) % 2
    found = foreign(text, 0, head) + foreign(text, tail, len(text))
    if open_fence:
        close = text.find("\n```", tail)
        found.append((tail, len(text) if close < 0 else close))
    return found


def _cores(
    whole: Piece, n: int, parts: Sequence[tuple[Piece, int]], odds: NDArray[np.float32]
) -> list[tuple[int, int, NDArray[np.float32]]]:
    """What of a sentence would be pinned: its clauses that must stand with what belongs to them, or all of it."""
    if not parts:
        return [(whole.start, whole.end, odds[n])]
    keep = [float(odds[i, [CONSTRAINT, FACT, ENDS, REPLACES]].sum()) for _, i in parts]
    best = int(np.argmax(keep))
    if keep[best] < RULE_FROM:
        return [(whole.start, whole.end, odds[n])]
    near = [i for i, value in enumerate(keep) if value >= max(GOES_WITH, keep[best] / 6)]
    groups: list[list[int]] = []
    for i in near:
        if groups and i - groups[-1][-1] <= 2:
            groups[-1] += range(groups[-1][-1] + 1, i + 1)
        else:
            groups.append([i])
    groups = [g for g in groups if max(keep[i] for i in g) >= max(RULE_FROM, keep[best] / 3)]
    cores = []
    for group in groups:
        top = max(group, key=lambda i: keep[i])
        start, end = parts[group[0]][0].start, parts[group[-1]][0].end
        both = np.maximum(odds[parts[top][1]], odds[n]) if (end - start) * 2 > whole.end - whole.start else odds[parts[top][1]]
        cores.append((start, end, both / both.sum()))
    if sum(b - a for a, b, _ in cores) * 10 >= (whole.end - whole.start) * 7:
        own = max((odds[n], *(o for _, _, o in cores)), key=lambda o: float(o[[CONSTRAINT, FACT, REPLACES]].sum()))
        return [(whole.start, whole.end, own)]
    return cores


def _retention(category: Category) -> Retention:
    if category in (Category.CONSTRAINT, Category.FACT):
        return Retention.IMPORTANT
    return Retention.DROPPABLE if category == Category.GREETING else Retention.DEFAULT


def _given(
    message: Message, number: int, category: Category, retention: Retention, found: tuple[Pin, ...]
) -> tuple[Pin, ...]:
    """The pins of a message of which the caller said what it is: all sentences of one that must stand, else none."""
    if message.body.get("role") != Role.USER or message.only_answers:
        return ()
    whole = message.category in (Category.CONSTRAINT, Category.FACT) or message.retention == Retention.NEVER_DROPPED
    if whole and retention >= Retention.IMPORTANT:
        kind = category if category == Category.FACT else Category.CONSTRAINT
        return tuple(
            Pin(number=number, seq=message.seq, start=a, end=b, kind=kind, certainty=1.0, given=True)
            for a, b in sentences(message.text)
        )
    if message.category is not None or retention < Retention.IMPORTANT:
        return ()
    return found
