"""How many tokens one call may use. Counts nothing itself."""

from __future__ import annotations

from dataclasses import dataclass

from keepline.errors import BadBudget


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The token budget of one call.

    `window` is the model's whole window in tokens; `reserve` what is kept for the answer (None: 20 % of the window);
    `margin` tokens kept free for what cannot be counted exactly. `max_messages` limits the number of messages, system
    text not counted (None: no limit). Raises `BadBudget` for a negative or impossible figure.
    """

    window: int
    reserve: int | None = None
    margin: int = 0
    max_messages: int | None = None

    def __post_init__(self) -> None:
        for name in ("window", "reserve", "margin", "max_messages"):
            value = getattr(self, name)
            if value is None and name in ("reserve", "max_messages"):
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise BadBudget(field=name, value=repr(value), why="give a whole number of tokens.")
            least = 1 if name in ("window", "max_messages") else 0
            if value < least:
                raise BadBudget(field=name, value=value, why=f"it must be at least {least}.")

    @property
    def reserved(self) -> int:
        """Tokens kept for the answer. A reserve that would leave no input at all is lowered to half the window."""
        wanted = self.window // 5 if self.reserve is None else self.reserve
        return wanted if wanted < self.window - self.margin else self.window // 2

    @property
    def lowered(self) -> bool:
        """Whether the caller's reserve had to be lowered (the ledger says so)."""
        return self.reserve is not None and self.reserved != self.reserve

    @property
    def limit(self) -> int:
        """Tokens left for input: window − reserve − margin, never negative."""
        return max(0, self.window - self.reserved - self.margin)
