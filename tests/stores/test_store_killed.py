"""A process that is killed while it writes loses nothing that it was told is kept."""

import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from keepline import stores
from keepline.ports.store import FindRows, Read
from keepline.testing.conformance.rows import read_log, session_of, who

WRITER = Path(__file__).with_name("writer_process.py")
ROUNDS = 12


def _killed_after(path: Path, lines: int) -> list[str]:
    """Start the writer, kill it once it has acknowledged so many, and return all that it had told by then."""
    with subprocess.Popen([sys.executable, str(WRITER), str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        told += process.stdout.readlines()
    return [line.strip() for line in told if line.endswith("\n")]


@pytest.mark.req("STORE-07")
def test_a_killed_writer_loses_no_acknowledged_message_and_leaves_a_whole_log(tmp_path: Path) -> None:
    path, dice, told = tmp_path / "keepline.db", random.Random(7), []
    for _ in range(ROUNDS):
        told += _killed_after(path, dice.randint(1, 80))
        store = stores.open(str(path))
        found = store.read(Read((FindRows(who("ann"), tuple(told)),)))[0]
        assert {row.message.id for row in found} == set(told)
        for talk in ("a", "b"):
            session = session_of(store, who("ann", talk))
            rows = read_log(store, who("ann", talk))
            assert [row.message.seq for row in rows] == list(range(session.count if session else 0))
        store.close()
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert len(told) > ROUNDS
