"""Making an engine from an address and settings: the only place that picks the parts."""

from __future__ import annotations

from typing import Any

from keepline.engine.engine import Engine
from keepline.providers.chat import model
from keepline.providers.clock import SystemClock
from keepline.providers.encoders import encoder
from keepline.providers.tokenizers import counter
from keepline.settings import load
from keepline.stores import open as open_store


def open_engine(store: str | None = None, **settings: Any) -> Engine:
    """An `Engine` over `store` (an address such as `sqlite:///chat.db`, a bare path, or `sqlite://:memory:`; default: the
    setting `store`). `settings` are rows of `keepline config show`; what is not given comes from the environment, the
    config file or the defaults. Raises `BadSetting`, `MissingExtra`, `NotAStore`, `NewerSchema`,
    `StoreReadOnly`."""
    chosen = load(store=store, **settings)
    return Engine(
        open_store(chosen.address, busy_s=chosen.busy_s),
        settings=chosen,
        encoder=encoder(chosen.encoder),
        counter=counter(chosen.vocabulary),
        clock=SystemClock(),
        model=model(chosen.summary_model, url=chosen.model_url, key=chosen.model_key),
    )
