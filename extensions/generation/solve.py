"""A solver, who sees words and functions only: plays an entry, or searches for its calls.

Solutions agree where they end every turn in the same state. Needed is what leads there, and what
all of them read; a read that one made and another did not was its way to look round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

from checkers.profile import STRICT, Mode
from checkers.turn import check_turn
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import MalformedCall
from envs.session import Session
from extensions.authoring.rules.entry import Entry
from extensions.generation.answers import Asker
from extensions.generation.entries.filters import SiftedOut
from extensions.generation.entries.tasks import dataset_of
from extensions.generation.yields import AGREE
from extensions.search.fallible import Errors, FallibleModel
from extensions.search.search import Follower, Gone, Propose, SearchLimits, Trail, search
from runner.episodes.dialogue import Dialogue
from runner.episodes.episode import STEP_LIMIT
from runner.live.loop import Ask, EpisodeSetup, ModelAnswer, run_live
from runner.models.base import Reply, Request
from runner.models.conversation import Style
from runner.models.prompting import read_prompts
from runner.models.tools import OWN_FOOTNOTES, toolbox_of
from trajectories.prepare import Prepared, prepare
from trajectories.schema import Trajectory

CHILDREN = 3
"""Steps that a search tries at a node."""
_SEARCHES, _TRIALS = "search", "play"

Made = Call | MalformedCall
Solution = Sequence[Sequence[Made]]
"""Calls, turn by turn."""


Solver = Callable[[str, Trajectory, int], Propose]
"""Returns what answers the requests of one play or search.

It is given what that does, the entry with calls for a solver that knows them, and which play or
search it is; each has a seed of its own.
"""


def scripted_solver(errors: Errors, seed: int) -> Solver:
    """Return a solver that knows the calls, and errs in a share of them."""

    def mind(what: str, known: Trajectory, number: int) -> Propose:
        return FallibleModel(_prepared(known), errors, crc32(f"{seed}/{what}/{number}".encode()))

    return mind


def live_solver(asker: Asker) -> Solver:
    """Return a model that is asked."""

    def mind(what: str, known: Trajectory, number: int) -> Propose:
        async def propose(request: Request) -> Reply:
            return (await asker.ask((f"{known.id} {what}", number), request)).reply

        return propose

    return mind


class Played(NamedTuple):
    """What plays without the calls came to."""

    passed: int
    failed: int
    error: str | None


async def played(entry: Trajectory, solver: Solver, mode: Mode, trials: int) -> Played:
    """Let a solver play an entry, and count how often it passes."""
    passed, failed, error = 0, 0, None
    for trial in range(trials):
        record = await run_live(_setup(entry, mode, solver(_TRIALS, entry, trial)))
        passed += record.outcome == "passed"
        failed += record.outcome == "failed"
        error = record.error or error
    return Played(passed, failed, error)


async def solutions(
    said: Trajectory, known: Trajectory, solver: Solver, mode: Mode, count: int, most: int
) -> list[Solution]:
    """Search for calls that do what is said, so many times independently; those that end are told.

    ``known`` is what is said with calls, for a solver that knows them; ``most`` bounds the requests
    of a search.

    Raises:
        ModelError: There is no answer to be had.
    """
    found: list[Solution] = []
    limits = SearchLimits(CHILDREN, most, most)
    for number in range(count):
        propose, ends = solver(_SEARCHES, known, number), _Ends()
        dialogue = _setup(said, mode, propose).dialogue()
        dialogue, _ = await search(dialogue, propose, limits, follows=ends)
        if not (ends.gone or dialogue.episode.terminated):
            found.append([outcome.calls for outcome in dialogue.episode.outcomes])
    return found


class _Ends(Follower):
    """Notes whether a turn of a search ended otherwise than by an answer."""

    def __init__(self) -> None:
        self.gone = False

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        self.gone = self.gone or gone is not None


def _asking(propose: Propose) -> Ask:
    async def ask(request: Request) -> ModelAnswer:
        return ModelAnswer(await propose(request), 0)

    return ask


def _prepared(entry: Trajectory) -> Prepared:
    return prepare(dataset_of(entry), entry, STRICT)


def _setup(entry: Trajectory, mode: Mode, propose: Propose) -> EpisodeSetup:
    """Return what an entry is played with."""
    prompts = read_prompts(nests=STRICT.execution.checks_arguments)
    return EpisodeSetup(
        prepared=_prepared(entry),
        style=Style(toolbox_of(entry, notes=OWN_FOOTNOTES), prompts, "all"),
        mode=mode,
        profile=STRICT,
        step_limit=STEP_LIMIT,
        ask=_asking(propose),
        put_tools=lambda _digest, _tools: None,
    )


def agreed(said: Trajectory, solutions: Sequence[Solution]) -> Trajectory:
    """Return an entry with the ground truth that solutions agree on.

    It is the shortest solution without calls that are not needed, and each solution passes by it.

    Raises:
        SiftedOut: There is none.
    """
    template = Entry(dataset_of(said), said).template
    played = [_outcomes(template, solution) for solution in solutions]
    for index in range(len(said.turns)):
        first, *others = [outcomes[index].snapshot for outcomes in played]
        if any(other != first for other in others):
            raise SiftedOut(AGREE, f"turn {index} ends in different states")
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
            raise SiftedOut(AGREE, f"turn {index}: there is no call that all solutions need")
    found = replace(said, turns=turns)
    entry = Entry(dataset_of(found), found)
    for outcomes in played:
        for index in range(len(turns)):
            failure = check_turn(
                entry.truth[: index + 1], outcomes[: index + 1], entry.profile, entry.scene
            )
            if failure is not None:
                raise SiftedOut(AGREE, f"turn {index}: {failure.reason}")
    return found


def _outcomes(template: Session, solution: Solution) -> list[TurnOutcome]:
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
    goal = [outcome.snapshot for outcome in _outcomes(template, solution)]
    kept = [[*calls] for calls in solution]
    for index in reversed(range(len(kept))):
        for position in reversed(range(len(kept[index]))):
            shorter = [[*calls] for calls in kept]
            del shorter[index][position]
            outcomes = _outcomes(template, shorter)
            if all(
                outcome.snapshot == there and results <= _read(template, outcome)
                for outcome, there, results in zip(outcomes, goal, wanted, strict=True)
            ):
                kept = shorter
    return kept
