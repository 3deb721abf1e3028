from __future__ import annotations

import re

import pytest

from checkers.calls.call_entry import TYPES, ExpectedType, Language, UnreadableOutput
from checkers.replies import code
from checkers.replies.as_bfcl.single_turn import java_calls
from checkers.replies.code import (
    MAX_CODE,
    MAX_EFFORT,
    estimate_effort,
    list_code_parts,
    parse,
    read_code,
    unescape,
)
from checkers.replies.code_values import java_value, javascript_value
from envs.calls import Call

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


@both
def test_the_calls_of_a_reply_are_read_up_to_three_times_the_effort_of_one_part(language):
    whole, almost, call = "+" * (MAX_EFFORT // 4), "+" * (MAX_EFFORT // 4 - 1), "f()"
    for last, is_read in (("((", True), ("(((", False)):
        parts = [whole, whole, almost + last, call]
        assert sum(map(estimate_effort, parts)) == 3 * MAX_EFFORT + (not is_read)
        text = "".join(f"```\n{part}\n```\n" for part in parts) + "Read f(a=1)"
        if is_read:
            assert read_code(text, language) == [Call("f", (), {})]
        else:
            with pytest.raises(UnreadableOutput, match="cannot be parsed"):
                read_code(text, language)


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
    for unmatched in ("f()]", "[f()", "]f()[", "]["):
        assert list(list_code_parts(unmatched, re.compile("```"), [("[", "]")])) == [unmatched]
    assert list(list_code_parts("[]", re.compile("```"), [("[", "]")])) == ["[]", "[]"]


@pytest.mark.parametrize("value", ["7", "1e5", "0xFF", "5L"])
def test_a_number_takes_no_more_effort_than_a_name(value):
    text = f"f(a={value}), " * 500
    assert estimate_effort(text) == estimate_effort(text.replace(value, "b"))
    assert estimate_effort(text.replace(value, "7x")) > estimate_effort(text)


@pytest.mark.parametrize(
    ("text", "effort"),
    [
        ("", 0),
        ("f", 0),
        ("f()", 2),
        ("f(a=1)", 2),
        ("a + b", 4),
        ("-+~!%^&|<>*?/", 52),
        ("[](){}$#@", 9),
        ("a == b", 0),
        ("a b", 0),
        ("\u00e9", 0),
        # Longer code also counts values at places where no value can stand, and odd characters.
        (" " * 2001, 0),
        ("a b" + " " * 1997, 0),
        ("a b" + " " * 1998, 4),
        ("a b c" + " " * 2000, 8),
        ("a 'b' `c`" + " " * 2000, 8),
        ("1a" + " " * 2000, 4),
        ("1, 1.5, 0xF, 1e5, 5L, 5n, 5f" + " " * 2000, 0),
        ("0xG 1e" + " " * 2000, 8),
        ("a == b = c" + " " * 2000, 8),
        ("a: b: 'c'" + " " * 2000, 8),
        ("a.'b'" + " " * 2000, 4),
        ("\u20ac \u202e" + " " * 2000, 8),
        ("\x01" + " " * 2000, 4),
        ("'a b' \"c d\"" + " " * 2000, 4),
        ("'a\\'b'" + " " * 2000, 0),
    ],
)
def test_the_effort_counts_operators_brackets_and_misplaced_values(text, effort):
    assert estimate_effort(text) == effort


@both
def test_code_is_parsed_up_to_its_limits(language):
    assert parse("+" * 299 + "()()", language).has_error
    with pytest.raises(UnreadableOutput, match=r"^the code has too many operators and brackets$"):
        parse("+" * 299 + "()()(", language)
    parse(" " * MAX_CODE, language)
    with pytest.raises(UnreadableOutput, match=r"^the code has 10001 characters; the maximum is"):
        parse(" " * (MAX_CODE + 1), language)


@both
@pytest.mark.parametrize("depth", [39, 40, 41])
def test_a_value_is_converted_up_to_its_depth(language, depth):
    java = language is Language.JAVA
    convert = java_value if java else javascript_value
    types = TYPES[language]
    whole = ExpectedType("integer", types["integer"])
    assert convert("(" * depth + "1" + ")" * depth, whole) == (
        1 if depth <= 40 else "(" * depth + "1" + ")" * depth
    )
    opening, closing, word = ("List.of(", ")", "Array") if java else ("[", "]", "array")
    value = convert(f"{opening * depth}1{closing * depth}", ExpectedType(word, list))
    for _ in range(depth):
        [value] = value
    assert value == (1 if depth <= 40 else "1")


@pytest.mark.parametrize(("levels", "is_read"), [(200, True), (201, False)])
def test_objects_in_java_nest_200_levels_deep_as_bfcl(levels, is_read):
    text = f"f(a={'new A(' * levels}1{')' * levels})"
    if is_read:
        assert java_calls(text)[0].kwargs == {"a": text[4:-1]}
    else:
        with pytest.raises(UnreadableOutput, match="an argument is nested too deep"):
            java_calls(text)
