"""SQL entries as a kind of entry: statements are executed, or compared as calls."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from checkers.calls.judge import Check
from checkers.profile import Profile
from checkers.why.calls import PairedAnswer
from extensions.sql import execution
from runner.episodes.examined import ExaminedCalls
from runner.episodes.kinds import Answers, Judgement
from runner.episodes.single_turn import ComparedCalls
from runner.records.record import Recorded
from trajectories.prepare import Prepared


class ComparedStatements(ComparedCalls):
    """One turn of SQL statements, which are executed where the profile says so."""

    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> ExaminedCalls:
        """Return the calls, beside the answers that are right and with what they gave."""
        examined = super().examine(prepared, found, profile, recorded)
        if not execution.is_executed(prepared, profile):
            return examined
        pair = examined.pair

        def with_results() -> PairedAnswer:
            paired = pair()
            passed = found.verdict.valid
            pairs = execution.with_results(prepared, paired.pairs, passed=passed)
            return paired._replace(pairs=pairs)

        return replace(examined, pair=with_results)

    def right(self, prepared: Prepared, profile: Profile) -> Answers:
        """Return the right statements where they are executed, else the right calls."""
        if execution.is_executed(prepared, profile):
            return Answers([[execution.right_step(prepared)]], "fc")
        return super().right(prepared, profile)

    def check(self, prepared: Prepared, profile: Profile) -> Check | None:
        """Return what compares rows and databases where they are executed."""
        if execution.is_executed(prepared, profile):
            return partial(execution.check_executed, prepared)
        return super().check(prepared, profile)


STATEMENTS = ComparedStatements()
