from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from dataclasses import replace
from functools import cache

import pytest

from checkers.multi_turn_verdict import make_force_terminated_verdict
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.verdict import Verdict
from envs.backends.ticket import TicketAPI
from envs.calls import MAX_TEXT, parse_call
from runner.episodes.turn_loop import STEP_LIMIT
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.models.conversation import ConversationSettings
from runner.models.dialogue_user import UserAnswer, UserRequest
from runner.models.model_types import Reply, Request, RequestError, ToolCall, Usage, VerbatimParts
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox, own_documents
from runner.records.episode_record import ExtensionData, ResumableStep, StateChange, TurnEnd
from runner.records.json_codec import read, to_json_value
from tests.judging import run_recorded
from trajectories.dataset import load_embedded
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import retried_calls
from trajectories.schema import MULTI_TURN, Message, Turn

PROFILES = [BFCL, STRICT]
both_profiles = pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])
READ = "ticket_get_login_status()"
CREATE = "create_ticket(title='Dark screen')"


class Script:
    """Answers with replies in order and keeps what it was asked."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def __call__(self, request):
        """Answer a request."""
        self.requests.append(Request(deepcopy(list(request.messages)), request.tools))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return ModelAnswer(reply, len(self.requests))


def says(text=None, *calls, finish="stop"):
    """Return a reply."""
    return Reply(text, calls, None, finish, Usage(10, 2), 0.5, 0.25)


def acts(mode, *texts, finish="stop"):
    """Return a reply that makes calls."""
    if mode == "prompt":
        return says(f"[{', '.join(texts)}]", finish=finish)
    calls = [parse_call(text) for text in texts]
    made = [ToolCall(None, call.name, json.dumps(dict(call.kwargs))) for call in calls]
    return says(None, *made, finish=finish)


def truth(trajectory, mode):
    """Return the replies of a model that knows the ground truth."""
    replies = []
    for turn in trajectory.turns:
        replies += [acts(mode, *map(str, retried_calls(turn)))] if turn.ground_truth else []
        replies.append(says("Done."))
    return replies


@cache
def style(environments):
    """Return how models are talked to about some backends."""
    return ConversationSettings(Toolbox(own_documents(environments)), read_prompts(), "all")


def live(prepared, mode, profile, *replies, step_limit=STEP_LIMIT, tools=None):
    """Run a trajectory with scripted replies, all of which must be asked for."""
    ask = Script(*replies)
    tools = {} if tools is None else tools
    setup = EpisodeSetup(
        prepared=prepared,
        style=style(prepared.trajectory.environments),
        mode=mode,
        profile=profile,
        step_limit=step_limit,
        ask=ask,
        put_tools=tools.__setitem__,
    )
    run = asyncio.run(run_live(setup))
    assert set(tools) == {step.tools for step in run.steps if step.tools}
    assert ask.replies == []
    answered = ask.requests[: len(run.steps)] if run.outcome == "error" else ask.requests
    assert [step.request_messages for step in run.steps] == [
        len(request.messages) for request in answered
    ]
    for request in ask.requests:
        assert run.messages[: len(request.messages)] == request.messages
    return run


@pytest.fixture
def ready(dataset_of, help_desk):
    """Prepare the help desk."""
    return lambda profile: prepare(dataset_of(help_desk), help_desk, profile)


def ends(run):
    """Return why the turns ended."""
    assert [end.turn for end in run.turn_ends] == list(range(len(run.turn_ends)))
    return [end.why for end in run.turn_ends]


# The ground truth passes, and so it does when what was recorded is scored again


@pytest.mark.parametrize(
    ("start", "every"),
    [(3, 60), *(pytest.param(n, 20, marks=pytest.mark.slow) for n in range(20))],
)
def test_the_ground_truth_passes_in_both_modes_under_both_profiles(start, every):
    embedded = load_embedded(MULTI_TURN)
    for trajectory in [*embedded.trajectories.values()][start::every]:
        passes_in_both_modes_under_both_profiles(embedded, trajectory)


def passes_in_both_modes_under_both_profiles(embedded, trajectory):
    turns = len(trajectory.turns)
    for profile in PROFILES:
        prepared = prepare(embedded, trajectory, profile)
        for mode in ("fc", "prompt"):
            run = live(prepared, mode, profile, *truth(trajectory, mode))
            judged = run.verdict._replace(selected=None)
            assert judged == Verdict(True, None, None, turns, turns), trajectory.id
            assert run.verdict.selected.arguments == run.verdict.selected.needed
            assert ends(run) == ["answer"] * turns
            assert run_recorded(prepared, run.result, mode, profile) == run.verdict
            # A run is written as JSON lines.
            json.dumps(to_json_value([run.messages, run.steps, run.turn_ends, run.result]))


@both_profiles
@both_modes
def test_the_ground_truth_passes_one_call_per_step(ready, help_desk, mode, profile):
    replies = [
        says("Done.") if text is None else acts(mode, text)
        for turn in help_desk.turns
        for text in (*turn.ground_truth, None)
    ]
    assert live(ready(profile), mode, profile, *replies).verdict.valid


@both_profiles
@both_modes
def test_the_ground_truth_fails_without_a_call(ready, help_desk, mode, profile):
    replies = truth(help_desk, mode)
    run = live(ready(profile), mode, profile, *replies[1:])
    assert (run.verdict.valid, run.verdict.failure.reason) == (False, Reason.EMPTY_TURN)
    assert run_recorded(ready(profile), run.result, mode, profile) == run.verdict


@both_profiles
@both_modes
def test_a_prepared_trajectory_is_as_it_was_after_a_run(ready, help_desk, mode, profile):
    prepared = ready(profile)
    before = prepared.template.snapshot().to_json()
    verdicts = [live(prepared, mode, profile, *truth(help_desk, mode)).verdict for _ in range(2)]
    assert all(verdict.valid for verdict in verdicts)
    assert prepared.template.snapshot().to_json() == before


# What the model is shown


def test_the_messages_of_an_episode_with_tool_calls(ready, help_desk):
    run = live(ready(STRICT), "fc", STRICT, *truth(help_desk, "fc"))
    roles = [m["role"] for m in run.messages]
    assert roles == [
        *("user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
        *("user", "assistant", "tool", "tool", "assistant"),
    ]
    assert run.messages[6]["content"] == read_prompts().handover_fc
    [close, get] = run.messages[7]["tool_calls"]
    assert [c["function"]["name"] for c in (close, get)] == ["close_ticket", "get_ticket"]
    answers = run.messages[8:10]
    assert [m["tool_call_id"] for m in answers] == [close["id"], get["id"]]
    assert json.loads(answers[1]["content"])["status"] == "Closed"


def test_the_messages_of_an_episode_with_calls_in_text(ready, help_desk):
    run = live(ready(STRICT), "prompt", STRICT, *truth(help_desk, "prompt"))
    roles = [m["role"] for m in run.messages]
    assert roles == ["system", *["user", "assistant"] * 5]
    system, _, _, results, *_ = (m["content"] for m in run.messages)
    assert '"create_ticket"' in system
    assert '"close_ticket"' not in system
    assert "create_ticket(title='Dark screen')" in results
    assert '"close_ticket"' in run.messages[7]["content"]
    assert {step.tools for step in run.steps} == {None}


@both_profiles
def test_the_tools_of_every_request_are_kept_once(ready, help_desk, profile):
    tools = {}
    run = live(ready(profile), "fc", profile, *truth(help_desk, "fc"), tools=tools)
    first, *_, last = digests = [step.tools for step in run.steps]
    assert digests == [first] * 3 + [last] * 2
    assert set(tools) == {first, last}
    early, late = ([tool["function"]["name"] for tool in tools[digest]] for digest in (first, last))
    assert late == [*early, "close_ticket"]
    assert set(late) == set(TicketAPI.TOOLS)


# The record of a step


def test_the_record_of_a_step_with_a_tool_call(ready):
    made = ToolCall("x", "create_ticket", {"title": "A", "priority": 3})
    reply = Reply("Well.", (made,), "Hm.", "tool_calls", Usage(10, 2, 5, 1, 3), 0.5, 0.25)
    run = live(ready(STRICT), "fc", STRICT, reply, says("Done."), says("No."), says("No."))
    [ticket] = [c.after for c in run.steps[0].changes if "queue" in c.path]
    assert ticket["title"] == "A"
    assert to_json_value(run.steps[0]) == {
        "turn": 0,
        "request_messages": 1,
        "tools": run.steps[1].tools,
        "reply": {
            "text": "Well.",
            "tool_calls": [
                {"id": "x", "name": "create_ticket", "arguments": {"title": "A", "priority": 3}}
            ],
            "reasoning": "Hm.",
            "finish_reason": "tool_calls",
        },
        "calls": ["create_ticket(title='A', priority=3)"],
        "results": [json.dumps(ticket)],
        "changes": [
            {"path": "TicketAPI.ticket_queue[1]", "after": ticket},
            {"path": "TicketAPI.ticket_counter", "before": 2, "after": 3},
        ],
        "usage": {"prompt": 10, "completion": 2, "cached": 5, "reasoning": 1, "written": 3},
        "latency": 0.5,
        "cost": 0.25,
        "attempts": 1,
    }


def test_the_record_of_a_step_without_calls(ready):
    replies = [acts("prompt", CREATE), says("Done."), says("No."), says("No.")]
    answer = live(ready(STRICT), "prompt", STRICT, *replies).steps[1]
    assert [answer.calls, answer.results, answer.changes] == [[], [], []]
    assert (answer.turn, answer.request_messages, answer.attempts) == (0, 4, 2)
    assert answer.reply.text == "Done."


@both_modes
def test_changes_are_those_of_the_step_and_not_of_the_episode(ready, mode):
    steps = [
        acts(mode, "edit_ticket(ticket_id=1, updates={'priority': 5})"),
        acts(mode, READ, "get_ticket(ticket_id=9)"),
        acts(mode, "edit_ticket(ticket_id=1, updates={'priority': 4})"),
    ]
    run = live(ready(STRICT), mode, STRICT, *steps, *[says("Done.")] * 3)
    path = "TicketAPI.ticket_queue[0].priority"
    assert [step.changes for step in run.steps[:4]] == [
        [StateChange(path, 2, 5)],
        [],
        [StateChange(path, 5, 4)],
        [],
    ]


@both_profiles
@both_modes
def test_the_result_is_in_the_form_of_the_reference_s_files(ready, help_desk, mode, profile):
    run = live(ready(profile), mode, profile, *truth(help_desk, mode))
    if mode == "prompt":
        closing = "[close_ticket(ticket_id=1), get_ticket(ticket_id=1)]"
        assert run.result == [[f"[{CREATE}]", "Done."], ["Done."], [closing, "Done."]]
        return
    ticket = '{"ticket_id": 1}'
    assert run.result == [
        [[{"create_ticket": '{"title": "Dark screen"}'}], "Done."],
        ["Done."],
        [[{"close_ticket": ticket}, {"get_ticket": ticket}], "Done."],
    ]


def test_a_name_that_was_made_legal_is_the_real_one_wherever_it_is_recorded(ready):
    documents = own_documents(["TicketAPI"])
    box = Toolbox([*documents, {**documents[0], "name": "get.ticket"}])
    ask = Script(says(None, ToolCall("a", "get_ticket_2", "{}")), *[says("Done.")] * 3)
    setup = EpisodeSetup(
        prepared=ready(BFCL),
        style=ConversationSettings(box, read_prompts(), "all"),
        mode="fc",
        profile=BFCL,
        step_limit=STEP_LIMIT,
        ask=ask,
        put_tools=lambda *_: None,
    )
    run = asyncio.run(run_live(setup))
    assert run.result[0][0] == [{"get.ticket": "{}"}]
    assert run.steps[0].calls == ["get.ticket()"]
    assert run.steps[0].reply.tool_calls[0].name == "get_ticket_2"
    assert run.messages[1]["tool_calls"][0]["function"]["name"] == "get_ticket_2"


# Why a turn ended

CUT = "The output limit came."


@pytest.mark.parametrize(
    ("mode", "profile", "reply", "why", "detail"),
    [
        ("fc", BFCL, says("I cannot."), "answer", None),
        ("fc", STRICT, says("I cannot."), "answer", None),
        ("prompt", BFCL, says("I cannot."), "answer", None),
        ("prompt", STRICT, says("I cannot."), "answer", None),
        ("prompt", BFCL, says("Is it [1, 2] or f(x)?"), "answer", None),
        ("fc", BFCL, says(None), "empty", None),
        ("fc", STRICT, says(" \n"), "empty", None),
        ("prompt", BFCL, says(""), "empty", None),
        ("prompt", STRICT, says(None), "empty", None),
        ("fc", STRICT, says(CUT, finish="length"), "cut_off", None),
        ("prompt", STRICT, says(CUT, finish="length"), "cut_off", None),
        ("prompt", STRICT, says(None, finish="length"), "cut_off", None),
        ("prompt", BFCL, says("[get_tick", finish="length"), "cut_off", "not a call."),
        (
            "fc",
            BFCL,
            says(None, ToolCall("a", "get_ticket", '{"ticket_id": '), finish="length"),
            "cut_off",
            "The arguments of get_ticket are not valid JSON: ",
        ),
        (
            "fc",
            BFCL,
            says("So.", ToolCall("a", "get_ticket", '{"ticket_id": ')),
            "unreadable",
            "The arguments of get_ticket are not valid JSON: Expecting value: line 1 column 15",
        ),
        (
            "fc",
            BFCL,
            says(None, ToolCall("a", "get_ticket", [1])),
            "unreadable",
            "The arguments of get_ticket are not a JSON object.",
        ),
        ("fc", BFCL, says(f"[{READ}]"), "unreadable", "The step has no tool calls."),
        ("prompt", BFCL, says("No. " * (MAX_TEXT // 4 + 1)), "answer", f"longer than {MAX_TEXT}"),
        ("prompt", BFCL, says("[f(x=)]"), "unreadable", "'[f(x=)]' is not valid Python"),
        ("prompt", BFCL, says(f"Now: [{READ}]"), "unreadable", "is not valid Python"),
    ],
)
def test_why_a_turn_ended(ready, mode, profile, reply, why, detail):
    run = live(ready(profile), mode, profile, reply, says("No."), says("No."))
    assert ends(run) == [why, "answer", "answer"]
    assert run.steps[0].calls == []
    found = run.turn_ends[0].detail
    assert detail in found if detail else found is None
    assert run_recorded(ready(profile), run.result, mode, profile) == run.verdict


@both_profiles
@both_modes
def test_calls_of_an_answer_that_says_it_was_cut_off_are_made(ready, mode, profile):
    made = acts(mode, CREATE, finish="length")
    run = live(ready(profile), mode, profile, made, *[says("Done.")] * 3)
    assert run.steps[0].calls == [CREATE]
    assert ends(run) == ["answer"] * 3


@both_modes
def test_one_step_more_than_the_limit_is_executed_in_bfcl_and_ends_the_episode(ready, mode):
    run = live(ready(BFCL), mode, BFCL, *[acts(mode, CREATE)] * 3, step_limit=2)
    assert run.turn_ends == [TurnEnd(0, "step_limit", None)]
    judged = run.verdict._replace(selected=None)
    assert judged == make_force_terminated_verdict(3)._replace(irreversible=(CREATE, CREATE))
    assert [len(step.results) for step in run.steps] == [1, 1, 1]
    assert run.messages[-1]["role"] == ("tool" if mode == "fc" else "user")
    assert run_recorded(ready(BFCL), run.result, mode, BFCL) == run.verdict


@both_modes
def test_one_step_more_than_the_limit_is_not_executed_in_strict(ready, mode):
    run = live(ready(STRICT), mode, STRICT, *[acts(mode, CREATE)] * 3, step_limit=2)
    assert run.turn_ends == [TurnEnd(0, "step_limit", None)]
    judged = run.verdict._replace(selected=None)
    assert judged == make_force_terminated_verdict(3)._replace(irreversible=(CREATE,))
    assert [len(step.results) for step in run.steps] == [1, 1, 0]
    assert run.steps[2].calls == [CREATE]
    assert run.steps[2].changes == []
    assert run_recorded(ready(STRICT), run.result, mode, STRICT, 2) == run.verdict
    asked = [c["id"] for m in run.messages for c in m.get("tool_calls", ())]
    assert [m["tool_call_id"] for m in run.messages if m["role"] == "tool"] == asked


@both_profiles
@both_modes
def test_the_step_limit_in_the_last_turn_is_scored_alike_again(ready, help_desk, mode, profile):
    replies = truth(help_desk, mode)[:-1] + [acts(mode, READ)] * STEP_LIMIT
    run = live(ready(profile), mode, profile, *replies)
    assert ends(run) == ["answer", "answer", "step_limit"]
    assert run.verdict.valid == (profile is BFCL)
    assert run_recorded(ready(profile), run.result, mode, profile) == run.verdict


# What models do wrong


@both_modes
def test_a_function_that_is_not_offered_yet_is_unknown_in_strict(ready, mode):
    early = acts(mode, "close_ticket(ticket_id=1)")
    run = live(ready(STRICT), mode, STRICT, early, *[says("Done.")] * 3)
    [result] = run.steps[0].results
    assert "There is no function 'close_ticket'" in json.loads(result)["error"]
    assert run.steps[0].changes == []
    assert run_recorded(ready(STRICT), run.result, mode, STRICT) == run.verdict


@both_modes
def test_a_function_that_is_not_offered_yet_works_in_bfcl(ready, mode):
    early = acts(mode, "close_ticket(ticket_id=1)")
    run = live(ready(BFCL), mode, BFCL, early, *[says("Done.")] * 3)
    assert run.steps[0].changes != []
    assert run_recorded(ready(BFCL), run.result, mode, BFCL) == run.verdict


@both_profiles
@both_modes
def test_a_function_that_there_is_not_is_an_error_result(ready, mode, profile):
    run = live(ready(profile), mode, profile, acts(mode, "nonsense()"), *[says("Done.")] * 3)
    [result] = run.steps[0].results
    assert "There is no function 'nonsense'" in json.loads(result)["error"]
    assert run_recorded(ready(profile), run.result, mode, profile) == run.verdict


GOOD_AND_BAD = says(
    None,
    ToolCall("a", "create_ticket", '{"title": "A"}'),
    ToolCall("b", "get_ticket", '{"ticket_id": '),
)


def test_arguments_that_are_no_json_end_the_turn_in_bfcl(ready):
    run = live(ready(BFCL), "fc", BFCL, GOOD_AND_BAD, says("No."), says("No."))
    assert run.steps[0].calls == run.steps[0].results == run.steps[0].changes == []
    assert ends(run)[0] == "unreadable"
    _, _, *answers, said, _, _, _ = run.messages
    assert [m["tool_call_id"] for m in answers] == ["a", "b"]
    assert all("not valid JSON" in json.loads(m["content"])["error"] for m in answers)
    assert said == {"role": "user", "content": "Close the printer ticket."}
    assert run_recorded(ready(BFCL), run.result, "fc", BFCL) == run.verdict


def test_arguments_that_are_no_json_are_answered_in_strict_and_the_others_are_used(ready):
    run = live(ready(STRICT), "fc", STRICT, GOOD_AND_BAD, *[says("Done.")] * 3)
    good, bad = run.steps[0].results
    assert json.loads(good)["title"] == "A"
    assert "not valid JSON" in json.loads(bad)["error"]
    assert run.steps[0].calls[1].startswith("(unreadable: The arguments of get_ticket")
    assert [m["content"] for m in run.messages[2:4]] == [good, bad]
    assert [m["tool_call_id"] for m in run.messages[2:4]] == ["a", "b"]
    assert ends(run) == ["answer"] * 3
    assert run_recorded(ready(STRICT), run.result, "fc", STRICT) == run.verdict


def test_a_text_that_cannot_be_read_is_answered_in_strict_and_can_be_mended(ready, help_desk):
    broken = says("[create_ticket(title=Dark)]")
    run = live(ready(STRICT), "prompt", STRICT, broken, *truth(help_desk, "prompt"))
    [shown] = run.steps[0].calls
    assert shown.startswith("(unreadable: 'Dark' is not a literal")
    assert "put strings between quotes" in run.messages[3]["content"]
    assert '"(unreadable)"' in run.messages[3]["content"]
    assert run.verdict.valid
    assert run_recorded(ready(STRICT), run.result, "prompt", STRICT) == run.verdict


def test_unreadable_answers_without_end_run_into_the_step_limit_in_strict(ready):
    run = live(ready(STRICT), "prompt", STRICT, *[says("[f(x=)]")] * 3, step_limit=2)
    assert ends(run) == ["step_limit"]
    assert run_recorded(ready(STRICT), run.result, "prompt", STRICT, 2) == run.verdict


@both_profiles
def test_a_prompting_model_s_tool_calls_are_not_made(ready, profile):
    odd = says("I cannot.", ToolCall("a", "create_ticket", "{}"))
    run = live(ready(profile), "prompt", profile, odd, says("No."), says("No."))
    assert run.steps[0].calls == []
    assert not any("tool_calls" in message for message in run.messages)


@both_profiles
def test_tool_calls_beside_text_are_made(ready, profile):
    both = says("Let me see.", ToolCall("a", "get_ticket", {"ticket_id": 1}))
    run = live(ready(profile), "fc", profile, both, *[says("Done.")] * 3)
    assert run.steps[0].calls == ["get_ticket(ticket_id=1)"]
    assert run.messages[1]["content"] == "Let me see."
    assert run.result[0][0] == [{"get_ticket": {"ticket_id": 1}}]
    assert run_recorded(ready(profile), run.result, "fc", profile) == run.verdict


@both_profiles
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "create_ticket", "arguments": {}}\n</tool_call>',
        '{"name": "create_ticket", "parameters": {"title": "Dark screen"}}',
        CREATE,
    ],
)
def test_calls_that_the_server_left_in_the_text_are_no_answer(ready, profile, text):
    run = live(ready(profile), "fc", profile, says(text), *[says("Done.")] * 2)
    assert ends(run) == ["unreadable", "answer", "answer"]
    assert run.turn_ends[0].detail
    assert not run.verdict.valid


# What is not the model's fault


@both_modes
def test_what_asking_raises_ends_the_episode(ready, mode):
    run = live(ready(STRICT), mode, STRICT, acts(mode, READ), RequestError("too long"))
    assert (run.outcome, run.error, run.verdict, run.result) == ("error", "too long", None, None)
    [step] = run.steps
    assert step.calls == [READ]
    assert len(run.messages) == step.request_messages + 2


def test_a_bug_in_a_backend_ends_the_episode(ready, monkeypatch):
    prepared = ready(STRICT)

    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(TicketAPI, "_find", broken)
    run = live(prepared, "fc", STRICT, acts("fc", "get_ticket(ticket_id=1)"))
    assert run.outcome == "error"
    assert run.error.startswith("TicketAPI.get_ticket(ticket_id=1) raised")
    assert [step.calls for step in run.steps] == [[]]


@both_modes
def test_a_system_message_and_several_messages_of_a_turn_are_put_to_the_model(
    dataset_of, help_desk, mode
):
    said = (Message("system", "Be brief."), Message("user", "A."), Message("user", "B."))
    odd = replace(help_desk, turns=(Turn(said, ()),))
    prepared = prepare(dataset_of(odd), odd, STRICT)
    run = live(prepared, mode, STRICT, says("Done."))
    roles = [message["role"] for message in run.messages]
    assert roles == ["system", "user", "user", "assistant"]
    assert run.messages[0]["content"].endswith("Be brief.")
    assert run.verdict.valid


# Going on with an episode of an earlier life

THOUGHT = VerbatimParts(
    {"reasoning_content": "", "thinking": [{"signature": "S"}]}, ({"extra_content": {"s": "T"}},)
)
PARTS = VerbatimParts({"content": [{"type": "thinking", "thinking": "", "signature": "S"}]})


def remembered(run):
    """Return the answers of an episode as they come back from a file."""
    kept = json.loads(json.dumps([to_json_value(step) for step in run.answered]))
    return [read(ResumableStep, step, "a file") for step in kept]


def gone_on(prepared, mode, course, *replies, user=None):
    """Go on from a course with scripted replies; return the episode and what was kept of it."""
    ask, kept = Script(*replies), []

    def put_step(step, message):
        kept.append((step, message))

    setup = EpisodeSetup(
        prepared=prepared,
        style=style(prepared.trajectory.environments)._replace(user=user),
        mode=mode,
        profile=STRICT,
        step_limit=STEP_LIMIT,
        ask=ask,
        put_tools=lambda *_: None,
        put_step=put_step,
        course=course,
    )
    run = asyncio.run(run_live(setup))
    assert ask.replies == []
    return run, kept


def timed(run):
    """Return a record as it is written, without what tells one life from two."""
    timeless = [step._replace(attempts=1) for step in run.steps]
    return json.dumps(run._replace(steps=timeless).to_json())


@both_modes
@pytest.mark.parametrize("thought", [None, THOUGHT, PARTS], ids=["none", "members", "content"])
def test_an_episode_goes_on_from_any_answer_as_if_nothing_had_happened(
    ready, help_desk, mode, thought
):
    replies = [reply._replace(verbatim=thought) for reply in truth(help_desk, mode)]
    whole, kept = gone_on(ready(STRICT), mode, (), *replies)
    assert whole.outcome == "passed"
    assert [step for step, _ in kept] == whole.steps
    for known in range(len(replies) + 1):
        course = remembered(whole)[:known]
        run, kept = gone_on(ready(STRICT), mode, course, *replies[known:])
        assert timed(run) == timed(whole)
        assert [step for step, _ in kept] == run.steps[known:]
        assert [step.attempts for step in run.steps[:known]] == [
            step.attempts for step in whole.steps[:known]
        ]


class NoData(ExtensionData):
    """Nothing that an extension keeps."""


class PlayedUser:
    """A user whose every answer is asked for and ends the turn."""

    extension = "played"

    def act(self, text, done):
        reply = yield UserRequest([{"role": "user", "content": text}], None)
        return UserAnswer(reply.text, stops=True)

    def remember(self, made):
        """Keep nothing."""

    def kept(self):
        return NoData()

    def fork(self):
        return self


def test_recorded_answers_of_a_user_are_not_asked_for_again(ready, help_desk):
    replies, asked = [], [0]
    for reply in truth(help_desk, "fc"):
        answers = [] if reply.tool_calls else [says(f"Thanks for {len(replies)}.")]
        replies += [reply, *answers]
        asked.append(len(replies))
    whole, _ = gone_on(ready(STRICT), "fc", (), *replies, user=PlayedUser())
    for known, count in enumerate(asked):
        course = remembered(whole)[:known]
        run, _ = gone_on(ready(STRICT), "fc", course, *replies[count:], user=PlayedUser())
        assert run.messages == whole.messages


@pytest.mark.parametrize("place", [0, 2])
def test_answers_that_lead_elsewhere_today_are_asked_for_again(ready, help_desk, place):
    replies = truth(help_desk, "fc")
    whole, _ = gone_on(ready(STRICT), "fc", (), *replies)
    course = remembered(whole)
    other = course[place].step._replace(results=["another result"])
    course[place] = course[place]._replace(step=other)
    run, kept = gone_on(ready(STRICT), "fc", course, *replies[place:])
    assert timed(run) == timed(whole)
    assert len(kept) == len(replies) - place


def test_a_gap_in_what_is_known_is_asked_for_again(ready, help_desk):
    replies = truth(help_desk, "fc")
    whole, _ = gone_on(ready(STRICT), "fc", (), *replies)
    course = remembered(whole)
    del course[1]
    assert timed(gone_on(ready(STRICT), "fc", course, *replies[1:])[0]) == timed(whole)


def test_an_episode_begins_anew_where_the_provider_does_not_go_on(ready, help_desk):
    replies = truth(help_desk, "fc")
    whole, _ = gone_on(ready(STRICT), "fc", (), *replies)
    course = remembered(whole)[:2]
    refused = RequestError("unknown signature")
    run, kept = gone_on(ready(STRICT), "fc", course, refused, *replies)
    assert timed(run) == timed(whole)
    assert len(kept) == len(replies)
    # Only a refusal begins an episode anew.
    too_many = RequestError("too many requests", "rate_limit")
    run, _ = gone_on(ready(STRICT), "fc", course, too_many)
    assert (run.outcome, run.error, len(run.steps)) == ("error", "too many requests", 2)
    # What is refused later is that request's error.
    run, _ = gone_on(ready(STRICT), "fc", course, replies[2], RequestError("too long"))
    assert (run.outcome, run.error, len(run.steps)) == ("error", "too long", 3)


def test_an_episode_that_a_bug_ended_goes_on_once_it_is_mended(ready, monkeypatch, help_desk):
    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    prepared = ready(STRICT)
    replies = [acts("fc", "get_ticket(ticket_id=1)"), *truth(help_desk, "fc")]
    with monkeypatch.context() as patched:
        patched.setattr(TicketAPI, "_find", broken)
        lost, _ = gone_on(prepared, "fc", (), replies[0])
        again, _ = gone_on(prepared, "fc", remembered(lost))
    assert (lost.outcome, len(lost.steps)) == ("error", 1)
    assert timed(again) == timed(lost)
    whole, _ = gone_on(prepared, "fc", (), *replies)
    run, _ = gone_on(prepared, "fc", remembered(lost), *replies)
    assert timed(run) == timed(whole)
