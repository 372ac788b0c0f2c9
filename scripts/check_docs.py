"""Whether the documents say what is: run by `make check`; `--write` (`make docs`) writes anew what can be generated.

Checks the reference pages, the trees of both READMEs, included examples, links, paths in backticks, decisions, and that the
READMEs agree. Knows nothing of what the documents should say.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path

from reference import pages

ROOT = Path(__file__).resolve().parent.parent
TREES = {"README.md": "en", "README.zh.md": "zh"}
MOST_LINES = {"README.md": 349, "README.zh.md": 349, "CONTRIBUTING.md": 149}
DECISION = ["Status", "Context", "Options", "Decision", "Consequences", "How it is checked"]
MOST_DECISION_LINES = 60
PHRASE_WIDTH = 84
NAMED = ("src", "scripts", "tests", "docs", "docs_src", "training", "evals", "benchmarks")
SKIPPED = {"__pycache__", ".git", ".venv", "dist"}
DATA = {
    "cli/samples/": "what `keepline demo` plays",
    "memory/text/": "Rules about words that both wings share",
    "memory/text/names.txt": "surnames, first names, cities, and what is no name",
    "prompts/en/": "the prompts in English",
    "prompts/zh/": "the prompts in Chinese",
    "stores/migrations/versions/": "one file a change of the schema",
    "context/tagger.npz": "the tagger's weights, made by scripts/train_tagger.py",
}
# folders whose files are of one kind
ON_ONE_LINE = (
    "cli/samples/", "evals/bench/", "evals/cases/", "prompts/en/", "prompts/zh/", "stores/migrations/versions/",
    "testing/conformance/",
)
UNSHOWN = ("__init__.py", "py.typed", "script.py.mako")  # said by their folder, or empty, or a template of Alembic's
TOP = {
    "tests": "mirrors the package; requirements.py has a row for every promise",
    "docs": "quickstart, how-to, discussions, reference, glossary, decisions",
    "docs_src": "the examples of the documents, run by the tests",
    "evals": "LOG.md, the dated figures; scenarios written for this project",
    "benchmarks": "LOG.md, dated speeds beside peers",
    "training": "the tagger's labelled examples",
}
PRIVATE = re.compile(r"(?<![\w.])(/work/|/home/\w|/root/|/Users/\w|/tmp/)")
FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.M | re.S)
INCLUDE = re.compile(r"^( *)<!-- (docs_src/[\w./-]+) -->\n *```(\w+)\n(.*?)^ *```$", re.M | re.S)
TREE = re.compile(r"(<!-- tree -->\n```text\n)(.*?)(^```$)", re.M | re.S)
FILES = re.compile(r" \[[^\]]*\]$")  # the files of a folder on one line
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([\w./-]+)`")


# ------------------------------------------------------------------ reading


def documents(root: Path) -> list[Path]:
    """The Markdown files of the project."""
    return sorted([*root.glob("*.md"), *(p for name in NAMED for p in (root / name).rglob("*.md"))])


def phrase(docstring: str) -> str:
    """The first sentence of a docstring, cut at a clause when it is long."""
    sentence = re.split(r"(?<=[.!?])\s", " ".join(docstring.split()), maxsplit=1)[0].rstrip(".")
    if len(sentence) <= PHRASE_WIDTH:
        return sentence
    for mark in (r"[:;](?= )| – ", r",(?= )"):
        cuts = [m.start() for m in re.finditer(mark, sentence) if 15 <= m.start() <= PHRASE_WIDTH]
        if cuts:
            return sentence[: cuts[-1]]
    return sentence


def tree_rows(root: Path) -> list[tuple[str, str, str]]:
    """(path, name as drawn, English phrase) of every line of the tree."""
    package = root / "src" / "keepline"
    rows = [("src/keepline/", "src/keepline/", _module(package / "__init__.py"))]
    rows += _folder(package, package, 1)
    rows += [("scripts/", "scripts/", "set up, train, check")]
    rows += [
        (f"scripts/{p.name}", f"  {p.name}", _module(p)) for p in sorted((root / "scripts").glob("*.py"))
    ]
    rows += [(f"/{name}/", f"{name}/", TOP[name]) for name in TOP if (root / name).is_dir()]  # the package has an evals/ too
    return rows


def _folder(folder: Path, package: Path, depth: int) -> list[tuple[str, str, str]]:
    rows: list[tuple[str, str, str]] = []
    inside = [p for p in folder.iterdir() if p.name not in SKIPPED and p.name not in UNSHOWN]
    for path in sorted(inside, key=lambda p: (p.is_dir(), p.name)):
        name, indent = path.relative_to(package).as_posix(), "  " * depth
        if path.is_dir():
            init = path / "__init__.py"
            below = _folder(path, package, depth + 1)
            if not below:
                continue
            text = _module(init) if init.exists() else DATA.get(f"{name}/", "")
            if f"{name}/" in ON_ONE_LINE:
                text = text and f"{text} [{', '.join(Path(p).stem for p, _, _ in below)}]"
                below = []
            rows.append((f"{name}/", f"{indent}{path.name}/", text))
            rows += below
        else:
            text = _module(path) if path.suffix == ".py" else DATA.get(name, "")
            rows.append((name, f"{indent}{path.name}", text))
    return rows


def _module(path: Path) -> str:
    return phrase(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")


def drawn(rows: Iterable[tuple[str, str, str]], known: dict[str, str] | None = None) -> str:
    """The tree as text; `known` replaces phrases by path (the Chinese ones live in the README itself)."""
    lines = []
    for path, name, text in rows:
        said = (known or {}).get(path, text)
        if path in ON_ONE_LINE:
            said = FILES.sub("", said) + "".join(FILES.findall(text))
        lines.append(f"{name:<30}  {said}".rstrip())
    return "\n".join(lines) + "\n"


def phrases_in(tree: str) -> dict[str, str]:
    """Path → phrase, read back from a drawn tree."""
    found: dict[str, str] = {}
    above: list[str] = []
    for line in tree.splitlines():
        match = re.match(r"( *)(\S+) *(.*)", line)
        if match is None:
            continue
        depth, name = len(match[1]) // 2, match[2]
        above = [*above[:depth], name]
        path = "".join(above).removeprefix("src/keepline/") if len(above) > 1 else name
        found[f"/{path}" if len(above) == 1 and name.rstrip("/") in TOP else path] = match[3]
    return found


def example(path: Path) -> str:
    """What a document shows of an example: the file without its module docstring; of other files, everything."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        first = ast.parse(text).body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            text = "\n".join(text.splitlines()[first.end_lineno or 0 :])
    return text.strip("\n") + "\n"


