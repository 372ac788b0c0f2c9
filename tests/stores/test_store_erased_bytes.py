"""What is erased is not in the store's files either: database, write-ahead log and shared memory are searched byte by byte."""

import hashlib
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from keepline import stores
from keepline.ports.store import (
    EraseRows,
    EraseSession,
    EraseUser,
    GetUser,
    PutIndex,
    PutTags,
    Read,
    Store,
    Write,
)
from keepline.stores.guard import Guard
from keepline.stores.sqlite import SqliteStore
from keepline.testing.conformance.rows import append, index_row, message, pin, say, start, tag, who

ANN, BOB = who("ann", "talk of ann"), who("bob-with-a-long-name", "talk of bob")
COUNT = 240


def _token(user: str, seq: int) -> str:
    return hashlib.sha256(f"{user}{seq}".encode()).hexdigest()


def _needles(user: str, seq: int) -> list[bytes]:
    """What must be found before and never after: an ASCII word, a Chinese one, the row's salt, its vector."""
    token = _token(user, seq)
    chinese = "".join(chr(0x4E00 + int(token[i : i + 3], 16)) for i in range(0, 24, 3))
    return [token.encode(), chinese.encode(), b"salt of " + f"{user}-{seq:04d}".encode()[-8:], _vector(seq).tobytes()]


def _vector(seq: int) -> np.ndarray:
    return np.random.default_rng(seq).standard_normal(48).astype(np.float16)


def _fill(store: Store, user: str, sizes: random.Random) -> None:
    scope = ANN if user == "ann" else BOB
    for at in range(0, COUNT, 40):
        batch = []
        for seq in range(at, at + 40):
            _, chinese, _, _ = _needles(user, seq)
            words = f"{_token(user, seq)} {chinese.decode()} " + "filler " * sizes.choice((0, 3, 60, 400, 4000))
            batch.append(message(seq, words, id=f"{user}-{seq:04d}"))
        append(store, scope, batch)
        if user == "ann":
            rows = tuple(index_row(seq, vector=_vector(seq)) for seq in range(at, at + 40))
            tags = tuple(tag(seq, pin(seq)) for seq in range(at, at + 40))
            store.write(Write((PutIndex(scope, rows), PutTags(scope, tags))))


def _found(folder: Path, needles: list[bytes]) -> list[bytes]:
    data = b"\0".join(file.read_bytes() for file in sorted(folder.iterdir()))
    return [needle for needle in needles if needle in data]


def _all(user: str, seqs: range | list[int]) -> list[bytes]:
    return [needle for seq in seqs for needle in _needles(user, seq)]


@pytest.mark.req("STORE-09")
@pytest.mark.parametrize("seed", [3, 4])  # orders in which SQLite does leave copies in the unused parts of its pages
def test_erasing_everything_in_any_order_leaves_no_byte(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    store = stores.open(str(tmp_path / "keepline.db"))
    _fill(store, "ann", dice)
    _fill(store, "bob", dice)
    order = list(range(COUNT))
    dice.shuffle(order)
    gone: list[int] = []
    while order:
        size = dice.randint(1, 12)
        part, order = order[:size], order[size:]
        gone += part
        store.write(Write((EraseRows(ANN, tuple(f"ann-{seq:04d}" for seq in part)),)))
        assert _found(tmp_path, _all("ann", part if len(gone) % 5 else gone)) == []
    assert _found(tmp_path, _all("ann", gone)) == []
    assert len(_found(tmp_path, _all("bob", range(COUNT)))) >= 3 * COUNT
    store.close()


class Hurried(SqliteStore):
    """A process that ends after an erasure is committed and before the files are clean."""

    def _scrub(self, wait_ms: int) -> None:
        raise SystemExit


@pytest.mark.req("STORE-09")
def test_whoever_opens_a_store_finishes_the_cleaning_that_another_began(tmp_path: Path) -> None:
    path = tmp_path / "keepline.db"
    store = Guard(Hurried(str(path)))
    _fill(store, "ann", random.Random(5))
    with pytest.raises(SystemExit):
        store.write(Write((EraseUser(ANN),)))
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() != (0,)
    opened = stores.open(str(path))
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (0,)
    assert _found(tmp_path, [ANN.session.encode(), *_all("ann", range(COUNT))]) == []
    opened.close()
    store.close()


@pytest.mark.req("STORE-09")
def test_erased_messages_are_in_no_byte_of_the_stores_files(tmp_path: Path) -> None:
    dice = random.Random(5)
    store, neighbour = (stores.open(str(tmp_path / "keepline.db")) for _ in range(2))
    _fill(store, "ann", dice)
    _fill(store, "bob", dice)
    neighbour.read(Read((GetUser(ANN),)))
    assert len(_found(tmp_path, _all("ann", range(COUNT)))) == 4 * COUNT
    gone = sorted(dice.sample(range(COUNT), COUNT // 2))
    kept = [seq for seq in range(COUNT) if seq not in gone]
    for at in range(0, len(gone), 30):
        store.write(Write((EraseRows(ANN, tuple(f"ann-{seq:04d}" for seq in gone[at : at + 30])),)))
        assert _found(tmp_path, _all("ann", gone[: at + 30])) == []
    assert len(_found(tmp_path, _all("ann", kept))) == 4 * len(kept)
    store.close()
    neighbour.close()
    assert _found(tmp_path, _all("ann", gone)) == []


@pytest.mark.req("STORE-09")
def test_of_an_erased_session_and_user_no_byte_is_left(tmp_path: Path) -> None:
    store = stores.open(str(tmp_path / "keepline.db"))
    _fill(store, "ann", random.Random(5))
    _fill(store, "bob", random.Random(6))
    store.write(Write((EraseSession(ANN),)))
    assert _found(tmp_path, [*_all("ann", range(COUNT)), ANN.session.encode()]) == []
    store.write(Write((EraseUser(BOB),)))
    names = [BOB.user.encode(), BOB.session.encode(), b"key of bob", *_all("bob", range(COUNT))]
    assert _found(tmp_path, names) == []
    store.close()


@pytest.mark.req("STORE-09")
def test_a_reader_of_an_older_state_only_puts_off_the_last_bytes(tmp_path: Path) -> None:
    store = stores.open(str(tmp_path / "keepline.db"))
    start(store, ANN)
    say(store, ANN, _token("ann", 0))
    with stores.open(str(tmp_path / "keepline.db")).backend.reader.connect() as reading:
        assert reading.exec_driver_sql("SELECT count(*) FROM bodies").scalar() == 1
        store.write(Write((EraseRows(ANN, ("ann/talk of ann/0",)),)))
    store.write(Write((EraseRows(ANN, ()),)))
    assert _found(tmp_path, [_token("ann", 0).encode()]) == []
    store.close()
