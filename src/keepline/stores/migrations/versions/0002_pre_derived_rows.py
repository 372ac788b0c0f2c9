"""Derived rows with their lineage; from where on a session enters a context, and when it ends.

A revision says in full what it makes and imports nothing of keepline.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _key(name: str, kind: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(name, kind, primary_key=True, nullable=False, autoincrement=False)


def _has(name: str, kind: Any = sa.BigInteger) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _make(name: str, *columns: sa.Column[Any]) -> None:
    op.create_table(name, _key("tenant", sa.Text), _key("user", sa.Text), *columns, sqlite_with_rowid=False)


def upgrade() -> None:
    op.add_column("sessions", sa.Column("cleared", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("sessions", sa.Column("expires", sa.BigInteger))
    _make(
        "derived", _key("kind", sa.Text), _key("id", sa.Text), _has("rev"), _has("number"), _has("lo"), _has("hi"),
        _has("key", sa.Text), _has("at", sa.Float), _has("body", sa.LargeBinary),
    )  # fmt: skip
    op.create_index("derived_place", "derived", ["tenant", "user", "kind", "number", "lo"])
    op.create_index("derived_key", "derived", ["tenant", "user", "kind", "key"])
    _make("lineage", _key("number"), _key("seq"), _key("kind", sa.Text), _key("id", sa.Text))
    op.create_index("lineage_row", "lineage", ["tenant", "user", "kind", "id"])
