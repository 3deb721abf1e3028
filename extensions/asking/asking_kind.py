"""Entry kind for requests that lack a required value; the right answer is a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from checkers.calls.call_comparison import EntryRules
from checkers.calls.call_entry import CallEntry
from checkers.calls.single_turn_verdict import Check
from checkers.causes.answer_patterns import asks_for
from checkers.causes.diagnosis import Cause, Diagnosis, make_diagnosis
from checkers.causes.single_turn_diagnosis import PairedAnswer
from checkers.evidence import CallEvidence
from checkers.profile import BFCL, Profile
from checkers.reasons import Reason
from checkers.verdict import Failure, Hallucinations
from envs.calls import Call
from envs.errors import DataError
from envs.state import cut_repr
from runner.episodes.entry_kinds import JudgingResult, JudgingTerms, RecordedAnswers
from runner.episodes.rejudged_episode import RejudgedSingleTurn
from runner.episodes.single_turn import ComparedCallsKind, is_error
from runner.records.episode_record import RecordedEpisode
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Category, ExpectedCalls, Trajectory

NAME = "asking"


class MissingValue(NamedTuple):
    """Required value that the request does not state."""

    function: str
    parameter: str
    names: Sequence[str]
    """Words for the value. A question about the value contains at least one word of this list."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> MissingValue:
        """Return the missing value of an entry. Raises DataError if the data are invalid."""
        where = f"entry {trajectory.id}: $.extensions.{NAME}"
        member, expects = trajectory.extensions[NAME], trajectory.expects
        if not isinstance(member, Mapping) or set(member) != set(cls._fields):
            raise DataError(where, f"must be an object with {', '.join(cls._fields)}")
        names = member["names"]
        if not isinstance(names, list) or not names or not all(map(_is_word, names)):
            raise DataError(f"{where}.names", "must be a list of at least 1 word")
        if trajectory.category is not Category.IRRELEVANCE or not isinstance(
            expects, ExpectedCalls
        ):
            raise DataError(where, "works only with entries of the category irrelevance")
        documents = {document["name"]: document for document in expects.functions}
        if member["function"] not in documents:
            raise DataError(f"{where}.function", f"{member['function']!r:.60} is not offered")
        required = documents[member["function"]]["parameters"].get("required", ())
        if member["parameter"] not in required:
            message = f"{member['function']} does not require {member['parameter']!r:.60}"
            raise DataError(f"{where}.parameter", message)
        return cls(**member)

    def __str__(self) -> str:
        """Return the name of the missing parameter and the name of the function."""
        return f"{self.parameter} of {self.function}"


class _AskingAnswer(PairedAnswer):
    def diagnosis(self, evidence: CallEvidence) -> Diagnosis:
        made = next((pair for pair in self.pairs if pair.call is not None), None)
        known = made is None or not isinstance(made.call, Call) or made.call.name in self.offered
        if evidence.reason is Reason.CALL_MADE and not known:
            return super().diagnosis(evidence)
        cause = (
            Cause.ACTED_INSTEAD_OF_ASKING
            if evidence.reason is Reason.CALL_MADE
            else Cause.FAILED_CHECK
        )
        step, call = (made and made.place) or (None, None)
        details = {"call": made and str(made.call), "answer": self.said.answer}
        found = {name: value for name, value in details.items() if value is not None}
        return make_diagnosis(cause, evidence.message, 0, step, call, found)


class AskingKind(ComparedCallsKind):
    """Entry kind in which a required value is missing. Every call is wrong."""

    def find_problems(self, dataset: Dataset, trajectory: Trajectory) -> Iterator[str]:
        """Yield the error, if any, in the definition of the missing value."""
        try:
            MissingValue.of(trajectory)
        except DataError as error:
            yield str(error)

    def right(self, prepared: PreparedTrajectory, profile: Profile) -> RecordedAnswers:
        """Return a question that asks for the missing value."""
        name = MissingValue.of(prepared.trajectory).names[0]
        return RecordedAnswers([[f"Which {name} should I use?"]], "fc")

    def check(self, prepared: PreparedTrajectory, profile: Profile) -> Check:
        """Return a check that rejects every call."""
        missing = MissingValue.of(prepared.trajectory)

        def check(calls: Sequence[Call], _: CallEntry, __: EntryRules) -> CallEvidence | None:
            if not calls:
                return None
            made = cut_repr(str(calls[0]))
            message = f"the request does not state {missing}, but the model called {made}"
            return CallEvidence(Reason.CALL_MADE, message, calls[0].name, missing.parameter)

        return check

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Judge the calls, and search the answer's text for a question about the missing value."""
        missing = MissingValue.of(prepared.trajectory)
        answers = answers or self.right(prepared, terms.profile)
        step = answers.turns[0][0]
        found = super().judge(prepared, answers, terms).verdict
        if is_error(step):
            return JudgingResult(found)
        asked = found.valid and isinstance(step, str) and asks_for(step, missing.names)
        # A function fits, so a call is premature, not needless.
        made_up = Hallucinations(found.hallucinated.functions, found.hallucinated.parameters)
        found = found._replace(measures={f"{NAME}.asked": asked}, hallucinated=made_up)
        if found.valid and not asked and terms.profile.name != BFCL.name:
            message = f"the answer does not ask for {missing}"
            evidence = CallEvidence(Reason.CRITERIA_NOT_MET, message, parameter=missing.parameter)
            failure = Failure(evidence.reason, evidence)
            found = found._replace(valid=False, failure=failure, failed_turn=0, turns_passed=0)
        return JudgingResult(found)

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedSingleTurn:
        """Judge the answer again, and name the missing value."""
        examined = super().examine(prepared, found, profile, recorded)
        aim = f"The request does not state {MissingValue.of(prepared.trajectory)}."
        aim += " The model should ask for this value."
        return replace(examined, pair=lambda: _AskingAnswer(*examined.pair())._replace(aim=aim))


def _is_word(name: object) -> bool:
    return isinstance(name, str) and bool(name.strip())


ASKING = AskingKind()
