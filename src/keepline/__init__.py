"""keepline: context and memory for LLM applications."""

from __future__ import annotations
