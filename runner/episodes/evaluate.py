"""Running trajectories and judging them, one after the other; no files and no flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from checkers.calls.errors import CannotJudge
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.turn import force_terminated, inference_error, judge
from checkers.verdict import Verdict
from envs.errors import BackendFault
from runner.episodes.episode import STEP_LIMIT, Episode
from runner.episodes.scripts import Script, null, oracle, play, recorded
from trajectories.dataset import Dataset
from trajectories.prepare import Prepared, TruthSource, prepare
from trajectories.schema import Category, ExpectedCalls, ExpectedResults, Trajectory


class Judged(NamedTuple):
    """What became of one trajectory: a verdict, or an error that is not the model's."""

    id: str
    category: Category
    verdict: Verdict | None
    error: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as one flat JSON object."""
        head = {"id": self.id, "category": self.category.value}
        if self.verdict is None:
            return {**head, "valid": None, "error": self.error}
        return {**head, **self.verdict.to_json()}


def evaluate(
    dataset: Dataset,
    trajectories: Iterable[Trajectory],
    profile: Profile,
    run: Callable[[Prepared], Verdict],
    truth: TruthSource | None = None,
) -> Iterator[Judged]:
    """Run trajectories in order and yield what became of each.

    Args:
        dataset: Where they are from.
        trajectories: Which to run.
        profile: How the ground truth is played.
        run: Runs and judges one prepared trajectory.
        truth: Where the outcomes of the ground truth come from; by default it is played.
    """
    for trajectory in trajectories:
        try:
            verdict = run(prepare(dataset, trajectory, profile, truth))
        except (BackendFault, CannotJudge) as fault:
            yield Judged(trajectory.id, trajectory.category, None, str(fault))
        else:
            yield Judged(trajectory.id, trajectory.category, verdict)


def run_script(
    prepared: Prepared, script: Script, profile: Profile, step_limit: int | None = STEP_LIMIT
) -> Verdict:
    """Drive one trajectory by a script and judge it."""
    episode = Episode(prepared.trajectory, prepared.template.fork(), profile, step_limit)
    play(script, episode)
    return judge_episode(prepared, episode)


def judge_episode(prepared: Prepared, episode: Episode) -> Verdict:
    """Judge an episode that is over by what its calls led to.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
    """
    expects = prepared.trajectory.expects
    if isinstance(expects, ExpectedResults):
        from runner.episodes.executable import judge_results

        return judge_results(expects, prepared.truth[0], episode.outcomes[0])
    terminated = episode.terminated
    return judge(prepared.truth, episode.outcomes, episode.profile, terminated=terminated)


def run_oracle(
    prepared: Prepared, profile: Profile, step_limit: int | None = STEP_LIMIT
) -> Verdict:
    """Run the ground truth of a trajectory as if it were a model, and judge it.

    Raises:
        CannotJudge: There is no verdict on the entry.
    """
    trajectory = prepared.trajectory
    if isinstance(trajectory.expects, ExpectedCalls):
        from runner.episodes.single_turn import oracle_step

        step = oracle_step(trajectory, profile)
        return run_recorded(prepared, [[step]], "fc", profile, step_limit)
    return run_script(prepared, oracle(trajectory), profile, step_limit)


def run_null(prepared: Prepared, profile: Profile, step_limit: int | None = STEP_LIMIT) -> Verdict:
    """Judge a model that never calls anything.

    Raises:
        CannotJudge: There is no verdict on the entry.
    """
    trajectory = prepared.trajectory
    if isinstance(trajectory.expects, ExpectedCalls):
        return run_recorded(prepared, [[None]], "fc", profile, step_limit)
    return run_script(prepared, null(trajectory), profile, step_limit)


def run_recorded(
    prepared: Prepared,
    turns: Sequence[Sequence[Step]] | None,
    mode: Mode,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
) -> Verdict:
    """Execute a recorded run of one trajectory again and judge it.

    Args:
        prepared: The trajectory.
        turns: The recorded turns of steps; None where the run recorded an error.
        mode: How the model called functions.
        profile: How steps are decoded, executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs at all.
    """
    trajectory = prepared.trajectory
    expected = len(trajectory.turns)
    if turns is None:
        return inference_error(expected)
    if len(turns) != expected or (trajectory.expects is not None and not turns[0]):
        return force_terminated(expected)
    if isinstance(trajectory.expects, ExpectedCalls):
        from runner.episodes.single_turn import judge_step

        return judge_step(trajectory, turns[0][0], mode, profile)
    script = recorded(turns, profile.replies.decoders[mode], profile)
    limit = step_limit if profile.execution.limits_recorded_runs else None
    return run_script(prepared, script, profile, limit)
