"""The verbs that show a window: context and demo."""

from __future__ import annotations

import json
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from keepline.cli.app import AnySession, AsJson, StoreAt, Tenant, User, app, engine, err, out, progress, show
from keepline.cli.data import one_line
from keepline.cli.window import as_json, draw
from keepline.cli.words import terminal_language
from keepline.engine import Engine
from keepline.values.budget import Budget
from keepline.values.context import Context
from keepline.values.message import content_text

SAMPLES = files("keepline.cli") / "samples"
DEMO = {
    "en": {
        "intro": "A conversation of {turns} turns, {tokens:,} tokens, in which the user gave {rules} standing rules and facts.\n"
        "None was tagged, no model is called, nothing leaves this machine. The next question must fit in {budget:,} tokens "
        "({share:.0%}):\n",
        "settled": "kept and read in {seconds:.1f} s",
        "kept": "Standing rules and facts in the window: {kept} of {rules}",
        "same": "The same window filled with the newest messages only would keep {recent} of {rules}.",
        "next": "Try your own:  keepline import -u me chat.jsonl  ·  keepline context -u me -s chat --explain \"…\"",
    },
    "zh": {
        "intro": "一段 {turns} 轮的对话，共 {tokens:,} 个 token，用户在其中交代了 {rules} 条长期规则与事实。\n"
        "没有人工标注，不调用模型，数据不出本机。下一个问题必须放进 {budget:,} 个 token（{share:.0%}）：\n",
        "settled": "{seconds:.1f} 秒内存好并读完",
        "kept": "窗口里的长期规则与事实：{rules} 条中的 {kept} 条",
        "same": "同样大小的窗口，若只放最新的消息，只能留下 {rules} 条中的 {recent} 条。",
        "next": "换成自己的对话：keepline import -u me chat.jsonl  ·  keepline context -u me -s chat --explain \"…\"",
    },
}


@app.command(epilog='Example:  keepline context -u me -s trip --budget 8000 --explain "book the room for next week"')
def context(
    text: Annotated[str, typer.Argument(help="The next message; empty: the log's last message is the question.")] = "",
    user: User = "", session: AnySession = None,
    budget: Annotated[int | None, typer.Option(min=1, help="The window in tokens (default: the model's).")] = None,
    reserve: Annotated[int | None, typer.Option(min=0, help="Tokens kept for the answer (default: a fifth).")] = None,
    mode: Annotated[str, typer.Option(help="auto, full, sliding, summary, retrieval or hybrid.")] = "auto",
    model: Annotated[str | None, typer.Option(help="Whose vocabulary and window.")] = None,
    keyword: Annotated[list[str] | None, typer.Option("--keyword", help="Must occur in what is recalled.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Draw the window, and say why each item is there.")] = False,
    store: StoreAt = None, tenant: Tenant = "default", json_: AsJson = False,
) -> None:
    """Build the messages for the next call under a budget."""
    given = Budget(window=budget, reserve=reserve) if budget and reserve is not None else budget
    with engine(store) as keep:
        built = keep.context(
            [{"role": "user", "content": text}] if text else [], budget=given, mode=mode, model=model,
            keywords=tuple(keyword or ()), user=user, session=session, tenant=tenant,
        )
        texts = words_of(keep, built, user, tenant) if explain and not json_ else {}
    if json_:
        show({"messages": built.to_openai(), "ledger": as_json(built.ledger)})
    elif explain:
        out.print(draw(built.ledger, terminal_language(keep.settings.language), texts, model or ""))
    else:
        out.print(json.dumps(built.to_openai(), ensure_ascii=False, indent=2), highlight=False, markup=False, soft_wrap=True)


@app.command(epilog="Example:  keepline demo --language zh")
def demo(
    language: Annotated[str, typer.Option(help="zh or en (default: the terminal's).")] = "",
    share: Annotated[float, typer.Option(min=0.05, max=1, help="How much of the conversation's tokens may be used.")] = 0.4,
    show_messages: Annotated[bool, typer.Option("--messages", help="Print the messages that would be sent, too.")] = False,
) -> None:
    """Squeeze a long sample conversation into a small window and show what is kept, and why."""
    spoken = terminal_language(language)
    words = DEMO[spoken]
    sample = json.loads((SAMPLES / f"{spoken}.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder, engine(str(Path(folder) / "demo.db")) as keep:
        started = time.perf_counter()
        stored = keep.append(sample["messages"], ts=sample["times"], user="demo", session="demo")
        tokens = sum(sum(m.counts.values()) for m in stored)
        budget = int(tokens * share)
        turns = sum(m.role == "user" for m in stored)
        out.print(words["intro"].format(turns=turns, tokens=tokens, rules=len(sample["rules"]), budget=budget, share=share),
                  highlight=False, soft_wrap=True)
        with progress("settle") as report:
            keep.settle(user="demo", session="demo", progress=report)
        err.print(words["settled"].format(seconds=time.perf_counter() - started), style="dim", highlight=False)
        out.print(Text("» " + sample["ask"], style="bold yellow"))
        out.print()
        asked = [{"role": "user", "content": sample["ask"]}]
        window = Budget(window=budget, reserve=0)
        built = keep.context(asked, budget=window, user="demo", session="demo")
        newest = keep.context(asked, budget=window, mode="sliding", pins=False, user="demo", session="demo")
        out.print(draw(built.ledger, spoken, words_of(keep, built, "demo", "default")))
    out.print()
    kept = [r for r in sample["rules"] if holds(built, r, sample["ask"])]
    out.print(words["kept"].format(kept=len(kept), rules=len(sample["rules"])), style="bold", highlight=False)
    for r in sample["rules"]:
        out.print(Text("  ✓ " if r in kept else "  ✗ ", style="green" if r in kept else "red") + Text(r))
    recent = sum(holds(newest, r, sample["ask"]) for r in sample["rules"])
    out.print(words["same"].format(recent=recent, rules=len(sample["rules"])), style="dim", highlight=False)
    if show_messages:
        out.print(json.dumps(built.to_openai(), ensure_ascii=False, indent=2), highlight=False, markup=False, soft_wrap=True)
    out.print("\n" + words["next"], highlight=False, markup=False, soft_wrap=True)
    if len(kept) < len(sample["rules"]):
        raise typer.Exit(1)


def holds(built: Context, rule: str, ask: str) -> bool:
    """Whether the words of `rule` stand in the built messages, the question itself left out."""
    said = " ".join(content_text(m.get("content")) for m in built.messages if m.get("content") != ask)
    return "".join(rule.split()) in "".join(said.split())


def words_of(keep: Engine, built: Context, user: str, tenant: str) -> dict[str, str]:
    """A line of words for each pinned or recalled message of the ledger: of a pin, its sentence."""
    session = built.ledger.session
    said = {s.id: s.text for s in keep.pins(user=user, session=session, tenant=tenant)} if session else {}
    wanted = {e.ids[0] for e in built.ledger.entries if e.ids and e.count == 1 and e.section in ("pins", "recall")}
    return {id: one_line(said.get(id) or keep.get(id, user=user, tenant=tenant).text, 60) for id in wanted}
