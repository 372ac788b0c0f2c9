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
        "The budget's arithmetic: 6,300 of 8,000 leave 1,700, 500 after a reserve of 1,200; what is 300 over gives way, "
        "and the ledger names it."),
    "CTX-02": R("DESIGN §4 Layout", "Where nothing must give way the caller's messages all appear, unchanged and in order."),
    "CTX-03": R("issue 2 §4", "An exact fit is kept."),
    "CTX-04": R("issue 2 §3, §6",
        "A standing rule of the user's holds in every mode, whatever is asked; the assistant's and a tool's words never "
        "become one."),
    "CTX-05": R("issue 2 §6; DESIGN §2",
        "Turns are kept whole; a tool call and its results never part; in a long tool loop the task and the newest rounds"
        " stay."),
    "CTX-06": R("DESIGN §4 Layout", "The window of recent turns moves in jumps and depends on the log and the budget only."),
    "CTX-07": R("DESIGN §4 Layout",
        "What keepline adds is one user message directly before the question, never inside a tool loop, and nothing "
        "before it changes."),
    "CTX-08": R("issue 2 §6; DESIGN §4 Rendering",
        "Recalled lines carry the full stamp in the conversation's language, are fenced, and cannot pass for anything "
        "else."),
    "CTX-09": R("DESIGN §4",
        "One oversize pending message is cut in the middle with a visible marker, or refused; it pushes no standing rule "
        "out."),
    "CTX-10": R("DESIGN §4",
        "Only what must be sent can make a budget too small; the error itemises the sum, and nothing to send is an error."),
    "CTX-11": R("issue 2 §6",
        "auto chooses from measured signals and says its rule; an unknown mode "
        "names the known."),
    "CTX-12": R("OPEN budget_oversize", "A limit by number of messages keeps the instructions and the newest question."),
    "CTX-13": R("issue 2 §6", "No context is over its budget by one token, and its ledger adds up, whatever the conversation."),

    "DOC-01": R("STYLE 13", "The documents' examples run and do what they say, and so do their commands."),
    "DOC-02": R("STYLE 13, issue 2 §1",
        "Generated pages, trees, copies of examples, links and paths that are stale or lead nowhere are noticed, each by "
        "name."),
    "DOC-03": R("issue 2 §1", "The README is there in English and Chinese, with the same sections and commands."),
    "DOC-04": R("issue 2, what it must show",
        "The documents agree with the code: the README's tree, the decisions' shape, the pages of the reference."),

    "ENCODER-01": R("CHOICES \"Embeddings\"",
        "The embedded encoder gives the package's own vectors: unit rows of 512, the same whatever they are batched with,"
        " from any number of threads."),
    "ENCODER-02": R("DESIGN §5",
        "Texts are read up to 256 tokens, whatever their length; empty text and surrogate halves have a defined vector."),

    "ERRORS-01": R("STYLE 11",
        "Every error is in the drawn tree, its docstring is its message, its data are attributes, and it survives "
        "pickling."),

    "FACE-01": R("STYLE 14", "The public face is one sorted list, and every name of it can be imported."),
    "FACE-02": R("issue 2, what it must show",
        "Importing keepline loads neither the database, nor arrays, nor the command line."),

    "FAKES-01": R("HOUSE testing/fakes.py",
        "The public fakes are deterministic and obey the ports: a clock that stands, an encoder that can fail, a counter "
        "for sums by hand."),

    "FLOW-01": R("HOUSE ports/flow.py",
        "One flow runs under both drivers: needs are met in order, flows compose, the result comes back."),
    "FLOW-02": R("HOUSE ports/flow.py",
        "The needs of a list are met together by the async driver: all are begun before any ends, and all are cancelled "
        "if one fails."),
    "FLOW-03": R("HOUSE ports/flow.py",
        "An error while a need is met is raised inside the flow at the line that asked; the flow is closed on every way "
        "out, cancellation included."),

    "LOG-01": R("issue 2 §3; CONVENTIONS Python",
        "A chat message is kept verbatim (unknown keys, parts, tool calls, null content, images, files), and the caller's"
        " objects are never changed."),
    "LOG-02": R("issue 2 bad input; DESIGN §1; open-36",
        "Lone surrogates become U+FFFD, NUL is kept, a message of 20 MB comes through."),
    "LOG-03": R("issue 2 bad input",
        "A message that cannot be used is refused with an error that names the place and the remedy."),
    "LOG-04": R("CONVENTIONS Python; issue 2 §3 and bad input",
        "Times are read as ISO 8601 with zone, naive with a zone, epoch or datetime; a clock in the future is refused."),
    "LOG-05": R("issue 2 §3",
        "msg_id, ts, category and retention are taken from the caller, one for each message, and checked."),
    "LOG-10": R("DESIGN §1; issue 2 §5",
        "An edited, missing, moved or forged row and a cut tail are found, with the place; erased rows leave the chain "
        "whole."),
    "LOG-11": R("DESIGN §1",
        "A digest covers role, content, name, tool_call_id and tool_calls without nulls, the parent and a salt, keyed per"
        " user."),
    "LOG-20": R("issue 2 §3, §4",
        "Append adds at the head, chained and counted, in one write, with ids that are short and unique for the user."),
    "LOG-21": R("DESIGN §1",
        "A caller's message id makes append idempotent; the same id with other words, or from another conversation, is "
        "refused."),
    "LOG-22": R("issue 2 bad input",
        "A tool result without its call is refused on append, with the remedy; its call is found however far back it is."),
    "LOG-23": R("issue 2 §5; open-38", "Many writers at once lose nothing and double nothing, and chain with one key."),
    "LOG-24": R("DESIGN §1",
        "Messages, a session or a user are erased; no ids erase nothing; what is written meanwhile starts anew."),
    "LOG-30": R("DESIGN §1; issue 2 §3", "A re-sent history adds only what is new; sent twice, it adds nothing."),
    "LOG-31": R("DESIGN §1", "A history that ends inside a log forks it, shares what came before, and is found again."),
    "LOG-32": R("DESIGN §1", "A one-message history, or another conversation under a used name, starts a new session."),
    "LOG-33": R("DESIGN §1; CONVENTIONS HTTP",
        "Without a session a history finds its conversation among the user's own, or gets one."),
    "LOG-34": R("DESIGN §1", "A headless history is matched by the longest run at the log's end."),
    "LOG-35": R("DESIGN §1", "System text is not chained and not matched; it is stored again only when it changes."),
    "LOG-36": R("issue 2 §3; open-03", "A history with broken tool pairs comes in, with a note."),
    "LOG-37": R("DESIGN §1",
        "A tombstone matches one message of its role: re-sent history does not bring back what was erased."),
    "LOG-38": R("DESIGN §3; issue 2 §5",
        "The same history sent by many at once is stored once; branches made at once are all kept."),
    "LOG-39": R("DESIGN §1",
        "Whatever clients send, in any order: never a message twice, never one lost, never an erased one back."),
    "LOG-50": R("issue 2 §7, §8; CONVENTIONS first five minutes",
        "JSON Lines of messages or conversations and JSON arrays are read, with their ids, times and sessions."),
    "LOG-51": R("issue 2 bad input; open-40", "A malformed or truncated line is told with its number; the others come in."),
    "LOG-52": R("issue 2 bad input; open-41",
        "Importing again, a newer export, or after an interruption adds only what is missing, and tells new, same and "
        "changed."),

    "MSG-05": R("issue 2 §3",
        "Broken tool pairs found on load are repaired for the build, with a note in the ledger; nothing is invented."),

    "RECALL-01": R("issue 2 §5; DESIGN §6",
        "部署, 张总, 云, mixed text, punctuation, NFC and NFD, full-width forms and marks are found by their words, with no "
        "encoder."),
    "RECALL-02": R("DESIGN §6",
        "Long text is indexed in pieces that an encoder reads whole: cut behind sentences, nothing lost, nothing twice, "
        "no character parted."),
    "RECALL-03": R("issue 2 §6",
        "A query is weighed by what it is: question or statement, by its words without function words."),
    "RECALL-04": R("issue 2 §6; CHOICES \"Recall\"",
        "Words, meaning and the log's structure give one score; what may not be found has none, and a missing signal "
        "counts nothing."),
    "RECALL-05": R("DESIGN §6", "An index that grew answers as one built at once; its statistics are the owner's own."),
    "RECALL-06": R("DESIGN §6", "Vectors kept in a byte a number rank as the full ones do."),
    "RECALL-07": R("issue 2 §6, §7", "Search has a floor below which nothing is found, and a keyword filter is exact."),
    "RECALL-08": R("DESIGN §5", "While the encoder is down what was said is found by its words, and its vectors come later."),

    "REQ-01": R("issue 2 §1", "A promise without a test and a test without a promise fail, each by name."),
    "REQ-02": R("issue 2 §1", "Every row of the table has an id, a source and its promise as a sentence."),

    "SETTINGS-01": R("DESIGN §3, CONVENTIONS \"Environment\"",
        "A setting comes from argument, environment, file or default, in this order, and says from where; every row says "
        "why."),
    "SETTINGS-02": R("HOUSE settings.py",
        "An unknown name, a wrong type, a value out of range and a broken file are errors that name the setting and where"
        " it came from."),

    "STORE-01": R("issue 2 §5",
        "Without a scope nothing is answered, and another user's rows cannot be read, found, listed, guessed by id, "
        "changed or erased."),
    "STORE-02": R("issue 2 §5",
        "The log comes back verbatim, in order and once; a message id is accepted once per user; a fork shares its "
        "parent's rows."),
    "STORE-03": R("issue 2 §5", "A write is all or nothing and only happens if what it rested on still holds."),
    "STORE-04": R("DESIGN §1",
        "Tags, pins, index rows and ledgers can be written again without a trace of the first time, and read since a "
        "version."),
    "STORE-05": R("DESIGN §1",
        "Erasing takes words and everything derived, leaves a tombstone where another stands on it, and raises the epoch."),
    "STORE-06": R("issue 2 §5",
        "Four writers and four readers, in threads and in processes, lose nothing, see nothing half and never hear that "
        "the database is locked."),
    "STORE-07": R("issue 2 §5", "kill -9 during writes loses no acknowledged message."),
    "STORE-08": R("issue 2 §5", "A simulated power cut loses no acknowledged message."),
    "STORE-09": R("DESIGN §6", "What is erased is in no byte of the database, its write-ahead log or its shared memory."),
    "STORE-10": R("HOUSE stores/guard.py", "A store that answers with a foreign row is an error, not an answer."),
    "STORE-11": R("issue 2, bad input", "A file that is not a store is refused with the reason and left as it is."),
    "STORE-12": R("issue 2, bad input", "A store of a newer schema is refused and left as it is."),
    "STORE-13": R("issue 2, bad input", "A read-only store can be read, and a write says why it cannot be made."),
    "STORE-14": R("issue 2, bad input", "A full disk refuses the write and keeps everything acknowledged before it."),
    "STORE-15": R("issue 2 §5",
        "A file locked by another program is waited for, then said to be busy; reading goes on meanwhile."),
    "STORE-16": R("issue 2 §5",
        "One schema with keys led by the owner, the same whether made at once or migrated; Alembic is imported only when "
        "the stamp differs."),
    "STORE-17": R("issue 2 §5",
        "WAL, synchronous=FULL, secure_delete; commits are batched; readers wait for no writer; memory serves all "
        "threads."),
    "STORE-18": R("DESIGN §6", "An address names a file or memory; other kinds are refused with those that are known."),
    "STORE-19": R("issue 2, bad input",
        "Ctrl-C in the middle of a write leaves nothing half done and harms no other writer; a forked process can go on."),

    "TEXT-01": R("OPEN open-36",
        "Every cut falls between characters as readers see them, never inside an emoji, flag, mark or surrogate pair."),
    "TEXT-02": R("OPEN open-36",
        "A surrogate half becomes U+FFFD wherever it stands in a body, and a clean body stays the same object."),

    "TOKENS-01": R("issue 2 §4, CHOICES \"Tokens\"",
        "o200k_base and cl100k_base are exact without any download: the same tokens as OpenAI's own vocabulary files and "
        "word patterns give."),
    "TOKENS-02": R("OPEN open-07",
        "Chinese, Japanese, full-width and English texts have their measured counts, exact or estimated within bounds; "
        "never characters divided by four."),
    "TOKENS-03": R("OPEN open-08",
        "Text that looks like a control word, lone surrogates, NUL, null and missing content are counted, never refused."),
    "TOKENS-04": R("issue 2 §4",
        "A text of 20 MB is counted in bounded time and memory, whatever it consists of, and pieces add up to the whole "
        "exactly."),
    "TOKENS-05": R("OpenAI cookbook, How to count tokens with tiktoken §6–7",
        "Overhead of messages, names, reply and tool definitions equals the figures that the API returned for the "
        "cookbook's examples."),
    "TOKENS-06": R("OPEN open-08",
        "Names and arguments of tool calls, refusals, blocks and unknown parts are counted, and response formats too."),
    "TOKENS-07": R("OPEN open-09, issue 2 §4",
        "A picture, file or sound costs its published, bounded amount, never its base64 text, and is never free."),
    "TOKENS-08": R("issue 2 §4, DESIGN §4 Counting",
        "A model's name finds its vocabulary, window and largest reply; an unknown or unpublished one is estimated and "
        "says so, with a margin."),
    "TOKENS-09": R("ports/tokens.py",
        "clip never exceeds its budget, never cuts inside a character, keeps at least half in the tail, and keeps an "
        "exact fit whole."),

    "WARM-01": R("ports/view.py", "A view that was given out stays as it was, whatever is written afterwards."),
    "WARM-02": R("issue 2 §5", "What another engine or process erased is served by no warm copy, from the very next call on."),
    "WARM-03": R("issue 2 §4", "Tokens in another vocabulary are counted once and kept."),
}

for _file in sorted(Path(__file__).parent.glob("requirements_*.txt")):
    for _line in filter(None, map(str.strip, _file.read_text(encoding="utf-8").splitlines())):
        _id, _source, _promise = (part.strip() for part in _line.split("|", 2))
        REQUIREMENTS[_id] = Requirement(_source, _promise)
