"""What Alembic runs to find the database: the connection that `upgrade` was given, never one of its own."""

from __future__ import annotations

from alembic import context

from keepline.stores.schema import STAMP, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=STAMP,
    render_as_batch=True,  # SQLite changes a table by copying it
    transactional_ddl=True,  # which SQLite does, though Alembic assumes the driver would not
)
with context.begin_transaction():
    context.run_migrations()
