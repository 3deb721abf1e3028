"""Scenario of a simulated user as data: wishes, facts, refusals and knobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from runner.records.json_codec import read
from trajectories.errors import DataError

NAME = "users"
"""Name of the extension, and of its member in entries and records."""

Persona = Literal["helpful", "unhelpful", "forgetful", "contradictory", "premature"]
Moment = Literal["opening", "later", "asked", "refused"]


class UserFact(NamedTuple):
    """A value that the user knows."""

    name: str
    """Kind such as ``email``, or words by which an agent asks for the fact."""
    value: str
    opens: bool = False
    """Whether the first message has it."""


class UserWish(NamedTuple):
    """A sentence that the user says, in the first person."""

    text: str
    when: Moment = "later"
    """``opening``; ``later``, one after the other; if ``asked``; or after the agent ``refused``."""
    cue: str = ""
    """Words of the agent that bring it up; default: its own words."""


class UserStep(NamedTuple):
    """A call of the user's own function that an agent can ask for."""

    cue: str
    """Regular expression on a sentence of the agent."""
    function: str
    arguments: Mapping[str, Any] = {}
    unless: str = ""
    """Regular expression on an own result that makes it needless."""
    topic: str = ""
    """Calls of a topic that only read are needless if the text asks for another one of it."""
    writes: bool = False
    is_test: bool = False
    """Whether it tests success, so that it comes last."""
    is_goal: bool = False
    """Whether its success is what the user wants."""
    restarts: bool = False
    """Whether the user tests for success after it without being told."""


class UserKnobs(NamedTuple):
    """Behaviour of the user."""

    patience: int = 2
    """Refusals of a wish that the user objects to."""
    brief: bool = False
    """Whether the user gives only what was asked for."""
    order: Literal["given", "reversed"] = "given"
    """Order of later wishes."""
    mistakes: Mapping[str, str] = {}
    """Wrong values that the user gives first, by the name of the fact."""
    changes: Mapping[str, str] = {}
    """New wishes instead of a confirmation, by words of the question; each is said once."""
    persona: Persona = "helpful"


class DialogueScenario(NamedTuple):
    """What a user wants, knows and does."""

    wishes: tuple[UserWish, ...]
    facts: tuple[UserFact, ...] = ()
    unknown: tuple[str, ...] = ()
    """Names of facts that the user does not know."""
    rejects: tuple[str, ...] = ()
    """Words of proposals that the user does not confirm."""
    steps: tuple[UserStep, ...] = ()
    persona: str = ""
    """Description of the person, for a model that plays the user."""
    instructions: str = ""
    """Further text for a model that plays the user."""
    knobs: UserKnobs = UserKnobs()


def read_scenario(member: Any, where: str) -> DialogueScenario:
    """Read a scenario from JSON. Raises DataError if it is invalid."""
    found = read(DialogueScenario, member, where)
    if not any(wish.when == "opening" for wish in found.wishes):
        raise DataError(where, '$.wishes: needs a wish with "when": "opening"')
    return found._replace(
        wishes=tuple(found.wishes),
        facts=tuple(found.facts),
        unknown=tuple(found.unknown),
        rejects=tuple(found.rejects),
        steps=tuple(found.steps),
    )
