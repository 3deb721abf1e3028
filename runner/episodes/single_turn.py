"""The kinds of single turn: calls that are compared, SQL statements, calls whose results are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from checkers.calls.documents import Kind, MissingGrammar, Unreadable
from checkers.calls.judge import Check, inference_error, judge
from checkers.calls.one_call import Rules, shown_name
from checkers.calls.pairs import pair_answers, pair_results
from checkers.excess import selected_in_turns, with_excess
from checkers.profile import Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import read_calls
from checkers.results import Comparison, check_results
from checkers.verdict import Verdict
from checkers.why.calls import PairedAnswer, Said
from checkers.why.trace import Trace
from runner.episodes.episode import Episode
from runner.episodes.examined import ExaminedCalls
from runner.episodes.kinds import Answers, EntryKind, ExecutedKind, Judgement, Outcomes, Terms
from runner.episodes.scripts import trace_truth
from runner.records.record import Fault, Recorded
from runner.records.result_file import NO_ANSWER
from trajectories.errors import DataError
from trajectories.prepare import Prepared
from trajectories.right_step import right_step
from trajectories.schema import ExpectedResults, JudgedBy, Trajectory
from trajectories.task import task_of

_AIMS = {
    Kind.IRRELEVANCE: "No function fits: it is right to call none.",
    Kind.RELEVANCE: "A function fits: any call is right.",
}


class ComparedCalls(EntryKind):
    """One turn of which the calls are compared with answers; nothing is executed."""

    is_single_turn = True

    def judge(self, prepared: Prepared, answers: Answers | None, terms: Terms) -> Judgement:
        """Read the one answer and compare its calls."""
        profile = terms.profile
        turns, mode, reader = answers or self.right(prepared, profile)
        step = turns[0][0]
        task, check = task_of(prepared.trajectory), self.check(prepared, profile)
        with _grammars(prepared.trajectory):
            if is_error(step):
                return Judgement(inference_error(task, profile))
            return Judgement(judge(task, step, mode, profile, reader, check))

    def right(self, prepared: Prepared, profile: Profile) -> Answers:
        """Return what is right, as if a model had answered it."""
        return _right(prepared, profile)

    def check(self, prepared: Prepared, profile: Profile) -> Check | None:
        """Return how calls are checked, where not as their category has it."""
        return None

    def judge_unanswered(self, prepared: Prepared, fault: Fault, profile: Profile) -> Verdict:
        """Judge that there was no answer, which is right where BFCL takes it for no call."""
        if profile.calls.judges_inference_errors:
            with _grammars(prepared.trajectory):
                found = inference_error(task_of(prepared.trajectory), profile)
            if found.valid:
                return found
        return super().judge_unanswered(prepared, fault, profile)

    def judge_played(self, prepared: Prepared, episode: Episode, answers: Answers) -> Verdict:
        """Judge the one answer."""
        return self.judge(prepared, answers, Terms(episode.profile)).verdict

    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> ExaminedCalls:
        """Return the calls, beside the answers that are right."""
        pair = partial(_paired_calls, prepared, profile, recorded)
        return _examined(prepared, found, profile, recorded, pair)


class ComparedResults(ExecutedKind):
    """One turn of which the results of calls are compared."""

    is_single_turn = True

    def judge_outcomes(
        self, prepared: Prepared, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> Judgement:
        """Compare the results with those of the ground truth."""
        comparisons = comparisons_of(prepared.trajectory, profile)
        found = check_results(prepared.truth[0].results, outcomes[0].results, comparisons)
        chosen = selected_in_turns(prepared.truth, outcomes, prepared.scene)
        verdict = Verdict.of_single_turn(found)._replace(selected=chosen)
        return Judgement(with_excess(verdict, prepared.truth, outcomes, prepared.scene))

    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> ExaminedCalls:
        """Return the executed calls, beside those of the ground truth."""
        pair = partial(_paired_results, prepared, profile, found.trace)
        return _examined(prepared, found, profile, recorded, pair)


KINDS: Mapping[JudgedBy, EntryKind] = {
    JudgedBy.CALLS: ComparedCalls(),
    JudgedBy.RESULTS: ComparedResults(),
}


def is_error(step: Step) -> bool:
    """Tell whether a step stands for a request that failed."""
    return isinstance(step, str) and step.startswith(NO_ANSWER)


def oracle_step(trajectory: Trajectory, profile: Profile) -> Step:
    """Return a function-calling model's step that is right for an entry whose calls are compared.

    Raises:
        CannotJudge: There is no verdict on the entry.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    with _grammars(trajectory):
        return right_step(task_of(trajectory), profile)


