"""Dialogues: what is requested, and what an answer does."""

from __future__ import annotations

import pytest

from checkers.profile import BFCL, STRICT
from envs.calls import Call
from envs.errors import DataError
from runner.episodes.dialogue import Dialogue
from runner.models.conversation import ConversationSettings
from runner.models.dialogue_user import EXCHANGE_LIMIT, SAY, UserAnswer
from runner.models.model_types import Reply, Request, ToolCall, Usage
from runner.models.prompting import read_prompts
from runner.models.toolbox import Toolbox, own_documents
from trajectories.offered_functions import OfferedFunctions
from trajectories.prepared_trajectory import prepare

CREATE, LOOK, CLOSE = "create_ticket", "ticket_get_login_status", "close_ticket"
WAIT = {
    "name": "a.wait",
    "description": "Wait.",
    "parameters": {"type": "dict", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


def says(text=None, *calls):
    """Return a reply with a text and calls."""
    made = [ToolCall(str(n), name, arguments) for n, (name, arguments) in enumerate(calls)]
    return Reply(text, tuple(made), None, "stop", Usage(), 0.5)


CREATES = says(None, (CREATE, '{"title": "A"}'))


class ScriptedUser:
    """A user who answers each text with the next of some acts."""

    extension = "scripted"

    def __init__(self, *acts):
        self.acts, self.heard = list(acts), []

    def act(self, text, done):
        self.heard.append((text, len(done)))
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        if isinstance(act, Request):
            reply = yield act
            act = UserAnswer(reply.text)
        yield from ()
        return act

    def remember(self, made):
        """Keep nothing."""

    def kept(self):
        return len(self.heard)

    def fork(self):
        copy = ScriptedUser(*self.acts)
        copy.heard = self.heard.copy()
        return copy


@pytest.fixture
def begin(dataset_of):
    """Return what begins a dialogue about an entry."""

    def begin(trajectory, *, profile=STRICT, mode="fc", step_limit=20, offering=None, **style):
        prepared = prepare(dataset_of(trajectory), trajectory, profile)._replace(offering=offering)
        documents = own_documents(trajectory.environments) if trajectory.environments else [WAIT]
        settings = ConversationSettings(Toolbox(documents), read_prompts(), "all")
        return Dialogue(prepared, settings._replace(**style), mode, profile, step_limit)

    return begin


def offered(dialogue):
    """Return the names of the functions of the next request, and its messages after the first."""
    request = dialogue.request()
    names = [tool["function"]["name"] for tool in request.tools.tools]
    return names, [str(message["content"]) for message in request.messages[1:]]


def test_an_answer_acts_or_ends_its_turn(begin, help_desk):
    dialogue = begin(help_desk)
    assert dialogue.request().messages == dialogue.request().messages
    assert dialogue.result == [[]]
    taken = dialogue.take(CREATES)
    assert (taken.turn, [str(call) for call in taken.calls]) == (0, ["create_ticket(title='A')"])
    assert [result.ok for result in taken.results] == [True]
    assert (taken.problem, taken.meant, dialogue.episode.turn) == (None, True, 0)
    dialogue.request()
    ended = dialogue.take(says("Done."))
    assert (ended.turn, ended.calls, ended.results, ended.meant) == (0, [], (), False)
    assert ended.problem is None
    assert dialogue.episode.turn == 1
    assert dialogue.passes_so_far is False
    assert dialogue.result == [[[{CREATE: '{"title": "A"}'}], "Done."]]
    assert dialogue.members == {}


def test_the_functions_of_a_turn_are_those_that_are_offered(begin, help_desk):
    held = frozenset([CREATE, LOOK])
    turns = (held, held - {CREATE}, frozenset([CLOSE, LOOK]))
    dialogue = begin(help_desk, offering=OfferedFunctions(turns))
    assert dialogue._shown is None
    shown = []
    for turn in turns:
        names, _ = offered(dialogue)
        shown.append(names)
        assert dialogue._shown >= turn
        dialogue.take(says("Done."))
    assert shown == [[CREATE, LOOK], [LOOK], [LOOK, CLOSE]]
    assert dialogue._shown == held | turns[2]
    # Only a function that no earlier turn offered is handed over.
    texts = [message["content"] for message in dialogue.conversation.messages]
    handed = "More functions are available now. Use them to go on with what I asked."
    assert [text for text in texts if "functions" in text] == [handed]
    assert texts.index(handed) == 4


def test_a_function_that_a_search_finds_is_offered_in_the_next_step(begin, help_desk):
    def find(query, there):
        assert CREATE in there
        return [{"name": CREATE, "description": "Create."}]

    turns = (frozenset([LOOK]),) * 3
    dialogue = begin(help_desk, offering=OfferedFunctions(turns, find))
    dialogue.request()
    assert dialogue.episode.offered == {LOOK, "find_functions"}
    found = dialogue.take(says(None, ("find_functions", '{"query": "create"}')))
    assert "Create." in found.results[0].text
    dialogue.request()
    assert dialogue.episode.offered == {LOOK, CREATE, "find_functions"}
    assert dialogue.take(CREATES).results[0].ok
    dialogue.request()
    dialogue.take(says("Done."))
    # A search is no call of the turn.
    assert [str(call) for call in dialogue.episode.outcomes[0].calls] == [
        "create_ticket(title='A')"
    ]


def test_a_user_answers_texts_until_the_user_stops(begin, help_desk):
    user = ScriptedUser(UserAnswer("More."), [Call(LOOK)], UserAnswer("Enough.", stops=True))
    dialogue = begin(help_desk, user=user)
    dialogue.request()
    first = dialogue.take(says("Hello?"))
    said = Call(SAY, (), {"text": "Hello?"})
    assert (first.calls, first.problem, dialogue.episode.turn) == ((said,), None, 0)
    assert dialogue.request().messages[-1] == {"role": "user", "content": "More."}
    # Calls are no text for the user.
    dialogue.take(says("I act.", (CREATE, '{"title": "A"}')))
    last = dialogue.take(says("So?"))
    assert [call.name for call in last.calls] == [SAY, LOOK]
    assert (len(last.results), dialogue.episode.turn) == (2, 1)
    assert dialogue.members == {"scripted": 3}
    assert dialogue.result[0] == [
        [{SAY: {"text": "Hello?"}}],
        [{CREATE: '{"title": "A"}'}],
        [{SAY: {"text": "So?"}}, {LOOK: {}}],
    ]
    assert [step.turn for step in dialogue.episode.steps] == [0, 0, 0]


@pytest.mark.parametrize(
    ("mode", "step"),
    [("fc", [{SAY: {"text": "So?"}}, {LOOK: {}}]), ("prompt", f"[{SAY}(text='So?'), {LOOK}()]")],
)
def test_the_user_s_calls_are_recorded_in_the_form_of_the_model(begin, help_desk, mode, step):
    user = ScriptedUser([Call(LOOK)], UserAnswer("Yes."))
    dialogue = begin(help_desk, mode=mode, user=user)
    dialogue.request()
    dialogue.take(says("So?"))
    assert dialogue.result == [[step]]
    dialogue.request()
    # An empty answer ends the turn without the user.
    assert dialogue.take(says("")).calls == []
    assert dialogue.episode.turn == 1


def test_a_dialogue_with_a_user_has_a_limit(begin, help_desk):
    dialogue = begin(help_desk, user=ScriptedUser(UserAnswer("More.")))
    for number in range(EXCHANGE_LIMIT):
        assert dialogue.episode.turn == 0, number
        dialogue.request()
        dialogue.take(says("Hello?"))
    assert dialogue.episode.turn == 1


def test_a_model_that_plays_the_user_needs_a_live_run(begin, help_desk):
    dialogue = begin(help_desk, user=ScriptedUser(Request([], None)))
    dialogue.request()
    hearing = dialogue.fork().hear(says("Hello?"))
    assert isinstance(next(hearing), Request)
    with pytest.raises(StopIteration):
        hearing.send(says("Yes."))
    with pytest.raises(DataError, match="a model plays the user, so this episode needs a live run"):
        dialogue.take(says("Hello?"))


def test_a_copy_of_a_dialogue_goes_its_own_way(begin, help_desk):
    user = ScriptedUser(UserAnswer("More."))
    dialogue = begin(help_desk, user=user)
    dialogue.request()
    dialogue.take(CREATES)
    copy = dialogue.fork()
    copy.request()
    copy.take(says("Hello?"))
    copy.request()
    copy.take(CREATES)
    assert len(dialogue.result[0]) == 1
    assert len(copy.result[0]) == 3
    assert (dialogue.members, copy.members) == ({"scripted": 0}, {"scripted": 1})
    assert (len(dialogue.episode.steps), len(copy.episode.steps)) == (1, 3)
    assert len(copy.conversation.messages) == len(dialogue.conversation.messages) + 4
    assert user.heard == []


@pytest.mark.parametrize(
    ("asks_on", "limit", "replies", "turn"),
    [
        # A single turn is a single answer, unless the calling format allows one call at a time.
        (False, 20, [1], 1),
        (True, 20, [1], 0),
        (True, 20, [1, 1, 0], 1),
        (True, 2, [1], 0),
        (True, 2, [1, 1], 1),
        (True, 2, [2], 1),
        (True, None, [2, 2, 2], 0),
        (False, 20, [0], 1),
    ],
)
@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_a_compared_answer_is_one_step(begin, single_turn, profile, asks_on, limit, replies, turn):
    entry = single_turn("python", WAIT, {"a.wait": {"n": [5]}})
    dialogue = begin(entry, profile=profile, step_limit=limit, asks_on=asks_on)
    made = []
    for number in replies:
        dialogue.request()
        calls = [("a_wait", '{"n": 5}')] * number
        taken = dialogue.take(says(None if calls else "Done.", *calls))
        made += [{"a_wait": '{"n": 5}'}] * number
        assert len(taken.calls) == number
        goes_on = dialogue.episode.turn == 0
        assert len(taken.results) == (number if goes_on else 0)
    assert dialogue.episode.turn == turn
    [[step]] = dialogue.result
    assert step == (made or "Done.")


def test_calls_that_cannot_be_read_end_a_single_turn(begin, single_turn):
    dialogue = begin(single_turn("python", WAIT, {"a.wait": {"n": [5]}}), asks_on=True)
    dialogue.request()
    taken = dialogue.take(says(None, ("a_wait", "{"), ("a_wait", '{"n": 5}')))
    assert dialogue.episode.turn == 1
    assert taken.results == ()
