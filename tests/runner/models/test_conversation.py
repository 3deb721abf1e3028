from __future__ import annotations

import json
from copy import deepcopy

import pytest

from envs.calls import Call, parse_call
from envs.errors import MalformedCall
from envs.results import Result
from runner.models.conversation import (
    ConversationSettings,
    PromptConversation,
    ToolCallConversation,
)
from runner.models.model_types import Reply, Request, ToolCall, Usage, VerbatimParts
from runner.models.prompting import PromptTexts, with_functions
from runner.models.toolbox import Toolbox
from trajectories.schema import Message

PROMPTS = PromptTexts("SYSTEM {functions}", "RESULTS {results}", "NEW {functions}", "NEW.", "0")
DOCUMENTS = [
    {"name": name, "description": f"Does {name}.", "parameters": {"type": "dict"}}
    for name in ("look", "file.move", "close")
]
EARLY, ALL = frozenset(["look", "file.move"]), frozenset(["look", "file.move", "close"])
both = pytest.mark.parametrize(
    "kind", [ToolCallConversation, PromptConversation], ids=["fc", "prompt"]
)


def begin(kind, reasoning="all"):
    """Return a conversation that has not begun."""
    return kind(ConversationSettings(Toolbox(DOCUMENTS), PROMPTS, reasoning))


def says(text=None, *calls, thoughts=None, signed=()):
    """Return a reply, some members of which go back to the server."""
    verbatim = None if thoughts is None else VerbatimParts(thoughts, signed)
    return Reply(text, calls, "Hm.", None, Usage(), 0.0, verbatim=verbatim)


def call(id, name="look", arguments="{}"):
    """Return a tool call as a server sends it."""
    return ToolCall(id, name, arguments)


def user(text):
    """Return what a user says, as a message to the model."""
    return {"role": "user", "content": text}


def assistant(content, *calls):
    """Return an answer of the model's, its calls given as id, name and arguments."""
    message = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
    return message


def tool(id, content):
    """Return the answer to a tool call."""
    return {"role": "tool", "tool_call_id": id, "content": content}


def turn(conversation, *texts, offered=EARLY, offers=()):
    """Put a turn to the model."""
    conversation.start_turn([Message("user", text) for text in texts], offered, offers)


def results(*values):
    """Return results of calls."""
    return [Result(value) for value in values]


def names_of(tools):
    """Return the names of the tools of a list."""
    return [tool["function"]["name"] for tool in tools.tools]


# Whole episodes


def test_an_episode_with_tool_calls():
    chat = begin(ToolCallConversation)
    turn(chat, "Move it.")
    two = says("Well.", call("a1", "look", "{}"), call("b2", "file_move", '{"to": "x"}'))
    assert chat.read(two) == [{"look": "{}"}, {"file.move": '{"to": "x"}'}]
    chat.observe([Call("look"), Call("file.move")], results({"seen": True}, None))
    assert chat.read(says("Done.")) == "Done."
    chat.refuse("The turn is over.")
    turn(chat, "Close it.", "Please.")
    assert chat.read(says("I cannot.")) == "I cannot."
    chat.refuse("The turn is over.")
    turn(chat, offered=ALL, offers=("close",))
    assert chat.read(says(None, call("c3", "close", {"n": 1}))) == [{"close": {"n": 1}}]
    chat.observe([Call("close")], results("closed"))
    assert chat.read(says("")) == ""
    assert chat.messages == [
        user("Move it."),
        assistant("Well.", ("a1", "look", "{}"), ("b2", "file_move", '{"to": "x"}')),
        tool("a1", '{"seen": true}'),
        tool("b2", "None"),
        assistant("Done."),
        user("Close it."),
        user("Please."),
        assistant("I cannot."),
        user("NEW."),
        assistant(None, ("c3", "close", '{"n": 1}')),
        tool("c3", "closed"),
        assistant(""),
    ]


