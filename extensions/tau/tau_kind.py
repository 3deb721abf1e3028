"""Entry kind for dialogues, judged by the state and by the calls and texts of both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from checkers.evidence import CallEvidence, StateEvidence, UnreportedInfoEvidence
from checkers.multi_turn_verdict import make_force_terminated_verdict
from checkers.profile import STRICT, Profile
from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.calls import Call
from envs.errors import MalformedCall
from extensions.tau.desk import Desk
from extensions.tau.dialogue import DialogueRecord
from extensions.tau.entries import GREETING, TaskEntry, list_answers, list_steps
from extensions.tau.judging import RewardParts, SimulationJudge
from extensions.tau.phone_steps import REQUESTS
from extensions.tau.scenarios import make_scenario
from extensions.tau.session import DeskSession
from extensions.tau.simulations import (
    DialogueMessage,
    MessageCall,
    RecordedReward,
    Simulation,
    StatementVerdict,
)
from extensions.tau.tasks import ServiceTask
from extensions.tau.tool_calls import call as execute
from extensions.tau.worlds import DESKS
from extensions.users.conduct import ConductEvent, find_false_claim, list_unconsented
from extensions.users.dialogue_episode import DialogueEpisode
from extensions.users.dialogue_kind import read_steps
from extensions.users.gold_agent import GoldAct, play, script
from extensions.users.record import UserRecord
from extensions.users.rules import RuleUser
from extensions.users.scenario import NAME
from runner.episodes.entry_kinds import EntryKind, JudgingResult, JudgingTerms, RecordedAnswers
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.episodes.script_traces import trace_recorded
from runner.episodes.turn_loop import TurnLoop
from runner.models.dialogue_user import SAY, User
from runner.records.episode_record import RecordedEpisode
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory


class DialogueKind(EntryKind):
    """Entry kind with a simulated user who answers the model."""

    is_single_turn = False

    def user(self, trajectory: Trajectory, trial: int = 0) -> User:
        """Return the rule-based user of a task."""
        assert isinstance(trajectory, TaskEntry)
        return RuleUser.opened(make_scenario(trajectory.task), GREETING, trial)

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Execute the calls of both sides and judge the dialogue."""
        entry, template = _parts(prepared)
        kept = answers.extensions.get("tau") if answers else None
        solo = isinstance(kept, DialogueRecord) and kept.solo
        if isinstance(kept, DialogueRecord):
            simulation = kept.simulation
        elif answers is None:
            simulation = play_truth(entry, template)
        else:
            simulation = replay_steps(entry, template, answers, terms.profile)
        judge = SimulationJudge(lambda _: template.fork().desk, solo=solo)
        desk, _ = judge.replay(entry.task, simulation)
        judged = judge.judge(entry.task, simulation, desk)
        verdict = make_verdict(entry, judged, list_needless(entry, simulation, desk))
        if terms.profile is STRICT and verdict.valid:
            truth = answers is None
            verdict = judge_strictly(entry, judged, simulation, verdict, is_truth=truth)
        if not terms.traced:
            return JudgingResult(verdict)
        session = template.fork()
        session.said, session.solo = list_answers(simulation.messages), solo
        steps = [list(list_steps(simulation))]
        ready, profile = prepared._replace(template=session), terms.profile
        played = trace_recorded(ready, steps, "fc", profile, None, terms.observe)
        # The agent is not offered ``SAY`` and the user's functions, but they occur in its turns.
        users = {SAY, *session.desk.USER_TOOLS}
        turns = tuple([turn._replace(offered=turn.offered | users) for turn in played.turns])
        return JudgingResult(verdict, trace=played._replace(turns=turns))

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedEpisode:
        """Return the dialogue, with remarks on the user's calls."""
        episode = super().examine(prepared, found, profile, recorded)
        functions = _parts(prepared)[1].desk.USER_TOOLS
        return DialogueEpisode(**vars(episode), user_functions=functions)

    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge a finished episode."""
        if not episode.terminated:
            return self.judge(prepared, answers, JudgingTerms(episode.profile, None)).verdict
        return make_force_terminated_verdict(len(prepared.trajectory.turns))


def _parts(prepared: PreparedTrajectory) -> tuple[TaskEntry, DeskSession]:
    entry, template = prepared.trajectory, prepared.template
    assert isinstance(entry, TaskEntry)
    assert isinstance(template, DeskSession)
    return entry, template


_TRANSFERRED = "You are being transferred to a human agent. Please hold on."


def play_truth(entry: TaskEntry, template: DeskSession) -> Simulation:
    """Return the dialogue of the gold agent with the rule-based user."""
    scenario, criteria = make_scenario(entry.task), entry.task.criteria
    user = RuleUser.opened(scenario, GREETING)
    acts = list_gold_acts(DESKS[entry.domain], entry.task)
    agent = script(scenario, acts, criteria.information if criteria else ())
    played = simulate(entry, template, play(agent, user, template.fork()), user.kept())
    granted = (
        tuple([StatementVerdict(text, True) for text in criteria.statements]) if criteria else ()
    )
    return played._replace(recorded=RecordedReward(1.0, statements=granted))


def list_gold_acts(desk: type[Desk], task: ServiceTask) -> list[GoldAct]:
    """Return the gold actions as acts of the agent."""
    found = []
    for each in (task.criteria.actions if task.criteria else None) or ():
        tool = desk.TOOLS.get(each.name)
        request = REQUESTS.get(each.name) if each.side == "user" else None
        if request is not None:
            request = request.format(**each.arguments)
        writes = tool is not None and tool.writes and each.side == "assistant"
        farewell = _TRANSFERRED if each.name == "transfer_to_human_agents" else None
        found.append(GoldAct(each.call, writes, request, farewell))
    return found


def replay_steps(
    entry: TaskEntry, template: DeskSession, answers: RecordedAnswers, profile: Profile
) -> Simulation:
    """Execute recorded steps; return the dialogue, including any recorded answers of the user."""
    return simulate(entry, template, read_steps(answers, profile), answers.extensions.get(NAME))


def simulate(
    entry: TaskEntry,
    template: DeskSession,
    steps: Sequence[Sequence[Call | MalformedCall]],
    user: Any = None,
) -> Simulation:
    """Convert steps to a dialogue; the user's answers come from ``user``, if given."""
    desk = template.fork().desk
    answers = list(user.answers) if isinstance(user, UserRecord) else []
    opening = [DialogueMessage(each.role, each.content) for each in entry.turns[0].messages]
    messages = [each for each in opening if each.role != "system"]
    for step in steps:
        said = [call for call in step if isinstance(call, Call) and call.name == SAY]
        messages += [DialogueMessage("assistant", str(each.kwargs.get("text"))) for each in said]
        for call in step:
            if isinstance(call, Call) and call.name != SAY:
                messages += _execute(desk, call, "user" if said else "assistant")
        if said and answers:
            messages.append(DialogueMessage("user", answers.pop(0)))
    end = "max_steps" if isinstance(user, UserRecord) and not user.stopped else "user_stop"
    return Simulation(
        id=entry.id,
        task_id=entry.task.id,
        trial=0,
        end=end,
        messages=tuple(messages),
        recorded=None,
        where=entry.id,
    )


