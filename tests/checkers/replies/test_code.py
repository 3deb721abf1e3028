from __future__ import annotations

import re

import pytest

from checkers.calls.call_entry import Language, UnreadableOutput
from checkers.replies import code
from checkers.replies.code import (
    MAX_CODE,
    MAX_EFFORT,
    estimate_effort,
    list_code_parts,
    parse,
    read_code,
    unescape,
)

both = pytest.mark.parametrize("language", [Language.JAVA, Language.JAVASCRIPT])


@both
@pytest.mark.parametrize("piece", ["->", "-->", "=>-", "~^", ",-", "x{", "](", "- x "])
def test_code_that_a_grammar_stumbles_over_again_and_again_is_refused(language, piece):
    with pytest.raises(UnreadableOutput, match="too many operators and brackets"):
        parse((piece * MAX_CODE)[:MAX_CODE], language)


@both
@pytest.mark.parametrize("piece", ["'", "=7", '0x"', "lambda x:", '""\u202e', "1e\n", ".`", "f x"])
def test_long_code_in_which_values_stand_where_they_cannot_is_refused(language, piece):
    with pytest.raises(UnreadableOutput, match="too many operators and brackets"):
        parse((piece * MAX_CODE)[:MAX_CODE], language)


@both
def test_long_honest_code_is_read(language):
    arguments = ", ".join(f'name{number}="value {number}, and so on"' for number in range(200))
    text = f"run({arguments})"
    assert MAX_CODE * 0.6 < len(text) < MAX_CODE
    assert 10 * estimate_effort(text) < MAX_EFFORT
    [call] = read_code(text, language)
    assert len(call.kwargs) == 200


@both
def test_all_that_is_read_of_one_reply_has_one_budget(monkeypatch, language):
    read = []

    def parsed(text, language):
        read.append(estimate_effort(text))
        return parse(text, language)

    monkeypatch.setattr(code, "parse", parsed)
    stretch = "f(a=" + "-" * (MAX_EFFORT // 5)
    with pytest.raises(UnreadableOutput, match="cannot be parsed"):
        read_code(f"```\n{stretch}\n```\n" * 10, language)
    assert 0 < sum(effort <= MAX_EFFORT for effort in read) <= 10


@pytest.mark.parametrize(
    ("escaped", "char"),
    [("10FFFF", "\U0010ffff"), ("110000", "\ufffd"), ("110001", "\ufffd"), ("41", "A")],
)
def test_an_escape_beyond_unicode_is_a_replacement_character(escaped, char):
    assert unescape(f"\\u{{{escaped}}}") == char


@pytest.mark.parametrize("before", ["", "Here: "])
def test_a_part_in_brackets_may_begin_the_text(before):
    text = f"{before}[f()] and more"
    parts = list_code_parts(text, re.compile("```"), [("[", "]"), ("(", "[")])
    assert list(parts) == [text, "[f()]"]


@pytest.mark.parametrize("value", ["7", "1e5", "0xFF", "5L"])
def test_a_number_takes_no_more_effort_than_a_name(value):
    text = f"f(a={value}), " * 500
    assert estimate_effort(text) == estimate_effort(text.replace(value, "b"))
    assert estimate_effort(text.replace(value, "7x")) > estimate_effort(text)
