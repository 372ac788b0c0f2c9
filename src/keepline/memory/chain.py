"""Each message is chained to the one before it: a digest over its words, a salt of the row and the parent's digest, keyed
with a secret of the user's.

An edited, missing or moved row and a cut tail are seen; what was erased cannot be guessed from what remains. System and
developer text is not chained. Pure: knows rows and bytes, no store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from keepline.errors import ChainBroken
from keepline.ports.store import Row
from keepline.values.message import canonical
from keepline.values.session import Session

SIZE = 32
"""Bytes of a digest and of a user's key."""
SALT = 16
"""Bytes of a row's salt: two equal messages get different digests, and a digest alone confirms no guess."""
_ROOT = bytes(SIZE)


def link(key: bytes, parent: bytes, salt: bytes, body: Mapping[str, Any]) -> bytes:
    """The digest of a message after `parent` (its digest; empty at the root): BLAKE2b keyed with `key`, 32 bytes.

    It covers parent ‖ salt ‖ `canonical(body)`; the first two have fixed sizes, so that no two triples read alike.
    """
    return digest(key, parent, salt, canonical(body))


def digest(key: bytes, parent: bytes, salt: bytes, covered: bytes) -> bytes:
    """`link` for a message whose canonical bytes are at hand."""
    return hashlib.blake2b((parent or _ROOT) + salt + covered, key=key, digest_size=SIZE).digest()


def verify(key: bytes, rows: Sequence[Row], session: Session) -> int:
    """Check a session's whole log, `rows` in seq order from the root; returns how many messages were checked.

    A tombstone's digest is taken on trust, the next message links to it. Raises `ChainBroken` with the seq and the reason
    for a row that is missing, edited, moved, added or of another role, and for a tail that was cut.
    """
    parent = b""
    for seq, row in enumerate(rows):
        message = row.message
        if message.seq != seq:
            raise ChainBroken(session=session.name, seq=min(seq, message.seq), why=_gap(seq, message.seq))
        if message.role.instructs:
            if row.digest:
                raise ChainBroken(session=session.name, seq=seq, why="a chained message was turned into system text")
            continue
        if message.erased:
            if len(row.digest) != SIZE:
                raise ChainBroken(session=session.name, seq=seq, why="the digest of an erased message is gone")
        elif row.digest != link(key, parent, row.salt, message.body):
            raise ChainBroken(session=session.name, seq=seq, why="it, or a message before it, was edited or moved")
        parent = row.digest
    if len(rows) != session.count:
        why = f"the log should have {session.count} messages, {len(rows)} are there"
        raise ChainBroken(session=session.name, seq=min(len(rows), session.count), why=why)
    if parent != session.head:
        raise ChainBroken(session=session.name, seq=session.count - 1, why="the last message is not the one that was stored")
    return len(rows)


def _gap(expected: int, found: int) -> str:
    return f"a message is missing (the next one there is {found})" if found > expected else "it is there twice"
