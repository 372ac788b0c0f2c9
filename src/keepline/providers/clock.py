"""The machine's clock."""

from __future__ import annotations

from datetime import UTC, datetime


class SystemClock:
    """The time that this machine believes, in UTC."""

    def now(self) -> datetime:
        """Now, with its zone."""
        return datetime.now(UTC)
