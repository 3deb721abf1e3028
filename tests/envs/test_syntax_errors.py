from __future__ import annotations

import json

import pytest

from envs.calls import parse_expression
from envs.errors import MalformedCall
from envs.syntax_errors import describe_json_error, describe_python_error


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "invalid syntax"),
        ("f(a=1) g(b=2)", "invalid syntax"),
        ("f(a=)", "invalid syntax"),
        ("f(a=1, 2)", "positional argument follows keyword argument"),
        ("f(1x)", "invalid decimal literal"),
        ("f(", "'(' was never closed"),
        ("f([1, {2: ')'}", "'[' was never closed"),
        ("f('it's')", "unterminated string literal"),
        ("f('a\nb')", "unterminated string literal"),
        ("f('''a\nb')", "unterminated string literal"),
        ("f('a\\')", "unterminated string literal"),
        ("f('\\", "unterminated string literal"),
        ("f(a=')', b=\"(\"))", "unmatched ')'"),
        ("f(a=[1, 2)", "closing ')' does not match opening '['"),
        ("f(1) # (\n+", "invalid syntax"),
        ("f(1 # )", "'(' was never closed"),
        ("f('\0')", "it holds a null character"),
        ("f('\ud800')", "it has a lone surrogate"),
        (f"f({'9' * 5000})", "an integer has too many digits"),
        (f"{'(' * 201}1{')' * 201}", "it is nested too deep"),
        ("f'{'a'", "unterminated string literal"),
        ("[f'{0x...]", "unterminated string literal"),
        ("print 1", "invalid syntax"),
    ],
)
def test_what_is_wrong_with_python_is_told_alike_by_every_version_of_it(text, flaw):
    with pytest.raises(MalformedCall) as refused:
        parse_expression(text)
    assert refused.value.message.endswith(f" is not valid Python: {flaw}.")


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", "Expecting value: line 1 column 1 (char 0)"),
        ('{"a" 1}', "Expecting ':' delimiter: line 1 column 6 (char 5)"),
        ("[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"),
        ("[1,\n]", "Expecting value: line 2 column 1 (char 4)"),
        (
            '{"a": 1, }',
            "Expecting property name enclosed in double quotes: line 1 column 10 (char 9)",
        ),
        ('"\n"', "Invalid control character at: line 1 column 2 (char 1)"),
        ('"a', "Unterminated string starting at: line 1 column 1 (char 0)"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_what_is_wrong_with_json_is_told_alike_by_every_version_of_python(text, flaw):
    with pytest.raises((ValueError, RecursionError)) as refused:
        json.loads(text)
    assert describe_json_error(refused.value) == flaw


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("'''a' (''' )", "unmatched ')'"),
        ("'''a\n(\"''' [", "'[' was never closed"),
        ("'''a\\'''(''' }", "unmatched '}'"),
        ('"""a"(""" ]', "unmatched ']'"),
        ('"""a', "unterminated string literal"),
        ('"\\"(" )', "unmatched ')'"),
        ('"\\\\" (', "'(' was never closed"),
        ("'' '(' (", "'(' was never closed"),
        ("# (", "invalid syntax"),
        ("# (\n)", "unmatched ')'"),
        ("([{}])", "invalid syntax"),
        ("([{}]", "'(' was never closed"),
        ("({)}", "closing ')' does not match opening '{'"),
        ("(" * 200, "'(' was never closed"),
        ("(" * 201, "it is nested too deep"),
        ("(" * 200 + ")" * 200 + "(", "'(' was never closed"),
    ],
)
def test_the_first_unmatched_sign_is_named(text, flaw):
    assert describe_python_error(text, SyntaxError("invalid syntax")) == flaw
    known = "leading zeros in decimal integer literals are not permitted"
    expected = known if flaw == "invalid syntax" else flaw
    assert describe_python_error(text, SyntaxError(known)) == expected
    assert describe_python_error(text, ValueError(known)) == flaw
    assert describe_python_error(text, RecursionError()) == "it is nested too deep"
