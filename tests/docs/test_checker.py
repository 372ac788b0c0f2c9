"""`scripts/check_docs.py` notices what is stale, and names it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import check_docs  # noqa: E402  # after the path is set


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The documents and what they speak of, in a place where they may be spoilt."""
    for name in ("docs", "docs_src", "src", "scripts", "tests", "training", "evals", "benchmarks"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "*.npz", "labels"))
    for path in ROOT.glob("*.md"):
        shutil.copy(path, tmp_path)
    shutil.copy(ROOT / "LICENSE", tmp_path)
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "src/keepline/context/tagger.npz").touch()
    (tmp_path / "training/labels").mkdir(parents=True, exist_ok=True)
    for language in ("en", "zh"):
        (tmp_path / f"training/labels/{language}.jsonl").touch()
    return tmp_path


Check = Callable[[Path, bool], Iterable[str]]


def problems(check: Check, root: Path) -> list[str]:
    """What the check finds in the copy and not in the project itself."""
    known = set(check(ROOT, False))
    return [p for p in check(root, False) if p not in known]


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.req("DOC-04")
@pytest.mark.parametrize("check", check_docs.CHECKS, ids=lambda c: c.__name__)
def test_the_documents_say_what_is(check: Check) -> None:
    assert list(check(ROOT, False)) == []


@pytest.mark.req("DOC-02")
def test_a_stale_reference_page_is_noticed_and_written_anew(copy: Path) -> None:
    spoil(copy / "docs/reference/settings.md", "128000", "64000")
    assert problems(check_docs.generated, copy) == ["docs/reference/settings.md is stale: run `make docs`"]
    list(check_docs.generated(copy, True))
    assert problems(check_docs.generated, copy) == []


@pytest.mark.req("DOC-02")
def test_a_new_file_is_missing_from_both_trees_until_it_has_its_phrases(copy: Path) -> None:
    (copy / "src/keepline/context/stages/mine.py").write_text('"""A stage of mine. It knows nothing."""\n', encoding="utf-8")
    assert "README.md: its tree is stale: run `make docs`" in list(check_docs.trees(copy, False))
    list(check_docs.trees(copy, True))
    assert f"{'      mine.py':<30}  A stage of mine\n" in (copy / "README.md").read_text(encoding="utf-8")
    assert problems(check_docs.trees, copy) == [
        "README.zh.md: the tree's phrase of context/stages/mine.py is not Chinese yet"
    ]
    spoil(copy / "README.zh.md", "A stage of mine", "我的一个阶段")
    assert problems(check_docs.trees, copy) == []


@pytest.mark.req("DOC-02")
def test_a_file_without_a_docstring_and_one_that_is_gone_are_noticed(copy: Path) -> None:
    (copy / "src/keepline/context/mute.py").write_text("x = 1\n", encoding="utf-8")
    assert "context/mute.py: its docstring's first sentence is missing" in problems(check_docs.trees, copy)
    (copy / "src/keepline/context/mute.py").unlink()
    (copy / "src/keepline/context/shorten.py").unlink()
    assert "README.md: its tree is stale: run `make docs`" in list(check_docs.trees(copy, False))


@pytest.mark.req("DOC-02")
def test_a_changed_example_is_noticed_wherever_it_is_shown(copy: Path) -> None:
    spoil(copy / "docs_src/start.py", "k=3", "k=4")
    assert problems(check_docs.includes, copy) == [
        f"{page}: its copy of docs_src/start.py is stale: run `make docs`" for page in ("README.md", "docs/quickstart.md")
    ]


@pytest.mark.req("DOC-02")
def test_python_that_no_test_runs_is_not_let_into_a_document(copy: Path) -> None:
    with (copy / "docs/quickstart.md").open("a", encoding="utf-8") as page:
        page.write("\n```python\nimport keepline\n```\n")
    (copy / "docs_src/lonely.py").write_text('"""Nobody shows this."""\n', encoding="utf-8")
    assert problems(check_docs.includes, copy) == [
        "docs/quickstart.md: a python block without `<!-- docs_src/… -->` above it",
        "docs_src/lonely.py is shown in no document",
    ]


@pytest.mark.req("DOC-02")
@pytest.mark.parametrize(("line", "why"), [
    ("[gone](howto/gone.md)", "docs/quickstart.md: the link howto/gone.md leads nowhere"),
    ("[out](../../elsewhere.md)", "docs/quickstart.md: the link ../../elsewhere.md leads nowhere"),
    ("[part](glossary.md#no-such)", "docs/quickstart.md: glossary.md#no-such names a heading that is not there"),
])
def test_links_that_lead_nowhere_are_noticed(copy: Path, line: str, why: str) -> None:
    with (copy / "docs/quickstart.md").open("a", encoding="utf-8") as page:
        page.write(f"\n{line}\n")
    assert problems(check_docs.links, copy) == [why]


@pytest.mark.req("DOC-02")
def test_a_path_that_is_not_there_is_noticed(copy: Path) -> None:
    spoil(copy / "CONTRIBUTING.md", "`context/choose.py`", "`context/chosen.py`")
    assert problems(check_docs.paths, copy) == ["CONTRIBUTING.md: `context/chosen.py` is not there"]


@pytest.mark.req("DOC-03")
@pytest.mark.parametrize(("old", "new", "word"), [("\n## 局限\n", "\n", "sections"), ("make test ", "make check ", "commands")])
def test_readmes_that_differ_in_sections_or_commands_are_noticed(copy: Path, old: str, new: str, word: str) -> None:
    spoil(copy / "README.zh.md", old, new)
    (found,) = problems(check_docs.readmes, copy)
    assert found.startswith(f"README.zh.md has other {word} than README.md")


@pytest.mark.req("DOC-03")
def test_a_document_that_grows_beyond_its_length_is_noticed(copy: Path) -> None:
    with (copy / "CONTRIBUTING.md").open("a", encoding="utf-8") as page:
        page.write("more\n" * 200)
    assert [p.split(" has ")[0] for p in problems(check_docs.readmes, copy)] == ["CONTRIBUTING.md"]


@pytest.mark.req("DOC-04")
def test_a_decision_out_of_order_or_without_its_parts_is_noticed(copy: Path) -> None:
    (copy / "docs/decisions/9999-late.md").write_text("# Late\n\n## Status\n", encoding="utf-8")
    number, parts = problems(check_docs.decisions, copy)
    assert "the next number is" in number
    assert "its parts must be Status, Context, Options" in parts


@pytest.mark.req("DOC-02")
def test_a_folder_of_one_machine_is_noticed(copy: Path) -> None:
    with (copy / "docs/quickstart.md").open("a", encoding="utf-8") as page:
        page.write("\nSee /home/" + "somebody/notes.\n")
    (found,) = problems(check_docs.private, copy)
    assert found.endswith("names a folder of one machine")


@pytest.mark.req("DOC-02")
@pytest.mark.parametrize(("docstring", "phrase"), [
    ("Short and whole. What it does not know.", "Short and whole"),
    ("A long first sentence that goes on and on: the part after the colon makes it far too long for the tree, so it goes.",
     "A long first sentence that goes on and on"),
    ("Commas are cut only when there is nothing better to cut at, which makes this one end early, as it should do here.",
     "Commas are cut only when there is nothing better to cut at"),
])
def test_a_phrase_is_the_first_sentence_cut_at_a_clause(docstring: str, phrase: str) -> None:
    assert check_docs.phrase(docstring) == phrase
