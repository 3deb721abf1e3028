"""Settings of a live run, read from a TOML file and from flags; flags take precedence."""

from __future__ import annotations

import json
import os
from argparse import ArgumentTypeError
from collections.abc import Collection, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

from envs.errors import DataError, suggest_name
from envs.lazy_modules import lazy_module
from envs.state import cut_repr
from runner.extension import RunFeature
from runner.models.model_types import ERROR_KINDS, FAULTS, ErrorKind, Price, RequestOptions
from runner.models.prompting import read_texts
from runner.models.settings import (
    ALL_KINDS,
    CountedAs,
    LiveSettings,
    Sent,
    SettingInfo,
    get_info,
    read_history_rules,
    sent_as,
)
from runner.models.toolbox import legal_name
from runner.records.run_definition import ModelSettings
from runner.records.secret_finder import MASK, is_secret_header, redact_address, redact_body
from trajectories.jsonl import check_finite

if TYPE_CHECKING:
    import pydantic
else:
    # Only runs with a settings file need it.
    pydantic = lazy_module("pydantic")

_CALLING = tuple(sent_as(LiveSettings, "calling"))
_DECIDING = (*sent_as(LiveSettings, "sampling"), *_CALLING)
_SWITCH: Mapping[object, bool] = {"on": True, "off": False}
CHOICES = ("auto", "none", "required")
_REPLACED = {"attempts": "; use retries instead (one less than attempts)"}


@dataclass(frozen=True, kw_only=True)
class Settings(LiveSettings):
    """Settings of a live model."""

    features: tuple[RunFeature, ...] = field(default=(), metadata={"about": SettingInfo(help="")})

    def request_options(self) -> RequestOptions:
        """Return the connection and the settings of requests."""
        calling = self._collect_sent("calling")
        if self.tool_choice is not None:
            calling["tool_choice"] = self._make_choice()
        options = RequestOptions(
            base_url=self.base_url,
            sampling=self._collect_sent("sampling"),
            calling=calling,
            provider=self._collect_sent("provider"),
            extra_headers=self.extra_headers,
            extra_body=self.extra_body,
            api=self.api,
            timeout=self.timeout,
            price=self.price and Price(*[dollars / 1e6 for dollars in self.price]),
        )
        for feature in self.features:
            options = feature.request_options(options)
        return options

    def _collect_sent(self, way: Sent) -> dict[str, Any]:
        given = {name: vars(self)[name] for name in sent_as(type(self), way)}
        return {k: _SWITCH.get(v, v) for k, v in given.items() if v is not None}

    @property
    def forces_calls(self) -> bool:
        """Whether every answer must be a call."""
        return self.tool_choice not in (None, "auto", "none")

    @property
    def forced(self) -> str | None:
        """Name of the function that the model must call, or None."""
        chosen = self.tool_choice
        return None if chosen is None or chosen in CHOICES else legal_name(chosen)

    def _make_choice(self) -> object:
        if self.forced is None:
            return self.tool_choice
        return {"type": "function", "function": {"name": self.forced}}

    def failures(self) -> frozenset[ErrorKind]:
        """Return the kinds of errors that count as the model's failure."""
        usual = {kind: "failure" if kind in FAULTS else "error" for kind in ERROR_KINDS}
        every = dict.fromkeys(ERROR_KINDS, self.errors_as.get(ALL_KINDS))
        chosen = {kind: self.errors_as.get(kind) or every[kind] or usual[kind] for kind in usual}
        return frozenset(kind for kind in ERROR_KINDS if chosen[kind] == "failure")

    def _list_exceptions(self) -> Mapping[str, CountedAs]:
        failures = self.failures()
        return {
            kind: "failure" if kind in failures else "error"
            for kind in ERROR_KINDS
            if (kind in failures) != (kind in FAULTS)
        }

    def defining(self) -> ModelSettings:
        """Return the settings that determine a run's result, without secrets."""
        server = self.base_url or os.environ.get("OPENAI_BASE_URL")
        other = {
            "base_url": server and redact_address(server),
            "extra_headers": sorted(self.extra_headers),
            "extra_body": redact_body(self.extra_body),
            "errors_as": self._list_exceptions() or None,
        }
        return ModelSettings(
            **{name: other.get(name, vars(self)[name]) for name in ModelSettings._fields}
        )

    def of_requests(self) -> Mapping[str, Any]:
        """Return a JSON object with the settings that can change answers; secrets are masked."""
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
    """Return the settings of a TOML file; flags that are not None take precedence.

    Raises DataError if the file cannot be read, a key is unknown or of the wrong type, or a setting
    does not fit the mode.

    Args:
        path: A TOML file with the fields of Settings as keys, or None.
        flags: Values by field.
        others: Keys of the file that extensions read.
    """
    given = Settings() if path is None else _read_file(path, others)
    settings = replace(given, **{name: flag for name, flag in flags.items() if flag is not None})
    for kind in settings.errors_as:
        if kind not in (*ERROR_KINDS, ALL_KINDS):
            advice = suggest_name(kind, ERROR_KINDS) or f"; the kinds are {', '.join(ERROR_KINDS)}"
            raise DataError("--errors-as", f"unknown kind of error {kind!r}{advice}")
    if settings.history_rules is not None:
        try:
            read_history_rules(settings.history_rules)
        except ArgumentTypeError as error:
            raise DataError("--history-rules", str(error)) from None
    if settings.tool_choice is not None and not settings.tool_choice.strip():
        raise DataError("--tool-choice", f"must be {', '.join(CHOICES)} or a function")
    for name in _CALLING:
        if settings.mode == "prompt" and vars(settings)[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise DataError(option, "is for function calling; --mode prompt sends no tools")
    cache = Path(settings.reply_cache or ".")
    if cache.exists() and not cache.is_dir():
        raise DataError("--reply-cache", f"{cache} is not a folder")
    return settings


def read_toml(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file. Raises DataError if the file cannot be read."""
    return read_texts(path)[0]


def known_keys() -> list[str]:
    """Return the valid keys of a settings file."""
    return [member.name for member in _list_known()]


def _list_known() -> list[Field[Any]]:
    return [member for member in fields(Settings) if member.name != "features"]


def _read_file(path: Path, others: Collection[str]) -> Settings:
    given = {key: value for key, value in read_toml(path).items() if key not in others}
    hints = get_type_hints(Settings)
    known = {member.name: member for member in _list_known()}
    for key, value in given.items():
        if key not in known:
            advice = suggest_name(key, known) or f"; the keys are {', '.join(known)}"
            raise DataError(f"{path}: {key}", f"unknown key{_REPLACED.get(key) or advice}")
        given[key] = _check_value(get_info(known[key]), value, hints[key], f"{path}: {key}")
    return Settings(**given)


def _check_value(known: SettingInfo, value: Any, hint: Any, where: str) -> Any:
    check_finite(value, where)
    # Messages must not show a header's value, which may be a key.
    given = "" if known.secret else f", got {cut_repr(value, 60)}"
    try:
        checked = pydantic.TypeAdapter(hint).validate_json(
            json.dumps(value, default=str), strict=True
        )
    except pydantic.ValidationError as error:
        raise DataError(where, f"{error.errors()[0]['msg'].lower()}{given}") from None
    except ValueError:  # more digits than Python converts
        raise DataError(where, "is too large for an integer") from None
    numbers = checked if isinstance(checked, tuple) else (checked,)
    if any(isinstance(n, (int, float)) and not n >= known.least for n in numbers):
        raise DataError(where, f"must be at least {known.least}{given}")
    return checked
