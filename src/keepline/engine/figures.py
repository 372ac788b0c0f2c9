"""From settings and a model's name to the figures of a build."""

from __future__ import annotations

from dataclasses import fields

from keepline.context.draft import Plan
from keepline.memory.summary import Governor, Writer
from keepline.ports.model import Model
from keepline.ports.tokens import TokenCounter
from keepline.providers.models import window
from keepline.settings import Settings
from keepline.values.budget import Budget


def plan_of(settings: Settings) -> Plan:
    """The settings that steer a build."""
    return Plan(**{f.name: getattr(settings, f.name) for f in fields(Plan)})


def budget_for(budget: int | Budget | None, model: str | None, counter: TokenCounter, settings: Settings) -> Budget:
    """The budget of a call: as given; a bare number is the window; nothing: the model's window, else the setting's.

    A counter that only estimates adds its margin (a share of the window), unless the caller gave a `Budget`.
    """
    if isinstance(budget, Budget):
        return budget
    tokens = budget if budget is not None else (model and window(model)) or settings.window
    plain = Budget(window=tokens)
    return Budget(window=tokens, margin=int(plain.window * counter.margin_share)) if counter.margin_share else plain


def writer_of(settings: Settings, counter: TokenCounter, model: Model | None) -> Writer:
    """Who writes summaries, and when."""
    governor = Governor(
        batch=settings.summary_batch, start=settings.summary_from, messages=settings.summary_every,
        minutes=settings.summary_minutes, bill=settings.summary_bill, words=settings.summary_words,
    )  # fmt: skip
    return Writer(
        counter=counter, governor=governor, model=model.name if model else "", window=model.window if model else 0,
        language=settings.language,
    )  # fmt: skip