# ------------------------------------------------------------------ checking


def generated(root: Path, write: bool) -> Iterable[str]:
    """The reference pages equal what the code says."""
    for name, text in pages().items():
        path = root / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if write:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        else:
            yield f"{name} is stale: run `make docs`"


def trees(root: Path, write: bool) -> Iterable[str]:
    """The READMEs' trees name every file, and nothing else, with its phrase."""
    rows = tree_rows(root)
    yield from (f"{path}: its docstring's first sentence is missing" for path, _, text in rows if not text)
    for name, language in TREES.items():
        readme = root / name
        text = readme.read_text(encoding="utf-8")
        found = TREE.search(text)
        if found is None:
            yield f"{name}: there is no `<!-- tree -->` followed by a text block"
            continue
        known = phrases_in(found[2]) if language == "zh" else {}
        wanted = drawn(rows, {p: known.get(p, t) for p, _, t in rows})
        if found[2] != wanted:
            if write:
                readme.write_text(text[: found.start(2)] + wanted + text[found.end(2) :], encoding="utf-8")
            else:
                yield f"{name}: its tree is stale: run `make docs`"
        if language == "zh":
            shown = phrases_in(wanted)
            yield from (
                f"{name}: the tree's phrase of {path} is not Chinese yet" for path, _, _ in rows
                if not re.search("[\u4e00-\u9fff]", shown.get(path, ""))
            )


def includes(root: Path, write: bool) -> Iterable[str]:
    """Every Python block is an example's file, verbatim; every example is shown somewhere."""
    shown: set[str] = set()
    for page in documents(root):
        name, text = page.relative_to(root).as_posix(), page.read_text(encoding="utf-8")
        bare = INCLUDE.sub("", text)
        yield from (f"{name}: a python block without `<!-- docs_src/… -->` above it" for m in FENCE.finditer(bare)
                    if m[1] == "python")

        for match in reversed(list(INCLUDE.finditer(text))):
            source = match[2]
            shown.add(source)
            if not (root / source).is_file():
                yield f"{name}: there is no {source}"
                continue
            wanted = textwrap.indent(example(root / source), match[1])
            if match[4] != wanted and not write:
                yield f"{name}: its copy of {source} is stale: run `make docs`"
            text = text[: match.start(4)] + wanted + text[match.end(4) :]
        if write and text != page.read_text(encoding="utf-8"):
            page.write_text(text, encoding="utf-8")
    for path in sorted((root / "docs_src").glob("*.py")):
        if f"docs_src/{path.name}" not in shown:
            yield f"docs_src/{path.name} is shown in no document"


