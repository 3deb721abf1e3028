"""Entry kind of Turnwise's dialogues. Verdicts depend on state, information and conduct."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from checkers.answer_text import reader
from checkers.evidence import CallEvidence, UnreportedInfoEvidence
from checkers.profile import Profile
from checkers.reasons import Reason
from checkers.required_info import Fact
from checkers.verdict import Failure, Verdict
from envs.calls import Call, parse_call
from envs.errors import DataError, MalformedCall
from envs.registry import is_usable, list_tools
from extensions.users.conduct import ConductEvent, find_false_claim, list_unconsented
from extensions.users.dialogue_episode import DialogueEpisode
from extensions.users.gold_agent import GoldAct, play, script
from extensions.users.record import UserRecord
from extensions.users.rules import RuleUser
from extensions.users.scenario import NAME, DialogueScenario, check_keys, read_scenario
from extensions.users.session import with_answers
from runner.episodes.entry_kinds import (
    EntryKind,
    JudgingResult,
    JudgingTerms,
    MultiTurnKind,
    RecordedAnswers,
)
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.episodes.script_playback import start_episode
from runner.episodes.script_traces import trace
from runner.episodes.turn_loop import ExecutedStep, TurnLoop
from runner.models.dialogue_user import SAY, User
from runner.records.episode_record import RecordedEpisode
from runner.records.json_codec import read
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.replay_queries import ReplayQueries
from trajectories.schema import Message, Trajectory


class ConductRules(NamedTuple):
    """Rules of an entry about the agent's conduct."""

    consent: Sequence[str] = ()
    """Functions that need the user's consent before each call."""
    refusal: str = ""
    """Text of the gold agent when it refuses a request."""


class UserDialogue(MultiTurnKind):
    """Kind of an entry whose only turn is a dialogue with a user."""

    def user(self, trajectory: Trajectory, trial: int = 0) -> User:
        """Return the rule-based user of an entry."""
        return RuleUser.opened(scenario_of(trajectory), "", trial)

    def find_problems(self, dataset: Dataset, trajectory: Trajectory) -> Iterator[str]:
        """Yield an error for each unknown function in `rules.consent`."""
        known = list_tools(tuple(filter(is_usable, trajectory.environments)))
        for name in rules_of(trajectory).consent:
            if name not in known:
                yield f"$.{NAME}.rules.consent: {name} is not a function of the entry's backends"

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Execute the calls of both sides and judge the dialogue."""
        entry, profile = prepared.trajectory, terms.profile
        steps: list[Sequence[Call | MalformedCall]]
        if answers is None:
            user = RuleUser.opened(scenario_of(entry))
            steps = [*play(list_gold(entry), user, prepared.template.fork())]
            record: Any = user.kept()
        else:
            steps, record = read_steps(answers, profile), answers.extensions.get(NAME)
        said = tuple(record.answers) if isinstance(record, UserRecord) else ()
        ready = prepared._replace(template=with_answers(prepared.template, said))
        episode = start_episode(ready, profile, terms.limit if answers is None else None)
        for calls in steps:
            if not episode.finished:
                _take(episode, calls)
        if not episode.finished:
            episode.end_turn()
        verdict = self._judge(prepared, episode, record)
        if not terms.traced:
            return JudgingResult(verdict, episode.outcomes)
        played = trace(ready, [steps], profile, None, terms.observe)
        turns = tuple([turn._replace(offered=turn.offered | {SAY}) for turn in played.turns])
        return JudgingResult(verdict, episode.outcomes, played._replace(turns=turns))

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedEpisode:
        """Return the dialogue, with remarks on the user's calls."""
        episode = super().examine(prepared, found, profile, recorded)
        functions = {step.function for step in scenario_of(prepared.trajectory).steps}
        return DialogueEpisode(**vars(episode), user_functions=functions)

    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge a finished episode."""
        return self._judge(prepared, episode, answers.extensions.get(NAME))

    # A dialogue is one turn, so its ground truth is not cut.
    passes_so_far = EntryKind.passes_so_far

    def _judge(self, prepared: PreparedTrajectory, episode: TurnLoop, record: Any) -> Verdict:
        entry, rules = prepared.trajectory, rules_of(prepared.trajectory)
        events = list(list_events(episode.steps))
        heard = _with_answers(prepared, [each.text for each in events if each.side == "user"])
        verdict = self.judge_outcomes(
            heard, episode.outcomes, episode.profile, episode.terminated
        ).verdict
        if verdict.valid:
            failure = _find_failure(entry, rules, events, episode)
            if failure is not None:
                verdict = verdict._replace(
                    valid=False, failure=failure, failed_turn=0, turns_passed=0
                )
        return record.check(verdict) if isinstance(record, UserRecord) else verdict


def scenario_of(entry: Trajectory) -> DialogueScenario:
    """Return the scenario of an entry.

    Raises DataError if the scenario is invalid.
    """
    where = f"entry {entry.id}: $.extensions.{NAME}"
    if len(entry.turns) != 1:
        raise DataError(
            where,
            "the entry must have one turn, because the simulated user writes all later messages",
        )
    return read_scenario(_member_of(entry).get("scenario"), f"{where}.scenario")


def rules_of(entry: Trajectory) -> ConductRules:
    """Return the rules of an entry.

    Raises DataError if the rules are invalid.
    """
    member = _member_of(entry).get("rules", {})
    where = f"entry {entry.id}: $.extensions.{NAME}.rules"
    found = read(ConductRules, member, where)
    check_keys(member, ConductRules._fields, where)
    return found


def _member_of(entry: Trajectory) -> dict[str, Any]:
    where, member = f"entry {entry.id}: $.extensions.{NAME}", entry.extensions[NAME]
    if not isinstance(member, dict):
        raise DataError(where, "must be an object with `scenario` and `rules`")
    check_keys(member, ("scenario", "rules"), where)
    return member


def list_needed(entry: Trajectory) -> list[Call]:
    """Return the ground-truth calls of an entry.

    Raises DataError if a call is malformed.
    """
    calls = []
    for number, text in enumerate(entry.turns[0].ground_truth):
        try:
            calls.append(parse_call(text))
        except MalformedCall as error:
            where = f"entry {entry.id}: $.turns[0].ground_truth[{number}]"
            raise DataError(where, str(error)) from None
    return calls


def list_gold(entry: Trajectory) -> Any:
    """Return the gold agent's script for an entry."""
    rules = rules_of(entry)
    acts = [GoldAct(call, call.name in rules.consent) for call in list_needed(entry)]
    tells = [describe_fact(fact) for fact in entry.turns[0].tells]
    return script(scenario_of(entry), acts, [*([rules.refusal] if rules.refusal else []), *tells])


