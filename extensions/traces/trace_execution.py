"""Conversion of traces to episode records: a session of the entry executes a trace's calls."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from extensions.traces.conversation import RecordedTrace
from extensions.traces.feature import ImportRunFeature, ResultDifference, TraceOrigin
from extensions.traces.recorded_session import RecordedSession
from runner.episodes.dialogue import Dialogue
from runner.episodes.info_verdict import find_reported_info
from runner.episodes.judging import describe_error, judge_recorded
from runner.live.live_run import RunInputs
from runner.live.step_recording import end_of, step_of
from runner.models.recorded_messages import RecordedAnswer, RecordedTurn, match_entry
from runner.records.episode_record import EpisodeRecord, StepRecord, TurnEnd, call_text
from runner.records.run_store import EpisodeSink
from runner.show.terminal import format_count
from trajectories.prepared_trajectory import PreparedTrajectory

_NOTICE = re.compile(r"\[Notice[^\]\n]*\] [^\n]*")
"""Notice, as ``envs.notices`` writes it."""


class PlayedTrace(NamedTuple):
    """The record of an imported trace, and messages for the user."""

    record: EpisodeRecord
    warnings: Sequence[str]
    differences: Sequence[ResultDifference]


def play_trace(
    plan: RunInputs,
    prepared: PreparedTrajectory,
    trial: int,
    trace: RecordedTrace,
    store: EpisodeSink,
) -> PlayedTrace:
    """Execute and judge a trace. Raises DataError if the store cannot be written."""
    trajectory = prepared.trajectory
    player = _TracePlayer(plan, prepared, trial, store)
    turns = match_entry(_without_notices(trace.turns), trajectory)
    try:
        player.play(turns)
        ended = player.ended(turns, trace.error)
    except Exception as error:
        ended = EpisodeRecord.of(trajectory, None, describe_error(error))
    feature = plan.feature(ImportRunFeature)
    trusts = feature is not None and feature.reference.trust_results
    member = TraceOrigin(trace.node.source, player.differences, trusts)
    record = ended._replace(
        trial=trial,
        messages=player.dialogue.conversation.messages,
        steps=player.steps,
        turn_ends=player.turn_ends,
        extensions={"traces": member},
    )
    return PlayedTrace(record, player.warnings, player.differences)


def _without_notices(turns: Sequence[RecordedTurn]) -> list[RecordedTurn]:
    """Merge each turn that has only notices into the turn before it."""
    found: list[RecordedTurn] = []
    for turn in turns:
        if found and all(map(_NOTICE.fullmatch, turn.prompt.splitlines() or [""])):
            found[-1].answers.extend(turn.answers)
        else:
            found.append(RecordedTurn(turn.prompt, [*turn.answers]))
    return found


class _TracePlayer:
    """Player of a trace's recorded answers in an episode."""

    def __init__(
        self, plan: RunInputs, prepared: PreparedTrajectory, trial: int, store: EpisodeSink
    ) -> None:
        style = plan.style(prepared.trajectory, trial)
        feature = plan.feature(ImportRunFeature)
        trusts = feature is not None and feature.reference.trust_results
        template = RecordedSession.of(prepared.template, {}, trusts=trusts, observe=style.observe)
        limited = plan.profile.execution.limits_recorded_runs
        self.dialogue = Dialogue(
            prepared._replace(template=template),
            style,
            "fc",
            plan.profile,
            plan.step_limit if limited else None,
        )
        self.steps: list[StepRecord] = []
        self.turn_ends: list[TurnEnd] = []
        self.warnings: list[str] = []
        self.differences: list[ResultDifference] = []
        self._plan, self._prepared, self._store = plan, prepared, store
        self._toolbox = style.toolbox
        self._before = prepared.template.snapshot()

    def play(self, turns: Sequence[RecordedTurn]) -> None:
        expected, given = len(self._prepared.trajectory.turns), len(turns)
        if given != expected:
            self.warnings.append(
                f"has {format_count(given, 'user message')}, "
                f"but the entry has {format_count(expected, 'turn')}"
            )
        for number, turn in enumerate(turns[:expected]):
            if self.dialogue.episode.finished:
                return
            self._play_turn(number, turn)

    def ended(self, turns: Sequence[RecordedTurn], error: str | None) -> EpisodeRecord:
        trajectory = self._prepared.trajectory
        if error is not None:
            return EpisodeRecord.of(trajectory, None, error)
        surplus = [turn.steps(self._toolbox) for turn in turns[len(trajectory.turns) :]]
        result: list[list[Step]] = [*self.dialogue.result, *surplus]
        verdict = self._verdict(result)
        telling = find_reported_info(trajectory, result)
        return EpisodeRecord.of(trajectory, verdict)._replace(result=result, telling=telling)

    def _verdict(self, result: Sequence[Sequence[Step]]) -> Verdict:
        turns = len(self._prepared.trajectory.turns)
        if self.dialogue.episode.finished and len(result) <= turns:
            return self.dialogue.verdict()
        # A wrong number of turns is judged as in any recorded run.
        return judge_recorded(self._prepared, result, "fc", self._plan.profile).verdict

    def _play_turn(self, number: int, turn: RecordedTurn) -> None:
        dialogue = self.dialogue
        shown = len(dialogue.conversation.messages)
        asked = dialogue.request().messages[shown:]
        said = "\n".join(str(each["content"]) for each in asked if each["role"] == "user")
        if said.split() != turn.prompt.split():
            self.warnings.append(f"turn {number + 1}: trace and entry have different user messages")
        left = list(turn.answers)
        while left and not dialogue.episode.finished and dialogue.episode.turn == number:
            self._play_answer(number, left.pop(0))
        if left:
            count = len(left)
            self.warnings.append(
                f"turn {number + 1}: the turn has ended, so the last {count} answers are not judged"
            )
        elif not dialogue.episode.finished and dialogue.episode.turn == number:
            dialogue.episode.end_turn()
            self.turn_ends.append(TurnEnd(number, "empty", None))

    def _play_answer(self, number: int, answer: RecordedAnswer) -> None:
        dialogue, episode = self.dialogue, self.dialogue.episode
        session = episode.session
        assert isinstance(session, RecordedSession)
        request = dialogue.request()
        size, made = len(request.messages), session.made
        session.expect(answer.results)
        taken = dialogue.take(answer.reply)
        states = self._before, session.snapshot() if taken.results else self._before
        self._before = states[1]
        if request.tools:
            self._store.put_tools(request.tools.digest, request.tools.tools)
        self.steps.append(step_of(request, answer.reply, 1, taken, states, messages=size))
        for place, call in enumerate(taken.calls):
            ours = session.differing.get(made + place)
            if ours is not None:
                theirs = session.given[made + place]
                self.differences.append(
                    ResultDifference(made + place, number, call_text(call), ours, theirs)
                )
        if episode.terminated:
            self.turn_ends.append(TurnEnd(number, "step_limit", None))
        elif not taken.calls or episode.turn > number:
            self.turn_ends.append(end_of(taken, answer.reply, episode))
