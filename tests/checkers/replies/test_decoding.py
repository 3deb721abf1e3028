from __future__ import annotations

import json
import signal
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.replies.as_bfcl import decoding as as_bfcl
from checkers.replies.decoding import decode_text, decode_tool_calls
from envs import state
from envs.bounds import BOUNDS
from envs.calls import MAX_DEPTH, MAX_INT_BITS, MAX_TEXT, Call, check_bounds
from envs.errors import MalformedCall
from envs.session import Session


def value_of(expression):
    """Return what the one argument ``x`` of a prompting model's call becomes."""
    [call] = as_bfcl.decode_text(f"[f(x={expression})]")
    assert isinstance(call, Call), call
    assert (call.name, call.args, set(call.kwargs)) == ("f", (), {"x"})
    return call.kwargs["x"]


def brief(value):
    """Return what to call a test."""
    text = str(value)
    return text if len(text) < 50 else f"{text[:30]}...{len(text)}"


def outcome(decoder, step):
    """Return the calls of a step, or the reason why it cannot be read."""
    try:
        return decoder(step)
    except MalformedCall as error:
        return error


# Function calling, as BFCL does it


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        ([], []),
        ("", []),
        ([{"f": "{}"}], [Call("f")]),
        ([{"f": {}}], [Call("f")]),
        ([{"f": '{"a": 1, "b": "x"}'}], [Call("f", (), {"a": 1, "b": "x"})]),
        ([{"f": {"a": 1}}], [Call("f", (), {"a": 1})]),
        (
            [{"f": '{"a": null, "b": true, "c": [1.5, {"d": {}}]}'}],
            [Call("f", (), {"a": None, "b": True, "c": [1.5, {"d": {}}]})],
        ),
        ([{"f": '{"a": "g(1)"}'}], [Call("f", (), {"a": "g(1)"})]),
        ([{"f": "{}"}, {"g": '{"a": 2}'}], [Call("f"), Call("g", (), {"a": 2})]),
        ([{"f": "{}", "g": "{}"}], [Call("f"), Call("g")]),
        ([{"f": '{"a": 1, "a": 2}'}], [Call("f", (), {"a": 2})]),
    ],
)
def test_tool_calls_as_bfcl(step, calls):
    assert as_bfcl.decode_tool_calls(step) == calls


@pytest.mark.parametrize(
    "step",
    [
        None,
        "I am done.",
        "[f(a=1)]",
        [{"f": ""}],
        [{"f": "  "}],
        [{"f": "{"}],
        [{"f": "{'a': 1}"}],
        [{"f": "[]"}],
        [{"f": "null"}],
        [{"f": "3"}],
        [{"f": '"text"'}],
        [{"f": None}],
        [{"f": [1]}],
        [{"f": "{}"}, {"g": "{"}],
        ["f"],
        [{"f": "[" * 100_000}],
    ],
)
def test_a_step_that_does_not_decode_to_tool_calls_as_bfcl(step):
    with pytest.raises(MalformedCall):
        as_bfcl.decode_tool_calls(step)


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": ' + "[" * 60 + "]" * 60 + "}",
        json.dumps({"a": 2**MAX_INT_BITS}),
    ],
    ids=["nan", "infinity", "1e999", "deep", "big"],
)
def test_a_value_that_is_no_literal_is_the_error_of_its_call_alone(arguments):
    first, second = as_bfcl.decode_tool_calls([{"f": arguments}, {"g": "{}"}])
    assert isinstance(first, MalformedCall)
    assert second == Call("g")


# Function calling, done right


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        (None, []),
        ("", []),
        ("[f(a=1)]", []),
        ([], []),
        ([{"f": ""}], [Call("f")]),
        ([{"f": None}], [Call("f")]),
        (
            [{"f": '{"a": 1}'}, {"g": {"b": [2]}}],
            [Call("f", (), {"a": 1}), Call("g", (), {"b": [2]})],
        ),
    ],
)
def test_tool_calls(step, calls):
    assert decode_tool_calls(step) == calls


