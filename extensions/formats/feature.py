"""Calling formats in a run: how functions are shown to the model and calls are written."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Literal, get_args

from checkers.replies.formats import ReplyFormat
from extensions.formats import registry
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.live.settings import Settings
from runner.models.base import RequestOptions
from runner.models.conversation import Style
from runner.models.prompting import PromptFormat
from runner.models.protocols.base import Protocol, Written
from trajectories.errors import DataError

_CALLING = ("tool_choice", "parallel_tool_calls")
_CANNOT_CHOOSE = {
    "functions": ("required", "may be auto, none or a function's name"),
    "multi_call": (None, "may be auto, none or required: it has one tool for all functions"),
}
"""Of protocols, what they cannot be asked for, None for a function's name; and what they can."""
_MAX_TOKENS_OF_TEXT = 4096
"""Longest answer of a raw protocol, where nobody says."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProtocolOption:
    """Calling formats."""

    protocol: str | None = option(
        "how functions are shown and calls are written: tools, functions, responses, multi_call, "
        "or a family that writes them as text, such as hermes (docs/protocols.md)",
        "NAME",
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FormatOptions(ProtocolOption):
    """Calling formats."""

    protocols: str | None = option(
        "ask in several protocols, one run each: names, text, native, raw or all",
        "NAMES",
        excludes=("--protocol", "--formats"),
    )
    formats: str | None = option(
        "with --mode prompt: ask single-turn entries in several formats, all or names such as "
        "json-tagged-python-plain (calls in python, json or xml; bare or tagged; functions in "
        "json, python or xml; prompt plain or markdown)",
        "NAMES",
        excludes=("--protocol",),
    )


@dataclass(frozen=True)
class ProtocolFeature(RunFeature):
    """Shows functions and reads calls as a protocol has them."""

    extension = "formats"
    flag = "--protocol"
    protocol: Protocol

    def definition(self) -> JsonObject:
        """Return the protocol and the hash of its prompt."""
        digest = registry.fingerprint(self.protocol)
        return {"protocol": {"name": self.protocol.name, "sha256": digest}}

    def request_key(self) -> JsonObject:
        """Return the protocol, which decides how an answer is read."""
        return {"protocol": self.protocol.name}

    def request_options(self, options: RequestOptions) -> RequestOptions:
        """Ask by the protocol's API, and for texts that end where its calls do."""
        protocol = self.protocol
        if isinstance(protocol, Written) and protocol.frame is not None:
            # Control tokens are what is read; and servers of texts end after a few tokens unasked.
            stop = {"stop": [*protocol.stops], "skip_special_tokens": False}
            options = replace(
                options,
                sampling={"max_tokens": _MAX_TOKENS_OF_TEXT, **options.sampling},
                extra_body={**stop, **options.extra_body},
            )
        return replace(options, api=protocol.wire or options.api)

    def style(self, style: Style, settings: Settings) -> Style:
        """Talk to the model in the protocol."""
        # One that has to call would never stop.
        asks_on = not self.protocol.parallel and not settings.forces_calls
        return style._replace(protocol=self.protocol, asks_on=asks_on)


@dataclass(frozen=True)
class PromptFormatFeature(RunFeature):
    """Asks a prompting model in another format."""

    extension = "formats"
    flag = "--formats"
    format: PromptFormat

    def definition(self) -> JsonObject:
        """Return the format and the hash of its prompt."""
        return {"prompt_format": {"name": self.format.name, "sha256": self.format.sha256}}

    def style(self, style: Style, settings: Settings) -> Style:
        """Talk to the model in the format."""
        return style._replace(format=self.format)


@dataclass(frozen=True)
class RecordedFormat(RunFeature):
    """The format of a recorded run, which may not exist any more."""

    extension = "formats"
    flag = "--protocol"
    kind: Literal["prompt_format", "protocol"]
    name: str
    sha256: str

    @classmethod
    def of(cls, definition: JsonObject, where: str) -> RecordedFormat:
        """Return the format that a run's definition names.

        Raises:
            DataError: It names none.
        """
        for kind in get_args(Literal["prompt_format", "protocol"]):
            match definition.get(kind):
                case {"name": str(name), "sha256": str(digest)}:
                    return cls(kind, name, digest)
        raise DataError(where, "$.definition.extensions.formats: names no format")

    def definition(self) -> JsonObject:
        """Return what was recorded."""
        return {self.kind: {"name": self.name, "sha256": self.sha256}}

    def reader(self, where: str) -> ReplyFormat | None:
        """Return what reads answers; what is asked in a protocol is recorded as tool calls."""
        if self.kind == "protocol":
            return None
        reader = ReplyFormat.named(self.name)
        if reader is None:
            raise DataError(where, f"$.definition.prompt_format.name: {self.name!r} is no format")
        return reader


def in_protocol(settings: Settings, name: str, flag: str = "--protocol") -> Settings:
    """Return settings by which a model is asked in a protocol.

    Raises:
        DataError: There is no such protocol, or a setting contradicts it.
    """
    protocol = registry.protocol_named(name, flag)
    if settings.mode == "prompt":
        raise DataError("--mode", f"prompt does not go together with {flag}, which says it all")
    if settings.prompts is not None:
        raise DataError("--prompts", f"does not go together with {flag}, which has its own texts")
    if settings.api is not None and settings.api != protocol.wire:
        raise DataError("--api", f"{settings.api} does not go together with the protocol {name}")
    for given in _CALLING:
        alone = given == "parallel_tool_calls" and name == "functions"
        if vars(settings)[given] is not None and (alone or isinstance(protocol, Written)):
            other = f"--{given.replace('_', '-')}"
            raise DataError(other, f"is for tools, and the protocol {name} sends none")
    refused, instead = _CANNOT_CHOOSE.get(name, ("", ""))
    if settings.forces_calls and refused == (None if settings.forced else settings.tool_choice):
        raise DataError("--tool-choice", f"with the protocol {name} {instead}")
    if protocol.kind == "raw" and not (settings.base_url or os.environ.get("OPENAI_BASE_URL")):
        raise DataError(flag, f"{name} is raw: it needs --base-url, a server with /completions")
    return replace(settings, features=(*settings.features, ProtocolFeature(protocol)))
