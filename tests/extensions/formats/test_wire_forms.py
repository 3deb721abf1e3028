"""The forms in which models of each family are known to write calls, beyond what we write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from envs.calls import Call
from envs.errors import MalformedCall
from extensions.formats.registry import PROTOCOLS
from tests.extensions.formats.making import WRITTEN, plain

_PROPERTIES: dict[str, Any] = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "metric": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
}
FORECAST = {
    "name": "forecast",
    "description": "Tell the weather.",
    "parameters": {"type": "object", "properties": _PROPERTIES, "required": ["city"]},
}
NOW = {
    "name": "now",
    "description": "Tell the time.",
    "parameters": {"type": "object", "properties": {}},
}
ZONE = {
    "name": "zone",
    "description": "Tell the zone.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
DOCUMENTS = [FORECAST, NOW, ZONE]
ARGUMENTS = {"city": "Oslo, Norway", "days": 3}
ONE = [Call("forecast", (), ARGUMENTS)]
TWO = [*ONE, Call("now")]
GIVEN = json.dumps(ARGUMENTS)
BAR = "\uff5c"


def marked(text: str) -> str:
    """Return a text with DeepSeek's bars and blanks."""
    return text.replace("|", BAR).replace("_", "\u2581").replace("tool\u2581calls>", "tool_calls>")


V3 = (
    "<|tool_calls_begin|><|tool_call_begin|>function<|tool_sep|>forecast\n"
    f"```json\n{GIVEN}\n```<|tool_call_end|>"
)
V31 = f"<|tool_calls_begin|><|tool_call_begin|>forecast<|tool_sep|>{GIVEN}<|tool_call_end|>"
DSML = (
    '<|DSML|invoke name="forecast">\n<|DSML|parameter name="city" string="true">Oslo, Norway'
    '</|DSML|parameter>\n<|DSML|parameter name="days" string="false">3</|DSML|parameter>\n'
    "</|DSML|invoke>"
).replace("|", BAR)
INVOKE = (
    '<invoke name="forecast"><parameter name="city">Oslo, Norway</parameter>'
    '<parameter name="days">3</parameter></invoke>'
)
XML = (
    "<function=forecast>\n<parameter=city>\nOslo, Norway\n</parameter>\n<parameter=days>\n3\n"
    "</parameter>\n</function>"
)
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.forecast:0"
    f"<|tool_call_argument_begin|>{GIVEN}<|tool_call_end|>"
)
HARMONY = f"<|constrain|>json<|message|>{GIVEN}<|call|>"

