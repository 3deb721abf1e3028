"""Judging profiles: ``bfcl``, which agrees with BFCL, and ``strict``.

Each field is one named rule. To find out why two verdicts differ, replace one rule at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

from checkers.replies import decoding
from checkers.replies.decoding import Decoder
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from checkers.replies.as_bfcl import decoding as as_bfcl
else:
    # The other profiles read replies without it.
    as_bfcl = lazy_module("checkers.replies.as_bfcl.decoding")

Mode = Literal["fc", "prompt"]
"""How the model calls functions: structured tool calls (``fc``) or text (``prompt``)."""


class RuleVariant(StrEnum):
    """How a rule is applied: as BFCL does (``AS_BFCL``), or correctly (``RIGHT``)."""

    AS_BFCL = "as_bfcl"
    RIGHT = "right"


class ExecutionRules(NamedTuple):
    """Rules for executing calls."""

    only_offered: bool
    checks_arguments: bool
    """Whether arguments are validated against the function's schema before the call runs."""
    executes_step_past_limit: bool
    limits_recorded_runs: bool
    """Whether the step limit also applies when a recorded run is scored."""
    keeps_all: bool
    """Whether backends also store state that BFCL's backends lack, such as support messages."""


class DecodingRules(NamedTuple):
    """Rules for turning replies into calls to execute."""

    read: RuleVariant
    answers_unreadable_steps: bool
    """Whether the model may correct a parse error; if not, a parse error ends the turn."""

    def decoder(self, mode: Mode) -> Decoder:
        """Return the function that reads the calls of a step."""
        if self.read is RuleVariant.RIGHT:
            return decoding.decode_tool_calls if mode == "fc" else decoding.decode_text
        return as_bfcl.decode_tool_calls if mode == "fc" else as_bfcl.decode_text


class MultiTurnRules(NamedTuple):
    """Rules for judging episodes by state."""

    empty_turns_forbid_changes: bool
    """Whether a change of the state fails a turn that needs no calls."""
    notices_late_termination: bool
    """Whether an episode fails if the step limit ends its last turn."""
    needs_facts: bool
    """Whether only needed facts are judged, not all results."""
    order_may_mean_nothing: bool
    judges_guesses: bool
    """Whether an invented value or function counts as a mistake."""
    judges_trace: bool
    """Whether a prohibited call or a wrong order counts as a mistake."""


class CallRules(NamedTuple):
    """Rules for parsing and comparing the calls of single-turn entries."""

    read_tool_calls: RuleVariant
    read_text: RuleVariant
    converters: RuleVariant
    normalise: RuleVariant
    """Rule for normalising strings; ``RIGHT`` keeps the sign and decimal point of a number."""
    compares_deeply: bool
    """Whether nested values are compared like top-level values."""
    variables_by_any_answer: bool
    """Whether a value may have the type of any accepted value."""
    maximum_matching: bool
    only_offered: bool
    """Whether the called function must be offered, even in an entry that accepts every call."""
    counts_broken_calls: bool
    """Whether a malformed call counts as a call."""
    judges_inference_errors: bool
    """Whether a failed request is judged like an answer without calls."""
    executes_statements: bool


class ResultRules(NamedTuple):
    """Rules for comparing the results of single-turn entries."""

    compares_structure_deeply: bool
    """Whether nested values are compared; if not, only types, lengths and keys are compared."""


class Profile(NamedTuple):
    """Rules for executing and judging a run."""

    name: str
    execution: ExecutionRules
    replies: DecodingRules
    state: MultiTurnRules
    calls: CallRules
    results: ResultRules

    def __repr__(self) -> str:
        """Return the profile's name only, without the rules."""
        return f"Profile({self.name!r})"


BFCL = Profile(
    "bfcl",
    ExecutionRules(
        only_offered=False,
        checks_arguments=False,
        executes_step_past_limit=True,
        limits_recorded_runs=False,
        keeps_all=False,
    ),
    DecodingRules(read=RuleVariant.AS_BFCL, answers_unreadable_steps=False),
    MultiTurnRules(
        empty_turns_forbid_changes=False,
        notices_late_termination=False,
        needs_facts=False,
        order_may_mean_nothing=False,
        judges_guesses=False,
        judges_trace=False,
    ),
    CallRules(
        read_tool_calls=RuleVariant.AS_BFCL,
        read_text=RuleVariant.AS_BFCL,
        converters=RuleVariant.AS_BFCL,
        normalise=RuleVariant.AS_BFCL,
        compares_deeply=False,
        variables_by_any_answer=False,
        maximum_matching=False,
        only_offered=False,
        counts_broken_calls=False,
        judges_inference_errors=True,
        executes_statements=False,
    ),
    ResultRules(compares_structure_deeply=False),
)

STRICT = Profile(
    "strict",
    ExecutionRules(
        only_offered=True,
        checks_arguments=True,
        executes_step_past_limit=False,
        limits_recorded_runs=True,
        keeps_all=True,
    ),
    DecodingRules(read=RuleVariant.RIGHT, answers_unreadable_steps=True),
    MultiTurnRules(
        empty_turns_forbid_changes=True,
        notices_late_termination=True,
        needs_facts=True,
        order_may_mean_nothing=True,
        judges_guesses=True,
        judges_trace=True,
    ),
    CallRules(
        read_tool_calls=RuleVariant.RIGHT,
        read_text=RuleVariant.RIGHT,
        converters=RuleVariant.RIGHT,
        normalise=RuleVariant.RIGHT,
        compares_deeply=True,
        variables_by_any_answer=True,
        maximum_matching=True,
        only_offered=True,
        counts_broken_calls=True,
        judges_inference_errors=False,
        executes_statements=True,
    ),
    ResultRules(compares_structure_deeply=True),
)

TAU2 = STRICT._replace(name="tau2")

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (BFCL, STRICT, TAU2)}


def allow_all_functions(profile: Profile) -> Profile:
    """Return a copy of a profile that also allows calls of functions that are not offered."""
    return profile._replace(execution=profile.execution._replace(only_offered=False))
