"""The tree of errors: drawn, worded, and able to travel between processes."""

from __future__ import annotations

import inspect
import pickle
import re
import string

import pytest

from keepline import errors
from keepline.errors import BadSetting, KeeplineError, NotFound

CLASSES = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, KeeplineError)]


def fields_of(kind: type[KeeplineError]) -> dict[str, object]:
    names = [name for _, name, _, _ in string.Formatter().parse(inspect.cleandoc(kind.__doc__ or "")) if name]
    return dict.fromkeys(names, "something")


@pytest.mark.req("ERRORS-01")
def test_the_drawn_tree_is_the_real_one() -> None:
    drawn: dict[str, str] = {}
    parents = ["KeeplineError"]
    for indent, name in re.findall(r"^([ │]*)[├└]── (\w+)", inspect.cleandoc(errors.__doc__ or ""), re.MULTILINE):
        depth = len(indent) // 4  # the drawing itself is indented by four
        del parents[depth:]
        drawn[name] = parents[-1]
        parents.append(name)
    assert drawn == {c.__name__: c.__bases__[0].__name__ for c in CLASSES if c is not KeeplineError}


@pytest.mark.req("ERRORS-01")
@pytest.mark.parametrize("kind", CLASSES)
def test_the_docstring_is_the_message_and_the_data_are_attributes(kind: type[KeeplineError]) -> None:
    assert kind.__doc__
    error = kind(**fields_of(kind))
    assert str(error)
    assert "{" not in str(error)
    assert "  " not in str(error)
    assert all(getattr(error, name) == value for name, value in fields_of(kind).items())


@pytest.mark.req("ERRORS-01")
@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_survives_pickling(kind: type[KeeplineError]) -> None:
    error = kind(**fields_of(kind))
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is kind
    assert (str(back), back.data) == (str(error), error.data)


@pytest.mark.req("ERRORS-01")
def test_a_value_with_braces_is_shown_as_it_is() -> None:
    error = BadSetting(name="zone", origin="an argument", value="{0}", why="{x}")
    assert str(error) == "The setting zone from an argument is '{0}': {x}."


@pytest.mark.req("ERRORS-01")
def test_unknown_data_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="colour"):
        _ = NotFound(what="message", id="m1").colour
