"""Required information: the search for reported facts, and the verdict of ``--require-info``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from checkers.evidence import UnreportedInfoEvidence
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.verdict import Failure, Verdict
from envs.lazy_modules import lazy_module
from runner.records.episode_record import EpisodeRecord, InfoReport, RecordedEpisode, UnreportedFact
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from checkers.answer_text import reader
    from checkers.causes import answer_patterns
    from runner.episodes.rejudged_episode import RejudgedEpisode
    from trajectories import message_language, missing_information
else:
    # Most recorded runs keep no words.
    reader = lazy_module("checkers.answer_text.reader")
    answer_patterns = lazy_module("checkers.causes.answer_patterns")
    message_language = lazy_module("trajectories.message_language")
    missing_information = lazy_module("trajectories.missing_information")


def find_reported_info(
    trajectory: Trajectory, turns: Sequence[Sequence[Step]] | None
) -> InfoReport | None:
    """Return the reported facts; None if no facts are required or no English text is recorded.

    If a request lacks a value, the user gives the value in a later turn. The model may report the
    facts in the turn of the request or in that later turn.
    """
    if len(trajectory.turns) == 1 and not trajectory.turns[0].tells:
        return None
    said = [_final_text(steps) for steps in turns or ()]
    if not any(said) or not message_language.is_english(trajectory):
        return None
    said += [""] * len(trajectory.turns)
    waiting = [
        (index, names)
        for index in range(len(trajectory.turns))
        if (names := missing_information.list_missing_names(trajectory, index))
    ]
    request: list[int] = []
    found: list[UnreportedFact] = []
    for index in range(len(trajectory.turns)):
        request.append(index)
        if all(index != other for other, _ in waiting):
            found += _find_unreported(trajectory, request, said)
            request = []
    facts = sum(len(turn.tells) for turn in trajectory.turns)
    if not facts and not waiting:
        return None
    asked = sum(answer_patterns.asks_for(said[index], names) for index, names in waiting)
    turns_with = sum(bool(turn.tells) for turn in trajectory.turns)
    return InfoReport(facts, turns_with, found, len(waiting), asked)


def _find_unreported(
    trajectory: Trajectory, request: Sequence[int], said: Sequence[str]
) -> Iterator[UnreportedFact]:
    for index in request:
        facts = trajectory.turns[index].tells
        for place in (index, *(other for other in request if other != index)):
            facts = reader.list_unreported(facts, said[place]) if facts else ()
        yield from (UnreportedFact(index, str(fact)) for fact in facts)


def _final_text(steps: Sequence[Step]) -> str:
    last = steps[-1] if steps else None
    return last if isinstance(last, str) else ""


def add_reported_info(
    record: EpisodeRecord, trajectory: Trajectory, recorded: RecordedEpisode
) -> EpisodeRecord:
    """Return the record with the facts that the episode reported."""
    telling = find_reported_info(trajectory, recorded.turns)
    return record if telling is record.telling else record._replace(telling=telling)


def fail_examined_without_info(examined: RejudgedEpisode) -> RejudgedEpisode:
    """Return the episode as failed if required information is missing, otherwise unchanged."""
    telling = find_reported_info(examined.trajectory, examined.recorded and examined.recorded.turns)
    return replace(examined, verdict=_require_facts(examined.verdict, telling))


def fail_without_info(record: EpisodeRecord) -> EpisodeRecord:
    """Return the record; the episode fails if required information was not reported."""
    if record.outcome != "passed":
        return record
    # Files of outcomes have no verdict.
    verdict = _require_facts(record.verdict or Verdict(True, None, None, 0, 0), record.telling)
    return record if verdict.valid else record._replace(outcome="failed", verdict=verdict)


def _require_facts(verdict: Verdict, telling: InfoReport | None) -> Verdict:
    if telling is None or not telling.untold or not verdict.valid:
        return verdict
    turn = telling.untold[0].turn
    evidence = UnreportedInfoEvidence(tuple([fact for at, fact in telling.untold if at == turn]))
    return Verdict(False, Failure(Reason.NOT_TOLD, evidence), turn, verdict.turns, turn)
