"""The named profiles: all that differs between agreeing with BFCL and being right.

Each field is one named rule. Taken over from the other profile one at a time, with ``_replace``,
they tell which rule makes a verdict differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, NamedTuple

from checkers.replies import decoding
from checkers.replies.as_bfcl import decoding as as_bfcl
from checkers.replies.decoding import Decoder

Mode = Literal["fc", "prompt"]
"""How a model calls functions: by structured tool calls, or in its text."""


class Manner(StrEnum):
    """How something is done that takes modules of its own, which are loaded where it is done."""

    AS_BFCL = "as_bfcl"
    RIGHT = "right"


class ExecutionRules(NamedTuple):
    """How calls are executed."""

    only_offered: bool
    """Whether only functions that are offered in the turn may be called."""
    checks_arguments: bool
    """Whether arguments are validated against the function's schema before it runs."""
    executes_step_past_limit: bool
    """Whether the step limit is noticed only after one step more has been executed."""
    limits_recorded_runs: bool
    """Whether the step limit also holds when a recorded run is scored."""
    keeps_all: bool
    """Whether state is kept that BFCL's backends forget; BFCL's data is played as there."""


class ReplyRules(NamedTuple):
    """How replies become calls that are executed."""

    decoders: Mapping[Mode, Decoder]
    """How a step becomes calls."""
    answers_unreadable_steps: bool
    """Whether a step that cannot be read is answered by the reason, so that the model can mend it;
    where not, it ends the turn."""


class StateRules(NamedTuple):
    """How an episode is judged whose state is compared."""

    empty_turns_forbid_changes: bool
    """Whether a call that changes state fails a turn whose ground truth is empty."""
    notices_late_termination: bool
    """Whether running into the step limit in the last turn fails the episode."""
    needs_facts: bool
    """Whether a read of the ground truth is needed for its facts only, which may be known
    otherwise, and a change for the state alone; where not, every result is needed as text."""
    order_may_mean_nothing: bool
    """Whether lists whose order means nothing are equal in any order."""
    judges_guesses: bool
    """Whether a turn fails by a value that nobody has told where nothing else would show it, and,
    if nothing is to be done in it, by a call of a function that is not there."""


class CallRules(NamedTuple):
    """How the calls of a single turn are read and judged where they are compared."""

    read_tool_calls: Manner
    """How the step of a function-calling model becomes calls."""
    read_text: Manner
    """How the step of a prompting model becomes calls."""
    converters: Manner
    """How the text of a Java or JavaScript expression becomes a value."""
    normalise: Manner
    """What of a text counts when texts are compared; done right, also a number's sign and point."""
    compares_deeply: bool
    """Whether inside of lists and objects the rules are those outside: texts are normalised, an
    integer does for a float, a truth value is no number. Where not, an integer does for a float
    in Python and outside only."""
    variables_by_any_answer: bool
    """Whether any of the right values, not just the first, may show that a variable is meant."""
    maximum_matching: bool
    """Whether parallel calls are matched in the best way, not first come, first served."""
    only_offered: bool
    """Whether a call only counts as one, where any will do, when its function was offered."""
    counts_broken_calls: bool
    """Whether a call whose arguments cannot be read is a call where none should be made."""
    judges_inference_errors: bool
    """Whether a failed request counts as a model's output without calls."""
    executes_statements: bool
    """Whether SQL statements are executed, and what they show and leave is compared."""


class ResultRules(NamedTuple):
    """How the results of a single turn are judged where they are compared."""

    compares_structure_deeply: bool
    """Whether, where structure is compared, that is so all the way down; where not, each member of
    a result has to be of the same type, as long, and have the same keys, and no more is looked
    at."""


class Profile(NamedTuple):
    """How a run is executed and judged."""

    name: str
    execution: ExecutionRules
    replies: ReplyRules
    state: StateRules
    calls: CallRules
    results: ResultRules

    def __repr__(self) -> str:
        """Return its name; the rules are no matter of one line."""
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
    ReplyRules(
        decoders={"fc": as_bfcl.decode_tool_calls, "prompt": as_bfcl.decode_text},
        answers_unreadable_steps=False,
    ),
    StateRules(
        empty_turns_forbid_changes=False,
        notices_late_termination=False,
        needs_facts=False,
        order_may_mean_nothing=False,
        judges_guesses=False,
    ),
    CallRules(
        read_tool_calls=Manner.AS_BFCL,
        read_text=Manner.AS_BFCL,
        converters=Manner.AS_BFCL,
        normalise=Manner.AS_BFCL,
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
"""Agrees with BFCL verdict for verdict."""

STRICT = Profile(
    "strict",
    ExecutionRules(
        only_offered=True,
        checks_arguments=True,
        executes_step_past_limit=False,
        limits_recorded_runs=True,
        keeps_all=True,
    ),
    ReplyRules(
        decoders={"fc": decoding.decode_tool_calls, "prompt": decoding.decode_text},
        answers_unreadable_steps=True,
    ),
    StateRules(
        empty_turns_forbid_changes=True,
        notices_late_termination=True,
        needs_facts=True,
        order_may_mean_nothing=True,
        judges_guesses=True,
    ),
    CallRules(
        read_tool_calls=Manner.RIGHT,
        read_text=Manner.RIGHT,
        converters=Manner.RIGHT,
        normalise=Manner.RIGHT,
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
"""What a careful engineer expects."""

PROFILES: Mapping[str, Profile] = {profile.name: profile for profile in (BFCL, STRICT)}


def offering_all(profile: Profile) -> Profile:
    """Return a profile under which any function may be called, as the ground truth may."""
    return profile._replace(execution=profile.execution._replace(only_offered=False))
