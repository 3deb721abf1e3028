"""Formats: their names, their prompts, and that each reads what it asks for."""

from __future__ import annotations

from contextlib import suppress

import pytest

from checkers.calls.call_entry import Language, UnreadableOutput
from checkers.profile import PROFILES
from checkers.replies.formats import CLOSING, OPENING
from checkers.replies.single_turn import read_calls
from envs.calls import Call
from envs.errors import DataError
from extensions.formats.variants import formats_named
from runner.models.prompting import ALL, PromptFormat
from tests.servers.formats import in_format

DOCUMENT = {
    "name": "table.book",
    "description": "Book a table <now> & here.",
    "parameters": {
        "type": "dict",
        "properties": {"guests": {"type": "integer", "description": "How many."}},
        "required": ["guests"],
    },
}
CALLS = [
    Call(
        "table.book", (), {"guests": 4, "room": "a < b & \"c\" 'd'\nÜ", "tags": [["x"], {"k": 1}]}
    ),
    Call("go", (), {"now": True, "never": None, "far": -2.5}),
    Call("stop", (), {}),
]

each_format = pytest.mark.parametrize("prompt_format", ALL, ids=lambda f: f.name)
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES.keys())


def read(prompt_format, profile, text):
    return read_calls(text, Language.PYTHON, "prompt", profile.calls, prompt_format.reader)


def test_there_are_all_combinations_each_with_a_name_and_a_prompt_of_its_own():
    assert len(ALL) == 36
    assert len({each.name for each in ALL}) == 36
    assert len({each.system([DOCUMENT]) for each in ALL}) == 36


@each_format
def test_a_prompt_has_no_blanks_left_and_shows_the_function(prompt_format):
    prompt = prompt_format.system([DOCUMENT])
    assert "{reply}" not in prompt
    assert "{functions}" not in prompt
    assert "{language}" not in prompt
    assert "table.book" in prompt
    assert (OPENING in prompt) is prompt_format.tagged
    assert ("```" in prompt) is (prompt_format.markup == "markdown")


@each_format
@each_profile
def test_what_is_asked_for_is_read(prompt_format, profile):
    reply = in_format(CALLS, prompt_format.system([DOCUMENT]))
    assert read(prompt_format, profile, reply) == CALLS


@each_format
def test_prose_and_silence_hold_no_calls(prompt_format):
    for text in ("", "  \n", "I cannot do that.", "See [1] and {this}.", "a < b", None):
        assert read(prompt_format, PROFILES["strict"], text) == []


@each_format
def test_calls_in_another_form_do_not_count(prompt_format):
    others = [each for each in ALL if each.returns != prompt_format.returns]
    for other in others:
        reply = in_format(CALLS, other.system([DOCUMENT]))
        with suppress(UnreadableOutput):
            assert read(prompt_format, PROFILES["strict"], reply) == []


@pytest.mark.parametrize("returns", ["python", "json", "xml"])
def test_only_what_stands_between_marks_counts(returns):
    tagged = PromptFormat(returns, True, "json", "plain")
    bare = in_format(CALLS, tagged._replace(tagged=False).system([]))
    profile = PROFILES["strict"]
    assert read(tagged, profile, bare) == []
    assert read(tagged, profile, f"I think {bare[:9]}... {OPENING}{bare}{CLOSING} Done.") == CALLS
    with pytest.raises(UnreadableOutput, match="is not followed by") as caught:
        read(tagged, profile, f"{OPENING}{bare}")
    assert caught.value.attempted


def test_formats_are_chosen_by_name():
    assert formats_named(["all"]) == list(ALL)
    names = ["xml-tagged-python-markdown", "python-bare-json-plain", "xml-tagged-python-markdown"]
    assert [each.name for each in formats_named(names)] == names[:2]


@pytest.mark.parametrize("name", ["json-bare-json", "", "all, json-bare-json-plain", "yaml"])
def test_an_unknown_format_is_refused(name):
    with pytest.raises(DataError, match=r"--formats: unknown format .*; did you mean \w+-"):
        formats_named([name])
