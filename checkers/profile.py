"""The named profiles: all that differs between agreeing with the reference and being right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from checkers.replies.decoding import (
    Decoder,
    decode_text,
    decode_text_as_bfcl,
    decode_tool_calls,
    decode_tool_calls_as_bfcl,
)

Mode = Literal["fc", "prompt"]
"""How a model calls functions: by structured tool calls, or in its text."""


class Profile(NamedTuple):
    """How a run is executed and judged."""

    name: str
    decoders: Mapping[Mode, Decoder]
    """How a step becomes calls."""
    answers_unreadable_steps: bool
    """Whether a step that cannot be read is answered by the reason, so that the model can mend it;
    where not, it ends the turn."""
    only_offered: bool
    """Whether only functions that are offered in the turn may be called."""
    checks_arguments: bool
    """Whether arguments are validated against the function's schema before it runs."""
    executes_step_past_limit: bool
    """Whether the step limit is noticed only after one step more has been executed."""
    limits_recorded_runs: bool
    """Whether the step limit also holds when a recorded run is scored."""
    empty_turns_forbid_changes: bool
    """Whether a call that changes state fails a turn whose ground truth is empty."""
    notices_late_termination: bool
    """Whether running into the step limit in the last turn fails the episode."""


BFCL = Profile(
    name="bfcl",
    decoders={"fc": decode_tool_calls_as_bfcl, "prompt": decode_text_as_bfcl},
    answers_unreadable_steps=False,
    only_offered=False,
    checks_arguments=False,
    executes_step_past_limit=True,
    limits_recorded_runs=False,
    empty_turns_forbid_changes=False,
    notices_late_termination=False,
)
"""Agrees with BFCL verdict for verdict."""

STRICT = Profile(
    name="strict",
    decoders={"fc": decode_tool_calls, "prompt": decode_text},
    answers_unreadable_steps=True,
    only_offered=True,
    checks_arguments=True,
    executes_step_past_limit=False,
    limits_recorded_runs=True,
    empty_turns_forbid_changes=True,
    notices_late_termination=True,
)
"""What a careful engineer expects."""

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (BFCL, STRICT)}
