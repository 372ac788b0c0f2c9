"""Every error that keepline raises on purpose. A class's docstring is its message; the data are its attributes.

This module knows nothing of stores, models or HTTP; it imports nothing of keepline.

    KeeplineError
    ├── ScopeError            whose data is it?
    │   ├── EmptyUser
    │   ├── EmptySession
    │   ├── ReservedUser
    │   └── ForeignRow
    ├── InputError            what the caller gave
    │   ├── BadMessage
    │   ├── BadLine
    │   ├── BadTime
    │   ├── BadChoice
    │   ├── BadSetting
    │   └── NotFound
    ├── BudgetError           the window cannot hold what must be in it
    │   ├── BadBudget
    │   ├── BudgetTooSmall
    │   └── Oversize
    ├── StoreError            the place where it is kept
    │   ├── NotAStore
    │   ├── NewerSchema
    │   ├── StoreReadOnly
    │   ├── StoreFull
    │   ├── StoreBusy
    │   ├── StoreFailed
    │   ├── Moved
    │   └── ChainBroken
    ├── ModelError            the model that summarises
    │   ├── ModelDown
    │   └── BadReply
    └── MissingExtra
"""

from __future__ import annotations

import inspect
from typing import Any


class KeeplineError(Exception):
    """keepline could not do this."""

    def __init__(self, **data: Any) -> None:
        """Fill the docstring's fields with `data`, which stay readable as attributes."""
        self.data = data
        template = " ".join(inspect.cleandoc(type(self).__doc__ or "").split())
        super().__init__(template.format(**data))

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.data))


def _rebuild(kind: type[KeeplineError], data: dict[str, Any]) -> KeeplineError:
    return kind(**data)


class ScopeError(KeeplineError):
    """The scope of this call does not allow it."""


class EmptyUser(ScopeError):
    """No user: nothing is read or written without knowing whose it is. Give the person's id, as in user="u1"."""


class EmptySession(ScopeError):
    """No session: {verb} needs to know which conversation. Give its id, as in session="s1"."""


class ReservedUser(ScopeError):
    """A user's id cannot begin with the control character U+001F: such names are keepline's own. Give the person's id, as in
    user="u1"."""


class ForeignRow(ScopeError):
    """The store answered with a row of another owner; the answer was withheld. Check the store's adapter with
    keepline.testing.conformance."""


class InputError(KeeplineError):
    """What was given cannot be used."""


class BadMessage(InputError):
    """{where}: {why}"""


class BadLine(InputError):
    """{file}, line {line}: {why}. Mend the line, or give --skip-bad to go on without such lines."""


class BadTime(InputError):
    """{where}: {value!r} is not a usable time: {why}. Give ISO 8601 with a zone (2026-08-12T09:00:00+08:00) or an epoch
    in seconds."""


class BadChoice(InputError):
    """{what} {value!r} is not known. Choose one of: {choices}."""


class BadSetting(InputError):
    """The setting {name} from {origin} is {value!r}: {why}."""


class NotFound(InputError):
    """There is no {what} {id!r} for this user."""


class BudgetError(KeeplineError):
    """The budget cannot be met."""


class BadBudget(BudgetError):
    """{field} is {value}: {why}"""


class BudgetTooSmall(BudgetError):
    """What must be sent needs {needed} tokens, but {limit} are left for input. {items}. Raise the window, lower the
    output reserve, or shorten the system text or tools."""


class Oversize(BudgetError):
    """The pending message {id} has {tokens} tokens, {room} fit. Shorten it, or allow oversize="cut"."""


class StoreError(KeeplineError):
    """The store failed."""


class NotAStore(StoreError):
    """{path} is not a keepline store ({why}). Nothing was changed. Give another path, or move that file away."""


class NewerSchema(StoreError):
    """{path} was written by a newer keepline (schema {found}; this one knows {known}). Nothing was changed. Upgrade
    keepline."""


class StoreReadOnly(StoreError):
    """{path} cannot be written ({why}). Nothing was changed. Allow writing to the file and its folder, or choose another
    place with --store or KEEPLINE_STORE."""


class StoreFull(StoreError):
    """The disk of {path} is full: this write was not kept, everything acknowledged before it is safe. Free some space
    and try again."""


class StoreBusy(StoreError):
    """{path} stayed locked by another program for {seconds} s; this call was not carried out. Try again, and close what
    holds a transaction open on that file."""


class StoreFailed(StoreError):
    """{path}: the disk or the database failed ({why}); this call was not carried out. Everything acknowledged before it
    stays. Check the disk, then run keepline doctor."""


class Moved(StoreError):
    """Somebody else changed what this write rested on ({what}); nothing was written. Read again and decide anew."""


class ChainBroken(StoreError):
    """The log of session {session!r} was changed from outside at message {seq}: {why}."""


class ModelError(KeeplineError):
    """The model could not help; nothing rests on its answer."""


class ModelDown(ModelError):
    """The model {model} did not answer ({why}). What waits for it stays pending and is tried again. Check the endpoint and the
    key with keepline doctor."""


class BadReply(ModelError):
    """The model {model} gave a reply that cannot be used ({why}). What waits for it stays pending and is tried again."""


class MissingExtra(KeeplineError):
    """{feature} needs the extra {extra!r}: pip install "keepline[{extra}]"."""
