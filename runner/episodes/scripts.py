"""Scripts, which are calls that need no model: what they are made of, played, and played traced.

A script is the ground truth, or what was recorded of a run; a trace keeps the states after calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkers.profile import Mode, Profile, offering_all
from checkers.replies.decoding import Decoder, Step
from checkers.why.trace import Trace, TracedCall, TracedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy import lazily
from runner.episodes.episode import STEP_LIMIT, Episode
from trajectories.prepare import Prepared
from trajectories.scene import truth_calls
from trajectories.schema import Trajectory

if TYPE_CHECKING:  # who only judges loads nothing that talks to models
    from runner.models.conversation import Observe
    from trajectories import offering as offerings
    from trajectories.offering import Offering
else:
    # Only retrieval changes what is offered.
    offerings = lazily("trajectories.offering")

Script = Sequence[Sequence[Sequence[Call | MalformedCall]]]
"""Turns of steps of calls."""


def oracle(trajectory: Trajectory, offering: Offering | None = None) -> Script:
    """Return the ground truth, each turn in one step.

    Where functions are to be looked for, it looks first, by the user's words.
    """
    script = [[truth_calls(turn)] if turn.ground_truth else [] for turn in trajectory.turns]
    if offering is None or offering.find is None:
        return script
    looking = [
        Call(offerings.FIND, (), {"query": turn.words[: offerings.LONGEST_QUERY]})
        for turn in trajectory.turns
    ]
    return [[[look], *steps] for look, steps in zip(looking, script, strict=True)]


def recorded(turns: Sequence[Sequence[Step]], decoder: Decoder, profile: Profile) -> Script:
    """Return what a recorded run amounts to."""
    return [
        [calls for step in steps if (calls := _decoded(step, decoder, profile))] for steps in turns
    ]


def _decoded(step: Step, decoder: Decoder, profile: Profile) -> Sequence[Call | MalformedCall]:
    try:
        return decoder(step)
    except MalformedCall as error:
        return [error] if profile.replies.answers_unreadable_steps else []


def begun(
    prepared: Prepared, profile: Profile, step_limit: int | None, observe: Observe | None = None
) -> Episode:
    """Return an episode at its beginning, in a session of its own."""
    session, offering = prepared.template.fork(), prepared.offering
    return Episode(prepared.trajectory, session, profile, step_limit, observe, offering)


def play(script: Script, episode: Episode) -> None:
    """Drive an episode by a script, to the script's end or the episode's."""
    for turn in script:
        for calls in turn:
            if not episode.finished:
                episode.act(calls)
        if episode.finished:
            return
        episode.end_turn()


def trace(
    prepared: Prepared,
    script: Script,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play a script and return what happened, results as ``observe`` says that they were read."""
    episode = begun(prepared, profile, step_limit, observe)
    turns = []
    for turn in script:
        if episode.finished:
            break
        turns.append(_traced_turn(episode, turn))
        if not episode.finished:
            episode.end_turn()
    return Trace(tuple(turns), episode.terminated)


def trace_recorded(
    prepared: Prepared,
    turns: Sequence[Sequence[Step]],
    mode: Mode,
    profile: Profile,
    step_limit: int | None = STEP_LIMIT,
    observe: Observe | None = None,
) -> Trace:
    """Play a recorded run and return what happened, and how each turn ended.

    A turn may take ``step_limit`` steps, where the profile limits recorded runs at all.
    """
    limit = step_limit if profile.execution.limits_recorded_runs else None
    played = trace(
        prepared, recorded(turns, profile.replies.decoders[mode], profile), profile, limit, observe
    )
    ended = []
    for turn, steps in zip(played.turns, turns, strict=False):
        answer, unreadable = _ending(steps, mode, profile)
        ended.append(turn._replace(answer=answer, unreadable=unreadable))
    return played._replace(turns=tuple(ended))


def trace_truth(prepared: Prepared, profile: Profile) -> Trace:
    """Play the ground truth, for which no limit and nothing held back counts."""
    everything = offering_all(profile)
    prepared = prepared._replace(offering=None)
    return trace(prepared, oracle(prepared.trajectory), everything, None)


def _traced_turn(episode: Episode, turn: Sequence[Sequence[Call | MalformedCall]]) -> TracedTurn:
    before, offered = episode.session.snapshot(), episode.offered
    steps = []
    for calls in turn:
        if episode.finished:
            break
        # Results come first, so that what follows the last one of a step is done, too.
        made = zip(episode.step_through(calls), calls, strict=False)
        snapshot = episode.session.snapshot
        steps.append(tuple([TracedCall(call, result, snapshot()) for result, call in made]))
    turn_of = TracedTurn(offered, before, tuple(filter(None, steps)))
    if episode.offering is None:
        return turn_of
    seeks = episode.offering.seeks
    looks = frozenset(i for i, traced in enumerate(turn_of.calls) if seeks(traced.call))
    return turn_of._replace(looks=looks)


def _ending(
    steps: Sequence[Step], mode: Mode, profile: Profile
) -> tuple[str | None, MalformedCall | None]:
    """Return what a turn's last step says, if it makes no call, and why none was read in it."""
    last = steps[-1] if steps else None
    answer = last if isinstance(last, str) else None
    if last is None or (answer is not None and mode == "fc"):
        return answer, None
    try:
        calls = profile.replies.decoders[mode](last)
    except MalformedCall as error:
        return answer, error
    return (None if calls else answer), None
