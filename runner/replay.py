"""One trajectory made visible: every call, result and state change, and where it left the truth."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.profile import Profile
from checkers.turn import force_terminated, inference_error, judge
from checkers.verdict import Verdict
from envs.state import Difference, brief
from runner.episode import Episode, StepRecord
from runner.prepare import Prepared
from runner.scripts import Script, steps

_WIDTH = 200


def replay(
    prepared: Prepared, script: Script | None, profile: Profile, step_limit: int
) -> Iterator[str]:
    """Yield the lines that show a trajectory being run by a script.

    Args:
        prepared: The trajectory.
        script: The calls to make; None where the run recorded an error instead.
        profile: How they are executed and judged.
        step_limit: Steps that a turn may take, where the profile limits recorded runs.
    """
    trajectory = prepared.trajectory
    limit = step_limit if profile.limits_recorded_runs else None
    episode = Episode(trajectory, prepared.template.fork(), profile, limit)
    played = [(step, episode.session.snapshot()) for step in steps(script or (), episode)]
    verdict = _verdict(prepared, script, episode)
    yield f"{trajectory.id} ({trajectory.category}; {', '.join(trajectory.environments)})"
    before = prepared.template.snapshot()
    for index, turn in enumerate(trajectory.turns[: len(episode.outcomes)]):
        yield ""
        yield f"turn {index}"
        for message in turn.messages:
            yield f"  {message.role}: {message.content}"
        if turn.offers:
            yield f"  functions handed over: {', '.join(turn.offers)}"
        in_turn = [(step, after) for step, after in played if step.turn == index]
        for number, (step, after) in enumerate(in_turn):
            yield from _step_lines(number, step)
            yield from (_change(difference) for difference in before.differences(after))
            before = after
        if index == verdict.failed_turn and verdict.failure:
            yield f"  ground truth: {'; '.join(turn.ground_truth) or 'no call'}"
            yield f"  FAILED {verdict.failure.reason}"
            yield from (f"    {difference}" for difference in verdict.failure.differences)
            yield from (f"    not seen: {text[:_WIDTH]}" for text in verdict.failure.missing)
    if verdict.failed_turn is None and verdict.failure:
        yield ""
        yield f"FAILED {verdict.failure.reason}"
    yield ""
    yield _summary(verdict.valid, verdict.turns_passed, verdict.turns)


def _verdict(prepared: Prepared, script: Script | None, episode: Episode) -> Verdict:
    turns = len(prepared.trajectory.turns)
    if script is None:
        return inference_error(turns)
    if len(script) != turns:
        return force_terminated(turns)
    return judge(prepared.truth, episode.outcomes, episode.profile, terminated=episode.terminated)


def _change(difference: Difference) -> str:
    was, now = brief(difference.expected), brief(difference.actual)
    return f"      state {difference.path}: was {was}, now {now}"


def _step_lines(number: int, step: StepRecord) -> Iterator[str]:
    for call, result in zip(step.calls, step.results, strict=True):
        yield f"  step {number}  {str(call)[:_WIDTH]}"
        yield f"      {'->' if result.ok else '-> refused:'} {result.text[:_WIDTH]}"


def _summary(valid: bool, passed: int, turns: int) -> str:
    return f"{'passed' if valid else 'FAILED'}: {passed} of {turns} turns"
