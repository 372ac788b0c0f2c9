"""A server that speaks OpenAI's chat protocol by a script, for tests: real HTTP on a port of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Script:
    """What it answers: (status, body) in order, the last again and again; a body that is text is the reply's content. `seen` are
    the requests. `wait_s` is slept before each answer."""

    answers: list[tuple[int, Any]]
    seen: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    wait_s: float = 0.0
    url: str = ""


def completion(text: str | None, finish: str = "stop") -> dict[str, Any]:
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}],
        "usage": {
            "prompt_tokens": 90, "completion_tokens": 7, "total_tokens": 97, "prompt_tokens_details": {"cached_tokens": 64},
        },
    }


@contextmanager
def serving(*answers: tuple[int, Any]) -> Iterator[Script]:
    script = Script(list(answers))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the protocol's name
            script.seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            script.keys.append(self.headers.get("Authorization", ""))
            time.sleep(script.wait_s)
            status, body = script.answers.pop(0) if len(script.answers) > 1 else script.answers[0]
            data = json.dumps(completion(body) if isinstance(body, str) else body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    class Quiet(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """A client that went away is what some tests are about."""

    server = Quiet(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
