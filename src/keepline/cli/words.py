"""The command line's own words, Chinese and English, in one table. Picks the language; prints nothing."""

from __future__ import annotations

import os
import re

SECTIONS = {
    "en": {
        "system": "instructions", "tools": "tools and overhead", "pending": "this message",
        "pins": "standing rules and facts",
        "recent": "recent turns", "recall": "recalled", "frame": "stamps and fences", "reserve": "kept for the answer",
        "margin": "safety margin", "free": "free", "other": "rest of the log",
    },
    "zh": {
        "system": "系统指令", "tools": "工具与固定开销", "pending": "本次消息", "pins": "长期规则与事实",
        "recent": "最近对话", "recall": "回忆", "frame": "标注与围栏", "reserve": "留给回答",
        "margin": "安全余量", "free": "空闲", "other": "其余记录",
    },
}
WORDS = {
    "en": {
        "head": "{model}{used} of {window} tokens ({share:.0%}) · mode {mode}",
        "why": "mode {mode}: {why}",
        "went_in": "What went in, and why",
        "left_out": "What stayed out, and why",
        "more": "… and {n} more (--json shows all)",
        "notes": "Worth knowing",
        "messages": "{n} messages",
        "ended_by": "by #{id}",
    },
    "zh": {
        "head": "{model}已用 {used} / {window} token（{share:.0%}）· 模式 {mode}",
        "why": "模式 {mode}：{why}",
        "went_in": "放进去了什么、为什么",
        "left_out": "没放进去什么、为什么",
        "more": "……另有 {n} 条（--json 可看全部）",
        "notes": "值得留意",
        "messages": "{n} 条消息",
        "ended_by": "被 #{id} 终止",
    },
}
RULES_ZH = {
    "all fits": "全部放得下",
    "recent turns": "最近几轮，原文",
    "instructions are never dropped": "指令从不丢弃",
    "this call": "本次调用",
    "newest rounds of the tool loop": "工具循环中最新的几步",
    "older rounds of the tool loop": "工具循环中较早的几步",
    "recalled": "与问题相关而召回",
    "beyond the share of recall": "超出回忆份额",
    "beyond the share of pins": "超出规则份额",
    "said already": "已有相同内容",
    "said again elsewhere": "别处已有相同内容",
    "standing constraint": "仍有效的规则",
    "standing fact": "仍有效的事实",
    "given by the caller": "由调用方指定",
    "stands in the window": "原话就在窗口里",
    "ended by a later message": "被后来的话终止",
    "older than the window": "早于窗口",
    "oversize": "过长，中间截去",
    "too big for the window": "窗口放不下，中间截去",
    "gave way: over the budget": "超预算而让出",
    "everything fits": "全部放得下",
    "asked for": "由调用方指定",
    "may be a rule: spare room": "可能是规则，有富余才放",
    "facts are dense and recent questions stay with one thing": "事实多，最近的问题又集中",
    "pins were left out on request": "按要求没有放长期规则",
}
WITH_FIGURES_ZH = (
    (r"history is under ([\d.]+) of the window", r"历史不到窗口的 \1"),
    (r"facts in recent messages are under ([\d.]+)", r"最近的消息里，事实的占比低于 \1"),
    (r"recent questions are less alike than (-?[\d.]+)", r"最近的问题彼此相似度低于 \1"),
    (r"ended by its own words, until (.+)", r"按原话到 \1 为止"),
    (r"(\d+) standing rules or facts did not fit their share of the budget", r"有 \1 条长期规则或事实超出了预算份额"),
    (r"mode (\w+) is not there yet: (\w+) was used", r"\1 模式还没有，改用 \2"),
    (r"the output reserve of (\d+) left no input and was lowered to (\d+)", r"留给回答的 \1 会让输入没有位置，已降到 \2"),
    (r"broken tool pairs were repaired for this call: (.+)", r"本次修复了不成对的工具调用：\1"),
)
"""Rules and notes of a ledger with a figure, a date or ids in them."""


def terminal_language(asked: str = "") -> str:
    """"zh" or "en": as asked, else by the terminal's locale (`LC_ALL`, `LC_MESSAGES`, `LANG`, `LANGUAGE`)."""
    if asked in ("zh", "en"):
        return asked
    for variable in ("LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"):
        value = os.environ.get(variable, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def rule(text: str, language: str) -> str:
    """A ledger's rule or note in the language; what is not known stays as it is."""
    if language != "zh":
        return text
    for pattern, chinese in WITH_FIGURES_ZH:
        if re.fullmatch(pattern, text):
            return re.sub(pattern, chinese, text)
    return RULES_ZH.get(text, text)
