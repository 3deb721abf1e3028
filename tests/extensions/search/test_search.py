from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest

from checkers.profile import STRICT
from envs.calls import parse_call
from envs.errors import DataError
from extensions.formats.action_families import TOOLLLAMA
from extensions.search.search import (
    GIVE_UP,
    SearchLimits,
    SearchObserver,
    search,
    search_texts,
    texts_hash,
)
from runner.episodes.dialogue import Dialogue
from runner.models.conversation import ConversationSettings
from runner.models.model_types import Reply, ToolCall, TransientError, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox, own_documents
from trajectories.prepared_trajectory import prepare

RIGHT = "create_ticket(title='Dark screen')"
WRONG = "create_ticket(title='Bright screen')"
LAST = ["close_ticket(ticket_id=1)", "get_ticket(ticket_id=1)"]
UP = f"{GIVE_UP}(reason='wrong')"
LIMITS = SearchLimits()
both_modes = pytest.mark.parametrize("mode", ["fc", "prompt"])


class Script:
    """Answers with replies in order and keeps what it was asked."""

    def __init__(self, mode, *replies):
        self.mode = mode
        self.replies = list(replies)
        self.requests = []

    async def __call__(self, request):
        """Answer a request."""
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return says(self.mode, *reply) if isinstance(reply, list) else says(self.mode, reply)


def says(mode, *texts):
    """Return a reply that makes calls, or is a text without any."""
    calls = [parse_call(text) for text in texts if text.endswith(")")]
    if not calls or mode == "prompt":
        text = f"[{', '.join(texts)}]" if calls else texts[0]
        return Reply(text, (), None, None, Usage(), 0.0)
    made = [ToolCall(None, call.name, dict(call.kwargs)) for call in calls]
    return Reply(None, tuple(made), None, None, Usage(), 0.0)


class Effort(SearchObserver):
    """Counts of requests, steps and given-up branches."""

    def __init__(self):
        self.model_calls = self.nodes = self.given_up = 0
        self.exhausted = False

    def tried(self, tried):
        self.model_calls += 1
        self.nodes += bool(tried.taken.calls)
        self.given_up += tried.after is None or tried.after.episode.terminated

    def turn_over(self, trail, dialogue, gone):
        self.exhausted = gone == "exhausted"


def run(dataset_of, trajectory, ask, limits=LIMITS, step_limit=None, protocol=None, texts=None):
    """Search a trajectory; every scripted reply must be asked for."""
    prepared = prepare(dataset_of(trajectory), trajectory, STRICT)
    toolbox = Toolbox(own_documents(trajectory.environments))
    style = ConversationSettings(toolbox, read_prompts(), "all", protocol=protocol)
    effort, begun = Effort(), Dialogue(prepared, style, ask.mode, STRICT, step_limit)
    dialogue = asyncio.run(search(begun, ask, limits, texts=texts, follows=effort))
    found = SimpleNamespace(**vars(effort), dialogue=dialogue, verdict=dialogue.verdict())
    assert ask.replies == []
    assert found.model_calls == len(ask.requests)
    return found


@both_modes
def test_a_branch_that_is_given_up_leaves_no_trace(dataset_of, help_desk, mode):
    ask = Script(mode, WRONG, UP, RIGHT, "Done.", "I cannot.", LAST, "Done.")
    found = run(dataset_of, help_desk, ask)
    assert found.verdict.valid
    assert (found.nodes, found.given_up, found.exhausted) == (3, 1, False)
    assert "Bright" not in json.dumps(found.dialogue.conversation.messages)


@both_modes
def test_the_model_is_told_what_was_tried_at_this_node_and_only_there(dataset_of, help_desk, mode):
    ask = Script(mode, WRONG, UP, RIGHT, "Done.", "I cannot.", LAST, "Done.")
    run(dataset_of, help_desk, ask)
    told = [search_texts()["tried"].split("\n")[0] in str(r.messages[-1]) for r in ask.requests]
    assert told == [False, False, True, False, False, False, False]
    assert WRONG in ask.requests[2].messages[-1]["content"]
    assert RIGHT not in ask.requests[2].messages[-1]["content"]


