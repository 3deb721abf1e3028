from __future__ import annotations

import json

import pytest

from checkers.profile import STRICT
from runner.analysis.report.episode_cards import EpisodeCardRenderer
from runner.analysis.report.value_bounds import ValueBounds
from runner.records.recorded_run import open_run
from tests.runner.analysis.report.making import (
    call,
    kept_tools,
    request,
    shared_of,
    source_of,
    viewed,
)
from tests.runner.analysis.test_runs_executed_again import RIGHT, WRONG, record
from tests.runner.records.made import answered

WIDE = ValueBounds(text=1_000, members=100)
NARROW = ValueBounds(text=20, members=1)
QUEUE = "TicketAPI.ticket_queue"


@pytest.fixture
def shown(dataset_of, help_desk):
    """Return the transcript of an episode on the help desk."""

    def show(turns, bounds=WIDE, record=None, **more):
        source = source_of({help_desk.id: turns}, record and {help_desk.id: record})
        [episode] = viewed(dataset_of(help_desk), source, **more).episodes
        kept = episode.recorded.record
        found = episode.examined.show(EpisodeCardRenderer(kept, shared_of(None, kept), bounds))
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        return found

    return show


def test_it_begins_with_the_whole_state(shown):
    start = shown(RIGHT)["start"]["TicketAPI"]
    assert start["ticket_counter"] == "2"
    assert start["ticket_queue"][0]["title"] == "'Printer on fire'"


def test_a_turn_has_what_the_user_says_and_what_is_handed_over(shown):
    first, _, last = shown(RIGHT)["turns"]
    assert (first["says"], first["offers"]) == ([["user", "My screen is dark."]], [])
    assert (last["says"], last["offers"]) == ([], ["close_ticket"])


def test_a_call_has_its_result_the_changes_and_the_fields_that_changed(shown):
    [made] = shown(RIGHT)["turns"][0]["steps"][0]["calls"]
    assert (made["call"], made["name"]) == ("create_ticket(title='Dark screen')", "create_ticket")
    assert made["ok"]
    assert json.loads(made["result"])["id"] == 2
    assert [path for path, _, _ in made["changes"]] == [f"{QUEUE}[1]", "TicketAPI.ticket_counter"]
    assert made["changes"][1] == ["TicketAPI.ticket_counter", "2", "3"]
    assert set(made["state"]["TicketAPI"]) == {"ticket_queue", "ticket_counter"}


def test_the_ground_truth_stands_beside_every_turn(shown):
    first, idle, last = shown(WRONG)["turns"]
    assert [call["name"] for call in first["truth"]] == ["create_ticket"]
    assert idle["truth"] == []
    assert [call["name"] for call in last["truth"]] == ["close_ticket", "get_ticket"]


def test_a_state_off_the_ground_truth_is_told_from_then_on(shown):
    first, _, last = shown(WRONG)["turns"]
    wrong = [f"{QUEUE}[1].title", "'Dark screen'", "'Dark'"]
    assert first["steps"][0]["calls"][0]["off"] == [wrong]
    assert first["end"]["differences"] == [wrong]
    assert [call["off"] for step in last["steps"] for call in step["calls"]] == [[wrong], [wrong]]


def test_a_turn_that_begins_off_the_ground_truth_says_so(shown):
    assert [len(turn["off"]) for turn in shown(WRONG)["turns"]] == [0, 1, 1]


def test_a_state_on_the_way_is_not_off(shown):
    last = shown(RIGHT)["turns"][2]
    assert [call["off"] for step in last["steps"] for call in step["calls"]] == [[], []]
    assert last["end"]["differences"] == []


def test_what_the_model_says_ends_the_turn(shown):
    end = shown([[*RIGHT[0], "I opened it."], *RIGHT[1:]])["turns"][0]["end"]
    assert (end["answer"], end["unreadable"]) == ("I opened it.", None)


def test_a_refused_call_is_told(shown):
    [made] = shown([[call("close_ticket", ticket_id=99)], [], []])["turns"][0]["steps"][0]["calls"]
    assert not made["ok"]
    assert "99" in json.loads(made["result"])["error"]


