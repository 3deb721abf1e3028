"""What the words that ended an episode's turns told, and the verdict where all must be told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from checkers.evidence import ToldEvidence
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.verdict import Failure, Verdict
from envs.lazy import lazily
from runner.records.record import EpisodeRecord, Recorded, Telling, Untold
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from checkers.telling import reader
    from checkers.why import answers
    from runner.episodes.examined import Examined
    from trajectories import missing
else:
    # Most recorded runs keep no words.
    reader = lazily("checkers.telling.reader")
    answers = lazily("checkers.why.answers")
    missing = lazily("trajectories.missing")


def telling_of(trajectory: Trajectory, turns: Sequence[Sequence[Step]] | None) -> Telling | None:
    """Return what an episode told; None where there is nothing to tell, or no words on record.

    Where a request waits, what it asks may be told in that turn or in the one that ends the wait.

    Args:
        trajectory: What was asked.
        turns: Turns of steps as they were recorded; in turns that were not reached, nothing is
            told and nothing asked.
    """
    said = [_answer(steps) for steps in turns or ()]
    if not any(said):
        return None
    said += [""] * (len(trajectory.turns) - len(said))
    waiting = [
        (index, names)
        for index in range(len(trajectory.turns))
        if (names := missing.missing_names(trajectory, index))
    ]
    request: list[int] = []
    found: list[Untold] = []
    for index in range(len(trajectory.turns)):
        request.append(index)
        if all(index != other for other, _ in waiting):
            found += _untold(trajectory, request, said)
            request = []
    facts = sum(len(turn.tells) for turn in trajectory.turns)
    if not facts and not waiting:
        return None
    asked = sum(answers.asks_for(said[index], names) for index, names in waiting)
    turns_with = sum(bool(turn.tells) for turn in trajectory.turns)
    return Telling(facts, turns_with, found, len(waiting), asked)


def _untold(
    trajectory: Trajectory, request: Sequence[int], said: Sequence[str]
) -> Iterator[Untold]:
    """Yield what no answer of the turns tells that are about one request."""
    for index in request:
        facts = trajectory.turns[index].tells
        for place in (index, *(other for other in request if other != index)):
            facts = reader.untold(facts, said[place]) if facts else ()
        yield from (Untold(index, str(fact)) for fact in facts)


def _answer(steps: Sequence[Step]) -> str:
    """Return the words that ended a turn; none where it ended otherwise."""
    last = steps[-1] if steps else None
    return last if isinstance(last, str) else ""


def with_telling(
    record: EpisodeRecord, trajectory: Trajectory, recorded: Recorded
) -> EpisodeRecord:
    """Return what became of a recorded episode with what it told."""
    telling = telling_of(trajectory, recorded.turns)
    return record if telling is record.telling else record._replace(telling=telling)


def examined_as_told(examined: Examined) -> Examined:
    """Return an examined episode with the verdict on it where all must be told."""
    turns = examined.recorded and examined.recorded.turns
    telling = telling_of(examined.trajectory, turns)
    return replace(examined, verdict=_as_told(examined.verdict, telling))


def requiring_told(record: EpisodeRecord) -> EpisodeRecord:
    """Return what becomes of an episode where all must be told."""
    # Of a run of which only outcomes were kept, there is no verdict.
    passed = Verdict(True, None, None, 0, 0)
    if record.outcome != "passed":
        return record
    verdict = _as_told(record.verdict or passed, record.telling)
    return record if verdict.valid else record._replace(outcome="failed", verdict=verdict)


def _as_told(verdict: Verdict, telling: Telling | None) -> Verdict:
    """Return a verdict, where it passes something in which not all was told, as a failure."""
    if telling is None or not telling.untold or not verdict.valid:
        return verdict
    turn = telling.untold[0].turn
    evidence = ToldEvidence(tuple([fact for at, fact in telling.untold if at == turn]))
    return Verdict(False, Failure(Reason.NOT_TOLD, evidence), turn, verdict.turns, turn)