@pytest.mark.parametrize("arguments", ["{", "[]", "3", '"text"', [1], '{"a": NaN}', "[" * 100_000])
def test_a_tool_call_that_cannot_be_read_does_not_spoil_the_others(arguments):
    first, bad, last = decode_tool_calls([{"f": "{}"}, {"g": arguments}, {"h": "{}"}])
    assert (first, last) == (Call("f"), Call("h"))
    assert isinstance(bad, MalformedCall)


# Prompting, as BFCL does it: what is a list of calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("", []),
        ("[]", []),
        ("``", []),
        ("[f()]", [Call("f")]),
        ("f()", [Call("f")]),
        ("[f()", [Call("f")]),
        ("f()]", [Call("f")]),
        ("f(), g(a=1)", [Call("f"), Call("g", (), {"a": 1})]),
        ("`[f()]`", [Call("f")]),
        ("```\n[f()]\n```", [Call("f")]),
        ("\n [ f( a = 1 ) ] \n", [Call("f", (), {"a": 1})]),
        ("[f(\n  a=1,\n)]", [Call("f", (), {"a": 1})]),
        ("[a.b.f(x=1)]", [Call("a.b.f", (), {"x": 1})]),
        # What a call is made on is dropped where it is neither name nor attribute.
        ("[a().b(x=1)]", [Call("b", (), {"x": 1})]),
        ("[a[0].b.c(x=1)]", [Call("b.c", (), {"x": 1})]),
        ("['text'.upper(x=1)]", [Call("upper", (), {"x": 1})]),
        # Positional and starred arguments are dropped; of a repeated keyword the last counts.
        ("[f(1, 'two', x=3)]", [Call("f", (), {"x": 3})]),
        ("[f(*rest, x=3)]", [Call("f", (), {"x": 3})]),
        ("[f(g.h, [i for i in j], x=3)]", [Call("f", (), {"x": 3})]),
    ],
)
def test_text_as_bfcl(text, calls):
    assert as_bfcl.decode_text(text) == calls


def test_of_a_repeated_keyword_the_last_counts_as_bfcl():
    # A repeated keyword is found by Python's compiler, not by its parser.
    assert as_bfcl.decode_text("[f(x=1, x=2)]") == [Call("f", (), {"x": 2})]


@pytest.mark.parametrize(
    "text",
    [
        None,
        [{"f": "{}"}],
        "I am done.",
        "Here: [f()]",
        "[f()] is it.",
        "```python\n[f()]\n```",
        "[f(), 1]",
        "[f(), 'g()']",
        "[f(), g]",
        "[f()][0]",
        "f() + g()",
        "x = f()",
        "f(); g()",
        "f()\ng()",
        "[f(a=)]",
        "[f(a b)]",
        "[f(\0)]",
        "[await f()]",
        "[f() for _ in g()]",
        "[*f()]",
        "[lambda: f()]",
    ],
)
def test_a_step_that_does_not_decode_as_bfcl(text):
    with pytest.raises(MalformedCall):
        as_bfcl.decode_text(text)