class Lines:
    """Answers with ToolLLaMA's lines: an action with its input."""

    mode = "fc"

    def __init__(self, *actions):
        self.replies = list(actions)
        self.requests = []

    async def __call__(self, request):
        """Answer a request."""
        self.requests.append(request)
        name, given = self.replies.pop(0)
        text = f"Thought: Next.\nAction: {name}\nAction Input: {json.dumps(given)}\nEnd Action"
        return Reply(text, (), None, None, Usage(), 0.0)


def answers(text):
    return "Finish", {"return_type": "give_answer", "final_answer": text}


AGAIN = ("Finish", {"return_type": "give_up_and_restart"})


def test_the_finish_of_toolllama_undoes_as_a_function_does(dataset_of, help_desk):
    right, wrong = (
        ("create_ticket", {"title": "Dark screen"}),
        ("create_ticket", {"title": "Bright"}),
    )
    closed, seen = ("close_ticket", {"ticket_id": 1}), ("get_ticket", {"ticket_id": 1})
    ask = Lines(
        wrong, AGAIN, right, answers("Done."), answers("I cannot."), closed, seen, answers("Done.")
    )
    found = run(dataset_of, help_desk, ask, protocol=TOOLLLAMA)
    assert found.verdict.valid
    assert (found.nodes, found.given_up, found.exhausted) == (4, 1, False)
    assert "Bright" in str(ask.requests[2].messages[-1])
    assert not any(GIVE_UP in str(request.messages) for request in ask.requests)
    assert "Bright" not in json.dumps(found.dialogue.conversation.messages)


def test_toolllama_and_function_calling_undo_alike(dataset_of, help_desk):
    """The same scripted answers in both forms; `Finish` and a plain answer end a turn alike."""
    script = Script("fc", WRONG, UP, RIGHT, "Done.", "I cannot.", *LAST, "Done.")
    lines = [
        ("create_ticket", {"title": "Bright screen"}),
        AGAIN,
        ("create_ticket", {"title": "Dark screen"}),
        answers("Done."),
        answers("I cannot."),
        ("close_ticket", {"ticket_id": 1}),
        ("get_ticket", {"ticket_id": 1}),
        answers("Done."),
    ]
    ways = [
        run(dataset_of, help_desk, script),
        run(dataset_of, help_desk, Lines(*lines), protocol=TOOLLLAMA),
    ]
    effort = ("model_calls", "nodes", "given_up", "exhausted", "verdict")
    seen, other = ([getattr(found, name) for name in effort] for found in ways)
    assert seen == other
    for found in ways:
        assert "Dark" in str(found.dialogue.result)
        assert "Bright" not in str(found.dialogue.result)


def test_without_undo_the_finish_of_toolllama_ends_the_turn(dataset_of, help_desk):
    ask = Lines(AGAIN, answers("I cannot."), answers("No."))
    found = run(dataset_of, help_desk, ask, SearchLimits(children=1), protocol=TOOLLLAMA)
    assert (found.verdict.failed_turn, found.given_up) == (0, 1)