def test_an_episode_with_calls_in_text():
    chat = begin(PromptConversation)
    turn(chat, "Move it.")
    text = "[look(), file.move(to='x')]"
    assert chat.read(says(text)) == text
    made = [parse_call("look()"), parse_call("file.move(to='x')")]
    chat.observe(made, results({"seen": True}, None))
    assert chat.read(says("Done.")) == "Done."
    chat.refuse("The turn is over.")
    turn(chat, "Close it.", "Please.")
    assert chat.read(says(None)) == ""
    chat.refuse("The turn is over.")
    turn(chat, offered=ALL, offers=("close",))
    chat.read(says("close(n=1)"))
    chat.observe([parse_call("close(n=1)")], results("closed"))
    box = Toolbox(DOCUMENTS)
    shown = [
        {"call": "look()", "result": '{"seen": true}'},
        {"call": "file.move(to='x')", "result": "None"},
    ]
    closed = [{"call": "close(n=1)", "result": "closed"}]
    assert chat.messages == [
        {"role": "system", "content": with_functions("SYSTEM {functions}", box.early(EARLY))},
        user("Move it."),
        assistant(text),
        user(f"RESULTS {json.dumps(shown, indent=1)}"),
        assistant("Done."),
        user("Close it."),
        user("Please."),
        assistant(""),
        user(with_functions("NEW {functions}", box.late(["close"]))),
        assistant("close(n=1)"),
        user(f"RESULTS {json.dumps(closed, indent=1)}"),
    ]


@both
def test_a_conversation_only_grows(kind):
    chat = begin(kind)
    asked = []
    for number in range(4):
        turn(chat, f"Turn {number}.", offered=ALL, offers=("close",) if number == 2 else ())
        asked.append(deepcopy(list(chat.request().messages)))
        chat.read(says("look()", call(None), call("a")))
        chat.observe([Call("look")] * 2, results("x", "y"))
        asked.append(deepcopy(list(chat.request().messages)))
        chat.read(says("look(", call(None, "look", "{")))
        chat.refuse("Broken.")
    for messages in asked:
        assert chat.messages[: len(messages)] == messages
    assert [len(messages) for messages in asked] == sorted({len(messages) for messages in asked})


@both
def test_a_request_is_the_conversation_so_far_with_its_tools(kind):
    chat = begin(kind)
    turn(chat, "Hello.")
    assert chat.request() == Request(chat.messages, chat.tools, chat)
    assert (chat.tools is None) == (kind is PromptConversation)


# What a turn begins with


def test_tools_of_a_turn_are_shared_by_its_requests_and_by_conversations():
    style = ConversationSettings(Toolbox(DOCUMENTS), PROMPTS, "all")
    first, second = ToolCallConversation(style), ToolCallConversation(style)
    for chat in (first, second):
        turn(chat, "A.")
    tools = first.tools
    assert names_of(tools) == ["look", "file_move"]
    turn(first, "B.")
    assert first.tools is second.tools is tools


def test_functions_that_are_handed_over_come_last_among_the_tools_and_stay():
    chat = begin(ToolCallConversation)
    turn(chat, "A.", offered=frozenset(["file.move"]))
    turn(chat, offered=frozenset(["file.move", "close"]), offers=("close",))
    turn(chat, offered=ALL, offers=("look",))
    assert names_of(chat.tools) == ["file_move", "close", "look"]
    turn(chat, "D.", offered=ALL)
    assert names_of(chat.tools) == ["file_move", "close", "look"]


def test_a_user_who_speaks_when_functions_are_handed_over_is_all_a_model_with_tools_sees():
    chat = begin(ToolCallConversation)
    turn(chat, "Use it.", offered=ALL, offers=("close",))
    assert chat.messages == [user("Use it.")]


def test_a_prompting_model_sees_new_functions_before_what_the_user_says():
    chat = begin(PromptConversation)
    turn(chat, "A.")
    turn(chat, "Use it.", offered=ALL, offers=("close",))
    new = with_functions("NEW {functions}", Toolbox(DOCUMENTS).late(["close"]))
    assert chat.messages[2:] == [user(new), user("Use it.")]


def test_functions_that_are_handed_over_in_the_first_turn_are_not_in_the_system_prompt():
    chat = begin(PromptConversation)
    turn(chat, "A.", offered=ALL, offers=("close",))
    system, new, said = chat.messages
    assert '"close"' not in system["content"]
    assert '"look"' in system["content"]
    assert '"close"' in new["content"]
    assert said == user("A.")


