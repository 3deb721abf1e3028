"""What a live run is asked for: a TOML file, overridden by flags, checked key by key."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from envs.lazy import lazily
from envs.state import brief
from runner.extension import RunFeature
from runner.models.base import (
    ERROR_KINDS,
    FAULTS,
    ErrorKind,
    Price,
    RequestOptions,
)
from runner.models.settings import ALL_KINDS, About, CountedAs, LiveSettings, Sent, about, sent_as
from runner.models.tools import legal_name
from runner.records.definition import Asked
from runner.records.secret import MASK, address_without, body_without, is_secret_header
from trajectories.errors import DataError, did_you_mean
from trajectories.jsonl import check_finite

if TYPE_CHECKING:
    import pydantic
else:
    # Only a run with a file of settings needs it.
    pydantic = lazily("pydantic")

_CALLING = tuple(sent_as(LiveSettings, "calling"))
_DECIDING = (*sent_as(LiveSettings, "sampling"), *_CALLING)
"""What goes with a request and decides its answer."""
_SWITCH: Mapping[object, bool] = {"on": True, "off": False}
CHOICES = ("auto", "none", "required")
"""What may be said of calls besides the name of a function."""


@dataclass(frozen=True, kw_only=True)
class Settings(LiveSettings):
    """The settings of a live model, and what follows from them."""

    features: tuple[RunFeature, ...] = field(default=(), metadata={"about": About(help="")})
    """What extensions change in the run."""

    def request_options(self) -> RequestOptions:
        """Return how the model is reached, with the sampling parameters that were given."""
        sampling = self._sent("sampling")
        calling = self._sent("calling")
        if self.tool_choice is not None:
            calling["tool_choice"] = self._choice()
        options = RequestOptions(
            base_url=self.base_url,
            sampling=sampling,
            calling=calling,
            provider=self._sent("provider"),
            extra_headers=self.extra_headers,
            extra_body=self.extra_body,
            api=self.api,
            timeout=self.timeout,
            price=self.price and Price(*[dollars / 1e6 for dollars in self.price]),
        )
        for feature in self.features:
            options = feature.request_options(options)
        return options

    def _sent(self, way: Sent) -> dict[str, Any]:
        """Return what was given of the settings that are sent in one way."""
        given = {name: vars(self)[name] for name in sent_as(type(self), way)}
        return {k: _SWITCH.get(v, v) for k, v in given.items() if v is not None}

    @property
    def forces_calls(self) -> bool:
        """Whether every answer has to be a call."""
        return self.tool_choice not in (None, "auto", "none")

    @property
    def forced(self) -> str | None:
        """The only function that may be called, and has to be; by the name that is sent."""
        chosen = self.tool_choice
        return None if chosen is None or chosen in CHOICES else legal_name(chosen)

    def _choice(self) -> object:
        """Return the choice of tools as chat completions have it."""
        if self.forced is None:
            return self.tool_choice
        return {"type": "function", "function": {"name": self.forced}}

    def failures(self) -> frozenset[ErrorKind]:
        """Return the kinds of what keeps a request from being answered that fail an episode."""
        usual = {kind: "failure" if kind in FAULTS else "error" for kind in ERROR_KINDS}
        every = dict.fromkeys(ERROR_KINDS, self.errors_as.get(ALL_KINDS))
        chosen = {kind: self.errors_as.get(kind) or every[kind] or usual[kind] for kind in usual}
        return frozenset(kind for kind in ERROR_KINDS if chosen[kind] == "failure")

    def _counted_otherwise(self) -> Mapping[str, CountedAs]:
        failures = self.failures()
        return {
            kind: "failure" if kind in failures else "error"
            for kind in ERROR_KINDS
            if (kind in failures) != (kind in FAULTS)
        }

    def defining(self) -> Asked:
        """Return what defines a run's result: all but how hard it pushes and what it may cost.

        Of headers only the names are given, of the address no credentials, of the body no keys.
        """
        server = self.base_url or os.environ.get("OPENAI_BASE_URL")
        other = {
            "base_url": server and address_without(server),
            "extra_headers": sorted(self.extra_headers),
            "extra_body": body_without(self.extra_body),
            "errors_as": self._counted_otherwise() or None,
        }
        return Asked(**{name: other.get(name, vars(self)[name]) for name in Asked._fields})

    def of_requests(self) -> Mapping[str, Any]:
        """Return what decides an answer besides the request, without secrets, as a JSON object."""
        defining = self.defining().to_json()
        headers = {
            name: MASK if is_secret_header(name, value) else value
            for name, value in self.extra_headers.items()
        }
        return {
            **{name: defining.get(name) for name in _DECIDING},
            **{name: defining.get(name) for name in ("base_url", "api", "extra_body")},
            **{name: key for each in self.features for name, key in each.request_key().items()},
            "extra_headers": headers,
        }


def read_settings(
    path: Path | None, flags: Mapping[str, Any], others: Collection[str] = ()
) -> Settings:
    """Return the settings of a file, overridden by flags.

    Args:
        path: A TOML file with the members of Settings as keys, or None.
        flags: Members by name; None where a flag was not given.
        others: Keys of the file that somebody else reads.

    Raises:
        DataError: The file cannot be read, a key is unknown or of the wrong type, or a setting is
            not for models of that mode.
    """
    given = Settings() if path is None else _from_file(path, others)
    settings = replace(given, **{name: flag for name, flag in flags.items() if flag is not None})
    for kind in settings.errors_as:
        if kind not in (*ERROR_KINDS, ALL_KINDS):
            advice = did_you_mean(kind, ERROR_KINDS) or f"; there are {', '.join(ERROR_KINDS)}"
            raise DataError("--errors-as", f"{kind!r} is no kind of error{advice}")
    if settings.tool_choice is not None and not settings.tool_choice.strip():
        raise DataError("--tool-choice", f"must be one of {', '.join(CHOICES)}, or a function")
    for name in _CALLING:
        if settings.mode == "prompt" and vars(settings)[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise DataError(option, "is for function calling; --mode prompt sends no tools")
    cache = Path(settings.reply_cache or ".")
    if cache.exists() and not cache.is_dir():
        raise DataError("--reply-cache", f"{cache} is no folder")
    return settings


def read_toml(path: Path) -> dict[str, Any]:
    """Return the members of a TOML file.

    Raises:
        DataError: It cannot be read.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(str(path), f"is not valid TOML: {error}") from None


