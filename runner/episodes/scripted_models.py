"""Scripted models, which follow the ground truth with defined error rates and need no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from random import Random
from typing import Any, NamedTuple, Self

from checkers.known_values import KnownValues
from envs.calls import Call
from envs.errors import DataError, suggest_name
from runner.episodes.script_playback import Script
from runner.models.model_types import CHARACTERS_PER_TOKEN
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.replay_queries import retried_calls

Made = tuple[str, dict[str, Any]]

POLICIES: Mapping[str, str] = {
    "first_two": "the first two calls of a turn",
    "writes": "calls that may change state",
    "reads": "calls that change no state",
    "literal": "calls whose arguments are all in the turn's messages",
}
"""Maps each policy of scripted models to the ground-truth calls that the model makes."""


class OfferFacts(NamedTuple):
    """Facts about the offered functions of an entry."""

    functions: int = 1
    needed: int = 1
    middle: bool = False
    strangers: Sequence[str] = ()


USUAL = OfferFacts()


class ScriptedBehaviour(NamedTuple):
    """Behaviour of a scripted model."""

    policy: str | None
    """Name in ``POLICIES``. If None, the model makes all calls but errs at the rates below."""
    error_rate: float = 0.0
    """Share of wrong calls: one argument is wrong, or a call from another turn is made instead."""
    tools: float = 0.0
    """With twice as many functions, the share of distractor calls grows by this value."""
    middle: float = 0.0
    """If needed functions are in the middle, the share of distractor calls grows by this value."""
    context: float = 0.0
    """With results of twice the length, the error rate grows by this value."""

    @classmethod
    def named(cls, name: str, *, policies: bool = True) -> Self:
        """Parse the name of a scripted model, such as ``scripted:0.1`` or ``scripted:POLICY``.

        After the rate, other fields may follow, as in ``scripted:0.05,tools=0.02,middle=0.1``.
        If ``policies`` is false, the name of a policy is invalid.

        Raises DataError if the policy is unknown or a rate is not between 0 and 1.
        """
        what = name.partition(":")[2]
        known = [*POLICIES] if policies else []
        if what in known:
            return cls(what)
        first, *more = what.split(",")
        rate, sensitivities = _parse_share(first), _sensitivities(more)
        if rate is None or (more and not policies):
            others = f", or one of {', '.join(known)}" if known else ""
            hint = suggest_name(what, known) or f"; give a rate from 0 to 1, such as 0.1{others}"
            raise DataError("--model", f"there is no scripted model {what!r}{hint}")
        return cls(None, rate, **sensitivities)

    def confused(self, shown: OfferFacts) -> float:
        """Return the share of calls that use a distractor."""
        doublings = max(0.0, log2(max(1, shown.functions) / max(1, shown.needed)))
        return min(1.0, self.tools * doublings + self.middle * shown.middle)

    def error_share(self, prepared: PreparedTrajectory) -> float:
        """Return the share of wrong calls in an entry."""
        if not self.context:
            return self.error_rate
        read = sum(len(result.text) for outcome in prepared.truth for result in outcome.results)
        doublings = max(0.0, log2(max(1, read) / (1_000 * CHARACTERS_PER_TOKEN)))
        return min(1.0, self.error_rate + self.context * doublings)

    def script(
        self, prepared: PreparedTrajectory, seed: int | str = 0, shown: OfferFacts = USUAL
    ) -> Script:
        """Return the model's calls, one per step; equal seeds give equal calls."""
        truth = list(map(retried_calls, prepared.trajectory.turns))
        if self.policy is not None:
            return [
                [[call] for call in _select_calls(self.policy, prepared, turn, calls)]
                for turn, calls in enumerate(truth)
            ]
        random = Random(f"{seed}/{prepared.trajectory.id}")
        session = prepared.template.fork()
        confused = self.confused(shown)
        wrong_up_to = confused + self.error_share(prepared)
        script: list[list[list[Call]]] = []
        for turn, calls in enumerate(truth):
            others = [call for t, some in enumerate(truth) if t != turn for call in some]
            steps = []
            for call in calls:
                drawn = random.random()
                if drawn < confused:
                    steps += [[Call(random.choice(shown.strangers))]] if shown.strangers else []
                    continue
                if drawn < wrong_up_to:
                    arguments = prepared.scene.arguments(call)
                    elsewhere = [(o.name, dict(prepared.scene.arguments(o))) for o in others]
                    name, given = wrong_call((call.name, dict(arguments)), elsewhere, random)
                    wrong = Call(name, (), given)
                    steps.append([wrong])
                    # The model corrects a refused call in the next step.
                    if session.call(wrong).ok:
                        continue
                session.call(call)
                steps.append([call])
            script.append(steps)
        return script


def _parse_share(text: str) -> float | None:
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


_SENSITIVITIES = ("tools", "middle", "context")


def _sensitivities(given: Sequence[str]) -> dict[str, float]:
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in _SENSITIVITIES:
            hint = (
                suggest_name(name, _SENSITIVITIES) or f"; use {' or '.join(_SENSITIVITIES)}=SHARE"
            )
            raise DataError("--model", f"{name!r:.80} is not an option of scripted models{hint}")
        share = _parse_share(value)
        if share is None or name in found:
            message = f"{text!r:.80}: give one share from 0 to 1, as in {name}=0.02"
            raise DataError("--model", message)
        found[name] = share
    return found


def _select_calls(
    policy: str, prepared: PreparedTrajectory, turn: int, calls: Sequence[Call]
) -> Sequence[Call]:
    tools = prepared.template.tools
    if policy == "first_two":
        return calls[:2]
    if policy == "literal":
        told = KnownValues()
        told.hear(prepared.scene.words(turn))
        return [
            call
            for call in calls
            if all(told.doubt(value) is None for value in prepared.scene.asks_about(call))
        ]
    return [call for call in calls if tools[call.name].writes is (policy == "writes")]


def wrong_call(due: Made, elsewhere: Sequence[Made], random: Random) -> Made:
    """Return a wrong call instead of ``due``."""
    name, arguments = due
    if arguments and (not elsewhere or random.random() < _ARGUMENT):
        parameter = random.choice(sorted(arguments))
        return name, {**arguments, parameter: _altered(arguments[parameter])}
    return random.choice(elsewhere) if elsewhere else due


_ARGUMENT = 0.7


def _altered(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}_2"
    return [] if isinstance(value, list) else None
