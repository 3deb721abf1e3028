"""A solver, who sees words and functions only: plays an entry, or searches for its calls."""

from __future__ import annotations

from typing import NamedTuple, Protocol
from zlib import crc32

from checkers.profile import STRICT, Mode
from extensions.generation.asking import Asker
from extensions.generation.entries.minimal import Solution
from extensions.generation.entries.tasks import dataset_of
from extensions.search.fallible import Errors, FallibleModel
from extensions.search.search import Gone, Propose, SearchLimits, Trail, Tried, search
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


class Solver(Protocol):
    """Who solves."""

    def mind(self, what: str, known: Trajectory, number: int) -> Propose:
        """Return what answers the requests of one play or search.

        Args:
            what: What it is doing.
            known: The entry with calls that do it, for a solver that knows them.
            number: Which play or search it is; each has a seed of its own.
        """
        ...


class ScriptedSolver:
    """A solver that knows the calls, and errs in a share of them.

    Args:
        errors: How often.
        seed: Of what it draws.
    """

    def __init__(self, errors: Errors, seed: int) -> None:
        self._errors = errors
        self._seed = seed

    def mind(self, what: str, known: Trajectory, number: int) -> Propose:
        """Return what answers the requests of one play or search."""
        place = f"{self._seed}/{what}/{number}"
        return FallibleModel(_prepared(known), self._errors, crc32(place.encode()))


class LiveSolver:
    """A model that is asked.

    Args:
        asker: Puts its requests.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def mind(self, what: str, known: Trajectory, number: int) -> Propose:
        """Return what answers the requests of one play or search."""

        async def propose(request: Request) -> Reply:
            return (await self._asker.ask((f"{known.id} {what}", number), request)).reply

        return propose


class Played(NamedTuple):
    """What plays without the calls came to."""

    passed: int
    failed: int
    error: str | None
    """Why one had no verdict."""


async def played(entry: Trajectory, solver: Solver, mode: Mode, trials: int) -> Played:
    """Let a solver play an entry, and count how often it passes."""
    passed, failed, error = 0, 0, None
    for trial in range(trials):
        record = await run_live(_setup(entry, mode, solver.mind(_TRIALS, entry, trial)))
        passed += record.outcome == "passed"
        failed += record.outcome == "failed"
        error = record.error or error
    return Played(passed, failed, error)


async def solutions(
    said: Trajectory, known: Trajectory, solver: Solver, mode: Mode, count: int, most: int
) -> list[Solution]:
    """Search for calls that do what is said, so many times independently; those that end are told.

    Args:
        said: The entry without calls.
        known: The same with calls, for a solver that knows them.
        solver: Who searches.
        mode: How it calls functions.
        count: How many searches.
        most: Requests of a search.

    Raises:
        ModelError: There is no answer to be had.
    """
    found: list[Solution] = []
    limits = SearchLimits(CHILDREN, most, most)
    for number in range(count):
        propose, ends = solver.mind(_SEARCHES, known, number), _Ends()
        dialogue = _setup(said, mode, propose).dialogue()
        dialogue, _ = await search(dialogue, propose, limits, follows=ends)
        if not (ends.gone or dialogue.episode.terminated):
            found.append([outcome.calls for outcome in dialogue.episode.outcomes])
    return found


class _Ends:
    """Notes whether a turn of a search ended otherwise than by an answer."""

    def __init__(self) -> None:
        self.gone = False

    def tried(self, tried: Tried) -> None:
        pass

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        pass

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