def test_own_texts_replace_those_of_the_search(dataset_of, help_desk, tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('[search]\ntried = "Before: {tried}"\n')
    ask = Script("fc", WRONG, UP, RIGHT, "Done.", "I cannot.", LAST, "Done.")
    run(dataset_of, help_desk, ask, texts=search_texts(path))
    assert ask.requests[2].messages[-1]["content"].startswith(f"Before: {WRONG}")
    assert texts_hash(path) != texts_hash()
    for text, why in (
        ('tried = "Before"', r"own.toml: tried: must contain \{tried\}"),
        ('tired = ""', "own.toml: tired: unknown key"),
        ("tried = 3", "own.toml: tried: is missing or not a string"),
    ):
        path.write_text(f"[search]\n{text}\n")
        search_texts.cache_clear()
        with pytest.raises(DataError, match=why):
            search_texts(path)


def test_giving_up_is_offered_as_a_function_or_in_words(dataset_of, help_desk):
    for mode in ("fc", "prompt"):
        ask = Script(mode, RIGHT, "Done.", "I cannot.", LAST, "Done.")
        run(dataset_of, help_desk, ask)
        for request in ask.requests:
            if mode == "fc":
                assert request.tools.tools[-1]["function"]["name"] == GIVE_UP
            else:
                assert GIVE_UP in request.messages[-1]["content"]


@both_modes
def test_with_one_child_it_is_react(dataset_of, help_desk, mode):
    ask = Script(mode, WRONG, "Done.", "I cannot.", LAST, "Done.")
    found = run(dataset_of, help_desk, ask, SearchLimits(children=1))
    assert not found.verdict.valid
    assert found.verdict.failed_turn == 0
    assert GIVE_UP not in str([(r.messages, r.tools and r.tools.tools) for r in ask.requests])


@both_modes
def test_a_node_has_no_more_children_than_allowed_and_the_last_branch_stands(
    dataset_of, help_desk, mode
):
    ask = Script(mode, WRONG, UP, WRONG, UP, "I cannot.", LAST, "Done.")
    found = run(dataset_of, help_desk, ask, SearchLimits(children=2))
    assert (found.given_up, found.verdict.failed_turn) == (2, 0)
    assert "Bright screen" in str(found.dialogue.episode.steps[0].calls)


def test_a_child_that_is_no_good_leads_back_to_its_parent_s_parent(dataset_of, help_desk):
    look = "ticket_get_login_status()"
    ask = Script("fc", look, WRONG, UP, UP, RIGHT, "Done.", "I cannot.", LAST, "Done.")
    found = run(dataset_of, help_desk, ask)
    assert found.verdict.valid
    assert found.given_up == 2
    assert [step.turn for step in found.dialogue.episode.steps] == [0, 2]


def test_what_was_done_in_turns_that_are_over_stands(dataset_of, help_desk):
    ask = Script("fc", WRONG, "Done.", UP, LAST, "Done.")
    found = run(dataset_of, help_desk, ask)
    assert found.verdict.failed_turn == 0


@pytest.mark.parametrize(
    ("limits", "replies"),
    [(SearchLimits(model_calls=2), [RIGHT, "Done."]), (SearchLimits(nodes=1), [RIGHT])],
)
def test_the_budget_ends_the_search_where_it_stands(dataset_of, help_desk, limits, replies):
    found = run(dataset_of, help_desk, Script("fc", *replies), limits)
    assert found.exhausted
    assert found.dialogue.episode.finished
    assert found.verdict.turns_passed == 2


def test_a_branch_beyond_the_step_limit_is_dead(dataset_of, help_desk):
    look = "ticket_get_login_status()"
    ask = Script("fc", look, RIGHT, "Done.", "I cannot.", LAST[0], "Done.")
    found = run(dataset_of, help_desk, ask, SearchLimits(children=2), step_limit=1)
    assert (found.given_up, found.nodes, found.verdict.failed_turn) == (1, 3, 0)
    assert [len(step.calls) for step in found.dialogue.episode.steps] == [1, 1]


def test_an_error_of_the_model_ends_the_search(dataset_of, help_desk):
    with pytest.raises(TransientError, match="gone"):
        run(dataset_of, help_desk, Script("fc", RIGHT, TransientError("gone")))


@both_modes
def test_hostile_text_is_an_answer_or_a_refused_call(dataset_of, help_desk, mode):
    hostile = ["\x00" * 9, "{tried}{functions}", f"{GIVE_UP}"]
    found = run(dataset_of, help_desk, Script(mode, *hostile))
    assert found.dialogue.episode.finished