def links(root: Path, _: bool) -> Iterable[str]:
    """Relative links lead somewhere, headings included, and not out of the project."""
    for page in documents(root):
        name = page.relative_to(root).as_posix()
        for target in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            if not there.is_relative_to(root) or not there.exists():
                yield f"{name}: the link {target} leads nowhere"
            elif anchor and there.suffix == ".md" and anchor not in _anchors(there):
                yield f"{name}: {target} names a heading that is not there"


def _anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def paths(root: Path, _: bool) -> Iterable[str]:
    """A path in backticks is there: from the root, from the package, or beside the page."""
    for page in documents(root):
        name = page.relative_to(root).as_posix()
        for said in SPAN.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
            is_path = said.split("/")[0] in NAMED if "/" in said else False
            is_module = "/" in said and said.endswith(".py")
            if "NAME" in said:  # a file to be made
                continue
            if (is_path or is_module) and not any((base / said).exists() for base in (root, root / "src/keepline", page.parent)):
                yield f"{name}: `{said}` is not there"


def readmes(root: Path, _: bool) -> Iterable[str]:
    """Both READMEs have the same sections and the same commands; documents keep their length."""
    english, chinese = ((root / name).read_text(encoding="utf-8") for name in TREES)
    if _levels(english) != _levels(chinese):
        yield f"README.zh.md has other sections than README.md: {_levels(chinese)} against {_levels(english)}"
    if commands(english) != commands(chinese):
        yield f"README.zh.md has other commands than README.md: {commands(chinese)} against {commands(english)}"
    for name, most in MOST_LINES.items():
        lines = len((root / name).read_text(encoding="utf-8").splitlines())
        if lines > most:
            yield f"{name} has {lines} lines; at most {most}"


def _levels(text: str) -> list[int]:
    return [len(h) for h in re.findall(r"^(#+) ", FENCE.sub("", text), re.M)]


def commands(text: str) -> list[str]:
    """The commands of the shell blocks, without comments and without what was said in quotes."""
    found = []
    for kind, body in FENCE.findall(text):
        for line in body.splitlines() if kind == "sh" else ():
            words = ["…" if re.search(r"[^\x00-\x7f]| ", w) else w for w in shlex.split(line, comments=True)]
            if words:
                found.append(" ".join(words))
    return found


def decisions(root: Path, _: bool) -> Iterable[str]:
    """Decisions are numbered in order, have their six parts, and fit a page."""
    for n, page in enumerate(sorted((root / "docs" / "decisions").glob("*.md")), 1):
        text = page.read_text(encoding="utf-8")
        if not page.name.startswith(f"{n:04}-"):
            yield f"docs/decisions/{page.name}: the next number is {n:04}"
        if re.findall(r"^## (.+)$", text, re.M) != DECISION:
            yield f"docs/decisions/{page.name}: its parts must be {', '.join(DECISION)}"
        if len(text.splitlines()) > MOST_DECISION_LINES:
            yield f"docs/decisions/{page.name} is longer than a page ({MOST_DECISION_LINES} lines)"


def private(root: Path, _: bool) -> Iterable[str]:
    """No document or source names a folder of somebody's machine."""
    kinds = ("*.md", "*.py", "*.toml", "Makefile")
    for folder in (root, *(root / n for n in NAMED if (root / n).is_dir())):
        for kind in kinds:
            for path in folder.glob(kind) if folder == root else folder.rglob(kind):
                if path == root / "scripts" / Path(__file__).name:  # names them to find them
                    continue
                for n, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    if PRIVATE.search(line):
                        yield f"{path.relative_to(root)}, line {n}: names a folder of one machine"


CHECKS: tuple[Callable[[Path, bool], Iterable[str]], ...] = (
    generated, includes, trees, links, paths, readmes, decisions, private,
)


def main(root: Path, write: bool) -> int:
    """Run every check; print what is wrong. 0: nothing."""
    problems = [p for check in CHECKS for p in check(root, write)]
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(ROOT, "--write" in sys.argv[1:]))
