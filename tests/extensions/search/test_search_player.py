from __future__ import annotations

import asyncio
import json
from functools import partial

import pytest

from checkers.profile import STRICT
from envs.backends.ticket import TicketAPI
from envs.errors import DataError
from extensions.search.record import search_of
from extensions.search.search import SearchLimits
from extensions.search.search_player import SearchPlayer
from runner.live.episode_player import EpisodeSetup, ModelAnswer, run_live
from runner.models.conversation import ConversationSettings
from runner.models.model_types import ModelError, Reply, RequestError, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox, own_documents
from runner.records.episode_record import EpisodeRecord, ResumableStep, TurnEnd
from runner.records.json_codec import read, to_json_value
from tests.extensions.search.test_search import LAST, RIGHT, UP, WRONG, says
from trajectories.prepared_trajectory import prepare

COURSE = [WRONG, UP, RIGHT, "Done.", "I cannot.", LAST, "Done."]
"""One branch is given up; what stands passes."""
LIMITS = SearchLimits()
both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])


class Asked:
    """Answers with replies in order, and keeps what is written down of them."""

    def __init__(self, mode, *replies):
        self.mode = mode
        self.replies = list(replies)
        self.kept = []
        self.tools = set()

    async def ask(self, _request):
        """Answer a request."""
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Reply):
            return ModelAnswer(reply, 1)
        said = says(self.mode, *reply) if isinstance(reply, list) else says(self.mode, reply)
        return ModelAnswer(said, 1)


def finishes(kind, answer=None):
    """Return an answer that calls finish."""
    given = {"return_type": kind} | ({} if answer is None else {"final_answer": answer})
    call = ToolCall(None, "finish", json.dumps(given))
    return Reply(None, (call,), None, "tool_calls", Usage(), 0.0)


def searched(dataset_of, trajectory, asked, course=(), limits=LIMITS, *, finish=False, ready=None):
    """Search a trajectory; every scripted reply must be asked for."""
    prepared = ready or prepare(dataset_of(trajectory), trajectory, STRICT)
    style = ConversationSettings(
        Toolbox(own_documents(trajectory.environments)), read_prompts(), "all"
    )

    def put_step(step, message):
        asked.kept.append(ResumableStep(trajectory.id, 0, step, message))

    record = asyncio.run(
        run_live(
            EpisodeSetup(
                prepared=prepared,
                style=style,
                mode=asked.mode,
                profile=STRICT,
                step_limit=20,
                ask=asked.ask,
                put_tools=lambda digest, _: asked.tools.add(digest),
                put_step=put_step,
                course=course,
            ),
            partial(SearchPlayer, limits, finish),
        )
    )
    assert asked.replies == []
    return record


def as_read(value, kind):
    """Return a record as it comes back from a file."""
    return read(kind, json.loads(json.dumps(to_json_value(value))), "a file")


def became(record):
    """Return of each answer after which it came, and what became of it."""
    return [(tried.parent, tried.became) for tried in search_of(record).tree]


@both_modes
def test_the_record_is_of_the_branch_that_stands_and_the_tree_has_the_rest(
    dataset_of, help_desk, mode
):
    asked = Asked(mode, *COURSE)
    record = searched(dataset_of, help_desk, asked)
    assert record.outcome == "passed"
    assert [step.calls for step in record.steps] == [[RIGHT], [], [], LAST, []]
    assert [end.why for end in record.turn_ends] == ["answer"] * 3
    assert became(record) == [
        *[(None, "undone"), (0, "given_up"), (None, "stands"), (2, "stands")],
        *[(3, "stands"), (4, "stands"), (5, "stands")],
    ]
    search = search_of(record)
    assert (search.requests, search.steps, search.undone, search.exhausted) == (7, 3, 1, False)
    assert [step.asked for step in record.requests] == [*range(7)]
    assert search.tree[0].step.calls == [WRONG]
    assert next(change.path for change in search.tree[0].step.changes).startswith("TicketAPI")
    assert {step.tools for step in record.requests} - {None} == asked.tools
    assert "Bright" not in json.dumps(record.messages)


