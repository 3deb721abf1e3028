from __future__ import annotations

import pytest

from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from runner.analysis.run_diagnosis import RunDiagnosis
from runner.models.model_types import ToolCall
from runner.records.episode_record import EpisodeRecord, ReplyRecord, TurnEnd
from tests.runner.records.made import step

HERMES = '<tool_call>\n{"name": "ls", "arguments": {}}\n</tool_call>'


def episode(*ends, said="", calls=(), error=None, reason=None):
    """Return an episode whose turns ended so, each with a text and structured calls."""
    verdict = None
    if error is None:
        verdict = Verdict(reason is None, reason and Failure(reason), 0, len(ends), 0)
    steps = [
        step(turn)._replace(reply=ReplyRecord(said, calls, None, None)) for turn in range(len(ends))
    ]
    outcome = "error" if error else "failed" if reason else "passed"
    turn_ends = [TurnEnd(turn, why, None) for turn, why in enumerate(ends)]
    return EpisodeRecord("a", 0, "base", outcome, verdict, error, (), steps, turn_ends)


def symptoms(*episodes):
    """Return what is seen in episodes."""
    found = RunDiagnosis()
    for each in episodes:
        found.add(each)
    return found


def warnings(*episodes, mode="fc", max_tokens=None):
    """Return the warnings on a run of episodes."""
    return [*symptoms(*episodes).warnings(mode, max_tokens)]


def test_a_content_filter_is_told_without_advice_on_tokens():
    [line] = warnings(episode("content_filter", "content_filter", "answer"))
    assert line.startswith("2 of 3 turns (67%) were stopped by the provider's content filter")
    assert "--max-tokens" not in line


@pytest.mark.parametrize(
    ("said", "vllm", "sglang"),
    [
        (HERMES, "hermes", "qwen"),
        ("<tool_call>\n<function=ls>\n</function></tool_call>", "qwen3_coder", "qwen3_coder"),
        ("<tool_call>ls\n<arg_key>a</arg_key></tool_call>", "glm45", "glm"),
        ('{"name": "ls", "parameters": {}}', "llama3_json", "llama3"),
        ('[TOOL_CALLS] [{"name": "ls", "arguments": {}}]', "mistral", "mistral"),
        ("[ls(), cd(folder='a')]", "pythonic", "pythonic"),
        ("<|tool_calls_section_begin|><|tool_call_begin|>functions.ls", "kimi_k2", "kimi_k2"),
        ("<\uff5ctool\u2581calls\u2581begin\uff5c>function", "deepseek_v3", "deepseekv3"),
        ("<|channel|>commentary to=functions.ls <|message|>{}", "openai", "gpt-oss"),
    ],
)
def test_calls_left_in_the_text_are_told_with_the_parser_that_the_server_needs(said, vllm, sglang):
    [line] = warnings(episode("unreadable", "unreadable", "answer", said=said))
    assert line.startswith("In 2 of 3 turns (67%), the last call was not parsed: ")
    assert f"--enable-auto-tool-choice --tool-call-parser {vllm}, " in line
    assert line.endswith(f"SGLang --tool-call-parser {sglang}")


def test_calls_in_no_known_notation_are_told_too():
    [line] = warnings(episode("unreadable", said="CALL ls"))
    assert "--tool-call-parser NAME for vLLM" in line


def test_broken_arguments_are_not_reported_as_calls_in_the_text():
    calls = [ToolCall("1", "ls", '{"a')]
    assert warnings(episode("unreadable", said="ls(a=1)", calls=calls)) == [
        "1 of 1 turns (100%) end with tool calls whose arguments cannot be read: check the "
        "server's tool-call parser, or raise --max-tokens"
    ]


def test_a_prompting_model_is_read_by_another_profile():
    [line] = warnings(episode("unreadable", said="```ls()```"), mode="prompt")
    assert "--profile strict" in line


@pytest.mark.parametrize("why", ["unreadable", "cut_off", "empty"])
def test_one_turn_in_twenty_is_no_matter_for_a_warning(why):
    assert warnings(episode(why, *["answer"] * 19)) == []
    assert len(warnings(episode(why, why, *["answer"] * 19))) == 1


def test_answers_that_were_cut_off_are_told_with_the_limit():
    assert warnings(episode("cut_off")) == [
        "1 of 1 turns (100%) end with a truncated answer: set --max-tokens"
    ]
    assert warnings(episode("cut_off"), max_tokens=64) == [
        "1 of 1 turns (100%) end with a truncated answer: --max-tokens is 64; raise it"
    ]


def test_empty_answers_are_told():
    [line] = warnings(episode("empty"))
    assert line.startswith("1 of 1 turns (100%) end with an empty answer. ")


def test_errors_that_are_the_same_but_for_numbers_are_told_with_one_of_them():
    same = [episode(error=f"m: {n} tokens are too many (400)") for n in range(3)]
    assert warnings(*same, episode(error="lost")) == [
        "3 of 4 errors have the same message: m: 0 tokens are too many (400)"
    ]
    assert warnings(episode(error="lost"), episode("answer")) == []


def test_causes_are_counted_the_most_frequent_first():
    found = symptoms(
        episode("answer"),
        episode("answer", reason=Reason.EMPTY_TURN),
        *[episode("answer", reason=Reason.STATE_MISMATCH)] * 2,
        episode(error="lost"),
    )
    assert [*found.causes()] == [
        "failed 2: the final state of the turn differs from the ground truth's "
        "(multi_turn:instance_state_mismatch)",
        "failed 1: the turn needed calls, and the model made none "
        "(multi_turn:empty_turn_model_response)",
        "error 1: lost",
    ]


def test_a_healthy_run_has_no_symptoms():
    found = symptoms(*[episode("answer", "answer")] * 30)
    assert [*found.causes(), *found.warnings("fc", None)] == []
