"""Whenever the power is cut, what was acknowledged is there: the real store runs on a disk that keeps only what was synced."""

import random
import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from cutting import Disk, lay_out

from keepline import stores
from keepline.ports.store import EraseRows, FindRows, Read, Write
from keepline.stores import place
from keepline.stores.guard import Guard
from keepline.stores.sqlite import SqliteStore
from keepline.testing.conformance.rows import read_log, say, session_of, who

TALKS, EACH, CUTS = 3, 60, 36


@pytest.fixture
def disk() -> Iterator[Disk]:
    made = Disk()
    yield made
    made.unregister()


def _live(disk: Disk, path: Path) -> None:
    """Write from several threads and erase a few messages, telling the disk what was acknowledged."""
    store = Guard(SqliteStore(str(path), connect=disk.connect))

    def talk(number: int) -> None:
        scope = who("ann", f"talk {number}")
        for i in range(EACH):
            for name in say(store, scope, "words " * 400):
                disk.tell(f"kept {name}")
            if i % 20 == 19:
                store.write(Write((EraseRows(scope, (f"ann/talk {number}/{i - 5}",)),)))
                disk.tell(f"erased ann/talk {number}/{i - 5}")

    with ThreadPoolExecutor(TALKS) as pool:
        list(pool.map(talk, range(TALKS)))
    store.close()


def _missing(path: Path, told: list[str]) -> set[str]:
    """What was told and is not so in the store at `path`, which must be whole."""
    if not told and not path.exists():
        return set()
    store = stores.open(str(path))
    kept = {line.removeprefix("kept ") for line in told if line.startswith("kept ")}
    erased = {line.removeprefix("erased ") for line in told if line.startswith("erased ")}
    found = {row.message.id: row.message for row in store.read(Read((FindRows(who("ann"), tuple(kept | erased)),)))[0]}
    for number in range(TALKS):
        scope = who("ann", f"talk {number}")
        session = session_of(store, scope)
        assert [row.message.seq for row in read_log(store, scope)] == list(range(session.count if session else 0))
    store.close()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return (kept - set(found)) | {name for name in erased if not found[name].erased}


def _lost(disk: Disk, folder: Path, dice: random.Random | None) -> int:
    """How many acknowledged facts are missing, over cuts at many moments, the checkpoints' among them."""
    picker = random.Random(3)
    told = [i for i, event in enumerate(disk.events) if event[0] == "told"]
    inside = [i for i, event in enumerate(disk.events) if event[1].endswith(".db")]
    moments = {i + 1 for i in picker.sample(told[:-1], CUTS // 2)} | set(picker.sample(inside, CUTS // 2))
    lost = 0
    for files, heard in disk.cuts(moments, dice):
        path = lay_out(files, folder / "survived")
        lost += len(_missing(path, heard))
        shutil.rmtree(folder / "survived")
    return lost


@pytest.mark.req("STORE-08")
@pytest.mark.parametrize("dice", [None, random.Random(11)], ids=["nothing unsynced survives", "parts of it survive"])
def test_a_power_cut_loses_nothing_acknowledged(tmp_path: Path, disk: Disk, dice: random.Random | None) -> None:
    _live(disk, tmp_path / "keepline.db")
    assert _lost(disk, tmp_path, dice) == 0


@pytest.mark.req("STORE-08")
def test_the_cut_would_show_what_is_not_synced(tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "PRAGMAS", (*place.PRAGMAS, "synchronous=NORMAL"))
    _live(disk, tmp_path / "keepline.db")
    assert _lost(disk, tmp_path, None) > 0