def test_a_step_that_cannot_be_read_has_no_function(shown):
    unreadable = [[[{"create_ticket": "{"}]], [], []]
    [made] = shown(unreadable, profile=STRICT)["turns"][0]["steps"][0]["calls"]
    assert made["name"] is None
    assert not made["ok"]


def test_results_that_were_never_seen_are_listed(shown):
    missing = shown([*RIGHT[:2], RIGHT[2][:1]])["missing"]
    assert [json.loads(text)["status"] for text in missing] == ["Closed"]


def test_turns_that_were_not_reached_have_no_steps(shown):
    turns = shown(RIGHT[:1])["turns"]
    assert ["steps" in turn for turn in turns] == [True, False, False]


def test_turns_beyond_the_last_are_left_out(shown):
    assert len(shown([*RIGHT, *RIGHT])["turns"]) == 3


def test_an_error_leaves_the_ground_truth_to_be_seen(shown):
    turns = shown(None, record=record("error", "down"))["turns"]
    assert [len(turn["truth"]) for turn in turns] == [1, 0, 2]
    assert not any("steps" in turn for turn in turns)


def test_requests_stand_at_the_steps_that_they_led_to(shown):
    steps = [request(0, 1), request(0, 3, "Done."), request(1, 4, "Which one?")]
    first, idle, last = shown(RIGHT, record=record(steps=steps))["turns"]
    assert first["steps"][0]["request"]["request_messages"] == 1
    assert first["end"]["request"]["reply"]["text"] == "Done."
    assert idle["end"]["request"]["request_messages"] == 4
    assert last["steps"][0]["request"] is last["end"]["request"] is None


def test_requests_of_turns_that_there_are_no_more_are_left_out(shown):
    turns = shown(RIGHT, record=record(steps=[request(0, 1), request(7, 9)]))["turns"]
    assert [bool(turn["end"]["request"]) for turn in turns] == [False, False, False]
    assert turns[0]["steps"][0]["request"]


def test_texts_and_values_are_cut_off_within_bounds(shown):
    long = [[call("create_ticket", title="x" * 500)], [], []]
    turn = shown(long, NARROW)["turns"][0]
    [made] = turn["steps"][0]["calls"]
    assert made["call"] == "create_ticket(title=\n… cut off here: 523 characters in all"
    assert len(made["off"][0][2]) <= NARROW.text
    assert made["changes"][1] == ["… 1 more", "", ""]


# What requests share


MESSAGES = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Hello"}]
TOOLS = [{"function": {"name": name}} for name in ("cd", "ls")]


def kept(**more):
    """Return a record of the help desk's episode."""
    return answered("desk", [], **record(**more)).record


@pytest.fixture
def run(tmp_path):
    """Return a run folder with two tools."""
    return open_run(kept_tools(tmp_path / "run", *TOOLS))


def test_system_messages_are_kept_once(run):
    records = [kept(messages=MESSAGES), kept(messages=MESSAGES)]
    requests = shared_of(run, *records)
    assert requests.to_json(WIDE)["prompts"] == ["Be good."]
    assert requests.messages(records[1], WIDE) == [{"role": "system", "prompt": 0}, MESSAGES[1]]


def test_functions_are_kept_once_for_all_tool_lists(run):
    shared = shared_of(run, kept()).to_json(WIDE)
    assert shared["functions"] == TOOLS
    assert shared["tools"] == {"digest": [0, 1]}


def test_a_tool_list_that_is_lost_is_left_out(run):
    first, *_ = kept().steps
    lost = kept(steps=[first._replace(tools="lost"), first])
    assert shared_of(run, lost).to_json(WIDE)["tools"] == {"digest": [0, 1]}


def test_a_result_file_has_no_requests(shown):
    nothing = answered("desk", []).record
    requests = shared_of(None, nothing)
    assert requests.to_json(WIDE) == {"prompts": [], "functions": [], "tools": {}, "documents": []}
    assert requests.messages(nothing, WIDE) == []
    assert [turn["end"]["request"] for turn in shown(RIGHT)["turns"]] == [None, None, None]
