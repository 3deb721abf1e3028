"""Requests of two sides: which belong together, what is equal, what explains the rest."""

from __future__ import annotations

import json

from tests.conformance.requests import UNREAD, Compared, Sent, compare, conversations
from tests.servers.answers import DONE

TOOL = {"name": "ls", "description": "Lists.", "parameters": {"properties": {}}}
OTHER = {**TOOL, "description": "Lists all."}
HELLO = {"role": "user", "content": "Hello"}
MORE = {"role": "user", "content": "More"}
SAID = {"role": "assistant", "content": DONE}


def called(arguments, id="c1", name="ls"):
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "tool_calls": [{"id": id, "function": function}]}


def result(text, id="c1"):
    return {"role": "tool", "tool_call_id": id, "content": text}


def sent(*messages, tools=(TOOL,)):
    return Sent([*messages], [*tools])


def compared(theirs, ours):
    return compare(conversations(theirs), conversations(ours))


def test_requests_belong_to_the_conversation_that_they_go_on_with():
    first, twin = sent(HELLO), sent(HELLO)
    second, third = sent(HELLO, SAID, MORE), sent(HELLO, SAID, MORE, SAID, HELLO)
    assert conversations([first, second, third]) == [[first, second, third]]
    assert conversations([first, twin, second]) == [[first], [twin, second]]
    longer = sent(HELLO, MORE)
    assert conversations([first, longer]) == [[first], [longer]]


def test_the_same_requests_in_another_order_are_equal():
    one, other = [sent(HELLO), sent(HELLO, SAID, MORE)], [sent(MORE)]
    assert compared([*one, *other], [*other, *one]) == Compared(3, 3, 4, 4, {}, [])


def test_what_differs_without_a_reason_is_a_line():
    found = compared([sent(HELLO), sent(HELLO, SAID, MORE)], [sent(HELLO)])
    assert len(found.news) == 3
    assert found.is_below
    assert len(compared([sent(HELLO)], [sent(HELLO, tools=[OTHER])]).news) == 1
    assert len(compared([sent(HELLO)], [sent(HELLO, tools=[])]).news) == 2
    swapped = dict(reversed(TOOL.items()))
    assert len(compared([sent(HELLO)], [sent(HELLO, tools=[swapped])]).news) == 1
    asked = [sent(HELLO), sent(HELLO, called("{}"), result("None"))]
    other = [sent(HELLO), sent(HELLO, called("{}"), result('{"error": "no"}'))]
    assert len(compared(asked, other).news) == 1


def test_a_call_that_cannot_be_read_is_answered_by_us_alone():
    theirs = [sent(HELLO), sent(HELLO, called("{"), MORE)]
    ours = [sent(HELLO), sent(HELLO, called("{}"), result('{"error": "no JSON"}'), MORE)]
    found = compared(theirs, ours)
    assert found == Compared(2, 1, 4, 2, {UNREAD: 2}, [])
    # Nothing but that: the arguments are no others, and no message is missing.
    assert compared(theirs, [sent(HELLO), sent(HELLO, called('{"a": 1}'), MORE)]).news
    assert compared(theirs, [sent(HELLO), sent(HELLO, called("{}"), result("x"))]).news


def test_refusals_on_both_sides_and_known_rules_explain_a_result():
    def asked(text, name="ls"):
        arguments = json.dumps({"dir_name": ""})
        return [sent(HELLO), sent(HELLO, called(arguments, name=name), result(text))]

    found = compared(asked("Error during execution: x"), asked('{"error": "x"}'))
    assert (found.known, found.news) == ({"P1": 1}, [])
    made = compared(asked("None", "mkdir"), asked('{"error": "x"}', "mkdir"))
    assert (made.known, made.news) == ({"not done": 1}, [])


def test_too_little_that_is_equal_is_below():
    assert Compared(0, 0, 0, 0, {}, []).is_below
    assert Compared(100, 84, 1000, 999, {}, []).is_below
    assert Compared(100, 90, 1000, 979, {}, []).is_below
    assert Compared(100, 90, 1000, 990, {}, ["x"]).is_below
    assert not Compared(100, 90, 1000, 990, {}, []).is_below
