"""Chat models over HTTP: OpenAI's protocol, at OpenAI or at any server that speaks it. Knows no prompt and no memory.

The `openai` client does the transport, its time-outs and its retries (connection trouble, 408, 409, 429, 5xx; never another
4xx). What a server does not take (a JSON schema, a temperature, the newer name of the reply's bound) is left out or renamed
once it says so, and remembered.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepline.errors import BadReply, BadSetting, MissingExtra, ModelDown
from keepline.ports.model import Ask, Reply, Usage, json_in
from keepline.providers.models import window

BENDS = 4
"""How often a request is changed to what the server says it takes before its refusal is believed."""


def model(name: str, *, url: str = "", key: str = "", timeout: float = 60.0) -> ChatModel | None:
    """The model `name`, as in `openai:gpt-4o-mini`; empty: None. `url` and `key` are the endpoint's (empty: OpenAI's).

    Raises `BadSetting` for a name without a known maker, `MissingExtra` without the client. Connects to nothing yet.
    """
    if not name:
        return None
    maker, _, own = name.partition(":")
    if maker != "openai" or not own:
        why = "name it as openai:MODEL; any server that speaks OpenAI's protocol is reached with model_url"
        raise BadSetting(name="summary_model", origin="settings", value=name, why=why)
    return ChatModel(own, url=url, key=key, timeout=timeout)


class ChatModel:
    """One model at one endpoint (`keepline.ports.model.Model`). Threads may share it."""

    def __init__(self, name: str, *, url: str = "", key: str = "", timeout: float = 60.0, retries: int = 2) -> None:
        """`timeout` in seconds holds for each attempt; `retries` are attempts after the first."""
        try:
            import openai  # noqa: PLC0415  # half a second that only who asks a model pays
        except ImportError:
            raise MissingExtra(feature="asking a model", extra="openai") from None
        self.name = name
        self.window = window(name) or 0
        self._errors = openai
        # A server of one's own wants no key, the client wants one: any word will do.
        self._client = openai.OpenAI(
            base_url=url or None, api_key=key or ("none" if url else None), timeout=timeout, max_retries=retries,
            _enforce_credentials=False,
        )  # fmt: skip
        self._shape = ["json_schema", "json_object", ""]
        self._bound = "max_completion_tokens"
        self._warm = True

    def reply(self, ask: Ask) -> Reply:
        """Ask once. Raises `ModelDown` (no answer, refused, over its limits) or `BadReply` (an answer without text)."""
        for _ in range(BENDS):
            try:
                return self._read(self._client.chat.completions.create(**self._request(ask)), ask)
            except self._errors.BadRequestError as error:
                if not self._bend(str(error)):
                    raise ModelDown(model=self.name, why=self._why(error)) from None
            except self._errors.APIError as error:
                raise ModelDown(model=self.name, why=self._why(error)) from None
        raise ModelDown(model=self.name, why="it refuses every shape of the request")

    def _request(self, ask: Ask) -> dict[str, Any]:
        system = ask.system
        request: dict[str, Any] = {"model": self.name, self._bound: ask.most}
        if self._warm:
            request["temperature"] = ask.temperature
        if ask.schema is not None:
            if self._shape[0] == "json_schema":
                schema = {"name": ask.purpose, "schema": dict(ask.schema), "strict": True}
                request["response_format"] = {"type": "json_schema", "json_schema": schema}
            else:
                system += f"\n\nAnswer with one JSON object of this schema and nothing else: {dict(ask.schema)}"
                if self._shape[0]:
                    request["response_format"] = {"type": self._shape[0]}
        request["messages"] = [{"role": "system", "content": system}, {"role": "user", "content": ask.text}]
        return request

    def _bend(self, complaint: str) -> bool:
        """Leave out or rename what a 400 complains of; False if it complains of something else."""
        if self._bound in complaint:
            self._bound = "max_tokens" if self._bound == "max_completion_tokens" else "max_completion_tokens"
        elif "response_format" in complaint or "json_schema" in complaint or "json_object" in complaint:
            if len(self._shape) == 1:
                return False
            self._shape = self._shape[1:]
        elif "temperature" in complaint and self._warm:
            self._warm = False
        else:
            return False
        return True

    def _read(self, answer: Any, ask: Ask) -> Reply:
        choice = answer.choices[0] if answer.choices else None
        text = (choice.message.content or "") if choice else ""
        if choice is None or not text.strip():
            why = (getattr(choice.message, "refusal", None) and "it refused") if choice else None
            raise BadReply(model=self.name, why=why or f"no text, finish reason {choice.finish_reason if choice else 'none'}")
        value = json_in(text) if ask.schema is not None else None
        return Reply(text=text, value=value, complete=choice.finish_reason != "length", usage=_usage(answer.usage))

    def _why(self, error: Any) -> str:
        """What went wrong, without the words of the request that some servers send back."""
        status = getattr(error, "status_code", None)
        if status is None:
            return "timed out" if isinstance(error, self._errors.APITimeoutError) else "cannot be reached"
        body = error.body if isinstance(error.body, Mapping) else {}
        return f"HTTP {status}" + (f", {body['code']}" if isinstance(body.get("code"), str) else "")


def _usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    cached = getattr(details, "cached_tokens", None) or 0
    return Usage(input=usage.prompt_tokens or 0, output=usage.completion_tokens or 0, cached=cached)
