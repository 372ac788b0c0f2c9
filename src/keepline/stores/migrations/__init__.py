"""Bringing an older store to the schema of this release, with Alembic. Imported only when the stamp differs.

Revisions are numbered in order (`0001`, `0002`, …); a name has `pre` if the revision is safe before the new code runs
everywhere, `post` if only afterwards. A revision says in full what it makes, and imports nothing of keepline: the tables of
`schema` move on, a revision does not.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection


def upgrade(connection: Connection) -> None:
    """Run the revisions that the store lacks, inside the caller's transaction."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