def _execute(desk: Desk, call: Call, side: str) -> Iterator[DialogueMessage]:
    owner, _, name = call.name.rpartition(".")
    made = MessageCall("", name, dict(call.kwargs), owner or side)
    outcome = execute(desk, made.name, made.arguments, made.side)
    yield DialogueMessage(made.side, None, (made,))
    yield DialogueMessage("tool", outcome.text, (), made.side, outcome.failed)


def list_needless(entry: TaskEntry, simulation: Simulation, desk: Desk) -> tuple[str, ...]:
    """Return the agent's successful irreversible calls that are not gold actions."""
    actions = (entry.task.criteria.actions if entry.task.criteria else None) or ()
    found = []
    for made, result in simulation.exchanges():
        tool = desk.TOOLS.get(made.name)
        if tool is None or not tool.irreversible or result.failed:
            continue
        if not any((each.name, each.arguments) == (made.name, made.arguments) for each in actions):
            found.append(str(Call(made.name, (), dict(made.arguments))))
    return tuple(found)


def judge_strictly(
    entry: TaskEntry,
    judged: RewardParts,
    simulation: Simulation,
    verdict: Verdict,
    *,
    is_truth: bool,
) -> Verdict:
    """Return the strict verdict on an episode that passes under tau2's rules.

    The agent's messages must contain the required information, even if tau2's reward ignores it.
    Only whole words count. The agent must read at least one record, even if the task needs no
    action. In telecom, one side must also use the phone.
    """
    criteria, failure = entry.task.criteria, None
    texts = criteria.information if criteria else ()
    missing = tuple([each for each in texts if not _is_told(each, simulation)])
    if missing:
        failure = Failure(Reason.NOT_COMMUNICATED, UnreportedInfoEvidence(missing))
    elif judged.statements is not None and not all(judged.statements):
        failure = _explain(entry, "NL_ASSERTION", judged)
    elif not is_truth and (message := _find_omission(entry, simulation)):
        failure = Failure(Reason.MISSING_ACTION, CallEvidence(Reason.MISSING_ACTION, message))
    elif (found := find_misconduct(entry, simulation)) is not None:
        failure = Failure(found[0], CallEvidence(*found))
    if failure is None:
        return verdict
    return verdict._replace(valid=False, failure=failure, failed_turn=0, turns_passed=0)


