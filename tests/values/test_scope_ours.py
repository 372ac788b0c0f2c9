"""Owners that are keepline's own."""

import pytest

from keepline.errors import ReservedUser
from keepline.values.scope import Scope


@pytest.mark.req("STORE-21")
def test_a_caller_cannot_name_an_owner_of_keeplines_own():
    ours = Scope.ours("collection/manuals", tenant="default")
    with pytest.raises(ReservedUser, match="U\\+001F"):
        Scope.door(user=ours.user)
    assert Scope.door(user="collection/manuals").owner != ours.owner
