"""Short lists that help to tell names: surnames, first names, cities, and words that look like names and are none (names.txt).

Not complete and not meant to be: what they miss is left to a model.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def listed(section: str) -> frozenset[str]:
    """The words under `[section]`: "surnames", "first names", "cities" or "no names"."""
    text = files("keepline.memory.text").joinpath("names.txt").read_text(encoding="utf-8")
    _, _, after = text.partition(f"[{section}]\n")
    return frozenset(after.partition("\n[")[0].split())