def find_misconduct(entry: TaskEntry, simulation: Simulation) -> tuple[Reason, str] | None:
    """Return the first write call without consent, or the first false claim of an action.

    In airline and retail, every write call needs consent. Only dialogues with user messages are
    checked for consent.
    """
    tools = DESKS[entry.domain].TOOLS
    events = list(_list_events(simulation))

    def writes(call: Call) -> bool:
        return call.name in tools and tools[call.name].writes

    if entry.domain != "telecom" and any(each.side == "user" for each in events):
        for call in list_unconsented(events, writes):
            return Reason.NO_CONSENT, str(call)
    claim = find_false_claim(events, writes)
    return None if claim is None else (Reason.FALSE_CLAIM, claim)


def _list_events(simulation: Simulation) -> Iterator[ConductEvent]:
    waiting: list[MessageCall] = []
    for message in simulation.messages:
        if message.role == "tool":
            made = waiting.pop(0) if waiting else None
            if made is not None and not message.failed and made.side == "assistant":
                yield ConductEvent("call", made.name, Call(made.name, (), dict(made.arguments)))
            continue
        waiting += message.calls
        if message.text and not message.calls:
            yield ConductEvent("user" if message.role == "user" else "agent", message.text)


def _is_told(text: str, simulation: Simulation) -> bool:
    # 39.5 may be written as 39.50.
    zeros = "0*" if re.search(r"\.\d+$", text) else ""
    wanted = re.compile(rf"(?<![\w.]){re.escape(text.lower())}{zeros}(?!\w|\.\d*[1-9])")
    return any(map(wanted.search, simulation.agent_texts))


def _find_omission(entry: TaskEntry, simulation: Simulation) -> str | None:
    desk = DESKS[entry.domain]
    made = [call.name for call, result in simulation.exchanges() if not result.failed]
    reads = {n for n in desk.AGENT_TOOLS if n not in Desk.TOOLS and not desk.TOOLS[n].writes}
    if reads.isdisjoint(made):
        return "the agent read no record before it ended the dialogue"
    if desk.USER_TOOLS and {*desk.USER_TOOLS}.isdisjoint(made):
        return "neither side used the phone before the dialogue ended"
    return None


def make_verdict(entry: TaskEntry, judged: RewardParts, needless: tuple[str, ...]) -> Verdict:
    """Return the verdict; a failure names the first part of the reward basis that failed."""
    failure = None
    if not judged.basis:
        evidence = CallEvidence(Reason.ENDED_EARLY, "neither side finished the dialogue")
        failure = Failure(Reason.ENDED_EARLY, evidence)
    for name in judged.basis:
        if failure is None and name != "NONE" and not judged.part(name):
            failure = _explain(entry, name, judged)
    measures = {
        "db": judged.db,
        "env_assertion": all(judged.assertions),
        "action": all(judged.actions),
        "communicate": all(judged.information),
        "nl_assertion": None if judged.statements is None else all(judged.statements),
    }
    if failure is None:
        return Verdict(True, None, None, 1, 1, needless, measures=measures)
    return Verdict(False, failure, 0, 1, 0, needless, measures=measures)


def _explain(entry: TaskEntry, part: str, judged: RewardParts) -> Failure:
    criteria = entry.task.criteria
    assert criteria is not None
    if part == "DB":
        return Failure(Reason.WRONG_STATE, StateEvidence(lambda: judged.differences))
    if part == "COMMUNICATE":
        pairs = zip(criteria.information, judged.information, strict=True)
        missing = tuple([text for text, said in pairs if not said])
        return Failure(Reason.NOT_COMMUNICATED, UnreportedInfoEvidence(missing))
    reason, texts, flags = {
        "ENV_ASSERTION": (
            Reason.FAILED_ASSERTION,
            [f"{each.name} {dict(each.arguments)}" for each in criteria.assertions or ()],
            judged.assertions,
        ),
        "ACTION": (
            Reason.MISSING_ACTION,
            [f"{each.name} by the {each.side}" for each in criteria.actions or ()],
            judged.actions,
        ),
        "NL_ASSERTION": (
            Reason.FAILED_STATEMENT,
            list(criteria.statements),
            judged.statements or [False] * len(criteria.statements),
        ),
    }[part]
    wrong = [text for text, holds in zip(texts, flags, strict=True) if not holds]
    return Failure(reason, CallEvidence(reason, "; ".join(wrong)))


DIALOGUES = DialogueKind()
