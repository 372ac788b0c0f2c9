"""Where a setting comes from, and what is said when it is wrong."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from keepline.errors import BadSetting
from keepline.settings import Settings, load, origins


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.toml").write_text('zone = "Asia/Shanghai"\nrecall_k = 7\nsoft_share = 1\n', encoding="utf-8")
    return tmp_path


@pytest.mark.req("SETTINGS-01")
def test_every_row_says_why_one_would_change_it() -> None:
    assert all(len(f.metadata["why"].split()) >= 3 for f in fields(Settings))
    assert len(fields(Settings)) <= 30


@pytest.mark.req("SETTINGS-01")
def test_argument_beats_environment_beats_file_beats_default(home: Path) -> None:
    where = {"KEEPLINE_HOME": str(home)}
    assert load({}).recall_k == Settings().recall_k
    assert load(where).recall_k == 7
    assert load({**where, "KEEPLINE_RECALL_K": "8"}).recall_k == 8
    assert load({**where, "KEEPLINE_RECALL_K": "8"}, recall_k=9).recall_k == 9


@pytest.mark.req("SETTINGS-01")
def test_each_value_tells_its_origin(home: Path) -> None:
    found = origins({"KEEPLINE_HOME": str(home), "KEEPLINE_BUSY_S": "2.5"}, encoder="none", window=None)
    assert found["encoder"] == ("none", "argument")
    assert found["busy_s"] == (2.5, "KEEPLINE_BUSY_S")
    assert found["zone"] == ("Asia/Shanghai", str(home / "config.toml"))
    assert found["window"] == (Settings().window, "default")
    assert found["home"] == (str(home), "KEEPLINE_HOME")


@pytest.mark.req("SETTINGS-01")
def test_the_process_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("KEEPLINE_HOME", str(home))
    monkeypatch.setenv("KEEPLINE_WINDOW", "4096")
    assert (load().window, load().zone) == (4096, "Asia/Shanghai")


@pytest.mark.req("SETTINGS-01")
def test_the_store_lies_in_the_home_folder_unless_it_is_named(tmp_path: Path) -> None:
    assert load({}, home=str(tmp_path)).address == f"sqlite:///{tmp_path / 'keepline.db'}"
    assert load({}, home=str(tmp_path), store="sqlite://:memory:").address == "sqlite://:memory:"
    assert load({}, home="~/notes").folder == Path("~/notes").expanduser()


@pytest.mark.req("SETTINGS-02")
@pytest.mark.parametrize(
    ("environ", "given", "words"),
    [
        ({}, {"colour": "red"}, ["colour", "argument", "no such setting"]),
        ({}, {"recall_k": "7"}, ["recall_k", "argument", "int"]),
        ({}, {"recall_k": True}, ["recall_k", "int"]),
        ({}, {"recall_k": 0}, ["recall_k", "at least 1"]),
        ({}, {"recall_k": 10_000}, ["recall_k", "at most 1000"]),
        ({}, {"busy_s": "long"}, ["busy_s", "float"]),
        ({}, {"pins_share": 0.9}, ["pins_share", "at most 0.5"]),
        ({}, {"soft_share": float("nan")}, ["soft_share", "at least"]),
        ({"KEEPLINE_BUSY_S": "inf"}, {}, ["busy_s", "KEEPLINE_BUSY_S", "at most 600"]),
        ({}, {"encoder": "bert"}, ["encoder", "use, none"]),
        ({"KEEPLINE_WINDOW": "big"}, {}, ["window", "KEEPLINE_WINDOW", "'big'", "int"]),
        ({"KEEPLINE_WINDOW": "3"}, {}, ["window", "KEEPLINE_WINDOW", "at least 16"]),
        ({"KEEPLINE_SETTLE": "later"}, {}, ["settle", "KEEPLINE_SETTLE", "background"]),
    ],
)
def test_a_wrong_setting_names_itself_and_its_origin(
    environ: dict[str, str], given: dict[str, object], words: list[str], tmp_path: Path
) -> None:
    with pytest.raises(BadSetting) as caught:
        load({"KEEPLINE_HOME": str(tmp_path), **environ}, **given)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.req("SETTINGS-02")
@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"zone = ", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b'colour = "red"', "no such setting"),
        (b'recall_k = "7"', "int"),
    ],
)
def test_a_broken_file_is_named(content: bytes, word: str, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(BadSetting) as caught:
        load({}, home=str(tmp_path))
    assert str(tmp_path / "config.toml") in str(caught.value)
    assert word in str(caught.value)


@pytest.mark.req("SETTINGS-02")
def test_settings_made_directly_are_checked_too() -> None:
    with pytest.raises(BadSetting, match="full_under"):
        Settings(full_under=2.0)


@pytest.mark.req("SETTINGS-02")
def test_whole_numbers_pass_for_fractions(home: Path) -> None:
    assert load({"KEEPLINE_HOME": str(home)}).soft_share == 1
