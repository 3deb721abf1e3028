"""Solver that plays an entry, or that searches for the calls of an entry.

A solver sees only user messages and functions. Solutions agree if they end every turn in the same
state. The ground truth then contains the calls that produce these states. The ground truth also
contains the read-only calls that occur in all solutions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple
from zlib import crc32

from checkers.multi_turn_verdict import check_turn
from checkers.profile import STRICT, Mode
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.session import Session
from extensions.authoring.rules.replayed_entry import Entry
from extensions.generation.answers import CachedModel
from extensions.generation.entries.filters import RefusedInstruction
from extensions.generation.entries.tasks import make_dataset
from extensions.generation.yield_table import AGREE
from extensions.search.fallible_model import ErrorRates, FallibleModel
from extensions.search.search import Gone, Propose, SearchLimits, SearchObserver, Trail, search
from runner.episodes.dialogue import Dialogue
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.models.conversation import ConversationSettings
from runner.models.model_types import Reply, Request
from runner.models.prompting import read_prompts
from runner.models.toolbox import OWN_FOOTNOTES, toolbox_of
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Trajectory

CHILDREN = 3
"""Maximum children of a node in a search."""
_SEARCHES, _TRIALS = "search", "play"

Made = Call | MalformedCall
Solution = Sequence[Sequence[Made]]
"""Calls by turn."""


Solver = Callable[[str, Trajectory, int], Propose]
"""Function that returns the model of one episode or search. Arguments: ``play`` or ``search``, the
entry, and the number of the episode or search. The number is a seed; a scripted solver copies the
entry's calls."""


def make_scripted_solver(errors: ErrorRates, seed: int) -> Solver:
    """Return a solver that knows the calls and makes errors at these rates."""

    def solve(task: str, known: Trajectory, number: int) -> Propose:
        prepared = prepare(make_dataset(known), known, STRICT)
        return FallibleModel(prepared, errors, crc32(f"{seed}/{task}/{number}".encode()))

    return solve


def make_live_solver(asker: CachedModel) -> Solver:
    """Return a solver that sends requests to a model."""

    def solve(task: str, known: Trajectory, number: int) -> Propose:
        async def propose(request: Request) -> Reply:
            return (await asker.ask((f"{known.id} {task}", number), request)).reply

        return propose

    return solve


class SolverCounts(NamedTuple):
    """Number of passed episodes of a solver on one entry, and the last error."""

    passed: int
    error: str | None


async def play_entry(entry: Trajectory, solver: Solver, mode: Mode, trials: int) -> SolverCounts:
    """Play an entry ``trials`` times, and count the outcomes."""
    passed, error = 0, None
    for trial in range(trials):
        record = await run_live(_set_up(entry, mode, solver(_TRIALS, entry, trial)))
        passed += record.outcome == "passed"
        error = record.error or error
    return SolverCounts(passed, error)


async def solutions(
    said: Trajectory, known: Trajectory, solver: Solver, mode: Mode, count: int, most: int
) -> list[Solution]:
    """Search ``count`` times for the calls of an entry, and return the complete solutions.

    ``most`` is the maximum number of requests per search. A scripted solver copies the ground truth
    of the entry ``known``.

    Raises ModelError if a request failed.
    """
    found: list[Solution] = []
    limits = SearchLimits(CHILDREN, most, most)
    for number in range(count):
        propose, ends = solver(_SEARCHES, known, number), _TurnEndings()
        begun = _set_up(said, mode, propose).dialogue()
        dialogue = await search(begun, propose, limits, follows=ends)
        if not (ends.gone or dialogue.episode.terminated):
            found.append([outcome.calls for outcome in dialogue.episode.outcomes])
    return found


class _TurnEndings(SearchObserver):
    def __init__(self) -> None:
        self.gone = False

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        self.gone = self.gone or gone is not None


def _set_up(entry: Trajectory, mode: Mode, propose: Propose) -> EpisodeSetup:
    async def ask(request: Request) -> ModelAnswer:
        return ModelAnswer(await propose(request), 0)

    prompts = read_prompts(nests=STRICT.execution.checks_arguments)
    return EpisodeSetup(
        prepared=prepare(make_dataset(entry), entry, STRICT),
        style=ConversationSettings(toolbox_of(entry, notes=OWN_FOOTNOTES), prompts, "all"),
        mode=mode,
        profile=STRICT,
        step_limit=STEP_LIMIT,
        ask=ask,
        put_tools=lambda _digest, _tools: None,
    )


def find_agreed_entry(said: Trajectory, solutions: Sequence[Solution]) -> Trajectory:
    """Return an entry with a ground truth that all solutions agree on.

    The ground truth is the shortest solution, after all needless calls are removed. All solutions
    pass with this ground truth.

    Raises RefusedInstruction if the solutions do not agree.
    """
    template = Entry(make_dataset(said), said).template
    plays = [_play(template, solution) for solution in solutions]
    for index in range(len(said.turns)):
        first, *others = [outcomes[index].snapshot for outcomes in plays]
        if any(other != first for other in others):
            raise RefusedInstruction(AGREE, f"turn {index} ends in different states")
    _, shortest = min(enumerate(solutions), key=lambda each: (sum(map(len, each[1])), each[0]))
    wanted = [
        set.intersection(*[_list_reads(template, outcomes[number]) for outcomes in plays])
        for number in range(len(said.turns))
    ]
    turns = []
    for index, calls in enumerate(_drop_needless(template, shortest, wanted)):
        if not calls:
            raise RefusedInstruction(AGREE, f"turn {index}: the solutions have no call in common")
        turns.append(replace(said.turns[index], ground_truth=tuple(map(str, calls))))
    found = replace(said, turns=tuple(turns))
    entry = Entry(make_dataset(found), found)
    for outcomes in plays:
        for index in range(len(turns)):
            failure = check_turn(
                entry.truth[: index + 1], outcomes[: index + 1], entry.profile, entry.scene
            )
            if failure is not None:
                raise RefusedInstruction(AGREE, f"turn {index}: {failure.reason}")
    return found


def _play(template: Session, solution: Solution) -> list[ExecutedTurn]:
    session, outcomes = template.fork(), []
    for calls in solution:
        made = tuple(calls)
        results = tuple(session.play(made))
        outcomes.append(ExecutedTurn(results, session.snapshot(), bool(made), made))
        session.end_turn()
    return outcomes


def _list_reads(template: Session, outcome: ExecutedTurn) -> set[str]:
    return {
        result.text
        for call, result in zip(outcome.calls, outcome.results, strict=True)
        if result.ok and isinstance(call, Call) and not template.tools[call.name].writes
    }


def _drop_needless(
    template: Session, solution: Solution, wanted: Sequence[set[str]]
) -> list[list[Made]]:
    """Remove all needless calls, beginning with the last call."""
    goal = [outcome.snapshot for outcome in _play(template, solution)]
    kept = [[*calls] for calls in solution]
    for index in reversed(range(len(kept))):
        for position in reversed(range(len(kept[index]))):
            shorter = [[*calls] for calls in kept]
            del shorter[index][position]
            outcomes = _play(template, shorter)
            if all(
                outcome.snapshot == there and results <= _list_reads(template, outcome)
                for outcome, there, results in zip(outcomes, goal, wanted, strict=True)
            ):
                kept = shorter
    return kept