@both_modes
def test_it_is_read_as_it_was_written(dataset_of, help_desk, mode):
    record = searched(dataset_of, help_desk, Asked(mode, *COURSE))
    again = EpisodeRecord.from_json(json.loads(json.dumps(record.to_json())), "a file")
    assert json.dumps(again.to_json()) == json.dumps(record.to_json())
    assert [to_json_value(each) for each in again.answered] == [
        to_json_value(each) for each in record.answered
    ]
    assert len(again.answered) == len(COURSE)


@both_modes
def test_a_search_goes_on_from_any_answer_as_if_nothing_had_happened(dataset_of, help_desk, mode):
    whole = searched(dataset_of, help_desk, Asked(mode, *COURSE))
    for known in range(len(COURSE) + 1):
        course = [as_read(each, ResumableStep) for each in whole.answered[:known]]
        asked = Asked(mode, *COURSE[known:])
        record = searched(dataset_of, help_desk, asked, course)
        assert json.dumps(record.to_json()) == json.dumps(whole.to_json())
        assert [each.place for each in asked.kept] == [*range(known, len(COURSE))]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_answers_that_lead_elsewhere_today_are_asked_for_again(dataset_of, help_desk, place):
    whole = searched(dataset_of, help_desk, Asked("fc", *COURSE))
    course = list(whole.answered)
    other = course[place].step._replace(calls=["another()"], results=["another result"])
    course[place] = course[place]._replace(step=other)
    record = searched(dataset_of, help_desk, Asked("fc", *COURSE[place:]), course)
    assert json.dumps(record.to_json()) == json.dumps(whole.to_json())


def test_an_error_leaves_the_branch_that_it_was_in_and_all_others(dataset_of, help_desk):
    asked = Asked("fc", WRONG, UP, RIGHT, ModelError("gone"))
    record = searched(dataset_of, help_desk, asked)
    assert (record.outcome, record.error) == ("error", "gone")
    assert became(record) == [(None, "undone"), (0, "given_up"), (None, "stands")]
    assert [step.calls for step in record.steps] == [[RIGHT]]
    course = [as_read(each, ResumableStep) for each in record.answered]
    assert searched(dataset_of, help_desk, Asked("fc", *COURSE[3:]), course).outcome == "passed"


def test_a_search_begins_anew_where_the_provider_does_not_go_on(dataset_of, help_desk):
    whole = searched(dataset_of, help_desk, Asked("fc", *COURSE))
    asked = Asked("fc", RequestError("unknown signature"), *COURSE)
    record = searched(dataset_of, help_desk, asked, whole.answered[:2])
    assert json.dumps(record.to_json()) == json.dumps(whole.to_json())


def test_what_the_model_does_so_that_no_answer_comes_fails_it(dataset_of, help_desk):
    asked = Asked("fc", RIGHT, RequestError("too long", kind="context_overflow"))
    record = searched(dataset_of, help_desk, asked)
    assert (record.outcome, record.fault.kind) == ("failed", "context_overflow")


def test_a_bug_is_an_error_with_the_answer_that_met_it(dataset_of, help_desk, monkeypatch):
    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    ready, asked = prepare(dataset_of(help_desk), help_desk, STRICT), Asked("fc", LAST)
    with monkeypatch.context() as patched:
        patched.setattr(TicketAPI, "_find", broken)
        record = searched(dataset_of, help_desk, asked, ready=ready)
    assert record.outcome == "error"
    assert [tried.became for tried in search_of(record).tree] == ["undone"]
    assert search_of(record).tree[0].step.calls == []


@pytest.mark.parametrize(
    ("limits", "replies", "ends"),
    [
        (SearchLimits(model_calls=1), [RIGHT], ["exhausted"]),
        (SearchLimits(nodes=1), [RIGHT], ["exhausted"]),
        (SearchLimits(children=1), [WRONG, UP, "Done.", "I cannot.", LAST, "Done."], ["answer"]),
        (LIMITS, [UP, "I cannot.", LAST, "Done."], ["give_up"]),
    ],
)
def test_why_a_turn_ended_is_told(dataset_of, help_desk, limits, replies, ends):
    record = searched(dataset_of, help_desk, Asked("fc", *replies), limits=limits)
    assert [end.why for end in record.turn_ends][:1] == ends
    assert len(record.turn_ends) == 3
    assert search_of(record).exhausted is (ends == ["exhausted"])


