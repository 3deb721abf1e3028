from __future__ import annotations

import ast
import json
import sys
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from envs.calls import (
    MAX_DEPTH,
    MAX_INT_BITS,
    MAX_TEXT,
    Call,
    check_bounds,
    find_closing_bracket,
    make_call,
    make_call_from_tool,
    parse_call,
    parse_calls,
    parse_expression,
    parse_plain_calls,
    read_call_node,
    read_json,
)
from envs.errors import MalformedCall
from envs.registry import BACKENDS
from envs.session import Session
from tests.examples import examples

literals = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Lone surrogates cannot be written down in UTF-8 but by an escape, which is what repr does.
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name.isidentifier() and not is_keyword(name)
)
calls = st.builds(
    lambda name, args, kwargs: Call(name, tuple(args), kwargs),
    names,
    st.lists(literals, max_size=2),
    st.dictionaries(names, literals, max_size=2),
)


def is_keyword(name):
    try:
        compile(f"{name} = {name}(0)", "", "exec")
    except SyntaxError:
        return True
    return False


# Plain form: what is read without a syntax tree

TOKENS = """f g if None __debug__ _x1 é ( ) () = [ ] [] , : - + . ' " \\ 0 1 07 -0 -0.0 12.50 1e5
1_0 999999999999999 9999999999999999 True False true a=1 a='x' a="y" a=[1,'z'] b=[None] c=-2.5
c=[[]] d={} '' 'it''s' '\\n' # * ** ..."""
BLANKS = [" ", ", ", "\t", "\n", "\r", "\0", "\f", "'a b, c=1)'", "a='é'", "a='\ud800'"]
pieces = st.sampled_from([*TOKENS.split(), *BLANKS])
near_plain = st.lists(pieces, max_size=8).map("".join)


def read(reader, text):
    try:
        return repr(reader(text))
    except MalformedCall:
        return "refused"


def read_by_tree(text):
    node = parse_expression(text)
    if not isinstance(node, ast.Call):
        raise MalformedCall("no call")
    return read_call_node(node)


@given(near_plain, near_plain)
@settings(max_examples=examples(1000))
@example("a=1", "")
@example("a='x', b=[1, -2.5, True], c=None", "")
@example("a=1, a=2", "")
@example("a=1,", "")
@example("a=-0, b=-0.0, c=00", "")
def test_the_plain_form_reads_as_its_syntax_tree_does(arguments, after):
    text = f"f({arguments}){after}"
    assert read(parse_call, text) == read(read_by_tree, text)
    if parse_plain_calls(f"[{text}]"):
        node = parse_expression(f"[{text}]")
        assert repr(parse_plain_calls(f"[{text}]")) == repr([read_call_node(e) for e in node.elts])


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[f()]", 1),
        ("[f(a=1), g(b='x'),h(c=[1, 'y'])]", 3),
        ("[f(),]", 1),
        ("[]", 0),
        ("f()", 0),
        ("[f()", 0),
        ("[f()] ", 0),
        ("[f() g()]", 0),
        ("[f(1)]", 0),
        ("[f(a='it\\'s')]", 0),
    ],
)
def test_a_list_of_calls_in_plain_form(text, count):
    assert len(parse_plain_calls(text)) == count


# Reading one expression


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("pwd()", Call("pwd")),
        ("cd(folder='src')", Call("cd", (), {"folder": "src"})),
        ("cd('src')", Call("cd", ("src",))),
        ("sort('f', reverse=True)", Call("sort", ("f",), {"reverse": True})),
        ("  cd ( folder = 'src' , )  ", Call("cd", (), {"folder": "src"})),
        ("\ncd(\n  folder='src'\n)\n", Call("cd", (), {"folder": "src"})),
        ("api.v2.cd(folder='src')", Call("api.v2.cd", (), {"folder": "src"})),
        ("f(-1, +2, -0.5, 1_000, 0x1F, 1e3)", Call("f", (-1, 2, -0.5, 1000, 31, 1000.0))),
        ("f(None, True, False)", Call("f", (None, True, False))),
        (
            "f([1, [2]], (1, 2), (), {'a': {1: []}})",
            Call("f", ([1, [2]], (1, 2), (), {"a": {1: []}})),
        ),
        ("f('a' 'b', u'c', r'\\d', '''x\ny''')", Call("f", ("ab", "c", "\\d", "x\ny"))),
        ("f('\\u00e9\\n', 'é')", Call("f", ("é\n", "é"))),
        ("f({'a': 1, 'a': 2})", Call("f", ({"a": 2},))),
        ("f({-1: 'x'})", Call("f", ({-1: "x"},))),
        ("f(1) # a comment", Call("f", (1,))),
    ],
)
def test_a_call_expression(text, call):
    assert parse_call(text) == call