FORMS = [
    ("hermes", f'<tool_call>\n{{"name": "forecast", "arguments": {GIVEN}}}\n</tool_call>', ONE),
    ("hermes", f'Well.\n<tool_call>{{"arguments": {GIVEN}, "name": "forecast"}}</tool_call>', ONE),
    ("hermes", f'<tool_call>\n{{"name": "forecast", "arguments": {GIVEN}}}\n', ONE),
    ("hermes", f'<tool_call>{{"name": "forecast", "arguments": {json.dumps(GIVEN)}}}', ONE),
    (
        "hermes",
        f'<tool_call>{{"name": "forecast", "arguments": {GIVEN}}}</tool_call>\n'
        '<tool_call>{"name": "now", "arguments": {}}</tool_call> I wait.',
        TWO,
    ),
    ("pythonic", "[forecast(city='Oslo, Norway', days=3)]", ONE),
    ("pythonic", '[forecast(city="Oslo, Norway", days=3), now()]', TWO),
    ("pythonic", "<|python_start|>[forecast('Oslo, Norway', days=3)]<|python_end|>", ONE),
    ("mistral", f'[TOOL_CALLS] [{{"name": "forecast", "arguments": {GIVEN}}}]', ONE),
    (
        "mistral",
        f'[TOOL_CALLS][{{"name": "forecast", "arguments": {GIVEN}, "id": "aB3dE6gH9"}}, '
        '{"name": "now", "arguments": {}}]',
        TWO,
    ),
    ("mistral", f"[TOOL_CALLS]forecast{GIVEN}[TOOL_CALLS]now{{}}", TWO),
    ("mistral", f"[TOOL_CALLS]forecast[ARGS]{GIVEN}[TOOL_CALLS]now[ARGS]{{}}", TWO),
    ("mistral", f"[TOOL_CALLS]forecast[CALL_ID]aB3dE6gH9[ARGS]{GIVEN}", ONE),
    ("qwen_xml", f"<tool_call>\n{XML}\n</tool_call>", ONE),
    ("qwen_xml", f"I look.\n{XML}", ONE),
    ("qwen_xml", f"<tool_call>{XML}</tool_call><tool_call><function=now></function>", TWO),
    ("kimi", f"{KIMI}<|tool_calls_section_end|>", ONE),
    (
        "kimi",
        f"{KIMI}<|tool_call_begin|> functions.now:1 <|tool_call_argument_begin|> {{}}"
        " <|tool_call_end|>",
        TWO,
    ),
    ("deepseek_v3", marked(f"{V3}<|tool_calls_end|>"), ONE),
    ("deepseek_v3", marked(V31), ONE),
    (
        "deepseek_v3",
        marked(f"{V31}<|tool_call_begin|>now<|tool_sep|>{{}}<|tool_call_end|>"),
        TWO,
    ),
    ("dsml", f"<{BAR}DSML{BAR}function_calls>\n{DSML}\n</{BAR}DSML{BAR}function_calls>", ONE),
    ("dsml", f"<{BAR}DSML{BAR}tool_calls>\n{DSML}\n</{BAR}DSML{BAR}tool_calls>", ONE),
    ("invoke", f"<minimax:tool_call>\n{INVOKE}\n</minimax:tool_call>", ONE),
    ("invoke", f'{INVOKE}\n<invoke name="now"></invoke>', TWO),
    (
        "glm",
        "<tool_call>forecast\n<arg_key>city</arg_key>\n<arg_value>Oslo, Norway</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        ONE,
    ),
    (
        "glm",
        "Yes.<tool_call>forecast<arg_key>city</arg_key><arg_value>Oslo, Norway</arg_value>"
        "<arg_key>days</arg_key><arg_value>3</arg_value></tool_call><tool_call>now</tool_call>",
        TWO,
    ),
    ("harmony", f"<|channel|>commentary to=functions.forecast {HARMONY}", ONE),
    ("harmony", f" to=functions.forecast<|channel|>commentary {HARMONY}", ONE),
    ("harmony", f"<|channel|>analysis to=functions.forecast code<|message|>{GIVEN}", ONE),
    ("harmony", "<|channel|>commentary to=browser.search<|message|>{}<|call|>", []),
    (
        "harmony",
        "<|channel|>analysis<|message|>I need it: to=functions.now.<|end|><|start|>assistant"
        f"<|channel|>commentary to=functions.forecast {HARMONY}",
        ONE,
    ),
    ("harmony", "<|channel|>commentary<|message|>I will call functions.now.<|end|>", []),
    ("llama_json", f'{{"name": "forecast", "parameters": {GIVEN}}}', ONE),
    ("llama_json", f'{{"type": "function", "name": "forecast", "parameters": {GIVEN}}}', ONE),
    (
        "llama_json",
        f'<|python_tag|>{{"name": "forecast", "parameters": {GIVEN}}}; '
        '{"name": "now", "parameters": {}}',
        TWO,
    ),
    (
        "gemma",
        '<|tool_call>call:forecast{city:<|"|>Oslo, Norway<|"|>,days:3}<tool_call|>',
        ONE,
    ),
    (
        "gemma",
        "<start_function_call>call:forecast{city:<escape>Oslo, Norway<escape>,days:3}"
        "<end_function_call><start_function_call>call:now{}<end_function_call>",
        TWO,
    ),
    (
        "gemma",
        '<|tool_call>call:forecast{tags:[<|"|>a<|"|>, "b"], metric : true}<tool_call|>',
        [Call("forecast", (), {"tags": ["a", "b"], "metric": True})],
    ),
    ("granite", f'<|tool_call|>[{{"name": "forecast", "arguments": {GIVEN}}}]', ONE),
    ("granite", f'<tool_call>[{{"name": "forecast", "arguments": {GIVEN}}}]', ONE),
    ("phi", f'functools[{{"name": "forecast", "arguments": {GIVEN}}}]', ONE),
    ("xlam", f'```json\n[{{"name": "forecast", "arguments": {GIVEN}}}]\n```', ONE),
    (
        "olmo",
        '<function_calls>\nforecast(city="Oslo, Norway", days=3, metric=true)\nnow()\n'
        "</function_calls>",
        [Call("forecast", (), {**ARGUMENTS, "metric": True}), Call("now")],
    ),
    (
        "chatglm3",
        "forecast\n ```python\ntool_call(city='Oslo, Norway', days=3)\n```",
        ONE,
    ),
    (
        "react",
        f"Thought: I must know.\nAction: forecast\nAction Input: {GIVEN}\nObservation: rain\n"
        "Action: now\nAction Input: {}",
        ONE,
    ),
    ("react", f"Action: forecast\nAction Input:\n```json\n{GIVEN}\n```", ONE),
    ("react", "Action: zone\nAction Input: Oslo", [Call("zone", (), {"city": "Oslo"})]),
    ("react", "Action: now\nAction Input:", [Call("now")]),
    ("react", "Thought: done\nFinal Answer: It rains.\nAction: now", []),
    (
        "toolllama",
        f"Thought: a\nAction: forecast\nAction Input: {GIVEN}\nEnd Action",
        ONE,
    ),
    ("toolllama", 'Action: Finish\nAction Input: {"return_type": "give_up_and_restart"}', []),
    ("json_action", f'```\n{{"action": "forecast", "action_input": {GIVEN}}}\n```', ONE),
    (
        "json_action",
        '{"action": "zone", "action_input": "Oslo"}',
        [Call("zone", (), {"city": "Oslo"})],
    ),
    ("python", "```python\n[forecast('Oslo, Norway', 3)]\n```", ONE),
    ("python", "I'll look:\n[forecast(city='Oslo, Norway', days=3), now()]", TWO),
    ("python", "[forecast('Oslo, Norway', 3)] or\n[now()]", ONE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "wanted"), FORMS)
