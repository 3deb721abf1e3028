"""Models that know the ground truth and fall short of it in a set way.

They need no server, and say what a data set can tell apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log2
from random import Random
from typing import Any, NamedTuple, Self

from checkers.told import Told
from envs.calls import Call
from runner.episodes.scripts import Script
from trajectories.errors import DataError, did_you_mean
from trajectories.prepare import Prepared
from trajectories.scene import truth_calls

Made = tuple[str, dict[str, Any]]
"""A call by name and named arguments."""

POLICIES: Mapping[str, str] = {
    "first_two": "the first two calls of a turn",
    "writes": "what may change something",
    "reads": "what changes nothing",
    "literal": "what it can fill in from the words of the turn alone",
}
"""By name, which calls of the ground truth a policy makes."""


class Sight(NamedTuple):
    """What a scripted model is shown besides what it has to do."""

    functions: int = 1
    """How many functions are offered."""
    needed: int = 1
    """How many of these the ground truth calls."""
    middle: bool = False
    """Whether these stand in the middle."""
    strangers: Sequence[str] = ()
    """Names of the others."""


USUAL = Sight()


class ScriptedBehaviour(NamedTuple):
    """A scripted model."""

    policy: str | None
    """Which of the calls of the ground truth it makes; None for all, some of them wrongly."""
    error_rate: float = 0.0
    """Of all calls: another value for one argument, or a call that belongs elsewhere."""
    tools: float = 0.0
    """Of all calls, for every doubling of the functions beyond those needed: calls another one
    instead, and leaves it at that."""
    middle: float = 0.0
    """Likewise, where those needed stand in the middle."""

    @classmethod
    def named(cls, name: str, *, policies: bool = True) -> Self:
        """Return the model that a name stands for: ``scripted:RATE`` or ``scripted:POLICY``.

        Behind a rate may stand sensitivities, as in ``scripted:0.05,tools=0.02,middle=0.1``.

        Args:
            name: What the user typed.
            policies: Whether it may be that of a policy.

        Raises:
            DataError: There is none, or the rate is no share.
        """
        what = name.partition(":")[2]
        known = [*POLICIES] if policies else []
        if what in known:
            return cls(what)
        first, *more = what.split(",")
        rate, sensitivities = _share(first), _sensitivities(more)
        if rate is None or (more and not policies):
            others = f" or one of {', '.join(known)}" if known else ""
            hint = did_you_mean(what, known) or f"; give a rate from 0 to 1, such as 0.1{others}"
            raise DataError("--model", f"there is no scripted model {what!r}{hint}")
        return cls(None, rate, **sensitivities)

    def confused(self, shown: Sight) -> float:
        """Return in which share of its calls it takes another function, for what it is shown."""
        doublings = max(0.0, log2(max(1, shown.functions) / max(1, shown.needed)))
        return min(1.0, self.tools * doublings + self.middle * shown.middle)

    def script(self, prepared: Prepared, seed: int | str = 0, shown: Sight = USUAL) -> Script:
        """Return what it does, one call a step; by its seed always the same."""
        truth = [
            [call for call in truth_calls(turn) if isinstance(call, Call)]
            for turn in prepared.trajectory.turns
        ]
        if self.policy is not None:
            return [
                [[call] for call in _made(self.policy, prepared, turn, calls)]
                for turn, calls in enumerate(truth)
            ]
        random = Random(f"{seed}/{prepared.trajectory.id}")
        session = prepared.template.fork()
        confused = self.confused(shown)
        script: list[list[list[Call]]] = []
        for turn, calls in enumerate(truth):
            others = [call for t, some in enumerate(truth) if t != turn for call in some]
            steps = []
            for call in calls:
                drawn = random.random()
                if drawn < confused:
                    steps += [[Call(random.choice(shown.strangers))]] if shown.strangers else []
                    continue
                if drawn < confused + self.error_rate:
                    arguments = prepared.scene.arguments(call)
                    elsewhere = [(o.name, dict(prepared.scene.arguments(o))) for o in others]
                    name, given = wrong_call((call.name, dict(arguments)), elsewhere, random)
                    wrong = Call(name, (), given)
                    steps.append([wrong])
                    # What is refused it makes right in the next step.
                    if session.call(wrong).ok:
                        continue
                session.call(call)
                steps.append([call])
            script.append(steps)
        return script


def _share(text: str) -> float | None:
    """Return the share that a text is; None where it is none."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def _sensitivities(given: Sequence[str]) -> dict[str, float]:
    """Return by name what makes a model err more.

    Raises:
        DataError: There is no such sensitivity, or it is no share.
    """
    found = {}
    for text in given:
        name, _, value = text.partition("=")
        share = _share(value)
        if name not in ("tools", "middle"):
            hint = did_you_mean(name, ("tools", "middle"))
            there_are = hint or "; there are tools=SHARE and middle=SHARE"
            raise DataError(
                "--model", f"a scripted model has no sensitivity {name!r:.80}{there_are}"
            )
        if share is None or name in found:
            raise DataError(
                "--model", f"{text!r:.80}: give one share from 0 to 1, as in {name}=0.02"
            )
        found[name] = share
    return found


def _made(policy: str, prepared: Prepared, turn: int, calls: Sequence[Call]) -> Sequence[Call]:
    """Return those calls of a turn's ground truth that a policy makes."""
    tools = prepared.template.tools
    if policy == "first_two":
        return calls[:2]
    if policy == "literal":
        told = Told()
        told.hear(prepared.scene.words(turn))
        return [
            call
            for call in calls
            if all(told.doubt(value) is None for value in prepared.scene.asks_about(call))
        ]
    return [call for call in calls if tools[call.name].writes is (policy == "writes")]


def wrong_call(due: Made, elsewhere: Sequence[Made], random: Random) -> Made:
    """Return a call that is made instead of the one that is due."""
    name, arguments = due
    if arguments and (not elsewhere or random.random() < _ARGUMENT):
        parameter = random.choice(sorted(arguments))
        return name, {**arguments, parameter: _altered(arguments[parameter])}
    return random.choice(elsewhere) if elsewhere else due


_ARGUMENT = 0.7
"""Share of wrong calls that have one wrong argument."""


def _altered(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}_2"
    return [] if isinstance(value, list) else None
