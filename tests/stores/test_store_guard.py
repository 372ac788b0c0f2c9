"""The guard believes no store: a row of another owner is withheld, whatever the store was asked."""

from dataclasses import replace
from typing import Any

import pytest

from keepline.errors import BadMessage, ForeignRow
from keepline.ports import store as ops
from keepline.ports.store import Behind, Read, Write
from keepline.stores.guard import Guard
from keepline.stores.sqlite import SqliteStore
from keepline.stores.steps import Owned
from keepline.testing.conformance.rows import EVERYTHING, index_row, ledger, message, pin, row, say, tag, texts, who
from keepline.values.scope import Scope

ANN, BOB = who("ann"), who("bob")


class Liar(SqliteStore):
    """A store that has lost its WHERE: it answers with a neighbour's rows, alone or among the asker's own."""

    def __init__(self, neighbour: Scope, mixed: bool) -> None:
        super().__init__(":memory:")
        self.neighbour, self.mixed, self.lying = neighbour, mixed, False

    def read(self, need: Read) -> tuple[Owned, ...]:
        honest = super().read(need)
        if not self.lying:
            return honest
        theirs = super().read(Read(tuple(replace(op, scope=self.neighbour) for op in need.ops if not isinstance(op, Behind))))
        if not self.mixed:
            return theirs
        return tuple(Owned(mine.value, mine.owners | other.owners) for mine, other in zip(honest, theirs, strict=True))


READS: dict[str, Any] = {
    "user": ops.GetUser(ANN), "session": ops.GetSession(ANN), "sessions": ops.ListSessions(ANN),
    "rows": ops.GetRows(ANN, (EVERYTHING,)), "rows at": ops.GetRows(ANN, (EVERYTHING,), (0,)),
    "found rows": ops.FindRows(ANN, ("bob/s/0", "ann/s/0")), "outline": ops.GetOutline(ANN, (EVERYTHING,), "o200k_base"),
    "new outline": ops.GetOutline(ANN, (EVERYTHING,), "o200k_base", 1), "pins": ops.GetPins(ANN, (EVERYTHING,)),
    "index": ops.GetIndex(ANN), "new index": ops.GetIndex(ANN, 1), "ledgers": ops.GetLedgers(ANN),
    "ledger": ops.GetLedgers(ANN, "L"),
}  # fmt: skip


@pytest.mark.req("STORE-10")
@pytest.mark.parametrize("mixed", [False, True], ids=["alone", "among the asker's own"])
@pytest.mark.parametrize("op", READS.values(), ids=READS.keys())
def test_a_foreign_row_is_an_error_and_not_an_answer(op: Any, mixed: bool) -> None:
    liar = Liar(BOB, mixed)
    store = Guard(liar)
    for scope in (ANN, BOB):
        say(store, scope, f"words of {scope.user}")
        store.write(Write((
            ops.PutTags(scope, (tag(0, pin(0)),)), ops.PutIndex(scope, (index_row(0),)), ops.PutLedger(scope, ledger("L")),
        )))  # fmt: skip
    assert store.read(Read((op,)))[0]
    liar.lying = True
    with pytest.raises(ForeignRow):
        store.read(Read((ops.GetUser(ANN), op)))
    store.close()


@pytest.mark.req("STORE-10")
def test_who_is_behind_is_told_by_name_only() -> None:
    store = Guard(SqliteStore(":memory:"))
    say(store, ANN, "secret")
    behind = store.read(Read((Behind("tags"),)))[0]
    assert behind == (ANN,)
    assert "secret" not in repr(behind)
    store.close()


@pytest.mark.req("STORE-10")
@pytest.mark.parametrize("scope", [who("a\ud800"), who("ann", "s\udc00"), who("ann", tenant="\ud800")], ids=repr)
def test_a_name_that_has_no_bytes_is_refused(scope: Scope) -> None:
    store = Guard(SqliteStore(":memory:"))
    with pytest.raises(BadMessage):
        say(store, scope, "x")
    say(store, ANN, "x")
    with pytest.raises(BadMessage):
        store.write(Write((ops.PutRows(ANN, (row(message(1, id="m\ud800")),)),)))
    with pytest.raises(BadMessage):
        store.read(Read((ops.FindRows(ANN, ("m\ud800",)),)))
    assert texts(store, ANN) == ["x"]
    store.close()


@pytest.mark.req("STORE-10")
def test_names_with_nul_and_quotes_are_names_like_others() -> None:
    store = Guard(SqliteStore(":memory:"))
    for user in ("a\0b", "a", "a\0", "a'--", 'a"', "张总", "%"):
        say(store, who(user, "s\0\n"), user)
    for user in ("a\0b", "a", "a\0", "a'--", 'a"', "张总", "%"):
        assert store.read(Read((ops.ListSessions(who(user)),)))[0][0].name == "s\0\n"
        assert len(store.read(Read((ops.GetRows(who(user), (EVERYTHING,)),)))[0]) == 1
    store.close()
