"""Where all rooms meet: the verbs of keepline over a store, an encoder, a counter and a clock."""

from keepline.engine.aio import AsyncEngine
from keepline.engine.engine import Engine
from keepline.engine.opening import open_engine

__all__ = ["AsyncEngine", "Engine", "open_engine"]
