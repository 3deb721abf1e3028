"""Entry kind ``extraction``: the arguments of one call are compared field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from checkers.calls.call_comparison import EntryRules, bind_arguments, get_shown_name
from checkers.calls.call_entry import CallEntry
from checkers.calls.single_turn_verdict import judge
from checkers.causes.single_turn_diagnosis import PairedAnswer
from checkers.evidence import CallEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from envs.calls import Call
from envs.state import cut_repr
from extensions.extraction.fields import FieldComparison, compare_fields
from runner.episodes.entry_kinds import JudgingResult, JudgingTerms, RecordedAnswers
from runner.episodes.rejudged_episode import RejudgedSingleTurn
from runner.episodes.single_turn import ComparedCallsKind, is_error
from runner.records.episode_record import RecordedEpisode
from trajectories.call_checker_tasks import make_call_entry
from trajectories.prepared_trajectory import PreparedTrajectory

NAME = "extraction"


class ExtractionKind(ComparedCallsKind):
    """Entry kind of extraction: the model records the data of a text with one call."""

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Compare the arguments of the call field by field, and count the right fields."""
        profile = terms.profile
        turns, mode, reader, _ = answers or self.right(prepared, profile)
        if is_error(turns[0][0]):
            return super().judge(prepared, answers, terms)
        task = make_call_entry(prepared.trajectory)
        [answer] = task.answers
        found: list[FieldComparison] = []

        def check(calls: Sequence[Call], task: CallEntry, rules: EntryRules) -> CallEvidence | None:
            document = task.document_of(answer)
            name = get_shown_name(document.name, rules)
            if len(calls) != 1:
                message = f"1 expected, {len(calls)} made"
                made = str(len(calls))
                return CallEvidence(Reason.SIMPLE_COUNT, message, expected=1, actual=made)
            if calls[0].name != name:
                message = f"the called function is {cut_repr(calls[0].name)}"
                return CallEvidence(Reason.FUNCTION, message, name, actual=cut_repr(calls[0].name))
            compared = compare_fields(answer.allowed, bind_arguments(calls[0], document))
            found.append(compared)
            return compared.mistakes[0].evidence(name) if compared.mistakes else None

        verdict = judge(task, turns[0][0], mode, profile, reader, check)
        fields = compare_fields(answer.allowed, {}).fields
        counts = (found[0].fields, found[0].right, found[0].invented) if found else (fields, 0, 0)
        names = ("fields", "right", "invented")
        measures = {f"{NAME}.{n}": float(count) for n, count in zip(names, counts, strict=True)}
        return JudgingResult(verdict._replace(measures=measures))

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedSingleTurn:
        """Pair the call with the expected call; in a passed episode, the pair has no problems."""
        examined = super().examine(prepared, found, profile, recorded)
        if not found.verdict.valid:
            return examined

        def without_problems() -> PairedAnswer:
            paired = examined.pair()
            pairs = [
                pair._replace(
                    problem=None,
                    arguments=tuple([each._replace(problem=None) for each in pair.arguments]),
                )
                for pair in paired.pairs
            ]
            return paired._replace(pairs=tuple(pairs))

        return replace(examined, pair=without_problems)


EXTRACTION = ExtractionKind()
