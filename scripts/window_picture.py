"""Draw the READMEs' pictures, `docs/window.svg` and `docs/window.zh.svg`: the window that `keepline demo` ends with.

    python scripts/window_picture.py

Run it when the demo looks different. Draws what the demo draws; decides nothing.
"""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import keepline
from keepline.cli.show import SAMPLES, words_of
from keepline.cli.window import draw

ROOT = Path(__file__).resolve().parents[1]
SHARE = 0.4
PICTURES = {"en": ("docs/window.svg", "keepline demo"), "zh": ("docs/window.zh.svg", "keepline demo --language zh")}
PAPER = TerminalTheme(
    (250, 250, 248),
    (40, 44, 52),
    [(40, 44, 52), (201, 60, 55), (60, 140, 70), (176, 132, 20),
     (60, 105, 190), (150, 75, 165), (30, 140, 150), (120, 125, 135)],
    [(150, 155, 165), (220, 80, 70), (80, 165, 90), (200, 150, 30),
     (85, 130, 215), (175, 100, 190), (50, 165, 175), (90, 95, 105)],
)


def picture(language: str) -> str:
    """The demo's window in `language` as SVG."""
    sample = json.loads((SAMPLES / f"{language}.json").read_text(encoding="utf-8"))
    with keepline.open("sqlite://:memory:", settle="manual") as engine:
        chat = engine.user("demo").session("demo")
        stored = chat.append(sample["messages"], ts=sample["times"])
        window = keepline.Budget(window=int(sum(sum(m.counts.values()) for m in stored) * SHARE), reserve=0)
        built = chat.context([{"role": "user", "content": sample["ask"]}], budget=window)
        texts = words_of(engine, built, "demo", "default")
    console = Console(record=True, width=108, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(draw(built.ledger, language, texts))
    _, title = PICTURES[language]
    return widened(console.export_svg(title=title, theme=PAPER, unique_id="window"))


def widened(svg: str) -> str:
    """The picture with two cells for a Chinese character: Rich gives every character the length of one."""
    def length(match: re.Match[str]) -> str:
        text = html.unescape(match[3])
        return f'textLength="{float(match[1]) / len(text) * cell_len(text):.1f}"{match[2]}>{match[3]}<'

    return re.sub(r'textLength="([\d.]+)"([^>]*)>([^<]+)<', length, svg)


if __name__ == "__main__":
    for spoken, (path, _) in PICTURES.items():
        (ROOT / path).write_text(picture(spoken), encoding="utf-8")
        print(path)
