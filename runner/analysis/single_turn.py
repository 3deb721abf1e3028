"""The one answer of a single-turn entry, with what was expected beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from checkers.calls.documents import Kind
from checkers.calls.errors import Unreadable
from checkers.calls.one_call import Rules, shown_name
from checkers.calls.pairs import CallPair, pair_answers, pair_results
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import FormatReader, read_calls
from checkers.turn import force_terminated, inference_error
from checkers.verdict import Verdict
from checkers.why.calls import Said, diagnose_calls
from checkers.why.diagnosis import Diagnosis, diagnose
from checkers.why.trace import Trace
from runner.analysis.source import Recorded
from runner.analysis.tracing import trace, trace_recorded, trace_truth
from runner.episodes.executable import comparisons_of, judge_results
from runner.episodes.scripts import oracle
from runner.episodes.single_turn import is_error, judge_step, oracle_step
from trajectories.prepare import Prepared
from trajectories.schema import ExpectedCalls, ExpectedResults, Trajectory
from trajectories.tasks import task_of

_AIMS = {
    Kind.IRRELEVANCE: "No function fits: it is right to call none.",
    Kind.RELEVANCE: "A function fits: any call is right.",
}


class ExaminedAnswer(NamedTuple):
    """An answer that was judged once more."""

    trajectory: Trajectory
    profile: Profile
    verdict: Verdict
    pairs: tuple[CallPair, ...] = ()
    """What was called beside what was expected."""
    said: Said = Said()
    """What there is besides."""
    offered: tuple[str, ...] = ()
    """The functions, under the names that the model knows."""
    aim: str | None = None
    """What is right where no certain call is expected."""
    model: Trace | None = None
    """What happened; None where nothing is executed."""
    recorded: Recorded | None = None
    """Where the answer is from; None for one that was made to be right."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why the model failed; None where it passed, or an error was not the model's."""
        record = self.recorded and self.recorded.record
        failure = self.verdict.failure
        if failure is None or (record and record["outcome"] == "error"):
            return None
        if failure.calls is None:
            return diagnose(Trace(()), None, self.verdict)
        return diagnose_calls(self.pairs, self.said, self.offered, failure.calls)

    @property
    def functions(self) -> Sequence[Any]:
        """The documents of the functions that the model was given."""
        expects = self.trajectory.expects
        if isinstance(expects, ExpectedCalls):
            return expects.functions
        # Imported here, since it takes longer than all else that a look at an answer needs.
        from runner.models.tools import own_documents

        documents = {each["name"]: each for each in own_documents(self.trajectory.environments)}
        names = expects.functions if expects else ()
        return [documents[name] for name in names if name in documents]


def examine_answer(
    prepared: Prepared, recorded: Recorded, profile: Profile, step_limit: int
) -> ExaminedAnswer:
    """Judge a recorded answer once more.

    Args:
        prepared: Its trajectory.
        recorded: The episode.
        profile: How it is read and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.

    Raises:
        BackendFault: A backend broke on well-formed arguments.
        CannotJudge: There is no verdict, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    trajectory, turns = prepared.trajectory, recorded.turns
    if turns is None:
        found = ExaminedAnswer(trajectory, profile, inference_error(1), said=Said(None, None, True))
    elif len(turns) != 1 or not turns[0]:
        found = ExaminedAnswer(trajectory, profile, force_terminated(1))
    elif isinstance(trajectory.expects, ExpectedCalls):
        found = _compared(trajectory, turns[0][0], recorded.mode, profile, recorded.reader)
    else:
        model = trace_recorded(prepared, turns, recorded.mode, profile, step_limit)
        found = _executed(prepared, model, profile)
    return found._replace(recorded=recorded)


def examine_right_answer(prepared: Prepared, profile: Profile, step_limit: int) -> ExaminedAnswer:
    """Judge an answer that is right, if any is; it raises what ``examine_answer`` does.

    Args:
        prepared: The trajectory.
        profile: How it is read and judged.
        step_limit: Steps that a turn may take.
    """
    trajectory = prepared.trajectory
    if isinstance(trajectory.expects, ExpectedCalls):
        return _compared(trajectory, oracle_step(trajectory, profile), "fc", profile)
    model = trace(prepared, oracle(trajectory), profile, step_limit)
    return _executed(prepared, model, profile)


def _compared(
    trajectory: Trajectory,
    step: Step,
    mode: Mode,
    profile: Profile,
    reader: FormatReader | None = None,
) -> ExaminedAnswer:
    """Judge calls that are compared with answers."""
    verdict = judge_step(trajectory, step, mode, profile, reader)
    task = task_of(trajectory)
    rules = Rules(task.language, profile.calls, underscores=mode == "fc")
    offered = tuple([shown_name(document.name, rules) for document in task.documents])
    found = ExaminedAnswer(trajectory, profile, verdict, offered=offered, aim=_AIMS.get(task.kind))
    words = step if isinstance(step, str) else None
    if is_error(step):
        return found._replace(said=Said(words, None, True))
    try:
        calls = read_calls(step, task.language, mode, profile.calls, reader)
    except Unreadable as error:
        # A function-calling model that answers in words has not tried to call anything.
        problem = None if mode == "fc" and not isinstance(step, list) else str(error)
        calls, said = [], Said(words, problem)
    else:
        said = Said(None if mode == "prompt" and calls else words)
    return found._replace(pairs=pair_answers(calls, task, rules), said=said)


def _executed(prepared: Prepared, model: Trace, profile: Profile) -> ExaminedAnswer:
    """Judge calls whose results are compared with those of the ground truth."""
    trajectory = prepared.trajectory
    expects = trajectory.expects
    assert isinstance(expects, ExpectedResults)
    truth, turn = trace_truth(prepared, profile).turns[0], model.turns[0]
    return ExaminedAnswer(
        trajectory,
        profile,
        judge_results(expects, truth.outcome, turn.outcome),
        pair_results(truth, turn, comparisons_of(expects)),
        Said(turn.answer, str(turn.unreadable) if turn.unreadable else None),
        expects.functions,
        model=model,
    )
