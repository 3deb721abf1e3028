"""Judging of entries by declared checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from checkers.evidence import CallEvidence
from checkers.multi_turn_verdict import make_force_terminated_verdict
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.verdict import Failure, Verdict
from envs.errors import DataError, suggest_name
from envs.registry import backend_class, is_usable, list_tools, names
from envs.tool import parameters
from extensions.checks.declared_checks import (
    CheckedEpisode,
    CheckFailure,
    DeclaredCheck,
    read_checks,
)
from runner.episodes.entry_kinds import (
    JudgingResult,
    JudgingTerms,
    MultiTurnKind,
    Outcomes,
    RecordedAnswers,
)
from runner.episodes.turn_loop import TurnLoop
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory

NAME = "checks"
"""Name of the extension and of its metric."""


class EntryChecks(NamedTuple):
    """Checks of an entry, stored in its field ``extensions``."""

    checks: Sequence[DeclaredCheck]
    instead: bool
    """Whether the checks replace the ground truth."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> EntryChecks:
        """Return the checks of an entry. Raises DataError if the checks are invalid."""
        where, member = f"entry {trajectory.id}", trajectory.extensions[NAME]
        path = f"{where}: $.extensions.{NAME}"
        if trajectory.expects is not None:
            raise DataError(path, "checks work only with multi-turn entries")
        if not isinstance(member, dict) or not member.keys() <= {"checks", "instead"}:
            raise DataError(path, 'must be an object with "checks" and optionally "instead"')
        has_truth = any(turn.ground_truth for turn in trajectory.turns)
        instead = member.get("instead", not has_truth)
        if not isinstance(instead, bool):
            raise DataError(f"{path}.instead", "must be true or false")
        checks = read_checks(member.get("checks"), f"{path}.checks", len(trajectory.turns))
        for place, check in enumerate(checks):
            _refuse_misspelt_names(check, trajectory, f"{path}.checks[{place}]")
        return cls(checks, instead)


class _CompletionKind(MultiTurnKind):
    """Entry kind that ignores the ground truth: every finished episode passes."""

    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        turns = len(prepared.trajectory.turns)
        if terminated:
            return JudgingResult(make_force_terminated_verdict(turns), outcomes)
        return JudgingResult(Verdict(True, None, None, turns, turns), outcomes)

    def passes_so_far(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> bool:
        return not episode.terminated


@dataclass(frozen=True)
class CheckedEntryKind(MultiTurnKind):
    """Entry kind that judges by checks."""

    own: EntryChecks

    @property
    def _base(self) -> MultiTurnKind:
        return _CompletionKind() if self.own.instead else MultiTurnKind()

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Execute and judge answers."""
        found = self._base.judge(prepared, answers, terms)
        words = None if answers is None else _words(answers.turns)
        return found._replace(verdict=self._checked(prepared, found, words))

    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge a finished episode."""
        verdict = self._base.judge_played(prepared, episode, answers)
        found = JudgingResult(verdict, episode.outcomes)
        return self._checked(prepared, found, _words(answers.turns))

    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        """Judge an episode by the outcomes of its turns, without its answers."""
        found = self._base.judge_outcomes(prepared, outcomes, profile, terminated)
        return found._replace(verdict=self._checked(prepared, found, None))

    def passes_so_far(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> bool:
        """Tell whether the finished turns pass, without the checks."""
        return self._base.passes_so_far(prepared, episode, answers)

    def _checked(
        self, prepared: PreparedTrajectory, found: JudgingResult, words: Sequence[str] | None
    ) -> Verdict:
        episode = CheckedEpisode(prepared.trajectory.id, found.outcomes, words)
        results = [(each, each.judge(episode)) for each in self.own.checks]
        measures: dict[str, Any] = {
            f"{NAME}.{each.name}": None if result is None else result is True
            for each, result in results
        }
        known = [(each.weight, result is True) for each, result in results if result is not None]
        total = sum(weight for weight, _ in known)
        credit = sum(weight for weight, passed in known if passed) / total if total else None
        verdict = found.verdict._replace(measures={NAME: credit, **measures})
        failures = [(each.name, r) for each, r in results if isinstance(r, CheckFailure)]
        if not failures or not verdict.valid:
            return verdict
        turn = min(failure.turn for _, failure in failures)
        reason = Reason.CRITERIA_NOT_MET
        causes = [
            CallEvidence(reason, f"{name}: {failure.message} (turn {failure.turn + 1})")
            for name, failure in failures
        ]
        count = f"{len(failures)} of {len(results)} checks failed"
        evidence = CallEvidence(reason, count, causes=tuple(causes))
        failure = Failure(reason, evidence)
        return verdict._replace(valid=False, failure=failure, failed_turn=turn, turns_passed=turn)


def _refuse_misspelt_names(check: DeclaredCheck, trajectory: Trajectory, where: str) -> None:
    """Raise DataError if a check seems to misspell a function or an argument of the entry.

    A check may name a function of another entry.
    """
    if check.function is None:
        return
    tools = list_tools(trajectory.environments)
    tool = tools.get(check.function)
    if tool is None:
        hint = suggest_name(check.function, tools)
        if hint and not _is_known(check.function):
            raise DataError(where, f"the entry has no function {check.function!r:.80}{hint}")
        return
    known = [parameter.name for parameter in parameters(tool)]
    for name in check.arguments:
        if name not in known:
            hint = suggest_name(name, known)
            raise DataError(where, f"{tool.name} has no argument {name!r:.80}{hint}")


def _is_known(function: str) -> bool:
    usable = filter(is_usable, names())
    return any(function in backend_class(name).TOOLS for name in usable)


def _words(turns: Sequence[Sequence[Step]]) -> list[str]:
    return ["\n".join(step for step in steps if isinstance(step, str)) for steps in turns]
