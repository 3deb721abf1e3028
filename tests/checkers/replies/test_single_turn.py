from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.calls.call_entry import Language, UnreadableOutput
from checkers.reasons import Reason
from checkers.replies.as_bfcl import single_turn as as_bfcl
from checkers.replies.as_bfcl.single_turn import UNNAMED
from checkers.replies.single_turn import read_text, read_tool_calls
from envs.calls import Call
from envs.errors import DataError

PYTHON, JAVA, JAVASCRIPT = Language


def test_the_reference_reads_one_name_of_a_tool_call_and_numbers_without_bounds() -> None:
    step = [{"f": '{"a": 1e999}', "g": "{}"}]
    assert as_bfcl.read_tool_calls(step) == [Call("f", (), {"a": float("inf")})]


@pytest.mark.parametrize("step", [[{"f": {}}], [{"f": ""}], [{}], ["f"], "f()", None])
def test_tool_calls_that_the_reference_cannot_read(step: Any) -> None:
    with pytest.raises(UnreadableOutput) as raised:
        as_bfcl.read_tool_calls(step)
    assert raised.value.reason is Reason.DECODER_FAILED


def test_strict_reads_tool_calls_without_arguments_and_says_what_was_an_attempt() -> None:
    assert read_tool_calls([{"f": ""}, {"g": {"a": 1}}]) == [
        Call("f", (), {}),
        Call("g", (), {"a": 1}),
    ]
    with pytest.raises(UnreadableOutput) as raised:
        read_tool_calls([{"f": "{"}])
    assert raised.value.attempted


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1), g(b=x)]", [("f", {"a": 1}), ("g", {"b": "x"})]),
        ("f(1, a={})", [("f", {"a": {}})]),
        ("f(**x)", [("f", {UNNAMED: "x"})]),
        ("f(a=g(b=1))", [("f", {"a": {"g": {"b": 1}}})]),
        ("", []),
    ],
)
def test_python_as_the_reference_reads_it(text: str, calls: list[Any]) -> None:
    found = as_bfcl.read_text(text, PYTHON)
    assert [(call.name, call.kwargs) for call in found] == calls


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("Foo.bar(alpha=1, beta='x y')", "Foo.bar", {"alpha": "1", "beta": "x y"}),
        ("A.f(a=1);", "A.f", {"a": "1"}),
        ("[A.f(a=1); B.g(b=2);]", "A.f", {"a": "1"}),
        ("A.f(a=new HashMap<String, String>() {{ put(1); }});", "A.f",
         {"a": "new HashMap<String,String>()"}),
        ("A.f(a=new int[][]{{1}, {2}});", "A.f", {"a": "new int[]{{1},{2}}"}),
        ("A.f(a=x instanceof Y);", "A.f", {"a": "xinstanceofY"}),
        ("A.f(a=g( 1 ));", "A.f", {"a": "g( 1 )"}),
        ("A.f(x, 1, b=2);", "A.f", {UNNAMED: "x", "b": "2"}),
        ('A.f(a="é", b=1);', "A.f", {"a": 'é"', "=": ")"}),
    ],
)  # fmt: skip
def test_java_as_the_reference_reads_it(text: str, name: str, arguments: dict[str, str]) -> None:
    assert as_bfcl.read_text(text, JAVA) == [Call(name, (), arguments)]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("f(a=1, b='x', c=`t`)", "f", {"a": "1", "b": "x", "c": "`t`"}),
        ("x; f(a=1); g(b=2)", "f", {"a": "1"}),
        ("```javascript\nf(a=1)\n```", "f", {"a": "1"}),
        ("f(a='x' + y + 'z')", "f", {"a": "x' + y + 'z"}),
        ("f(true, 1, a=[1, 2])", "f", {UNNAMED: "true", "a": "[1, 2]"}),
        ("f?.(a=1)", "f", {}),
    ],
)
def test_javascript_as_the_reference_reads_it(
    text: str, name: str, arguments: dict[str, str]
) -> None:
    assert as_bfcl.read_text(text, JAVASCRIPT) == [Call(name, (), arguments)]


@pytest.mark.parametrize(
    ("language", "text", "reason"),
    [
        (PYTHON, "I cannot.", Reason.DECODER_FAILED),
        (PYTHON, "[f(), 5]", Reason.DECODER_FAILED),
        (PYTHON, "[f(a=x.y)]", Reason.DECODER_FAILED),
        (JAVA, "A.f(a=1)", Reason.DECODER_FAILED),
        (JAVA, "A.f(a=1, a=2);", Reason.DECODER_FAILED),
        (JAVA, "A.f(a=new int[3]);", Reason.DECODER_FAILED),
        (JAVA, "A.f(a=" + "(" * 300 + "1" + ")" * 300 + ");", Reason.DECODER_FAILED),
        (JAVA, "new Foo(a=1);", Reason.WRONG_FORMAT),
        (JAVA, "", Reason.WRONG_FORMAT),
        (JAVASCRIPT, "f(a: 1)", Reason.DECODER_FAILED),
        (JAVASCRIPT, "f(x, y)", Reason.DECODER_FAILED),
        (JAVASCRIPT, "x = f(a=1)", Reason.WRONG_FORMAT),
        (JAVASCRIPT, "[f(a=1), g(b=2)]", Reason.WRONG_FORMAT),
        (JAVASCRIPT, "f(" + "a=1, " * 4000, Reason.DECODER_FAILED),
    ],
)
def test_texts_that_the_reference_cannot_read(
    language: Language, text: str, reason: Reason
) -> None:
    with pytest.raises(UnreadableOutput) as raised:
        as_bfcl.read_text(text, language)
    assert raised.value.reason is reason