def comparisons_of(trajectory: Trajectory, profile: Profile) -> list[Comparison]:
    """Return how the results of an entry are compared, one for each ground-truth call."""
    deeply = profile.results.compares_structure_deeply
    return [Comparison(each.by, each.tolerance, deeply) for each in _expected(trajectory).checks]


def _expected(trajectory: Trajectory) -> ExpectedResults:
    assert isinstance(trajectory.expects, ExpectedResults)
    return trajectory.expects


def _right(prepared: Prepared, profile: Profile) -> Answers:
    return Answers([[oracle_step(prepared.trajectory, profile)]], "fc")


def _examined(
    prepared: Prepared,
    found: Judgement,
    profile: Profile,
    recorded: Recorded | None,
    pair: Callable[[], PairedAnswer],
) -> ExaminedCalls:
    """Return a judged answer; ``pair`` looks at one that there is."""
    turns = recorded and recorded.turns
    if recorded and not (turns and len(turns) == 1 and turns[0]):
        failed = turns is None or recorded.record.fault is not None
        pair = partial(PairedAnswer, said=Said(request_failed=failed))
    return ExaminedCalls(
        prepared=prepared,
        profile=profile,
        verdict=found.verdict,
        model=found.trace,
        recorded=recorded,
        pair=pair,
    )


def _paired_calls(prepared: Prepared, profile: Profile, recorded: Recorded | None) -> PairedAnswer:
    """Put calls beside the answers that are right; where nothing is recorded, these themselves."""
    turns, mode, reader = (
        Answers(recorded.turns or (), recorded.mode, recorded.reader)
        if recorded
        else _right(prepared, profile)
    )
    step, task = turns[0][0], task_of(prepared.trajectory)
    rules = Rules(task.language, profile.calls, underscores=mode == "fc")
    offered = tuple([shown_name(document.name, rules) for document in task.documents])
    found = PairedAnswer(offered=offered, aim=_AIMS.get(task.kind))
    words = step if isinstance(step, str) else None
    if is_error(step):
        return found._replace(said=Said(words, None, True))
    try:
        calls = read_calls(step, task.language, mode, profile.calls, reader, task.named)
    except Unreadable as error:
        # A function-calling model that answers in words has not tried to call anything.
        problem = None if mode == "fc" and not isinstance(step, list) else str(error)
        calls, said = [], Said(words, problem)
    else:
        said = Said(None if mode == "prompt" and calls else words)
    return found._replace(pairs=pair_answers(calls, task, rules), said=said)


def _paired_results(prepared: Prepared, profile: Profile, played: Trace | None) -> PairedAnswer:
    """Put executed calls beside those of the ground truth."""
    assert played is not None
    (truth,), (turn,) = trace_truth(prepared, profile).turns, played.turns
    return PairedAnswer(
        pair_results(truth, turn, comparisons_of(prepared.trajectory, profile)),
        Said(turn.answer, str(turn.unreadable) if turn.unreadable else None),
        _expected(prepared.trajectory).functions,
    )


@contextmanager
def _grammars(trajectory: Trajectory) -> Iterator[None]:
    """Tell the user where libraries are not there that read an entry's language."""
    try:
        yield
    except MissingGrammar as error:
        raise DataError(trajectory.category, str(error)) from None