def test_json_with_text_after_it_is_refused():
    assert read_json(' {"a": [1]}\n') == {"a": [1]}
    with pytest.raises(ValueError, match="Extra data"):
        read_json('{"a": [1]} and more')


def test_an_odd_escape_is_read_without_a_warning():
    assert parse_call(r"grep('\d+')") == Call("grep", ("\\d+",))


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("f(g())", Call("f", (Call("g"),), {}, True)),
        ("f(x=g(1))", Call("f", (), {"x": Call("g", (1,))}, True)),
        ("f([1, {'a': (g(),)}])", Call("f", ([1, {"a": (Call("g"),)}],), {}, True)),
        ("f(g(h()))", Call("f", (Call("g", (Call("h"),), {}, True),), {}, True)),
    ],
)
def test_a_nested_call(text, call):
    read = parse_call(text)
    assert read == call
    assert read.nested


@given(calls)
@example(Call("f", ("'\"\\\n\r\0\u2028", "\ud800", -0.0, 5e-324, "if(x)"), {"a": {"b": [()]}}))
def test_a_call_reads_back_from_its_own_text(call):
    read = parse_call(str(call))
    assert read == call
    assert repr(read) == repr(call)
    assert parse_calls(f"[{call}, {call}]") == [call, call]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not valid Python"),
        ("   ", "is not valid Python"),
        ("f(", "was never closed"),
        ("f)", "unmatched"),
        ("f(1); g(2)", "is not valid Python"),
        ("f(1)\ng(2)", "is not valid Python"),
        ("f(1), g(2)", "is not a function call"),
        ("[f(1)]", "is not a function call"),
        ("f", "is not a function call"),
        ("x = f(1)", "is not valid Python"),
        ("import os", "is not valid Python"),
        ("f(a=1, a=2)", "argument a is given twice"),
        ("f(1)(2)", "is not the name of a function"),
        ("f(x)", "put strings between quotes"),
        ("f(x=true)", "write True, False or None"),
        ("f(x=null)", "write True, False or None"),
        ("f('\0')", "is not valid Python"),
        ("f('\ud800')", "is not valid Python"),
        ("f(1" + " " * MAX_TEXT, f"at most {MAX_TEXT} are read"),
    ],
)
def test_what_is_not_a_call_is_refused(text, message):
    with pytest.raises(MalformedCall, match=message) as caught:
        parse_call(text)
    assert len(caught.value.message) < 300


# Hostile text

HOSTILE = [
    "__import__('os').system('touch owned')",
    "f(__import__('os').system('touch owned'))",
    "f(x=().__class__.__bases__[0].__subclasses__())",
    "f.__globals__['os'](1)",
    "f(x.__class__)",
    "f(open('owned', 'w').write('x'))",
    "f([open('owned', 'w') for _ in (1,)])",
    "f({k: 1 for k in 'ab'})",
    "f({k for k in 'ab'})",
    "f(x for x in 'ab')",
    "f(lambda: open('owned', 'w'))",
    "(lambda: open('owned', 'w'))()",
    'f(f\'{open("owned", "w")}\')',
    "f(f'plain')",
    "f(x := 1)",
    "f((x := 1))",
    "f(9 ** 9 ** 9 ** 9)",
    "f(2 ** 10)",
    "f(1 << 10 ** 9)",
    "f('a' * 10 ** 12)",
    "f(1 + 2)",
    "f('a' + 'b')",
    "f(1 if True else 2)",
    "f(1 < 2)",
    "f(True and False)",
    "f(not True)",
    "f(~5)",
    "f(-True)",
    "f(-'a')",
    "f(- -1)",
    "f(b'bytes')",
    "f(1j)",
    "f(1 + 2j)",
    "f(...)",
    "f({1, 2})",
    "f({*()})",
    "f(*[1, 2])",
    "f(**{'a': 1})",
    "f([*[1]])",
    "f({**{}})",
    "f({[1]: 2})",
    "f({(1, 2): 3})",
    "f({g(): 1})",
    "f({'a': b'x'})",
    "f('a'[0])",
    "f('a'.upper())",
    "f('%s' % 1)",
    "f(await g())",
    "f((yield))",
    "f(1e999)",
    "f(-1e999)",
    "f(" + "9" * 2000 + ")",
    "f(" + "9" * 5000 + ")",
    "f(0x" + "f" * 100_000 + ")",
    "f(" + "[" * 60 + "]" * 60 + ")",
    "f(" + "[" * 100_000 + "]" * 100_000 + ")",
    "f(" + "{1:" * 60 + "1" + "}" * 60 + ")",
    "f(" * 60 + ")" * 60,
    "f(" + "-" * 100_000 + "1)",
    "f(" + "not " * 3_000 + "1)",
    "f(" + "1 + " * 3_000 + "1)",
    "f(" + "1 + " * 50_000 + "1)",
    "f(" + "lambda: " * 3_000 + "1)",
    "f(" + "1 if 1 else " * 3_000 + "1)",
    "f(a" + ".a" * 50_000 + ")",
    "f(a" + "[0]" * 50_000 + ")",
    "f" + "()" * 50_000,
    "a" + ".a" * 50_000 + "()",
]


