"""What a protocol writes it reads, whatever is in it; what is cut off is never read as more."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envs.bounds import BOUNDS
from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.registry import PROTOCOLS
from runner.models.calling_formats.format_types import NativeFormat, TextFormat
from tests.examples import examples
from tests.extensions.formats.making import NATIVE, WRITTEN, calls, documents, plain, through

LOAD = settings(
    max_examples=examples(60), deadline=None, derandomize=True, suppress_health_check=[*HealthCheck]
)
PAIR = [Call("cd", (), {"folder": "a b"}), Call("cat", (), {"file_name": 'it\'s "x".txt'})]


def fits(name: str, made: list[Call]) -> list[Call]:
    """Return as many of the calls as a protocol has room for."""
    return made[:1] if name == "functions" else made


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_written_is_read(name: str) -> None:
    @LOAD
    @given(st.lists(calls(), min_size=1, max_size=3), st.sampled_from(["", "I look it up."]))
    def check(made: list[Call], text: str) -> None:
        wanted = fits(name, made)
        assert plain(through(PROTOCOLS[name], wanted, text)) == plain(wanted)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_is_written_is_read_2_000_times(name: str) -> None:
    @settings(LOAD, max_examples=2_000)
    @given(st.lists(calls(), min_size=1, max_size=3))
    def check(made: list[Call]) -> None:
        wanted = fits(name, made)
        assert plain(through(PROTOCOLS[name], wanted)) == plain(wanted)

    check()


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_function_is_written_and_read(name: str) -> None:
    for document in documents():
        made = [Call(document["name"], (), {})]
        assert plain(through(PROTOCOLS[name], made)) == plain(made)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_two_calls_are_read_in_their_order(name: str) -> None:
    for made in (PAIR, PAIR[::-1], [*PAIR, PAIR[0]], [PAIR[0], PAIR[0]]):
        wanted = fits(name, made)
        assert plain(through(PROTOCOLS[name], wanted)) == plain(wanted)


@pytest.mark.parametrize("name", WRITTEN)
def test_no_calls_are_words_and_these_are_told(name: str) -> None:
    protocol = WRITTEN[name]
    for text in ("All is done.", "", "It is 5 (five): {a} [b] <c>.", "Is 3 < 4?\n\nYes."):
        written = protocol.write([], text, documents())
        assert protocol.read(written, documents()) == []
        assert protocol.says(written).text == text


PROSE = {
    "hermes": "I put calls between <tool_call> and </tool_call> tags.",
    "qwen_xml": "A <tool_call> holds a <function=...> and each <parameter=...> a value.",
    "llama_json": 'Calls have a "name" and "parameters"; {"a": 1} is none.',
    "python": "I could call cd(folder) or [a list], but f(x) is no call.",
    "pythonic": "Between <|python_start|> and <|python_end|> stands Python.",
    "glm": "A <tool_call> has <arg_key> and <arg_value>, then </tool_call>.",
    "mistral": "Mistral writes [TOOL_CALLS] before calls, and [ARGS] before arguments.",
    "react": "My Action: think. The Action Input is yours; an Observation follows.",
    "toolllama": "I Finish with an Action. End Action is what ends it.",
    "chatglm3": "Here is a fence:\n```python\nprint(tool_call)\n```\nand tool_call(a=1) in words.",
    "json_action": 'An "action" has an "action_input"; {"a": "action"} is none.',
    "kimi": "Calls stand in <|tool_calls_section_begin|> and <|tool_calls_section_end|>.",
    "dsml": "DSML has invoke and parameter; <invoke name='f'> is another family's.",
    "deepseek_v3": "Between <\uff5ctool▁calls▁begin\uff5c> and its end there are calls.",
    "harmony": "The channel commentary, to=functions.f, is for calls.",
    "gemma": "It is call:f{a:1} between marks such as <|tool_call>.",
    "granite": "The mark <|tool_call|> comes before a list.",
    "phi": "The word functools comes before a list [1, 2].",
    "xlam": 'A list such as [1, {"name": "x"}] is none.',
    "olmo": "Lines stand between <function_calls> and </function_calls>.",
    "invoke": "An invoke element, <invoke name=...>, has parameters.",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_prose_with_the_family_s_words_has_no_calls(name: str) -> None:
    text = PROSE[name.removesuffix("-raw")]
    assert WRITTEN[name].read(text, documents()) == []


@pytest.mark.parametrize("name", WRITTEN)
def test_a_beginning_has_fewer_calls_or_is_unreadable(name: str) -> None:
    @settings(LOAD, max_examples=examples(16))
    @given(st.lists(calls(), min_size=1, max_size=2), st.sampled_from(["", "I look."]))
    def check(made: list[Call], text: str) -> None:
        protocol = WRITTEN[name]
        written = protocol.write(made, text, documents())
        whole = plain(made)[:-1]
        for end in range(len(written)):
            try:
                found = protocol.read(written[:end], documents())
            except MalformedCall:
                continue
            assert len(found) <= len(made)
            assert whole.startswith(plain(found)[:-1])

    check()


@pytest.mark.parametrize("name", WRITTEN)
def test_arguments_that_are_text_of_json_are_decoded_once(name: str) -> None:
    protocol = WRITTEN[name]
    written = protocol.write([Call("cd", (), {"folder": "x"})], "", documents())
    for once in ('{"folder": "x"}', '{"folder": "x"}'):
        twice = written.replace(once, '"{\\"folder\\": \\"x\\"}"')
        if twice != written and "Action Input: " not in twice:
            assert plain(protocol.read(twice, documents())) == plain(
                [Call("cd", (), {"folder": "x"})]
            )


@pytest.mark.parametrize("name", WRITTEN)
def test_there_are_bounds(name: str) -> None:
    protocol = WRITTEN[name]
    with pytest.raises(MalformedCall, match="1000000"):
        protocol.read("x" * (BOUNDS.text + 1), documents())
    deep: object = "x"
    for _ in range(BOUNDS.nesting + 2):
        deep = [deep]
    for value in (deep, 1 << (BOUNDS.int_bits + 1)):
        written = protocol.write([Call("cd", (), {"folder": value, "a": value})], "", documents())
        try:
            found = protocol.read(written, documents())
        except MalformedCall:
            continue
        # A parameter that takes text takes it as text.
        assert all(isinstance(each, str) for call in found for each in call.kwargs.values())
    many = protocol.write([Call("pwd")] * (BOUNDS.calls + 1), "", documents())
    with pytest.raises(MalformedCall, match="more than 1000 calls"):
        protocol.read(many, documents())


@pytest.mark.parametrize("name", NATIVE)
def test_what_a_native_protocol_shows_holds_every_function(name: str) -> None:
    protocol = NATIVE[name]
    assert isinstance(protocol, NativeFormat)
    shown = str(protocol.show([{"type": "function", "function": d} for d in documents()]))
    assert all(f"'{document['name']}'" in shown for document in documents())


@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_shown_names_every_function_with_its_parameters(name: str) -> None:
    protocol = WRITTEN[name]
    assert isinstance(protocol, TextFormat)
    shown = "\n".join(message["content"] for message in protocol.show(documents()))
    for document in documents():
        assert document["name"] in shown
        assert all(parameter in shown for parameter in document["parameters"]["properties"])