# Prompting, as BFCL does it: what an argument becomes


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # Constants
        ("5", 5),
        ("5.0", 5.0),
        ("'a'", "a"),
        ("'a' 'b'", "ab"),
        ("True", True),
        ("None", None),
        ("...", "..."),
        ("b'a'", b"a"),
        ("1j", 1j),
        # Any unary operator on a constant negates it.
        ("-5", -5),
        ("+5", -5),
        ("~5", -5),
        ("-5.5", -5.5),
        ("not True", -1),
        ("-True", -1),
        ("not 0", 0),
        # Lists, tuples and dicts, member by member
        ("[1, +2, foo]", [1, -2, "foo"]),
        ("(1, 'a')", (1, "a")),
        ("()", ()),
        ("[]", []),
        ("[{}]", [{}]),
        ("{'a': 1}", {"a": 1}),
        ("{'a': [foo, {'b': +1}]}", {"a": ["foo", {"b": -1}]}),
        # Arithmetic is worked out.
        ("1 + 2", 3),
        ("1.5 + 200000", 200001.5),
        ("1 - 200000", -199999),
        ("1 + 2 * 3", 7),
        ("7 / 2", 3.5),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("2 ** 10", 1024),
        ("2 ** -1", 0.5),
        ("-5 + 3", -2),
        ("1 - +5", -4),
        ("~5 + 0", -6),
        ("(not 0) + 1", 2),
        ("'a' + 'b'", "ab"),
        ("'a' * 3", "aaa"),
        ("3 * 'a'", "aaa"),
        ("[1] + [2]", [1, 2]),
        ("[0] * 3", [0, 0, 0]),
        # Bare names are their own text.
        ("foo", "foo"),
        ("true", "true"),
        ("null", "null"),
        ("[true, null]", ["true", "null"]),
        # Calls: without keywords their source text, with keywords a nested call
        ("g()", "g()"),
        ("g( 1 )", "g(1)"),
        ("a.g(1)", "a.g(1)"),
        ("g(a=1)", Call("g", (), {"a": 1})),
        ("a.g(1, b=foo)", Call("a.g", (), {"b": "foo"})),
        ("a[0]", "a[0]"),
        ("a[ 'k' ][1:2]", "a['k'][1:2]"),
        # Back to source: a dict of dicts becomes a call, of which its first member is left.
        ("{'a': {'b': 1}}", Call("a", (), {"b": 1})),
        ("{'a': {'b': 1}, 'c': {'d': 2}}", Call("a", (), {"b": 1})),
        ("{'a': {}}", Call("a", (), {})),
        ("{g: {'b': +1}}", Call("g", (), {"b": -1})),
        ("{'k': g(a=1)}", Call("k", (), {"g": {"a": 1}})),
        ("{'a': {'b': 1}, 'c': 2}", {"a": {"b": 1}, "c": 2}),
        ("{'a': {'b': {'d': 1}}, 'c': 2}", {"a": Call("b", (), {"d": 1}), "c": 2}),
        # The keys of a dict become text, but not those of a dict inside a list.
        ("{1: 2}", {"1": 2}),
        ("{None: 2, foo: 3}", {"None": 2, "foo": 3}),
        ("{1: 'a', '1': 'b'}", {"1": "b"}),
        (
            "{'a': {1: 2, 'b': {3: 4, 'c': 5}}, 'd': 0}",
            {"a": {"1": 2, "b": {"3": 4, "c": 5}}, "d": 0},
        ),
        ("[{1: 2}]", [{1: 2}]),
        # Inside a list a nested call and a dict of dicts end as plain dicts.
        ("[g(a=1)]", [{"g": {"a": 1}}]),
        ("[{'a': {'b': 1}}]", [{"a": {"b": 1}}]),
        ("({'a': {'b': 1}},)", ({"a": {"b": 1}},)),
    ],
)
def test_an_argument_as_bfcl(expression, value):
    # By its text, which tells 1 from True and 1.0, and a call from the text of one.
    assert repr(value_of(expression)) == repr(value)


def test_arguments_that_hold_calls_are_marked_as_bfcl():
    nested, plain = as_bfcl.decode_text("[f(x={'k': 1, 'c': {'a': {'b': 1}}}), f(x=['g(a=1)'])]")
    assert (nested.nested, plain.nested) == (True, False)


@pytest.mark.parametrize(
    "expression",
    [
        "1 << 3",
        "17 >> 2",
        "5 | 3",
        "6 & 3",
        "6 ^ 3",
        "(1,) + (2,)",
        "1 + " * 59 + "1",
        "'a' + " * 59 + "'a'",
    ],
    ids=brief,
)
def test_all_arithmetic_on_literals_is_worked_out_as_bfcl(expression):
    assert repr(value_of(expression)) == repr(eval(expression))  # noqa: S307


