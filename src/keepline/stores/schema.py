"""The one schema, as SQLAlchemy Core tables: every key begins with tenant and user. Knows no database in particular.

Narrow and wide are kept apart: `messages` has what an outline needs, so that reading 100,000 rows of it touches no words;
`bodies` has the words, the digest and its salt. Words are JSON in bytes, which hold NUL and any other character on every
database. Times are whole microseconds since 1970 UTC. `rev` is the owner's version that last wrote the row.

Rows are clustered by their key (`WITHOUT ROWID`): one owner's rows lie together, and a key is stored once.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    String,
    Table,
    Text,
)

SCHEMA = "0002"
"""The revision that this code reads and writes: the newest in `migrations/versions`. Revisions are numbered in order."""

STAMP = "keepline_schema"
"""Alembic's version table, under a name that also says whose database this is."""

metadata = MetaData()


def _key(name: str, kind: Any = BigInteger) -> Column[Any]:
    return Column(name, kind, primary_key=True, nullable=False, autoincrement=False)


def _has(name: str, kind: Any = BigInteger) -> Column[Any]:
    return Column(name, kind, nullable=False)


def _owned(name: str, *parts: Column[Any] | Index) -> Table:
    return Table(name, metadata, _key("tenant", Text), _key("user", Text), *parts, sqlite_with_rowid=False)


stamp = Table(  # as Alembic itself would make it
    STAMP, metadata, Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{STAMP}_pkc"),
)  # fmt: skip

users = _owned(
    "users",
    _has("key", LargeBinary),
    _has("version"),
    _has("epoch"),
    _has("numbers"),  # the next session number; never used twice, so that an erased session's rows cannot be mistaken
)

sessions = _owned(
    "sessions",
    _key("name", Text),
    _has("number"),
    _has("started"),
    _has("path", Text),  # JSON: [[number, lo, hi], …]
    _has("start"),
    _has("count"),
    _has("head", LargeBinary),
    Column("cleared", BigInteger, nullable=False, server_default="0"),
    Column("expires", BigInteger),
    Index("sessions_number", "tenant", "user", "number", unique=True),
)

positions = _owned("positions", _key("number"), _key("view", Text), _has("seq"))

messages = _owned(
    "messages",
    _key("number"),
    _key("seq"),
    _has("rev"),
    _has("id", Text),
    _has("at"),
    _has("role", SmallInteger),  # these three index ROLES, CATEGORIES and Retention; 255: not known
    _has("category", SmallInteger),
    _has("retention", SmallInteger),
    _has("given", SmallInteger),
    _has("erased", SmallInteger),
    _has("counts", Text),  # JSON: {vocabulary: tokens}
    Column("links", Text),  # JSON: [[ids of calls made], [ids of calls answered]], for the few that have either
    Index("messages_id", "tenant", "user", "id", unique=True),
    Index("messages_rev", "tenant", "user", "rev"),
)

bodies = _owned(
    "bodies",
    _key("number"),
    _key("seq"),
    _has("body", LargeBinary),  # empty: erased
    _has("digest", LargeBinary),
    _has("salt", LargeBinary),
)

pins = _owned(
    "pins",
    _key("number"),
    _key("seq"),
    _key("start"),
    _key("end"),
    _has("rev"),
    _has("kind", SmallInteger),  # indexes CATEGORIES
    _has("certainty", Float),
    _has("given", SmallInteger),
    Column("until", Text),
)

endings = _owned(  # which message ended which pin: apart from `pins`, for a pin that forks share ends only in some of them
    "endings",
    _key("number"),
    _key("seq"),
    _key("start"),
    _key("end"),
    _key("by_number"),
    _key("by_seq"),
    Index("endings_by", "tenant", "user", "by_number", "by_seq"),
)

recall = _owned(
    "recall",
    _key("number"),
    _key("seq"),
    _key("chunk"),
    _has("rev"),
    _has("start"),
    _has("end"),
    _has("role", SmallInteger),
    _has("at", Float),  # epoch seconds, as the index weighs them
    _has("length"),
    _has("terms", LargeBinary),  # little-endian u64
    _has("counts", LargeBinary),  # little-endian u16
    Column("vector", LargeBinary),  # little-endian float16
    Index("recall_rev", "tenant", "user", "rev"),
)

ledgers = _owned(
    "ledgers",
    _key("id", Text),
    _has("rev"),
    _has("at", Text),
    _has("body", LargeBinary),
    Index("ledgers_rev", "tenant", "user", "rev", "at"),
)

derived = _owned(
    "derived",
    _key("kind", Text),
    _key("id", Text),
    _has("rev"),
    _has("number"),  # -1: about the owner as a whole
    _has("lo"),
    _has("hi"),
    _has("key", Text),
    _has("at", Float),
    _has("body", LargeBinary),
    Index("derived_place", "tenant", "user", "kind", "number", "lo"),
    Index("derived_key", "tenant", "user", "kind", "key"),
)

lineage = _owned(  # which message a derived row was made from: found by the message when it is erased
    "lineage",
    _key("number"),
    _key("seq"),
    _key("kind", Text),
    _key("id", Text),
    Index("lineage_row", "tenant", "user", "kind", "id"),
)