RUNNING = {"exec", "import", "open", "os.system", "subprocess.Popen"}
events: list[str] | None = None


def note(event, args):
    # For the text of a syntax error, Python looks for a source file of the name that it was given.
    if events is not None and event in RUNNING and args[0] != "<call>":
        events.append(event)


@cache
def hear():
    """Have what happens noted; the hook stays, and makes all else in its process slower."""
    sys.addaudithook(note)


def read_watched(read, text):
    """Read text and return the outcome; whatever runs, imports or opens anything is a failure."""
    global events
    hear()
    events = []
    try:
        return read(text)
    except MalformedCall as error:
        return error
    finally:
        seen, events = events, None
        assert seen == []


def test_what_runs_would_be_noticed():
    with pytest.raises(AssertionError, match="exec"):
        read_watched(eval, "1")


def brief(text):
    return text if len(text) < 50 else f"{text[:30]}...{len(text)}"


@pytest.mark.parametrize("text", HOSTILE, ids=brief)
def test_hostile_text_is_refused_and_nothing_runs(text):
    error = read_watched(parse_call, text)
    assert isinstance(error, MalformedCall)
    assert len(error.message) < 400


@pytest.mark.parametrize("text", HOSTILE, ids=brief)
@pytest.mark.parametrize(
    "reply", ["[{}]", "{}", "```python\n{}\n```", "Sure, I will call {} now.", "`{}`"]
)
def test_hostile_text_in_a_reply_never_becomes_a_call(text, reply):
    found = read_watched(parse_calls, reply.format(text))
    assert found == [] or isinstance(found, MalformedCall)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "open('/etc/passwd')",
        "eval('1')",
        "os.system('touch owned')",
        "Session.load()",
        "self.load({})",
        "load({})",
        "fork()",
        "__init__()",
        "_load({}, None)",
        "check_config({})",
        "backends.clear()",
    ],
)
def test_a_hostile_name_is_only_a_name_and_no_backend_knows_it(text):
    [call] = parse_calls(f"[{text}]")
    result = Session.load(list(BACKENDS), {}).call(call)
    assert type(result.error).__name__ == "UnknownFunction"


@given(st.text(alphabet="fg()[]{}'\"`,=1a \n\\.*:-", max_size=60))
def test_any_text_is_calls_or_a_read_watched(text):
    for read in (parse_call, parse_calls):
        assert isinstance(read_watched(read, text), (Call, list, MalformedCall))


# Reading a reply


@pytest.mark.parametrize(
    "reply",
    [
        "[cd(folder='src'), ls()]",
        "  [cd(folder='src'),\n   ls()]  ",
        "[cd('src'.__class__)] [cd(folder='src'), ls()]",
        "I will look there first: [cd(folder='src'), ls()] and then tell you.",
        "```\n[cd(folder='src'), ls()]\n```",
        "```python\n[cd(folder='src'), ls()]\n```",
        "```tool_code\n[\n  cd(folder='src'),\n  ls(),\n]\n```\nDone.",
        "The files [1, 2] are old, the list [] is empty.\n[cd(folder='src'), ls()]",
        "It's [sic] here. [cd(folder='src'), ls()]",
        "[cd(folder='src'), # a [ or ' here\n ls()]",
        "`[cd(folder='src'), # a [ or ' here\n ls()]`",
    ],
)
def test_a_bracketed_list_anywhere(reply):
    assert parse_calls(reply) == [Call("cd", (), {"folder": "src"}), Call("ls")]