def test_known_forms_are_read(name: str, text: str, wanted: list[Call]) -> None:
    assert plain(WRITTEN[name].read(text, DOCUMENTS)) == plain(wanted)


BROKEN = [
    ("hermes", '<tool_call>{"name": "forecast", "arguments": {"city": "Os'),
    ("hermes", '<tool_call>{"name": 5}</tool_call>'),
    ("hermes", "<tool_call>forecast(city='x')</tool_call>"),
    ("hermes", '<tool_call>{"name": "now", "arguments": [1]}</tool_call>'),
    ("qwen_xml", "<tool_call><function=forecast><parameter=city>Oslo"),
    ("qwen_xml", f"<function=zone>{2 * '<parameter=city>a</parameter>'}</function>"),
    ("glm", "<tool_call>forecast<arg_key>city</arg_key></tool_call>"),
    ("mistral", "[TOOL_CALLS]forecast(city='x')"),
    ("mistral", '[TOOL_CALLS][{"name": "now"'),
    ("kimi", "<|tool_call_begin|>now{}<|tool_call_end|>"),
    ("deepseek_v3", marked("<|tool_call_begin|>now{}<|tool_call_end|>")),
    ("dsml", DSML.replace('string="false">3', 'string="false">three')),
    ("dsml", DSML.replace(' string="true"', ' string="maybe"')),
    ("invoke", '<invoke name="now">text</invoke>'),
    ("harmony", "<|channel|>commentary to=functions.now<|message|>no JSON<|call|>"),
    ("gemma", "<|tool_call>call:now{a:<|\"|>b<tool_call|>"),
    ("gemma", "<|tool_call>call:now{a 1}<tool_call|>"),
    ("llama_json", '{"name": "now", "parameters": {'),
    ("granite", '<|tool_call|>[{"name": "now"}, 5]'),
    ("phi", "functools[{'name': 'now'}]"),
    ("xlam", '[{"name": "now", "arguments": {}'),
    ("olmo", "<function_calls>\nnow(\n</function_calls>"),
    ("olmo", "<function_calls>\n1 + f()\n</function_calls>"),
    ("chatglm3", "now\n```python\ntool_call(\n```"),
    ("react", "Action: now"),
    ("react", "Action: forecast\nAction Input: in Oslo"),
    ("json_action", '{"action": "now", "action_input": {'),
    ("python", "[forecast(city=now())]"),
    ("python", "[forecast(1, 2, 3, 4, 5)]"),
    ("pythonic", "[forecast('a', city='b')]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text"), BROKEN)
def test_what_was_meant_as_calls_and_is_broken_is_told(name: str, text: str) -> None:
    with pytest.raises(MalformedCall) as caught:
        WRITTEN[name].read(text, DOCUMENTS)
    assert "\n" not in caught.value.message