@both
def test_a_system_message_of_the_trajectory_s(kind):
    chat = begin(kind)
    chat.start_turn([Message("system", "Be {functions}."), Message("user", "A.")], EARLY, ())
    before = with_functions("SYSTEM {functions}", Toolbox(DOCUMENTS).early(EARLY))
    expected = (
        "Be {functions}." if kind is ToolCallConversation else f"{before}\n\nBe {{functions}}."
    )
    assert chat.messages == [{"role": "system", "content": expected}, user("A.")]


@both
def test_what_is_said_keeps_its_roles_and_order(kind):
    chat = begin(kind)
    turn(chat, "A.")
    before = len(chat.messages)
    roles = ["assistant", "system", "user"]
    chat.start_turn([Message(role, role) for role in roles], EARLY, ())
    assert chat.messages[before:] == [{"role": role, "content": role} for role in roles]


# Ids of tool calls


def ids_of(chat):
    """Return the ids of all calls, each once it was answered by its own message."""
    asked = [c["id"] for m in chat.messages for c in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in chat.messages if m["role"] == "tool"]
    assert asked == answered
    return asked


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([["x", "y"], ["z"]], ["x", "y", "z"]),
        ([[None]], ["call00001"]),
        ([[None, None], [None]], ["call00001", "call00002", "call00003"]),
        ([["", "x", ""]], ["call00001", "x", "call00003"]),
        ([["x", "x"]], ["x", "call00002"]),
        ([["x"], ["x"], ["x"]], ["x", "call00002", "call00003"]),
        ([["call00001", "call00002"], ["call00001"]], ["call00001", "call00002", "call00003"]),
    ],
    ids=["given", "missing", "all missing", "empty", "twice in a step", "in every step", "counted"],
)
def test_ids_are_kept_unless_missing_or_given_before(steps, expected):
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    for ids in steps:
        chat.read(says(None, *map(call, ids)))
        chat.observe([Call("look")] * len(ids), results(*ids))
    assert ids_of(chat) == expected


@pytest.mark.parametrize(
    "ids",
    [
        ["call00002", None],
        ["call00002"] * 2,
        ["x", "call00003", "x"],
        ["a", "call00004", None, "a", "a"],
    ],
)
def test_a_new_id_is_never_one_that_the_server_gave(ids):
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    for id in ids:
        chat.read(says(None, call(id)))
        chat.observe([Call("look")], results(id))
    assert len(set(ids_of(chat))) == len(ids)


def test_results_are_paired_with_the_calls_in_order():
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    chat.read(says(None, call("b"), call(None), call("b")))
    chat.observe([Call("look")] * 3, results(1, 2, 3))
    assert chat.messages[2:] == [tool("b", "1"), tool("call00002", "2"), tool("call00003", "3")]


def test_there_is_one_result_per_tool_call():
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    chat.read(says(None, call("a"), call("b")))
    with pytest.raises(ValueError, match="shorter"):
        chat.observe([Call("look")], results(1))


# Answers that are not executed


def test_all_tool_calls_of_an_answer_that_is_not_executed_are_answered_once():
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    chat.read(says("Hm.", call("a", "look", "{"), call("b")))
    chat.refuse('No "JSON".')
    chat.refuse("Again.")
    reason = '{"error": "No \\"JSON\\"."}'
    assert chat.messages[2:] == [tool("a", reason), tool("b", reason)]


def test_calls_that_were_executed_are_not_answered_again():
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    chat.read(says(None, call("a")))
    chat.observe([Call("look")], results(1))
    chat.read(says("Done."))
    chat.refuse("The turn is over.")
    assert ids_of(chat) == ["a"]
    assert chat.messages[-1] == assistant("Done.")


def test_a_text_that_is_not_executed_stands_as_it_is():
    chat = begin(PromptConversation)
    turn(chat, "A.")
    chat.read(says("look("))
    before = deepcopy(chat.messages)
    chat.refuse("Broken.")
    assert chat.messages == before


def test_a_result_without_a_readable_call_is_shown():
    chat = begin(PromptConversation)
    turn(chat, "A.")
    chat.read(says("[look(x)]"))
    error = MalformedCall("x is no literal.")
    chat.observe([error], [Result.refused(error)])
    shown = [{"call": "(unreadable)", "result": '{"error": "x is no literal."}'}]
    assert chat.messages[-1] == user(f"RESULTS {json.dumps(shown, indent=1)}")