def test_finish_says_the_answer_and_is_no_call_of_the_episode(dataset_of, help_desk):
    replies = [RIGHT, finishes("give_answer", "Noted."), finishes("give_answer"), LAST, "Done."]
    record = searched(dataset_of, help_desk, Asked("fc", *replies), finish=True)
    assert record.outcome == "passed"
    assert record.result[0] == [[{"create_ticket": {"title": "Dark screen"}}], "Noted."]
    assert [end.why for end in record.turn_ends] == ["answer", "empty", "answer"]
    assert record.steps[1].reply.tool_calls[0].name == "finish"
    assert all(call["function"]["name"] != "finish" for m in record.messages
               for call in m.get("tool_calls", ()))  # fmt: skip
    course = [as_read(each, ResumableStep) for each in record.answered]
    again = searched(dataset_of, help_desk, Asked("fc"), course, finish=True)
    assert json.dumps(again.to_json()) == json.dumps(record.to_json())


def test_finish_gives_a_branch_up(dataset_of, help_desk):
    replies = [WRONG, finishes("give_up_and_restart"), RIGHT, "Done.", "I cannot.", LAST, "Done."]
    record = searched(dataset_of, help_desk, Asked("fc", *replies), finish=True)
    assert record.outcome == "passed"
    assert became(record)[:2] == [(None, "undone"), (0, "given_up")]


def test_without_undo_giving_up_ends_the_turn_as_it_stands(dataset_of, help_desk):
    replies = [RIGHT, finishes("give_up"), "I cannot.", LAST, "Done."]
    limits = SearchLimits(children=1)
    record = searched(dataset_of, help_desk, Asked("fc", *replies), limits=limits, finish=True)
    assert record.outcome == "passed"
    assert record.turn_ends[0] == TurnEnd(0, "give_up", None)


@both_modes
def test_other_calls_beside_finish_are_made_first(dataset_of, help_desk, mode):
    both = [RIGHT, "finish(return_type='give_answer', final_answer='Done.')"]
    replies = [both, both[1:], "I cannot.", LAST, "Done."]
    record = searched(dataset_of, help_desk, Asked(mode, *replies), finish=True)
    assert record.outcome == "passed"
    assert [step.calls for step in record.steps][:2] == [[RIGHT], []]


@pytest.mark.parametrize(
    "given", ["[]", "null", "{", '{"return_type": 7}', '{"final_answer": {"a": [1]}}']
)
def test_whatever_finish_is_given_ends_the_turn(dataset_of, help_desk, given):
    odd = Reply(None, (ToolCall(None, "finish", given),), None, None, Usage(), 0.0)
    record = searched(dataset_of, help_desk, Asked("fc", RIGHT, odd, odd, LAST, odd), finish=True)
    assert record.outcome == "passed"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda tree: tree[1].update(parent=1), "tree[1].parent: must be the number of an earlier"),
        (lambda tree: tree[2].update(step=tree[0]["step"]), "tree[2].step: is required unless"),
        (lambda tree: tree.pop(), "search.tree: must have"),
        (lambda tree: tree[0]["step"].update(asked=5), "tree[0]: the request number must be 0"),
        (lambda tree: tree[0].update(became="lost"), "tree[0].became: must be stands or undone"),
    ],
)
def test_a_tree_that_is_none_is_refused(dataset_of, help_desk, change, complaint):
    line = json.loads(json.dumps(searched(dataset_of, help_desk, Asked("fc", *COURSE)).to_json()))
    change(line["extensions"]["search"]["tree"])
    with pytest.raises(DataError) as refused:
        EpisodeRecord.from_json(line, "a file")
    assert complaint in str(refused.value)