def known_keys() -> list[str]:
    """Return the keys that a file of settings may have."""
    return [member.name for member in _known()]


def _known() -> list[Field[Any]]:
    return [member for member in fields(Settings) if member.name != "features"]


def _from_file(path: Path, others: Collection[str]) -> Settings:
    given = {key: value for key, value in read_toml(path).items() if key not in others}
    hints = get_type_hints(Settings)
    known = {member.name: member for member in _known()}
    for key, value in given.items():
        if key not in known:
            advice = did_you_mean(key, known) or f"; there are {', '.join(known)}"
            raise DataError(f"{path}: {key}", f"unknown key{advice}")
        given[key] = _checked(about(known[key]), value, hints[key], f"{path}: {key}")
    return Settings(**given)


def _checked(known: About, value: Any, hint: Any, where: str) -> Any:
    """Return a value that fits a type hint of Settings.

    Raises:
        DataError: It does not fit.
    """
    check_finite(value, where)
    # A header's value may be a key, which belongs in no message.
    given = "" if known.secret else f", got {brief(value, 60)}"
    try:
        checked = pydantic.TypeAdapter(hint).validate_json(
            json.dumps(value, default=str), strict=True
        )
    except pydantic.ValidationError as error:
        raise DataError(where, f"{error.errors()[0]['msg'].lower()}{given}") from None
    except ValueError:  # it has more digits than Python writes
        raise DataError(where, "is an integer too large") from None
    numbers = checked if isinstance(checked, tuple) else (checked,)
    if any(isinstance(n, (int, float)) and not n >= known.least for n in numbers):
        raise DataError(where, f"must be at least {known.least}{given}")
    return checked
