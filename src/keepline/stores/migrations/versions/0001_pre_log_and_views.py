"""The log, its derived views and the ledgers.

A revision says in full what it makes and imports nothing of keepline.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _key(name: str, kind: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, nullable=False, autoincrement=False)


def _has(name: str, kind: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _make(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(name, _key("tenant", sa.Text), _key("user", sa.Text), *columns, sqlite_with_rowid=False)


def upgrade() -> None:
    _owner()
    _log()
    _views()


def _owner() -> None:
    _make("users", _has("key", sa.LargeBinary), _has("version"), _has("epoch"), _has("numbers"))
    _make(
        "sessions", _key("name", sa.Text), _has("number"), _has("started"), _has("path", sa.Text), _has("start"),
        _has("count"), _has("head", sa.LargeBinary),
    )  # fmt: skip
    op.create_index("sessions_number", "sessions", ["tenant", "user", "number"], unique=True)
    _make("positions", _key("number"), _key("view", sa.Text), _has("seq"))
    _make("ledgers", _key("id", sa.Text), _has("rev"), _has("at", sa.Text), _has("body", sa.LargeBinary))
    op.create_index("ledgers_rev", "ledgers", ["tenant", "user", "rev", "at"])


def _log() -> None:
    _make(
        "messages", _key("number"), _key("seq"), _has("rev"), _has("id", sa.Text), _has("at"),
        _has("role", sa.SmallInteger), _has("category", sa.SmallInteger), _has("retention", sa.SmallInteger),
        _has("given", sa.SmallInteger), _has("erased", sa.SmallInteger), _has("counts", sa.Text),
        sa.Column("links", sa.Text),
    )  # fmt: skip
    op.create_index("messages_id", "messages", ["tenant", "user", "id"], unique=True)
    op.create_index("messages_rev", "messages", ["tenant", "user", "rev"])
    _make(
        "bodies", _key("number"), _key("seq"), _has("body", sa.LargeBinary), _has("digest", sa.LargeBinary),
        _has("salt", sa.LargeBinary),
    )  # fmt: skip


def _views() -> None:
    _make(
        "pins", _key("number"), _key("seq"), _key("start"), _key("end"), _has("rev"), _has("kind", sa.SmallInteger),
        _has("certainty", sa.Float), _has("given", sa.SmallInteger), sa.Column("until", sa.Text),
    )  # fmt: skip
    _make(
        "endings", _key("number"), _key("seq"), _key("start"), _key("end"), _key("by_number"), _key("by_seq"),
    )  # fmt: skip
    op.create_index("endings_by", "endings", ["tenant", "user", "by_number", "by_seq"])
    _make(
        "recall", _key("number"), _key("seq"), _key("chunk"), _has("rev"), _has("start"), _has("end"),
        _has("role", sa.SmallInteger), _has("at", sa.Float), _has("length"), _has("terms", sa.LargeBinary),
        _has("counts", sa.LargeBinary), sa.Column("vector", sa.LargeBinary),
    )  # fmt: skip
    op.create_index("recall_rev", "recall", ["tenant", "user", "rev"])