@pytest.mark.parametrize("text", ["[f(a='', b=']')]", '[f(a="]", b="")]', "[f(a=''']''')]"])
def test_brackets_in_strings_do_not_close(text):
    assert find_closing_bracket(f"{text} [1]", 0) == len(text) - 1


@pytest.mark.parametrize(
    "reply",
    [
        "cd(folder='src')",
        "  cd(folder='src')\n",
        "`cd(folder='src')`",
        "```python\ncd(folder='src')\n```",
        "Here you are:\n```\ncd(folder='src')\n```\nThat goes there.",
    ],
)
def test_a_bare_call(reply):
    assert parse_calls(reply) == [Call("cd", (), {"folder": "src"})]


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n",
        "[]",
        "The folder is empty.",
        "I called cd(folder='src') for you.",
        "cd(folder='src') is done.",
        "x = cd(folder='src')",
        "cd(folder='src')\nx = 1",
        "cd(folder='src') + ls()",
        "cd(folder='src'); x",
        "[1, 2, 3]",
        "['cd(1)']",
        "[see below",
        "below]",
        "[see below]",
        "```python\nimport os\nos.getcwd()\n```",
        "()",
        "for x in y: f(x)",
    ],
)
def test_a_reply_without_calls(reply):
    assert parse_calls(reply) == []


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ("[cd(folder=src)]", "put strings between quotes"),
        ("[cd(folder='src']", "is not valid Python"),
        ("[cd(folder='src'), 2]", "something other than function calls"),
        ("[cd(folder='src'), ls(", "is not valid Python"),
        ("cd(folder=src)", "put strings between quotes"),
        ("cd(folder='src')\nls()", "write them as one list"),
        ("cd(folder='src'); ls()", "write them as one list"),
        ("```\ncd(folder='src')\nls()\n```", "write them as one list"),
        ("x" * (MAX_TEXT + 1), f"at most {MAX_TEXT} are read"),
    ],
)
def test_a_reply_whose_calls_cannot_be_read(reply, message):
    with pytest.raises(MalformedCall, match=message):
        parse_calls(reply)


@pytest.mark.parametrize(
    "text",
    [
        "call logout() now",
        "[ls(), rm(name='x')]",
        "f(",
        "])}",
        "```python\nls()\n```",
        'it\'s "quoted" \\ and\nbroken',
        "'''",
        "__import__('os')",
        "# no comment",
        "{}",
    ],
)
def test_text_in_an_argument_stays_as_it_is(text):
    for reply in (f"[echo(content={text!r}), ls()]", f"Now: [echo({text!r}), ls()]."):
        first, second = parse_calls(reply)
        assert [*first.args, *first.kwargs.values()] == [text]
        assert second == Call("ls")
    assert parse_calls(f"echo({text!r})") == [Call("echo", (text,))]
    assert make_call_from_tool("echo", json.dumps({"content": text})).kwargs == {"content": text}


@pytest.mark.parametrize("fence", ["```{}```", "```\n{}\n```", "```python\n{}\n```", "```py {}```"])
def test_a_fence_with_and_without_a_language(fence):
    assert parse_calls(fence.format("cd(folder='src')")) == [Call("cd", (), {"folder": "src"})]
    assert parse_calls(fence.format("[ls(), ls()]")) == [Call("ls"), Call("ls")]


def test_a_list_in_a_call_is_an_argument_and_not_a_list_of_calls():
    text = "mean(numbers=[add(a=1, b=2), 3])"
    for reply in (text, f"```\n{text}\n```", f"[{text}]"):
        assert parse_calls(reply) == [parse_call(text)]
    text = "echo('''```python\nls()\n```''')"
    assert parse_calls(text) == [Call("echo", ("```python\nls()\n```",))]


