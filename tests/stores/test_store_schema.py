"""One schema, two ways to it: made at once in an empty place, or brought there by migrations; and it is what it should be."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import create_engine

from keepline import stores
from keepline.errors import BadChoice
from keepline.stores.migrations import upgrade
from keepline.stores.schema import SCHEMA, STAMP, metadata
from keepline.testing.conformance.rows import say, texts, who


def _made(path: Path) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as raw:
        rows = raw.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        return {(kind, name, table, " ".join(sql.split())) for kind, name, table, sql in rows}


@pytest.mark.req("STORE-16")
def test_migrations_and_making_it_at_once_give_the_same_schema(tmp_path: Path) -> None:
    stores.open(str(tmp_path / "made.db")).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'migrated.db'}")
    with engine.begin() as connection:
        upgrade(connection)
    engine.dispose()
    assert _made(tmp_path / "made.db") == _made(tmp_path / "migrated.db")
    assert _stamps(tmp_path / "made.db") == _stamps(tmp_path / "migrated.db") == [(SCHEMA,)]


def _stamps(path: Path) -> list[tuple[str]]:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(f"SELECT version_num FROM {STAMP}").fetchall()


@pytest.mark.req("STORE-16")
def test_a_store_with_an_older_stamp_is_migrated_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"CREATE TABLE {STAMP} (version_num VARCHAR(32) NOT NULL, CONSTRAINT {STAMP}_pkc PRIMARY KEY (version_num))")
    store = stores.open(str(path))
    say(store, who(), "hello")
    assert texts(store, who()) == ["hello"]
    assert _stamps(path) == [(SCHEMA,)]
    store.close()


@pytest.mark.req("STORE-16")
def test_every_key_begins_with_the_owner() -> None:
    for table in metadata.sorted_tables:
        if table.name != STAMP:
            assert [column.name for column in table.primary_key][:2] == ["tenant", "user"]
            assert all([column.name for column in index.columns][:2] == ["tenant", "user"] for index in table.indexes)


@pytest.mark.req("STORE-16")
def test_opening_a_store_that_is_up_to_date_imports_no_alembic(tmp_path: Path) -> None:
    code = f"import sys; from keepline import stores; stores.open({str(tmp_path / 'x.db')!r}); print('alembic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.req("STORE-17")
def test_a_file_is_set_up_so_that_what_is_acknowledged_lasts_and_what_is_erased_goes(tmp_path: Path) -> None:
    store = stores.open(str(tmp_path / "x.db"))
    for engine in (store.backend.writer, store.backend.reader):
        with engine.connect() as connection:
            ask = lambda pragma: connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()  # noqa: E731
            found = {name: ask(name) for name in ("journal_mode", "synchronous", "secure_delete", "page_size", "temp_store")}
        assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "page_size": 8192, "temp_store": 2}
    store.close()


@pytest.mark.req("STORE-18")
@pytest.mark.parametrize(("address", "file"), [
    ("sqlite:///{folder}/a.db", "a.db"), ("{folder}/b.db", "b.db"), ("{folder}/new/deep/c d%20é.db", "new/deep/c d%20é.db"),
    ("sqlite:///{folder}/e?f#g.db", "e?f#g.db"),
])  # fmt: skip
def test_an_address_names_a_file_and_its_folders_are_made(tmp_path: Path, address: str, file: str) -> None:
    store = stores.open(address.format(folder=tmp_path))
    say(store, who(), "x")
    store.close()
    assert (tmp_path / file).read_bytes().startswith(b"SQLite format 3")


@pytest.mark.req("STORE-18")
def test_relative_addresses_are_of_the_folder_where_they_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    first, second = stores.open("sqlite:///one.db"), stores.open("two.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for store in (first, second):
        say(store, who(), "x")
        store.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "one.db", "two.db"]


@pytest.mark.req("STORE-18")
@pytest.mark.parametrize("address", ["sqlite://:memory:", ":memory:", "sqlite:///:memory:"])
def test_each_memory_is_its_own(address: str) -> None:
    one, other = stores.open(address), stores.open(address)
    say(one, who(), "x")
    assert (texts(one, who()), texts(other, who())) == (["x"], [])
    assert not one.capability.persistent
    one.close()
    other.close()


@pytest.mark.req("STORE-18")
@pytest.mark.parametrize("address", ["redis://localhost", "postgresql://x/y", "", "sqlite://", "sqlite:///", "sqlite://x.db"])
def test_another_kind_of_address_is_refused_with_those_that_are_known(address: str) -> None:
    with pytest.raises(BadChoice, match=r"sqlite:///path\.db"):
        stores.open(address)
