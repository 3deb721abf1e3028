"""Features of a run: calling formats and prompt formats."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

from checkers.replies.formats import ReplyFormat
from envs.errors import DataError
from extensions.formats import registry
from extensions.formats.prompt_text import SystemMessageWriter
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.live.run_settings import Settings
from runner.models.calling_formats.format_types import CallingFormat, NativeFormat, TextFormat
from runner.models.conversation import ConversationSettings
from runner.models.model_types import RequestOptions
from runner.models.prompting import PromptFormat, read_prompts

_CALLING = ("tool_choice", "parallel_tool_calls")
_CANNOT_CHOOSE = {
    "functions": ("required", "use `auto`, `none` or a function's name"),
    "multi_call": (
        None,
        "use `auto`, `none` or `required`, because one tool represents all functions",
    ),
}
"""Each item is an unsupported ``tool_choice`` and a hint. None means any function name."""
_MAX_TOKENS_OF_TEXT = 4096
"""Default limit of the tokens per answer in a raw calling format."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CallingFormatOption:
    """Calling formats."""

    calling_format: str | None = option(
        "calling format, such as tools or hermes (default: by --mode)", "NAME"
    )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FormatOptions(CallingFormatOption):
    """Calling formats."""

    calling_formats: str | None = option(
        "run once per calling format: names separated by commas, or `text`, or `all`",
        "NAMES",
        excludes=("--calling-format", "--formats"),
    )
    formats: str | None = option(
        "with --mode prompt: run once per prompt format", "NAMES", excludes=("--calling-format",)
    )


@dataclass(frozen=True)
class CallingFormatFeature(RunFeature):
    """A run feature that applies a calling format to functions and calls."""

    extension = "formats"
    flag = "--calling-format"
    protocol: CallingFormat

    def definition(self) -> JsonObject:
        """Return the name of the calling format and the hash of its prompt."""
        digest = registry.fingerprint(self.protocol)
        return {"protocol": {"name": self.protocol.name, "sha256": digest}}

    def request_key(self) -> JsonObject:
        """Return the name of the calling format."""
        return {"protocol": self.protocol.name}

    def request_options(self, options: RequestOptions) -> RequestOptions:
        """Add the format's API; for raw text, add stop sequences and a maximum length."""
        protocol = self.protocol
        if isinstance(protocol, TextFormat) and protocol.frame is not None:
            # Calls contain control tokens; /completions servers default to very short answers.
            stop = {"stop": [*protocol.stops], "skip_special_tokens": False}
            options = replace(
                options,
                sampling={"max_tokens": _MAX_TOKENS_OF_TEXT, **options.sampling},
                extra_body={**stop, **options.extra_body},
            )
        return replace(options, api=protocol.wire or options.api)

    def style(self, style: ConversationSettings, settings: Settings) -> ConversationSettings:
        """Use the calling format in the conversation."""
        # A model that is forced to call would never stop.
        asks_on = not self.protocol.parallel and not settings.forces_calls
        return style._replace(protocol=self.protocol, asks_on=asks_on)


@dataclass(frozen=True)
class PromptFormatFeature(RunFeature):
    """A prompt format for a model in ``--mode prompt``."""

    extension = "formats"
    flag = "--formats"
    format: PromptFormat

    def definition(self) -> JsonObject:
        """Return the name of the format and the hash of its prompt."""
        return {"prompt_format": {"name": self.format.name, "sha256": self.format.sha256}}

    def style(self, style: ConversationSettings, settings: Settings) -> ConversationSettings:
        """Use the format in the conversation."""
        return style._replace(format=self.format)


@dataclass(frozen=True)
class RecordedFormat(RunFeature):
    """Recorded name and hash of a format."""

    extension = "formats"
    flag = "--calling-format"
    kind: Literal["prompt_format", "protocol"]
    name: str
    sha256: str

    @classmethod
    def of(cls, definition: JsonObject, where: str) -> RecordedFormat:
        """Return the format in a run's definition.

        Raises DataError if the definition has no format.
        """
        for kind in get_args(Literal["prompt_format", "protocol"]):
            match definition.get(kind):
                case {"name": str(name), "sha256": str(digest)}:
                    return cls(kind, name, digest)
        raise DataError(where, "$.definition.extensions.formats: has no format")

    def definition(self) -> JsonObject:
        """Return the recorded name and hash."""
        return {self.kind: {"name": self.name, "sha256": self.sha256}}

    def reader(self, where: str) -> ReplyFormat | None:
        """Return the parser for replies in a prompt format.

        Replies in calling formats are recorded as tool calls and need no parser.
        """
        if self.kind == "protocol":
            return None
        reader = ReplyFormat.named(self.name)
        if reader is None:
            why = f"$.definition.prompt_format.name: unknown format {self.name!r}"
            raise DataError(where, why)
        return reader


def _with_prompt(protocol: CallingFormat, path: Path) -> TextFormat:
    if isinstance(protocol, NativeFormat) or not isinstance(protocol.show, SystemMessageWriter):
        why = f"the calling format {protocol.name} has no prompt; leave out --prompts"
        raise DataError("--prompts", why)
    prompts = read_prompts(path)
    if prompts.first_user is not None:
        why = 'cannot be used with a calling format; write {functions} into the prompt "system"'
        raise DataError(f"{path}: [place]", why)
    return protocol._replace(show=replace(protocol.show, text=lambda: prompts.system))


def with_calling_format(settings: Settings, name: str, flag: str = "--calling-format") -> Settings:
    """Return settings with a calling format.

    Raises DataError if the calling format does not exist, or if a setting contradicts it.
    """
    protocol = registry.calling_format_named(name, flag)
    if settings.mode == "prompt":
        raise DataError("--mode", f"`prompt` cannot be combined with {flag}; leave one of them out")
    if settings.prompts is not None:
        protocol = _with_prompt(protocol, Path(settings.prompts))
    if settings.api is not None and settings.api != protocol.wire:
        why = f"{settings.api} cannot be combined with the calling format {name}; leave out --api"
        raise DataError("--api", why)
    for given in _CALLING:
        alone = given == "parallel_tool_calls" and name == "functions"
        if vars(settings)[given] is not None and (alone or isinstance(protocol, TextFormat)):
            other = f"--{given.replace('_', '-')}"
            why = f"the calling format {name} sends no tools; leave out {other}"
            raise DataError(other, why)
    refused, instead = _CANNOT_CHOOSE.get(name, ("", ""))
    if settings.forces_calls and refused == (None if settings.forced else settings.tool_choice):
        raise DataError("--tool-choice", f"with the calling format {name}, {instead}")
    if protocol.kind == "raw" and not (settings.base_url or os.environ.get("OPENAI_BASE_URL")):
        raise DataError(flag, f"{name} needs a server with /completions; add --base-url URL")
    return replace(settings, features=(*settings.features, CallingFormatFeature(protocol)))