def test_hostile_results_are_shown_as_they_are():
    hostile = "{results} {functions} [look()] \n{0}"
    chat = begin(PromptConversation)
    turn(chat, hostile)
    chat.read(says(hostile))
    chat.observe([Call("look", (), {"x": hostile})], results(hostile))
    _, said, answer, shown = chat.messages
    assert (said, answer) == (user(hostile), assistant(hostile))
    [pair] = json.loads(shown["content"].removeprefix("RESULTS "))
    assert pair == {"call": f"look(x={hostile!r})", "result": hostile}


# Reading answers


@pytest.mark.parametrize(
    ("reply", "step", "content"),
    [
        (says("Hi."), "Hi.", "Hi."),
        (says(""), "", ""),
        (says(None), None, ""),
        (says("Hi.", call("a")), [{"look": "{}"}], "Hi."),
        (says("", call("a")), [{"look": "{}"}], ""),
        (says(None, call("a")), [{"look": "{}"}], None),
    ],
)
def test_the_text_of_an_answer_with_and_without_tool_calls(reply, step, content):
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    assert chat.read(reply) == step
    assert chat.messages[-1]["content"] == content


def test_tool_calls_have_the_functions_real_names_and_the_chat_the_sent_ones():
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    calls = [call("a", "file_move"), call("b", "file.move"), call("c", "nonsense")]
    assert chat.read(says(None, *calls)) == [
        {"file.move": "{}"},
        {"file.move": "{}"},
        {"nonsense": "{}"},
    ]
    sent = [c["function"]["name"] for c in chat.messages[-1]["tool_calls"]]
    assert sent == ["file_move", "file_move", "nonsense"]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("GorillaFileSystem.ls", "GorillaFileSystem_ls"),
        ("", "unnamed"),
        ("list files!", "list_files_"),
        ("l" * 70, "l" * 64),
        ("\u00e9\n", "__"),
    ],
)
def test_an_invented_name_goes_back_in_a_legal_form(name, sent):
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    assert chat.read(says(None, call("a", name))) == [{name: "{}"}]
    assert chat.messages[-1]["tool_calls"][0]["function"]["name"] == sent


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": [1]}', '{"a": [1]}'),
        ({"a": [1, None], "b": "é"}, '{"a": [1, null], "b": "\\u00e9"}'),
        ({}, "{}"),
    ],
)
def test_arguments_are_read_as_they_came_and_sent_as_text(arguments, sent):
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    assert chat.read(says(None, call("a", "look", arguments))) == [{"look": arguments}]
    assert chat.messages[-1]["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize("arguments", ['{"a": ', "", "[1]", '"a"', "null", None, 5, [1]])
def test_arguments_in_the_chat_are_always_an_object_since_servers_read_them_again(arguments):
    # vLLM refuses every later request of a conversation in which they are not.
    chat = begin(ToolCallConversation)
    turn(chat, "A.")
    assert chat.read(says(None, call("a", "look", arguments))) == [{"look": arguments}]
    sent = chat.messages[-1]["tool_calls"][0]["function"]["arguments"]
    assert isinstance(json.loads(sent), dict)


# Thoughts


def thoughtful(kind, reasoning):
    """Return a chat of four turns, the first of two steps, and its answers in the last request."""
    chat = begin(kind, reasoning)
    turn(chat, "A.")
    chat.read(says("look()", call("a"), thoughts={"reasoning_content": ""}))
    chat.observe([Call("look")], results(1))
    for number in (1, 2, 3):
        chat.read(says("Done.", thoughts={"reasoning_details": [{"data": number}]}))
        turn(chat, f"Turn {number}.")
    chat.read(says("Done.", thoughts={"reasoning_content": "So."}))
    return chat, [m for m in chat.request().messages if m["role"] == "assistant"]


def thoughts_of(answers):
    """Return the members of answers that are thoughts."""
    members = [{k: v for k, v in m.items() if k.startswith("reasoning")} for m in answers]
    return [list(found.values()) for found in members]


@both
@pytest.mark.parametrize(("reasoning", "over"), [("none", 0), ("last", 1), ("all", 3)])
def test_thoughts_of_a_turn_go_back_in_it_and_in_as_many_turns_after_it_as_wished(
    kind, reasoning, over
):
    chat, sent = thoughtful(kind, reasoning)
    every = [[""], [[{"data": 1}]], [[{"data": 2}]], [[{"data": 3}]], ["So."]]
    kept = {0: 4, 1: 3, 3: 0}[over]
    assert thoughts_of(sent) == [*([[]] * kept), *every[kept:]]
    kept_record = [m for m in chat.messages if m["role"] == "assistant"]
    assert thoughts_of(kept_record) == every
    assert len(chat.messages) == len(chat.request().messages)


@pytest.mark.parametrize("reasoning", ["none", "last", "all"])
def test_within_a_turn_all_thoughts_go_back_and_the_chat_only_grows(reasoning):
    chat = begin(ToolCallConversation, reasoning)
    turn(chat, "A.")
    asked = []
    for number in range(3):
        asked.append((chat.request().messages, deepcopy(chat.request().messages)))
        chat.read(says(None, call(str(number)), thoughts={"thinking_blocks": [number]}))
        chat.observe([Call("look")], results(1))
    latest = chat.request().messages
    assert [m["thinking_blocks"] for m in latest if m["role"] == "assistant"] == [[0], [1], [2]]
    assert all(seen is latest and latest[: len(then)] == then for seen, then in asked)


def test_a_request_that_was_made_stays_as_it_was():
    chat = begin(ToolCallConversation, "none")
    turn(chat, "A.")
    chat.read(says("Yes.", thoughts={"reasoning": "Hm."}))
    before = chat.request().messages
    then = deepcopy(before)
    turn(chat, "B.")
    assert before[:2] == then
    assert chat.request().messages == [user("A."), assistant("Yes."), user("B.")]


def test_signatures_of_calls_stay_with_them():
    chat = begin(ToolCallConversation, "none")
    turn(chat, "A.")
    signature = {"extra_content": {"google": {"thought_signature": "SIG"}}}
    chat.read(says(None, call("a"), call("b"), thoughts={}, signed=(signature, {})))
    chat.observe([Call("look")] * 2, results(1, 2))
    turn(chat, "B.")
    one, other = chat.request().messages[1]["tool_calls"]
    assert one.keys() - other.keys() == {"extra_content"}
    assert one["extra_content"] == signature["extra_content"]


def test_thoughts_in_the_content_go_back_as_they_came():
    chat = begin(ToolCallConversation, "none")
    turn(chat, "A.")
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}]
    assert chat.read(says("Yes.", thoughts={"content": parts})) == "Yes."
    assert chat.request().messages[-1]["content"] == parts
    turn(chat, "B.")
    assert chat.request().messages[1] == assistant("Yes.")