def describe_fact(fact: Fact) -> str:
    """Return the text with which the gold agent states a required fact."""
    return str(fact).strip("'")


def read_steps(answers: RecordedAnswers, profile: Profile) -> list[Sequence[Call | MalformedCall]]:
    """Return the calls of each recorded step, including calls of ``SAY``."""
    decode = profile.replies.decoder(answers.mode)
    found: list[Sequence[Call | MalformedCall]] = []
    for step in answers.turns[0] if answers.turns else ():
        if isinstance(step, str) and answers.mode == "fc":
            found.append([Call(SAY, (), {"text": step})])
            continue
        with suppress(MalformedCall):
            if calls := [*decode(step)]:
                found.append(calls)
    return found


def _take(episode: TurnLoop, calls: Sequence[Call | MalformedCall]) -> None:
    spoken = [call for call in calls if isinstance(call, Call)]
    if spoken and spoken[0].name == SAY:
        results = tuple(episode.session.play(spoken))
        episode.converse(ExecutedStep(episode.turn, tuple(spoken), results))
    else:
        episode.act(calls)


def list_events(steps: Sequence[ExecutedStep]) -> Iterator[ConductEvent]:
    """Yield the texts of the agent and the user, and the successful calls of the agent."""
    for step in steps:
        first = step.calls[0]
        if isinstance(first, Call) and first.name == SAY:
            yield ConductEvent("agent", str(first.kwargs.get("text", "")))
            yield ConductEvent("user", str(step.results[0].text))
            continue
        for call, result in zip(step.calls, step.results, strict=False):
            if isinstance(call, Call) and result.error is None:
                yield ConductEvent("call", call.name, call)


def _with_answers(prepared: PreparedTrajectory, said: Sequence[str]) -> PreparedTrajectory:
    entry = prepared.trajectory
    (turn,) = entry.turns
    messages = (*turn.messages, *[Message("user", text) for text in said])
    heard = replace(entry, turns=(replace(turn, messages=messages),))
    scene = ReplayQueries(heard, prepared.template, prepared.truth)
    return prepared._replace(trajectory=heard, scene=scene)


def _find_failure(
    entry: Trajectory, rules: ConductRules, events: Sequence[ConductEvent], episode: TurnLoop
) -> Failure | None:
    said = "\n".join(each.text for each in events if each.side == "agent")
    missing = reader.list_unreported(entry.turns[0].tells, said)
    if missing:
        evidence = UnreportedInfoEvidence(tuple([describe_fact(fact) for fact in missing]))
        return Failure(Reason.NOT_COMMUNICATED, evidence)
    for call in list_unconsented(events, lambda call: call.name in rules.consent):
        evidence_ = CallEvidence(Reason.NO_CONSENT, str(call))
        return Failure(Reason.NO_CONSENT, evidence_)
    tools = episode.session.tools
    claim = find_false_claim(events, lambda call: call.name in tools and tools[call.name].writes)
    if claim is not None:
        return Failure(Reason.FALSE_CLAIM, CallEvidence(Reason.FALSE_CLAIM, claim))
    return None