@pytest.mark.parametrize(
    "expression",
    [
        # Signs on anything but a constant, or on one that has no negative
        "--5",
        "-(1 + 2)",
        "-foo",
        "not foo",
        "-[1]",
        "-'a'",
        "-None",
        "+...",
        # What has no text form
        "{}",
        "{'a': 1, 'b': {}}",
        "{'a': {'b': {}}}",
        "{**{'a': 1}}",
        "{'a': 1, **foo}",
        "{[1]: 2}",
        "{g(a=1): 2}",
        # What is no value at all
        "a.b",
        "{1, 2}",
        "f'{1}'",
        "f'plain'",
        "1 < 2",
        "True and False",
        "1 if True else 2",
        "lambda: 1",
        "[i for i in j]",
        "{i: 1 for i in j}",
        "(i for i in j)",
        "[*j]",
        "(y := 1)",
        # Arithmetic that fails in Python too
        "7 / 0",
        "7 % 0",
        "0 ** -1",
        "1.5 ** 100000",
        "1 + 'a'",
        "[1] + 2",
        "'a' - 'b'",
        "foo + 1",
    ],
)
def test_an_argument_that_does_not_decode_as_bfcl(expression):
    with pytest.raises(MalformedCall):
        as_bfcl.decode_text(f"[g(), f(x={expression}), h()]")


@pytest.mark.parametrize(
    "expression",
    ["1e999", "-1e999", "1e308 * 10", "1e999 - 1e999", f"[{2**MAX_INT_BITS}]"],
    ids=brief,
)
def test_a_number_that_is_no_literal_is_the_error_of_its_call_alone_as_bfcl(expression):
    first, bad, last = as_bfcl.decode_text(f"[f(), g(x={expression}), h()]")
    assert (first, last) == (Call("f"), Call("h"))
    assert isinstance(bad, MalformedCall)


@pytest.mark.parametrize("sign", ["+", "**"])
def test_arithmetic_has_at_most_300_terms_on_either_side_as_bfcl(sign):
    assert value_of(sign.join("1" * 300)) in (300, 1)
    with pytest.raises(MalformedCall, match="more than 300 terms"):
        value_of(sign.join("1" * 301))


def test_double_starred_arguments_are_the_error_of_their_call_alone_as_bfcl():
    bad, last = as_bfcl.decode_text("[f(**rest, x=1), g(x=1)]")
    assert isinstance(bad, MalformedCall)
    assert last == Call("g", (), {"x": 1})


# BFCL writes the keys of a dict between single quotes, as they are.


@pytest.mark.parametrize(
    ("key", "meaning"),
    [
        ("it is", "it is"),
        ('"', '"'),
        ("a\\tb", "a\tb"),
        ("\\x41", "A"),
        ("back\\\\slash", "back\\slash"),
        ("a' 'b", "ab"),
        ("\\d", "\\d"),
    ],
)
def test_what_a_key_means_between_single_quotes(key, meaning):
    assert value_of(repr({key: 1})) == {meaning: 1}


@pytest.mark.parametrize(
    "key", ["it's", "'", "a\nb", "a\rb", "a\0b", "\\", "a', 'b", "a'; 'b", "\\N{no such name}"]
)
def test_a_key_that_breaks_its_quotes_is_the_error_of_its_call_alone(key):
    bad, last = as_bfcl.decode_text(f"[f(x={{{key!r}: 1}}), g()]")
    assert isinstance(bad, MalformedCall)
    assert last == Call("g")


# Prompting, done right


@pytest.mark.parametrize(
    ("step", "calls"),
    [
        (None, []),
        ([], []),
        ([{"f": "{}"}], []),
        ("", []),
        ("I am done.", []),
        ("[f(1, x='a')]", [Call("f", (1,), {"x": "a"})]),
        ("[f(x=+5, y={}, z={1: {}})]", [Call("f", (), {"x": 5, "y": {}, "z": {1: {}}})]),
        ("Here: [f()]", [Call("f")]),
        ("```python\n[f(), g()]\n```", [Call("f"), Call("g")]),
        ("[f(x=g(1))]", [Call("f", (), {"x": Call("g", (1,))}, nested=True)]),
        ("f(x=[g(1)])", [Call("f", (), {"x": [Call("g", (1,))]}, nested=True)]),
        ("f(x='[g()]')", [Call("f", (), {"x": "[g()]"})]),
        ("f(x='```g()```')", [Call("f", (), {"x": "```g()```"})]),
        ("[f(x='```g()```')]", [Call("f", (), {"x": "```g()```"})]),
        ("```\nf(x=[g(1)])\n```", [Call("f", (), {"x": [Call("g", (1,))]}, nested=True)]),
    ],
)
def test_text(step, calls):
    assert decode_text(step) == calls


