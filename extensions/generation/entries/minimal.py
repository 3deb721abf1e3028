"""Solutions that agree, and what of them is needed.

Solutions agree where they end every turn in the same state. Needed is what leads there, and what
all of them read; a read that one made and another did not was its way to look round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkers.turn import check_turn
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import MalformedCall
from envs.session import Session
from extensions.authoring.rules.entry import Entry
from extensions.generation.entries.tasks import dataset_of
from trajectories.schema import Trajectory

Made = Call | MalformedCall
Solution = Sequence[Sequence[Made]]
"""Calls, turn by turn."""


class NoAgreement(Exception):
    """Solutions that do not agree; the message says in what."""


def agreed(said: Trajectory, solutions: Sequence[Solution]) -> Trajectory:
    """Return an entry with the ground truth that solutions agree on.

    It is the shortest solution without calls that are not needed, and each solution passes by it.

    Raises:
        NoAgreement: There is none.
    """
    template = Entry(dataset_of(said), said).template
    played = [_played(template, solution) for solution in solutions]
    for index in range(len(said.turns)):
        first, *others = [outcomes[index].snapshot for outcomes in played]
        if any(other != first for other in others):
            raise NoAgreement(f"turn {index} ends in different states")
    _, shortest = min(enumerate(solutions), key=lambda each: (sum(map(len, each[1])), each[0]))
    wanted = [
        set.intersection(*[_read(template, outcomes[number]) for outcomes in played])
        for number in range(len(said.turns))
    ]
    kept = _needed(template, shortest, wanted)
    turns = tuple(
        [
            replace(turn, ground_truth=tuple(map(str, calls)))
            for turn, calls in zip(said.turns, kept, strict=True)
        ]
    )
    for index, turn in enumerate(turns):
        if not turn.ground_truth:
            raise NoAgreement(f"turn {index}: there is no call that all solutions need")
    found = replace(said, turns=turns)
    entry = Entry(dataset_of(found), found)
    for outcomes in played:
        for index in range(len(turns)):
            failure = check_turn(
                entry.truth[: index + 1], outcomes[: index + 1], entry.profile, entry.scene
            )
            if failure is not None:
                raise NoAgreement(f"turn {index}: {failure.reason}")
    return found


def _played(template: Session, solution: Solution) -> list[TurnOutcome]:
    session, outcomes = template.fork(), []
    for calls in solution:
        made = tuple(calls)
        results = tuple(session.play(made))
        outcomes.append(TurnOutcome(results, session.snapshot(), bool(made), made))
    return outcomes


def _read(template: Session, outcome: TurnOutcome) -> set[str]:
    """Return the results of the calls of a turn that only read."""
    return {
        result.text
        for call, result in zip(outcome.calls, outcome.results, strict=True)
        if result.ok and isinstance(call, Call) and not template.tools[call.name].writes
    }


def _needed(template: Session, solution: Solution, wanted: Sequence[set[str]]) -> list[list[Made]]:
    """Leave calls out, the last first, while every state and every wanted result stays."""
    goal = [outcome.snapshot for outcome in _played(template, solution)]
    kept = [[*calls] for calls in solution]
    for index in reversed(range(len(kept))):
        for position in reversed(range(len(kept[index]))):
            shorter = [[*calls] for calls in kept]
            del shorter[index][position]
            outcomes = _played(template, shorter)
            if all(
                outcome.snapshot == there and results <= _read(template, outcome)
                for outcome, there, results in zip(outcomes, goal, wanted, strict=True)
            ):
                kept = shorter
    return kept
