"""The picture of one call's window: a grid of the whole budget, a row per section, and what went in and stayed out.

Draws a ledger with Rich; counts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from keepline.cli.words import SECTIONS, WORDS, rule
from keepline.values.context import Entry, Fate, Ledger

COLOURS = {
    "system": "magenta", "tools": "bright_black", "pins": "bright_red", "recent": "green", "recall": "cyan",
    "frame": "blue", "pending": "yellow", "free": "grey37", "margin": "grey50", "reserve": "white",
}
ORDER = tuple(COLOURS)
COLUMNS, ROWS = 40, 8
FULL, EMPTY, HELD = "■", "·", "□"
MOST_LINES = 14


def draw(ledger: Ledger, language: str = "en", texts: Mapping[str, str] | None = None, model: str = "") -> RenderableType:
    """The window of `ledger` as something Rich can print. `texts` maps message ids to a line of their words, shown beside
    the ids; `model` stands in the head line."""
    words = WORDS[language]
    head = words["head"].format(
        model=f"{model} · " if model else "", used=short(ledger.tokens), window=short(ledger.window),
        share=ledger.tokens / ledger.window, mode=ledger.mode,
    )
    parts: list[RenderableType] = [
        Text(head, style="bold"),
        Text(words["why"].format(mode=ledger.mode, why=rule(ledger.why, language)), style="dim"),
        Text(),
        _grid(shares(ledger)),
        Text(),
        _rows(ledger, language),
    ]
    kept = [e for e in ledger.entries if e.fate is Fate.KEPT and e.section in ("pins", "recall")]
    kept.sort(key=lambda e: (e.section != "pins", e.rule.startswith("may be")))
    left_out = sorted(ledger.left_out(), key=lambda e: e.section != "pins")
    for title, entries in (("went_in", kept), ("left_out", left_out)):
        if entries:
            parts += [Text(), Text(words[title], style="bold"), _entries(entries, language, texts or {})]
    if ledger.notes:
        parts += [Text(), Text(words["notes"], style="bold"), *(Text(f"  {rule(n, language)}") for n in ledger.notes)]
    return Group(*parts)


def shares(ledger: Ledger) -> dict[str, int]:
    """Tokens of the whole window by section, reserve, margin and free space included; they sum to the window."""
    found = {s: int(ledger.sections.get(s, 0)) for s in ORDER}
    found["reserve"], found["margin"] = ledger.reserve, ledger.margin
    found["free"] = max(0, ledger.window - ledger.reserve - ledger.margin - ledger.tokens)
    return found


def cells(parts: Mapping[str, int], total: int) -> list[str]:
    """The grid's cells in order: each section gets its share of COLUMNS × ROWS, at least one if it has any tokens."""
    count = COLUMNS * ROWS
    sizes = {s: max(1, round(n * count / total)) if n else 0 for s, n in parts.items()}
    while sum(sizes.values()) != count and any(sizes.values()):
        biggest = max(sizes, key=lambda s: sizes[s])
        sizes[biggest] += 1 if sum(sizes.values()) < count else -1
    return [s for s in ORDER for _ in range(sizes.get(s, 0))]


def short(tokens: int) -> str:
    """A token count as people say it: 47k, 1.2k, 860."""
    if tokens < 1000:
        return str(tokens)
    return f"{tokens / 1000:.1f}k".replace(".0k", "k") if tokens < 100_000 else f"{tokens // 1000}k"


def _grid(parts: dict[str, int]) -> Text:
    drawn = cells(parts, sum(parts.values()) or 1)
    text = Text()
    for n, section in enumerate(drawn):
        if n and n % COLUMNS == 0:
            text.append("\n")
        mark = {"free": EMPTY, "reserve": HELD, "margin": HELD}.get(section, FULL)
        text.append(mark + " ", style=COLOURS[section])
    return text


def _rows(ledger: Ledger, language: str) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    for section, tokens in shares(ledger).items():
        if tokens:
            mark = {"free": EMPTY, "reserve": HELD, "margin": HELD}.get(section, FULL)
            table.add_row(
                Text(mark, style=COLOURS[section]), SECTIONS[language][section], f"{tokens:,}",
                f"{tokens / ledger.window:.1%}",
            )
    return table


def _entries(entries: list[Entry], language: str, texts: Mapping[str, str]) -> RenderableType:
    """A line an entry: id in its section's colour, tokens, reason, words. On a narrow terminal the words give way, never the
    reason."""
    words = WORDS[language]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True)
    table.add_column()
    for e in entries[:MOST_LINES]:
        ids = "" if not e.ids else f"#{e.ids[0]}" if e.count == 1 else f"#{e.ids[0]}…#{e.ids[-1]}"
        why = rule(e.rule, language) + (f" · {words['ended_by'].format(id=e.by)}" if e.by else "")
        if e.count > 1:
            why += f" · {words['messages'].format(n=e.count)}"
        said = texts.get(e.ids[0], "") if e.count == 1 and e.ids else ""
        table.add_row(
            Text(f"  {ids}", style=COLOURS.get(e.section, "dim")), f"{e.tokens:,}", why,
            Text(said, style="dim", no_wrap=True, overflow="ellipsis"),
        )
    if len(entries) <= MOST_LINES:
        return table
    return Group(table, Text("  " + words["more"].format(n=len(entries) - MOST_LINES), style="dim"))


def as_json(ledger: Ledger) -> dict[str, Any]:
    """The ledger as plain values, sections of the window included."""
    return {**ledger.to_dict(), "window_sections": shares(ledger)}