@pytest.mark.parametrize(
    "text", ["[f(x=foo)]", "[f(x=true)]", "[f(x=1 + 2)]", "[f(x=1, x=2)]", "[f(*a)]", "[f(x=[1)]"]
)
def test_what_the_reference_guesses_at_is_refused_with_advice(text):
    with pytest.raises(MalformedCall, match=r"."):
        decode_text(text)


# Hostile text

HOSTILE = [
    "__import__('os').system('touch owned')",
    "open('owned', 'w').write('x')",
    "exec('open(\\'owned\\', \\'w\\')')",
    "().__class__.__bases__[0].__subclasses__()",
    "[c for c in ().__class__.__base__.__subclasses__()]",
    "{k: open('owned', 'w') for k in 'ab'}",
    "(lambda: open('owned', 'w'))()",
    'f\'{open("owned", "w")}\'',
    "'{0.__class__}'.format(open)",
    "'%999999999d' % 1",
    "'%s' % open",
    "b'%9999999d' % 1",
    "b'a' * 10 ** 15",
    "b'a' * 10 ** 7",
    "(0,) * 10 ** 7",
    "__import__('os').system('touch owned') + 1",
    "1 + __import__('os').system('touch owned')",
    "[__import__('os').system('touch owned')] + []",
    "-__import__('os').system('touch owned')",
    "a[__import__('os').system('touch owned')]",
    "{'__import__': {'name': 'os'}}",
    "{'a(b=1); open': {'file': 'owned'}}",
    "{\"a': open('owned', 'w'), 'b\": 1}",
    "9 ** 9 ** 9 ** 9",
    "9 ** -9 ** 9",
    "True ** 9 ** 99",
    "1 << 9 ** 9",
    "1 << 10 ** 9",
    "'a' * 10 ** 12",
    "10 ** 12 * 'a'",
    "'a' * 4096 * 4096",
    "['a' * 4096] * 4096 * 4096",
    "[0] * 10 ** 12",
    "[[[[0] * 4096] * 4096] * 4096] * 4096",
    "[[0] * 4096] * 4096 + [[0] * 4096] * 4096",
    "2 ** 4095 * 2 ** 4095 * 2 ** 4095",
    "9" * 5000,
    "0x" + "f" * 100_000,
    "1e999",
    "[" * 60 + "]" * 60,
    "[" * 100_000 + "]" * 100_000,
    "{1: " * 60 + "1" + "}" * 60,
    "{'a': " * 60 + "{'b': 1}" + "}" * 60,
    "g(x=" * 60 + "1" + ")" * 60,
    "g(" * 150 + ")" * 150,
    "-" * 100_000 + "1",
    "1 + " * 900 + "1",
    "1 + " * 50_000 + "1",
    "1 + (" * 60 + "1" + ")" * 60,
    "not " * 900 + "1",
    "lambda: " * 900 + "1",
    "a" + ".a" * 900,
    "a" + ".a" * 900 + "()",
    "a" + ".a" * 50_000 + "()",
    "a" + "[0]" * 300,
    "a" + "[0]" * 900,
    "a" + "[0]" * 50_000,
    "a" + "()" * 300,
    "a" + "()" * 900,
]


SIZED = (str, bytes, list, tuple, dict)
PLAIN = (Call, MalformedCall, *SIZED, int, float, complex, type(None))


@contextmanager
def watched(folder):
    """Fail for files that a text leaves behind in the current folder, and for taking long."""

    def too_long(*_):
        raise TimeoutError

    handler = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
    assert list(folder.iterdir()) == []


def values_in(value):
    """Yield a value and all that is in it."""
    yield value
    if isinstance(value, Call):
        value = [*value.args, *value.kwargs.values()]
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        for member in value:
            yield from values_in(member)


