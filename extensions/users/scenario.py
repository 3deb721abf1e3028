"""Scenario of a simulated user: wishes, facts, refusals, and settings of the behaviour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from envs.errors import DataError, suggest_name
from runner.records.json_codec import read

NAME = "users"
"""Name of the extension, and of the extension's field in entries and records."""

Persona = Literal["helpful", "unhelpful", "forgetful", "contradictory", "premature"]
Moment = Literal["opening", "later", "asked", "refused"]


class UserFact(NamedTuple):
    """A value that the user knows."""

    name: str
    """Kind of the fact, such as ``email``."""
    value: str
    opens: bool = False
    """Whether the user's first message contains the fact."""


class UserWish(NamedTuple):
    """A request of the user, as a sentence in the first person."""

    text: str
    when: Moment = "later"
    """When the user states the wish: in the ``opening``, ``later`` (one wish after the other), when
    ``asked``, or when ``refused``.
    """
    cue: str = ""
    """Words of questions that the wish answers (default: ``text``)."""


class UserStep(NamedTuple):
    """Call that the agent can ask the user to make, such as a reboot of the phone."""

    cue: str
    """Regular expression for the agent's request."""
    function: str
    arguments: Mapping[str, Any] = {}
    unless: str = ""
    """The call is unnecessary if an earlier result of the user's calls matches this regular
    expression."""
    needs: str = ""
    """Conditional requests require a result that matches this regular expression."""
    topic: str = ""
    """Topic of the call. The user omits a read call if the agent also requests a change on the same
    topic."""
    writes: bool = False
    is_test: bool = False
    """Whether the call checks that the problem is solved. The user makes test calls after all other
    calls."""
    success: str = ""
    """Regular expression for the result of a test: a match means that the problem is solved. Empty
    for other calls.
    """
    fails: str = ""
    """The user omits a test if the last result matches this regular expression."""
    is_tested: bool = False
    """Whether the user tests the service after this call, even without a request of the agent."""


class UserKnobs(NamedTuple):
    """Settings of the user's behaviour."""

    patience: int = 2
    """Number of times that the user objects to a refusal of the agent. Then the user gives up."""
    brevity: Literal["full", "brief"] = "full"
    """Form of answers: ``full`` sentences, or ``brief`` (only a value, yes or no)."""
    order: Literal["given", "reversed"] = "given"
    """Order of later wishes."""
    mistakes: Mapping[str, str] = {}
    """Maps the name of a fact to a wrong value that the user states first."""
    changes: Mapping[str, str] = {}
    """Maps words to a wish. If a question contains the words, the user first states the wish."""
    persona: Persona = "helpful"


class DialogueScenario(NamedTuple):
    """Wishes, knowledge and actions of a user."""

    wishes: tuple[UserWish, ...]
    facts: tuple[UserFact, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names of facts that the user does not know."""
    rejects: tuple[str, ...] = ()
    """The user refuses a proposal of the agent if one of these regular expressions matches."""
    steps: tuple[UserStep, ...] = ()
    persona: str = ""
    """Description of the person, for a model that plays the user."""
    instructions: str = ""
    """Further text for a model that plays the user."""
    knobs: UserKnobs = UserKnobs()


_LISTS: Mapping[str, Any] = {"wishes": UserWish, "facts": UserFact, "steps": UserStep}


def read_scenario(member: Any, where: str) -> DialogueScenario:
    """Read a scenario from JSON.

    Raises DataError if the scenario is invalid.
    """
    found = read(DialogueScenario, member, where)
    check_keys(member, DialogueScenario._fields, where)
    check_keys(member.get("knobs", {}), UserKnobs._fields, f"{where}.knobs")
    for name, kind in _LISTS.items():
        for index, each in enumerate(member.get(name, ())):
            check_keys(each, kind._fields, f"{where}.{name}[{index}]")
    check_patience(found.knobs, f"{where}.knobs")
    if not any(wish.when == "opening" for wish in found.wishes):
        raise DataError(where, '$.wishes: needs a wish with "when": "opening"')
    return found._replace(
        wishes=tuple(found.wishes),
        facts=tuple(found.facts),
        unknown=tuple(found.unknown),
        rejects=tuple(found.rejects),
        steps=tuple(found.steps),
    )


def check_patience(knobs: UserKnobs, where: str) -> None:
    """Check the user's patience. Raises DataError if it is negative."""
    if knobs.patience < 0:
        raise DataError(where, f"$.patience: must be at least 0, but is {knobs.patience}")


def check_keys(value: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Check the keys of a JSON object. Raises DataError for an unknown key."""
    for name in value:
        if name not in known:
            raise DataError(where, f"unknown key {name!r:.60}{suggest_name(name, known)}")