@pytest.mark.parametrize("reasoning", ["none", "all"])
def test_thoughts_of_a_copy_are_its_own(reasoning):
    chat, _ = thoughtful(ToolCallConversation, reasoning)
    then = deepcopy(chat.request().messages)
    other = chat.fork()
    turn(other, "X.")
    other.read(says("Y.", thoughts={"reasoning": "Z."}))
    assert chat.request().messages == then
    assert len(other.messages) == len(other.request().messages) == len(then) + 2


@both
def test_a_model_that_sends_no_thoughts_is_sent_none(kind):
    chat = begin(kind)
    turn(chat, "A.")
    chat.read(says("look()", call("a")))
    assert "Hm." not in json.dumps(chat.messages)


def test_functions_in_the_first_user_message():
    texts = PROMPTS._replace(system="Be brief.", first_user="{request}: {functions}")
    conversation = PromptConversation(ConversationSettings(Toolbox(DOCUMENTS), texts, "all"))
    turn(conversation, "Look.", "Now.", offered=EARLY)
    functions = with_functions("{functions}", conversation._style.toolbox.early(EARLY))
    system, first, second = conversation.messages
    assert system == {"role": "system", "content": "Be brief."}
    assert first == user(f"Look.: {functions}")
    assert second == user("Now.")
    conversation.read(says("Done."))
    turn(conversation, "Again.", offered=ALL, offers=["close"])
    assert conversation.messages[-1] == user("Again.")
    assert conversation.messages[-2]["content"].startswith("NEW")


def test_an_empty_system_message_is_left_out():
    texts = PROMPTS._replace(system="", first_user="{request}: {functions}")
    conversation = PromptConversation(ConversationSettings(Toolbox(DOCUMENTS), texts, "all"))
    turn(conversation, "Look.")
    assert [message["role"] for message in conversation.messages] == ["user"]