@pytest.mark.parametrize("expression", HOSTILE, ids=brief)
@pytest.mark.parametrize("decoder", [decode_text, as_bfcl.decode_text])
def test_hostile_text_ends_soon_as_an_error_or_as_plain_values(
    monkeypatch, tmp_path, decoder, expression
):
    monkeypatch.chdir(tmp_path)
    session = Session.load(["TicketAPI"], {})
    before = session.snapshot()
    for text in (expression, f"[f(x={expression})]", f"[get_ticket(ticket_id={expression})]"):
        with watched(tmp_path):
            found = outcome(decoder, text)
        if isinstance(found, MalformedCall):
            assert len(found.message) < 400
            continue
        for call in found:
            values = list(values_in(call))
            assert all(isinstance(value, PLAIN) for value in values)
            assert all(len(value) < 10_000 for value in values if isinstance(value, SIZED))
            assert not session.call(call).ok
    assert session.snapshot() == before


@pytest.mark.parametrize("decoder", [decode_tool_calls, as_bfcl.decode_tool_calls])
@pytest.mark.parametrize(
    "step",
    [
        [{"__import__('os').system": '{"command": "touch owned"}'}],
        [{"open('owned', 'w').write": {"text": "x"}}],
        [{"get_ticket": '{"ticket_id=open(\\"owned\\", \\"w\\"), b": 1}'}],
        [{"get_ticket": {"ticket_id": "__import__('os').system('touch owned')"}}],
        [{"get_ticket": {"self": 1}}],
        [{"_find": {"ticket_id": 1}}],
        [{"__init__": {}}],
        [{"load": {"config": {}}}],
        [{"fork": {}}],
        [{"": {}}],
        [{"logout()": {}}],
        [{"TicketAPI.logout": {}}],
        [{"x" * 100_000: {"y" * 100_000: 1}}],
        [{"get_ticket": '{"ticket_id": ' + '{"a": ' * 5000 + "1" + "}" * 5001}],
    ],
    ids=brief,
)
def test_hostile_tool_calls_do_nothing(monkeypatch, tmp_path, decoder, step):
    monkeypatch.chdir(tmp_path)
    session = Session.load(["TicketAPI"], {"TicketAPI": {"current_user": "ann"}})
    before = session.snapshot()
    with watched(tmp_path):
        found = outcome(decoder, step)
    results = session.play([found] if isinstance(found, MalformedCall) else found)
    assert not any(result.ok for result in results)
    assert all(len(result.text) < 1000 for result in results)
    assert session.snapshot() == before


@pytest.mark.parametrize("decoder", [decode_text, as_bfcl.decode_text])
def test_text_that_is_too_long_is_refused(decoder):
    with pytest.raises(MalformedCall, match="characters"):
        decoder(f"[f(x='{'a' * MAX_TEXT}')]")


@pytest.mark.parametrize("opening", ["[", "(", "{'a': 1, 'b': "])
def test_the_deepest_nesting_that_is_read_as_bfcl(opening):
    closing = {"[": "]", "(": ",)", "{": "}"}[opening[0]]
    fits = MAX_DEPTH - 2
    value_of(opening * fits + "1" + closing * fits)
    with pytest.raises(MalformedCall, match="nested"):
        as_bfcl.decode_text(f"[f(x={opening * 60}1{closing * 60})]")


# Properties

scalars = st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8"))
scalars |= st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_every_decoder_of_tool_calls_keeps_json_arguments(arguments):
    step = [{"f": json.dumps(arguments)}]
    for decoder in (decode_tool_calls, as_bfcl.decode_tool_calls):
        [call] = decoder(step)
        assert repr(call.kwargs) == repr(arguments)


# Negative zero is a sign on a constant like any other: repr writes it so, too.
listed = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=6)


@given(listed)
def test_literals_without_objects_arrive_as_they_are(value):
    text = f"[f(x={value!r})]"
    for decoder in (decode_text, as_bfcl.decode_text):
        [call] = decoder(text)
        assert repr(call.kwargs["x"]) == repr(value)


@given(st.text(alphabet="fgx()[]{}'\"`,=1a \n\\.*:-+not ", max_size=60))
def test_any_text_is_calls_or_malformed(text):
    for decoder in (decode_text, as_bfcl.decode_text):
        found = outcome(decoder, text)
        calls = [found] if isinstance(found, MalformedCall) else found
        assert all(isinstance(call, (Call, MalformedCall)) for call in calls)