@pytest.mark.parametrize("language", Language)
def test_no_text_is_no_calls_to_strict_and_unreadable_to_the_reference(language: Language) -> None:
    assert read_text(None, language) == []
    with pytest.raises(UnreadableOutput):
        as_bfcl.read_text(None, language)


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("A.f(a=1)", [Call("A.f", (), {"a": "1"})]),
        ("A.f()", [Call("A.f", (), {})]),
        ("[A.f(a=1), B.g(b='x')]", [Call("A.f", (), {"a": "1"}), Call("B.g", (), {"b": "'x'"})]),
        ("A.f(a=1);\nB.g(b=2);", [Call("A.f", (), {"a": "1"}), Call("B.g", (), {"b": "2"})]),
        ("```\n[A.f(a=1)]\n```", [Call("A.f", (), {"a": "1"})]),
        ("Sure:\n```code\nA.f(a=1);\n```\nDone.", [Call("A.f", (), {"a": "1"})]),
        ("I call [A.f(a=1)] now.", [Call("A.f", (), {"a": "1"})]),
        ("a . b . f(x, c=1)", [Call("a.b.f", ("x",), {"c": "1"})]),
        ("A.f(a=1) // done", [Call("A.f", (), {"a": "1"})]),
        ("A.f(a=g(b=1))", [Call("A.f", (), {"a": "g(b=1)"})]),
        ("No function fits.", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("language", [JAVA, JAVASCRIPT])
def test_strict_reads_calls_as_they_are_meant(
    language: Language, text: str, calls: list[Call]
) -> None:
    assert read_text(text, language) == calls


@pytest.mark.parametrize(
    "text",
    ["f(a=1, a=2)", "f(a=", "a().f(b=1)", "f(a=1) g(b=2)", "f(a.b=1)", "f(" + "a=1, " * 4000],
)
@pytest.mark.parametrize("language", [JAVA, JAVASCRIPT])
def test_strict_says_what_was_an_attempt(language: Language, text: str) -> None:
    with pytest.raises(UnreadableOutput) as raised:
        read_text(text, language)
    assert raised.value.attempted


@pytest.mark.parametrize("read", [read_text, as_bfcl.read_text])
@pytest.mark.parametrize("language", Language)
@given(text=st.text("fa.b=()[]{}\"'`,;:/*é1 \n", max_size=60))
def test_any_text_is_read_or_unreadable(read: Any, language: Language, text: str) -> None:
    try:
        calls = read(text, language)
    except UnreadableOutput:
        return
    assert all(isinstance(call, Call) for call in calls)


@pytest.mark.parametrize(
    "text", ["(" * 9000, "A<" * 900, "f(a=" * 2000, "\udcff(a=1)", "x." * 4900]
)
@pytest.mark.parametrize("read", [read_text, as_bfcl.read_text])
@pytest.mark.parametrize("language", [JAVA, JAVASCRIPT])
def test_hostile_code_has_no_calls(read: Any, language: Language, text: str) -> None:
    try:
        calls = read(text, language)
    except UnreadableOutput:
        return
    assert [call.kwargs for call in calls] in ([], [{"a": "1"}])


def test_a_missing_grammar_says_how_to_get_it(without_grammars: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(without_grammars)}$"):
        as_bfcl.read_text("f(a=1)", JAVA)


@pytest.mark.parametrize("text", ["[f(a=", "[f(a=b + c)]"])
def test_strict_says_that_broken_python_was_an_attempt(text: str) -> None:
    with pytest.raises(UnreadableOutput) as raised:
        read_text(text, PYTHON)
    assert raised.value.attempted


def test_the_reference_reads_java_that_is_nested_200_levels_deep() -> None:
    def read(opening: str, closing: str, depth: int) -> Any:
        return as_bfcl.read_text(f"A.f(a={opening * depth}1{closing * depth})", JAVA)

    for opening, closing, most in (("new B(", ")", 200), ("new int[]{", "}", 100)):
        assert len(read(opening, closing, most)[0].kwargs["a"]) > most
        with pytest.raises(UnreadableOutput, match="nested too deep"):
            read(opening, closing, most + 1)
