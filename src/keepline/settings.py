"""The one table of settings, and the only reader of the environment. Knows nothing of what the settings do.

Order: argument, environment (`KEEPLINE_<NAME>`), file (`config.toml` in the home folder), default. A new row must replace
a decision that we truly cannot make for the user.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from keepline.errors import BadSetting


def _row(
    default: Any, why: str, *, least: float | None = None, most: float | None = None, choices: str = "", also: str = "",
    secret: bool = False,
) -> Any:
    """A setting: its default, why one would change it, and what is allowed; other variables that it is `also` read from; whether
    its value is a `secret`, never shown."""
    meta = {
        "why": why, "least": least, "most": most, "choices": tuple(choices.split()), "secret": secret,
        "also": tuple(also.split()),
    }
    return field(default=default, metadata=meta)


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """All settings, as values. Tokens and shares as stated; times in seconds; sizes in MiB."""

    home: str = _row("~/.keepline", "where the store and the config file live")
    store: str = _row("", "the store's address; empty: sqlite file keepline.db in the home folder")
    encoder: str = _row("use", "what turns text to vectors; none: keyword recall only", choices="use none")
    vocabulary: str = _row("o200k_base", "the vocabulary that messages are counted in when they are appended")
    settle: str = _row("background", "when views catch up with the log", choices="background inline manual")
    language: str = _row("", "language of keepline's own words; empty: that of the conversation", choices="en zh")
    zone: str = _row("UTC", "the user's time zone, for dates shown in a context (IANA name)")
    busy_s: float = _row(30.0, "how long a write waits for another program's lock", least=0.1, most=600)
    index_mb: int = _row(512, "memory that warm recall indexes may take in this process", least=16)
    window: int = _row(128_000, "the model's window when a call names neither a budget nor a known model", least=16)
    soft_share: float = _row(0.5, "share of a large window that a context aims at, to keep calls cheap", least=0.05, most=1)
    soft_floor: int = _row(16_000, "windows' halves below this many tokens are used whole", least=0)
    pins_share: float = _row(0.25, "share of the input budget that standing rules and facts may fill", least=0, most=0.5)
    pins_certain_share: float = _row(0.5, "the same for rules that the caller gave or that are certain", least=0, most=0.9)
    evict_to: float = _row(0.6, "how full the recent window is after a jump (1: move every call)", least=0.1, most=1)
    full_under: float = _row(0.4, "auto: a history under this share of the window is sent whole", least=0, most=1)
    dense_under: float = _row(0.2, "auto: recent messages with a smaller share of facts are talk: sliding", least=0, most=1)
    spread_under: float = _row(0.35, "auto: recent questions less alike than this are spread: hybrid", least=-1, most=1)
    recall_k: int = _row(40, "how many recalled pieces compete for their share of the window", least=1, most=1000)
    summary_model: str = _row("", "who writes summaries, as openai:MODEL (a cheap one will do); empty: the user's own sentences")
    model_url: str = _row("", "the endpoint of models; empty: OpenAI's", also="OPENAI_BASE_URL OPENAI_API_BASE")
    model_key: str = _row("", "the endpoint's key", also="OPENAI_API_KEY", secret=True)
    summary_batch: int = _row(4_000, "tokens of messages that become one segment of the summary", least=200)
    summary_from: int = _row(12_000, "a model is asked only from so many unsummarised tokens on", least=0)
    summary_every: int = _row(20, "a model is asked again after so many messages", least=1)
    summary_minutes: float = _row(30.0, "or after so many minutes", least=0)
    summary_bill: float = _row(0.1, "what summary calls may cost, as a share of the conversation's own calls", least=0, most=1)
    summary_words: int = _row(200, "size of a segment in English words (in Chinese characters: half as many again)", least=20)
    ledgers: int = _row(1000, "how many builds of a user are kept on record", least=0)

    def __post_init__(self) -> None:
        for f in fields(self):
            check(f.name, getattr(self, f.name), "an argument")

    @property
    def folder(self) -> Path:
        """The home folder, expanded."""
        return Path(self.home).expanduser()

    @property
    def address(self) -> str:
        """The store's address with its default filled in."""
        return self.store or f"sqlite:///{self.folder / 'keepline.db'}"


def check(name: str, value: Any, origin: str) -> None:
    """Raise `BadSetting` if `value` is not allowed for the setting `name`; `origin` is named in the error."""
    spec = {f.name: f for f in fields(Settings)}[name]
    kind, meta = type(spec.default), spec.metadata
    fits = isinstance(value, int | float) if kind is float else isinstance(value, kind)
    if not fits or isinstance(value, bool):
        raise BadSetting(name=name, origin=origin, value=value, why=f"it must be of type {kind.__name__}")
    if meta["choices"] and value not in meta["choices"] and value != spec.default:
        raise BadSetting(name=name, origin=origin, value=value, why=f"choose one of: {', '.join(meta['choices'])}")
    if meta["least"] is not None and not value >= meta["least"]:  # "not >=" and "not <=" so that NaN is refused
        raise BadSetting(name=name, origin=origin, value=value, why=f"it must be at least {meta['least']}")
    if meta["most"] is not None and not value <= meta["most"]:
        raise BadSetting(name=name, origin=origin, value=value, why=f"it must be at most {meta['most']}")


def load(environ: Mapping[str, str] | None = None, **given: Any) -> Settings:
    """Settings from arguments, the environment (default: this process's), the config file and the defaults.

    An unknown name, a wrong type or a value out of range raises `BadSetting`, naming where it came from.
    """
    return Settings(**{name: value for name, (value, _) in origins(environ, **given).items()})


def origins(environ: Mapping[str, str] | None = None, **given: Any) -> dict[str, tuple[Any, str]]:
    """Every setting with its value and where that came from (`argument`, a variable, a file, or `default`).

    Variables of other makers (OPENAI_API_KEY …) come last before the default: keepline's own words go before them."""
    env = os.environ if environ is None else environ
    names = {f.name: f for f in fields(Settings)}
    home = given.get("home") or env.get("KEEPLINE_HOME") or names["home"].default
    path = Path(str(home)).expanduser() / "config.toml"
    filed = _read(path)
    for name in (*given, *filed):
        if name not in names:
            origin = "an argument" if name in given else str(path)
            raise BadSetting(name=name, origin=origin, value=given.get(name, filed.get(name)), why="no such setting")
    found: dict[str, tuple[Any, str]] = {}
    for name, spec in names.items():
        variable = f"KEEPLINE_{name.upper()}"
        if name in given and given[name] is not None:
            found[name] = (given[name], "argument")
        elif variable in env:
            found[name] = (_parse(name, env[variable], type(spec.default), variable), variable)
        elif name in filed:
            found[name] = (filed[name], str(path))
        else:
            other = next((v for v in spec.metadata["also"] if env.get(v)), None)
            found[name] = (env[other], other) if other else (spec.default, "default")
        check(name, *found[name])
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(name="(all)", origin=str(path), value="…", why=f"the file cannot be read: {error}") from None


def _parse(name: str, text: str, kind: type, origin: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise BadSetting(name=name, origin=origin, value=text, why=f"it must be of type {kind.__name__}") from None