DIGITS = BOUNDS.digits + 1
UNWRITABLE = [
    "0x" + "f" * DIGITS,
    "0o" + "7" * (2 * DIGITS),
    "0b" + "1" * (4 * DIGITS),
    "9" * DIGITS,
    "-0x" + "f" * DIGITS,
]


@pytest.mark.parametrize("number", UNWRITABLE, ids=brief)
@pytest.mark.parametrize("argument", ["{}", "[{}]", "{{{}: 1, 'b': 2}}", "g[{}]", "1 * {} * 1"])
@pytest.mark.parametrize("decode", [as_bfcl.decode_text, decode_text])
def test_an_integer_that_cannot_be_written_is_refused_however_it_is_written(
    decode, argument, number
):
    with pytest.raises(MalformedCall) as refused:
        decode(f"[f(x={argument.format(number)})]")
    assert len(refused.value.message) < 500


def test_a_call_with_a_number_that_cannot_be_written_can_be_shown():
    assert str(Call("f", (10**5000,))) == "f(a value that is too deep or too long to show)"
    assert state.cut_repr([10**5000]) == "a value that is too deep or too long to show"


def test_keys_have_the_bounds_of_values():
    with pytest.raises(MalformedCall, match=f"more than {MAX_INT_BITS} bits"):
        check_bounds({2**MAX_INT_BITS: 1})


NESTED = {
    "list": ("[", "]", "x={}"),
    "tuple": ("(", ",)", "x={}"),
    "value": ("{'a': ", "}", "x={}"),
    "call": ("g(b=", ")", "x={}"),
    "key": ("(", ",)", "x={{{}: 0}}"),
}


@pytest.mark.parametrize(("opening", "closing", "argument"), NESTED.values(), ids=NESTED)
def test_every_kind_of_nesting_has_the_same_limit_as_bfcl(opening, closing, argument):
    def read(levels):
        text = argument.format(f"{opening * levels}1{closing * levels}")
        return as_bfcl.decode_text(f"[f({text})]")

    levels = MAX_DEPTH - 1 - argument.count("{{{")
    assert isinstance(read(levels)[0], Call)
    with pytest.raises(MalformedCall, match=f"more than {MAX_DEPTH} levels deep"):
        read(levels + 1)


@pytest.mark.parametrize(
    ("opening", "closing", "added"), [("[", "]", "[]"), ("(", ",)", "()"), ("- ", "", "1")]
)
def test_nested_terms_count_as_terms_as_bfcl(opening, closing, added):
    def read(levels):
        term = f"{opening * levels}1{closing * levels}"
        return as_bfcl.decode_text(f"[f(x={term}{f' + {added}' * 280})]")

    assert isinstance(read(19)[0], Call)
    with pytest.raises(MalformedCall, match="more than 300 terms"):
        read(20)


@pytest.mark.parametrize(
    ("fits", "exceeds"),
    [
        ("2**2048", "2**2049"),
        ("(2)**(-2048)", "(2)**(-2049)"),
        ("1 << 4095", "1 << 4096"),
        ("3 << 4094", "3 << 4095"),
        ("'x' * 100_000", "'x' * 100_001"),
        ("100_000 * 'x'", "100_001 * 'x'"),
        ("[[1]] * 50_000", "[[1]] * 50_001"),
        ("('ab',) * 33_333", "('ab',) * 33_334"),
        ("'x' * 50_000 + 'x' * 50_000", "'x' * 50_001 + 'x' * 50_000"),
        ("[1] * 50_000 + [1] * 50_000", "[1] * 50_000 + [1] * 50_001"),
    ],
)
def test_arithmetic_fits_up_to_its_limit_as_bfcl(fits, exceeds):
    assert len(as_bfcl.resolve_calls(f"[f(x={fits})]")) == 1
    with pytest.raises(MalformedCall, match="The result of this arithmetic is too large"):
        as_bfcl.resolve_calls(f"[f(x={exceeds})]")
