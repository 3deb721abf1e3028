from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.causes.answer_patterns import (
    asks_for,
    classify_unparsed_calls,
    declines,
    is_question,
    is_refusal,
)


@pytest.mark.parametrize(
    "answer",
    [
        "Which stock?",
        "I found two files. Which one do you mean? Just say so.",
        "Would you like me to go ahead with the booking?",
        "Please provide your access token.",
        "Let me know which airport you leave from.",
        "To book it I need the following from you: a card and a date.",
        "Please confirm\nthe date",
        "I need the order number to continue.",
        "To continue, I'd need to know the name.",
        "Please reply with 'yes' to go ahead.",
        "I'll wait for your confirmation before I book it.",
        "I can book this for you once you give me the go-ahead.",
        "Just send me the passenger's name first.",
        "Let me know if you want me to go through with this.",
        "Please advise.",
    ],
)
def test_a_question(answer):
    assert is_question(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "Done.",
        "The order 12446 is open.",
        "Is there anything else I can do for you?",
        "Let me know if you need any further assistance!",
        "If you have questions, please tell me.",
        "Feel free to ask, will you?",
        "I have no access to it. Maybe scroll up in the app?",
        'I sent "Are you coming?" to Ana.',
        "I sent `Are you coming?` to Ana.",
    ],
)
def test_no_question(answer):
    assert not is_question(answer)


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("What should the new folder be called?", True),
        ("Please tell me the name of it.", True),
        ("I still need the folder's name.", True),
        ("You didn't say which directory you mean.", True),
        ("The name is missing.", True),
        ("There is no function to create folders.", True),
        ("What about the weather?", False),
        ("I made the folder.", False),
        ("The folder is there. Anything else I can do with the folder?", False),
        ("", False),
    ],
)
def test_asking_for_something_by_one_of_its_names(answer, asked):
    assert asks_for(answer, ["dir name", "Name of the directory.", "folders"]) is asked


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n",
        "I cannot book flights.",
        "I couldn\N{RIGHT SINGLE QUOTATION MARK}t find the file.",
        "Unfortunately, this did not work.",
        "There is no function for this.",
        "I do not have access to your mail.",
        "I'm afraid that's beyond what I can do here.",
        "My tools do not allow me to edit tickets.",
        "You will have to do that manually.",
    ],
)
def test_declining(answer):
    assert is_refusal(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I won't post that tweet, since it could harm someone's reputation.",
        "I must decline: sharing medical data would be unethical.",
        "I'm not comfortable with posting this.",
        "My policy doesn't allow me to handle payments.",
        "For your security I can't handle full card numbers.",
        "This would be insider trading, which I can't support.",
        "I'm unable to fulfil this request because it could enable fraud.",
    ],
)
def test_a_refusal_on_principle(answer):
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "I can't do this with the functions that I have.",
        "I won't be able to book it without a tool.",
        "The fraud report is closed.",
        "Sorry, the engine does not start.",
    ],
)
def test_no_refusal_on_principle(answer):
    assert not declines(answer)


@pytest.mark.parametrize(
    "answer", ["Done.", "The file was moved.", "Sorry for the wait: it is done."]
)
def test_not_declining(answer):
    assert not is_refusal(answer)


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("I would say mv and cd.", None),
        ("[mv(a='b')]", "in_text"),
        ("```python\nmv(a='b')\n```", "in_text"),
        ("[other(a='b')]", None),
        ("[move\\_file(a='b')]", "escaped"),
        ("\\[move\\_file(a='b')\\]", "escaped"),
        ("[other\\_file(a='b')]", None),
        ("[mv(a=b c)]", "bad_syntax"),
        ("[other(a=b c)]", None),
        ('{"name": "mv", "arguments": {}}', "other_format"),
        ('{"name": "other", "arguments": {}}', None),
        ('The file "mv" is there.', None),
        ("<tool_call>\n</tool_call>", "other_format"),
        ('{"tool": "mv", "args": {"a": "Where?"}}', "other_format"),
        ('[{"mv": {"a": "b"}}]', "other_format"),
        ("<mv><a>b</a></mv>", "other_format"),
        ('Action: mv\nAction Input: {"a": "b"}', "other_format"),
        ("Let me move it.\n\nmv(a='b')\n\nDone!", "in_text"),
        ("Calling functions.mv(a='b') now.", "in_text"),
        ("I'll run `mv(a='b'` for you.", "bad_syntax"),
        ("mv(a: 'b', c: 'Where?')", "bad_syntax"),
        ("Should I call mv(a='b')?", None),
    ],
)
def test_calls_that_were_not_read(answer, form):
    assert classify_unparsed_calls(answer, {"mv", "cd", "move_file"}, {"mv"}) == form


@given(st.text())
def test_any_text_has_an_answer(text):
    is_question(text)
    is_refusal(text)
    classify_unparsed_calls(text, {"mv"})


@pytest.mark.parametrize(
    ("part", "times"), [("a", 1_000_000), ("[mv(", 200_000), ("please ", 100_000)]
)
def test_long_texts_are_read_in_part(part, times):
    text = part * times
    is_question(text)
    is_refusal(text)
    classify_unparsed_calls(text, {"mv"})


def test_an_unreadable_call_in_a_sentence_is_no_call():
    assert classify_unparsed_calls("I would run add(x y) now.", (), {"add"}) is None
    assert classify_unparsed_calls("I would run add(1, 2) now.", (), {"add"}) == "in_text"


@pytest.mark.parametrize(("dots", "is_found"), [(20_000, True), (20_001, False)])
def test_an_answer_is_searched_from_its_end_up_to_the_limit(dots, is_found):
    assert is_refusal("sorry".ljust(dots, ".")) is is_found
