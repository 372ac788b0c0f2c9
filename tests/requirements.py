"""What keepline promises: a row a promise, with where it comes from. A test names its row with `@pytest.mark.req(id)`; a row
without a test and a test without a row fail (`conftest.py`).

Rows under way may stand in `requirements_<room>.txt` beside this file, one `ID | source | promise` a line, until they move in.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Requirement(NamedTuple):
    """A promise in one sentence, and its source."""

    source: str
    promise: str


R = Requirement
REQUIREMENTS: dict[str, Requirement] = {
    "CLI-01": R("issue 2 §7",
        "`--explain` draws the whole window to scale: every section, the reserve and the free space sum to it."),
    "CLI-02": R("issue 2 §7, CONVENTIONS \"Pictures\"",
        "What went in and what stayed out is listed with its reason, pins first, in Chinese and English, on any width."),
    "CLI-03": R("CONVENTIONS \"CLI\"",
        "Results are on stdout, as one JSON document with --json; pipes work; every verb explains itself with an example."),
    "CLI-04": R("issue 2, bad input; CONVENTIONS \"CLI\"",
        "An error is one line that names the place and the remedy, with its exit code, and nothing is half done."),
    "CLI-05": R("issue 2, bad input",
        "Malformed or truncated lines of an import are named by number; --skip-bad goes on and reports them; a repeat "
        "adds nothing."),
    "CLI-06": R("issue 2 §7", "doctor checks every part, status says what is kept, config says where each setting comes from."),

    "CTX-01": R("issue 2 §6",
        "The budget's arithmetic: reserve and margin first, then system text, tools and the pending message; the error "
        "itemises the sum."),
    "CTX-06": R("DESIGN §4 Layout", "The window of recent turns moves in jumps and depends on the log and the budget only."),

    "DOC-01": R("STYLE 13", "The documents' examples run and do what they say, and so do their commands."),
    "DOC-02": R("STYLE 13, issue 2 §1",
        "Generated pages, trees, copies of examples, links and paths that are stale or lead nowhere are noticed, each by "
        "name."),
    "DOC-03": R("issue 2 §1", "The README is there in English and Chinese, with the same sections and commands."),
    "DOC-04": R("issue 2, what it must show",
        "The documents agree with the code: the README's tree, the decisions' shape, the pages of the reference."),

    "FACE-01": R("STYLE 14", "The public face is one sorted list, and every name of it can be imported."),
    "FACE-02": R("issue 2, what it must show",
        "Importing keepline loads neither the database, nor arrays, nor the command line."),

    "MSG-05": R("issue 2 §3",
        "Broken tool pairs found on load are repaired for the build, with a note in the ledger; nothing is invented."),

    "REQ-01": R("issue 2 §1", "A promise without a test and a test without a promise fail, each by name."),
    "REQ-02": R("issue 2 §1", "Every row of the table has an id, a source and its promise as a sentence."),
}

for _file in sorted(Path(__file__).parent.glob("requirements_*.txt")):
    for _line in filter(None, map(str.strip, _file.read_text(encoding="utf-8").splitlines())):
        _id, _source, _promise = (part.strip() for part in _line.split("|", 2))
        REQUIREMENTS[_id] = Requirement(_source, _promise)
