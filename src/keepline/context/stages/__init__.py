"""The stages of a build. Each is a callable of one shape: a draft in, a flow that returns the next draft."""

from __future__ import annotations

from collections.abc import Callable

from keepline.context.draft import Draft
from keepline.ports.flow import Flow

Stage = Callable[[Draft], Flow[Draft]]
