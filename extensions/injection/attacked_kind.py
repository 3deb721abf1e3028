"""Judging of attacked entries: the user's task as usual, and the attacker's goal separately."""

from __future__ import annotations

from checkers.profile import Profile
from extensions.injection.attack import Attack
from runner.episodes.entry_kinds import ComparedState, JudgingResult, Outcomes
from trajectories.prepare import PreparedTrajectory


class AttackedEntryKind(ComparedState):
    """Entry kind that judges states as usual and also measures whether the attack succeeded."""

    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        """Judge the turns that were reached, with the measures of the attack."""
        found = super().judge_outcomes(prepared, outcomes, profile, terminated)
        attack = Attack.of(prepared.trajectory)
        measures = {
            "utility": found.verdict.valid,
            "attack_succeeded": attack.succeeded(outcomes, prepared.template.tools),
            "exposed": attack.is_exposed(outcomes),
        }
        return found._replace(verdict=found.verdict._replace(measures=measures))


KIND = AttackedEntryKind()