def test_values_of_tags_are_read_by_their_parameter() -> None:
    text = (
        "<function=forecast><parameter=city>\n\n5\n\n</parameter>"
        "<parameter=days>\n 5 \n</parameter>"
        '<parameter=metric>yes</parameter><parameter=tags>["a"]</parameter>'
        "<parameter=unknown>[1]</parameter></function>"
    )
    [call] = WRITTEN["qwen_xml"].read(text, DOCUMENTS)
    given = {"city": "\n5\n", "days": 5, "metric": "yes", "tags": ["a"], "unknown": [1]}
    assert plain([call]) == plain([Call("forecast", (), given)])


def test_what_a_reply_tells_is_not_what_was_thought() -> None:
    harmony = (
        "<|channel|>analysis<|message|>Rain.<|end|><|start|>assistant<|channel|>final<|message|>"
        "It rains."
    )
    assert WRITTEN["harmony"].says(harmony) == ("It rains.", "Rain.")
    react = WRITTEN["react"].says("Thought: Rain.\nFinal Answer: It rains.")
    assert react == ("It rains.", "Rain.")
    finish = 'Thought: Rain.\nAction: Finish\nAction Input: {"final_answer": "It rains."}'
    assert WRITTEN["toolllama"].says(finish) == ("It rains.", "Rain.")
    assert WRITTEN["json_action"].says('{"action": "Final Answer", "action_input": "x"}')[0] == "x"
    assert WRITTEN["hermes"].says("It rains.") == ("It rains.", None)


def test_results_come_back_by_the_ids_that_the_reply_has() -> None:
    kimi = WRITTEN["kimi"].answer(ONE, ["rain"], KIMI.replace(":0", ":7"))
    assert kimi[0]["content"] == "## Return of functions.forecast:7\nrain"
    said = f"[TOOL_CALLS]forecast[CALL_ID]aB3dE6gH9[ARGS]{GIVEN}"
    assert WRITTEN["mistral"].answer(ONE, ["rain"], said)[0]["content"].startswith("aB3dE6gH9")
    unread = MalformedCall("no")
    for name, protocol in WRITTEN.items():
        shown = protocol.answer([*ONE, unread], ["rain", "why {name}"], "")
        assert "why {name}" in str(shown), name


RAW = {
    "hermes-raw": "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n",
    "llama_json-raw": (
        "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    ),
    "mistral": "<s>[INST]Hi[/INST]",
    "kimi": "<|im_user|>user<|im_middle|>Hi<|im_end|><|im_assistant|>assistant<|im_middle|>",
    "harmony": "<|start|>user<|message|>Hi<|end|><|start|>assistant",
    "gemma": "<bos><|turn>user\nHi<turn|>\n<|turn>model\n",
    "glm-raw": "[gMASK]<sop><|user|>\nHi<|assistant|>\n",
    "deepseek_v3": (
        f"<{BAR}begin\u2581of\u2581sentence{BAR}><{BAR}User{BAR}>Hi<{BAR}Assistant{BAR}>"
    ),
}


@pytest.mark.parametrize(("name", "prompt"), RAW.items())
def test_a_conversation_is_rendered_as_the_family_has_it(name: str, prompt: str) -> None:
    frame = WRITTEN[name].frame
    assert frame is not None
    assert frame.render([{"role": "user", "content": "Hi"}]) == prompt
    ended = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes."}]
    once = frame.render(ended)
    after = frame.closing("Yes.") if frame.closing else frame.roles["assistant"][1]
    left = [ended[0], {"role": "assistant", "content": f"Yes.{after}"}]
    assert frame.render(left) == once, "a token that the server left in is not written twice"


def test_a_reply_goes_on_after_results_where_the_family_does() -> None:
    for name in ("gemma", "deepseek_v3", "dsml"):
        protocol = WRITTEN[name]
        assert protocol.frame is not None
        said = protocol.write(ONE, "", DOCUMENTS)
        messages = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": said},
            *protocol.answer(ONE, ["rain"], said),
        ]
        assert not protocol.frame.render(messages).endswith(protocol.frame.cue)


def test_names_are_unique_and_kinds_are_three() -> None:
    assert {each.kind for each in PROTOCOLS.values()} == {"native", "text", "raw"}
    assert all((WRITTEN[n].frame is not None) == (WRITTEN[n].kind == "raw") for n in WRITTEN)