@pytest.mark.parametrize(
    ("begin", "part", "count", "end"),
    [
        ("", "`", MAX_TEXT, ""),
        ("```", "a", 900_000, ""),
        ("```", "a ", 400_000, ""),
        ("", "[", MAX_TEXT, ""),
        ("", "[ ", MAX_TEXT // 2, ""),
        ("[", " ", 900_000, ""),
        ("", "[a", 300_000, ""),
        ("", "[a ", 300_000, ""),
        ("", "[f()] ", 20_000, "x"),
    ],
)
def test_long_text_is_read_without_going_over_it_again_and_again(begin, part, count, end):
    # In quadratic time this would take minutes; what becomes of the text does not matter.
    read_watched(parse_calls, begin + part * count + end)


# Structured calls


@pytest.mark.parametrize(
    ("arguments", "kwargs"),
    [
        ('{"folder": "src"}', {"folder": "src"}),
        ({"folder": "src"}, {"folder": "src"}),
        ('{"a": [1, 2.0, true, null, {"b": "f(1)"}]}', {"a": [1, 2.0, True, None, {"b": "f(1)"}]}),
        ("{}", {}),
        ("", {}),
        (" \n", {}),
        (None, {}),
    ],
)
def test_a_structured_call(arguments, kwargs):
    assert make_call_from_tool("cd", arguments) == Call("cd", (), kwargs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{", "not valid JSON"),
        ("{'folder': 'src'}", "not valid JSON"),
        ("[1]", "are a list; they must be a JSON object"),
        ("1", "are a int"),
        ([("a", 1)], "are a list"),
        ('{"a": NaN}', "not a finite number"),
        ('{"a": -Infinity}', "not a finite number"),
        ('{"a": 1e999}', "not a finite number"),
        ('{"a": ' + "9" * 2000 + "}", f"more than {MAX_INT_BITS} bits"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"a": ' + "[" * 41 + "]" * 41 + "}", f"more than {MAX_DEPTH} levels"),
        ("[" * 100_000, "not valid JSON"),
        ('{"a": "' + "x" * MAX_TEXT + '"}', f"longer than {MAX_TEXT}"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_structured_arguments_that_are_refused(arguments, message):
    with pytest.raises(MalformedCall, match=message) as caught:
        make_call_from_tool("cd", arguments)
    assert len(caught.value.message) < 300


# Bounds


@pytest.mark.parametrize("sign", ["", "-"])
def test_the_largest_integer(sign):
    largest = 2**4096 - 1
    assert parse_call(f"f({sign}{largest})").args == (int(f"{sign}{largest}"),)
    with pytest.raises(MalformedCall, match="bits"):
        parse_call(f"f({sign}{largest + 1})")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("{'a': ", "}")])
def test_the_deepest_nesting(opening, closing):
    def nested(depth):
        return opening * depth + "1" + closing * depth

    check_bounds(parse_call(f"f({nested(MAX_DEPTH - 1)})").args[0])
    with pytest.raises(MalformedCall, match="nested more"):
        parse_call(f"f({nested(MAX_DEPTH)})")
    value = nested(MAX_DEPTH - 1).replace("'", '"')
    assert make_call_from_tool("f", f'{{"a": {value}}}').kwargs["a"] == json.loads(value)


def test_the_longest_text():
    text = "x" * (MAX_TEXT - len("f('')"))
    assert parse_call(f"f('{text}')").args == (text,)
    with pytest.raises(MalformedCall, match="at most"):
        parse_call(f"f('{text}x')")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (Call("f"), "f()"),
        (Call("f", (1, "a'b"), {"x": [None, (1,)]}), 'f(1, "a\'b", x=[None, (1,)])'),
        (Call("f", (Call("g", (1,)),), {"x": Call("h")}, True), "f(g(1), x=h())"),
    ],
)
def test_text_of_a_call(call, text):
    assert str(call) == text
    assert parse_call(text) == call


def test_names_among_the_variables_are_read_as_texts() -> None:
    text = "Then: ```\n[f(a=x, b=[y, 1], c={'k': x}), g(h(x))]\n```"
    first, second = parse_calls(text, {"x", "y"})
    assert first == Call("f", (), {"a": "x", "b": ["y", 1], "c": {"k": "x"}})
    assert second == Call("g", (Call("h", ("x",)),), {}, nested=True)
    with pytest.raises(MalformedCall, match="put strings between quotes"):
        parse_calls(text, {"x"})
    assert parse_call("f(a=x)", {"x"}) == Call("f", (), {"a": "x"})


BRACKETS = {
    "list": ("[", "]"),
    "tuple": ("(", ",)"),
    "value": ("{'a': ", "}"),
    "keyword": ("g(b=", ")"),
    "argument": ("g(", ")"),
}


@pytest.mark.parametrize("call", ["f({})", "f(x={})"])
@pytest.mark.parametrize(("opening", "closing"), BRACKETS.values(), ids=BRACKETS)
def test_every_kind_of_nesting_has_the_same_limit_in_text(opening, closing, call):
    def text(levels):
        return call.format(f"{opening * levels}1{closing * levels}")

    assert isinstance(parse_call(text(MAX_DEPTH - 1)), Call)
    with pytest.raises(MalformedCall, match=f"more than {MAX_DEPTH} levels deep"):
        parse_call(text(MAX_DEPTH))


@pytest.mark.parametrize(
    "wrap", [lambda v: [v], lambda v: (v,), lambda v: {"a": v}], ids=["list", "tuple", "dict"]
)
def test_every_kind_of_nesting_has_the_same_limit_in_a_value(wrap):
    value = 1
    for _ in range(MAX_DEPTH - 1):
        value = wrap(value)
    make_call_from_tool("f", {"a": value})
    make_call("f", {"a": value})
    check_bounds(wrap(value))
    for read in (make_call, make_call_from_tool):
        with pytest.raises(MalformedCall, match=f"more than {MAX_DEPTH} levels deep"):
            read("f", {"a": wrap(value)})
    with pytest.raises(MalformedCall, match=f"more than {MAX_DEPTH} levels deep"):
        check_bounds(wrap(wrap(value)))


@pytest.mark.parametrize(
    "make_arguments",
    [
        lambda: ({"a": "x" * (MAX_TEXT - 1)}, {"a": "x" * MAX_TEXT}),
        lambda: ({"a": 1, "b": "x" * (MAX_TEXT - 2)}, {"a": 1, "b": "x" * (MAX_TEXT - 1)}),
        lambda: ({"ab": [], "b": "x" * (MAX_TEXT - 11)}, {"ab": [], "b": "x" * (MAX_TEXT - 10)}),
        lambda: ({"a": [2] * 124_998}, {"a": [2] * 125_000}),
        # Numbers of less than 16 digits do not count.
        lambda: ({"a": 1 - 10**15, "b": "x" * (MAX_TEXT - 2)}, {"a": 1, "b": "x" * (MAX_TEXT - 1)}),
        lambda: (
            {"a": 10**15, "b": "x" * (MAX_TEXT - 25)},
            {"a": 10**15, "b": "x" * (MAX_TEXT - 24)},
        ),
        lambda: (
            {"a": -(10**15), "b": "x" * (MAX_TEXT - 25)},
            {"a": None, "b": "x" * (MAX_TEXT - 9)},
        ),
        lambda: ({"a": 2**MAX_INT_BITS - 1}, {"a": 2**MAX_INT_BITS}),
        lambda: ({"a": -(2**MAX_INT_BITS) + 1}, {"a": -(2**MAX_INT_BITS)}),
        lambda: ({"a": 1.7e308}, {"a": float("inf")}),
    ],
)
def test_arguments_fit_up_to_their_limit(make_arguments):
    fits, exceeds = make_arguments()
    assert make_call_from_tool("f", fits).kwargs == fits
    with pytest.raises(MalformedCall):
        make_call_from_tool("f", exceeds)


def test_a_call_has_at_most_a_million_characters_however_plain_it_is():
    for beginning, end in (("f(a='", "')"), ("f(a=[1], b='", "')")):
        room = 1_000_000 - len(beginning + end)
        assert parse_call(f"{beginning}{'x' * room}{end}").name == "f"
        with pytest.raises(MalformedCall, match="has 1000001 characters; at most 1000000 are read"):
            parse_call(f"{beginning}{'x' * (room + 1)}{end}")


@pytest.mark.parametrize(("gap", "quoted"), [(9, "[f(), 22]"), (233, "[f(), 2"), (234, "[f(),")])
def test_a_message_quotes_the_words_among_the_first_240_characters(gap, quoted):
    with pytest.raises(MalformedCall) as refused:
        parse_calls(f"[f(),{' ' * gap} 22]")
    assert str(refused.value).startswith(f"{quoted!r} contains something other")


@pytest.mark.parametrize(("count", "kept"), [(51, 51), (52, 50), (200, 50)])
def test_a_message_quotes_60_characters(count, kept):
    with pytest.raises(MalformedCall) as refused:
        parse_calls(f"[f(), '{'x' * count}']")
    assert str(refused.value).count("x") == kept
