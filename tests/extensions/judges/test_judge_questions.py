"""What a judge is asked, and which of its answers are taken for a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.judges.judge_questions import (
    JUDGE_PROMPTS,
    InvalidAnswer,
    JudgeQuestions,
    read_comparison,
    read_judge_prompts,
    read_observations,
)
from extensions.judges.label_rules import CRITERIA, IN_WORDS, TurnObservation
from runner.models.model_types import Reply, ToolCall, Usage

GOOD = {
    "turn": 0,
    "solvable": "yes",
    "information": "no",
    "tried_all": "yes",
    "answer": "refusal",
    "why": "It\n looked.",
}
OBSERVED = TurnObservation(0, "yes", False, True, "refusal", "It looked.")
SECOND = {**GOOD, "turn": 2, "information": True, "answer": " Solved "}


def reply(text: str | None = None, *calls: tuple[str, object], reason: str = "stop") -> Reply:
    """Return an answer."""
    made = tuple(ToolCall("1", name, arguments) for name, arguments in calls)
    return Reply(text, made, None, reason, Usage(), 0.0)


def report(*turns: Any) -> tuple[str, str]:
    """Return a call that reports on turns."""
    return "report", json.dumps({"turns": [*turns]})


@pytest.mark.parametrize(
    "answer",
    [
        reply(None, report(GOOD)),
        reply(None, ("report", {"turns": [GOOD]})),
        reply("Here it is.", report(GOOD)),
        reply(json.dumps({"turns": [GOOD]})),
        reply(f"```json\n{json.dumps({'turns': [GOOD]})}\n```\nThat is all."),
    ],
)
def test_a_report_is_read_from_a_call_or_from_words(answer: Reply) -> None:
    assert read_observations(answer, [0]) == (OBSERVED,)


def test_turns_are_put_in_order_and_words_read_as_they_are_meant() -> None:
    found = read_observations(reply(None, report(SECOND, GOOD)), [0, 2])
    assert [each.turn for each in found] == [0, 2]
    assert (found[1].information, found[1].answer) == (True, "solved")


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (reply("The user was served well."), "must be a call of report or a JSON object"),
        (reply(None), "must be a call of report"),
        (reply('{"turns": [{"turn"', reason="length"), "cut off"),
        (reply(None, ("other", "{}")), 'no list "turns"'),
        (reply(None, ("report", DEEP)), "or a JSON object"),
        (reply(None, ("report", '{"turns": ' + DEEP)), "or a JSON object"),
        (reply(None, ("report", "7")), "or a JSON object"),
        (reply(None, ("report", None)), "or a JSON object"),
        (reply(None, report()), "the answer does not contain turn 0"),
        (reply(None, report(7)), "turns[0] is not an object"),
        (reply(None, report(GOOD, GOOD)), "turn 0 occurs twice"),
        (reply(None, report({**GOOD, "turn": 5})), '"turn" must be one of 0'),
        (reply(None, report({**GOOD, "turn": True})), '"turn" must be one of 0'),
        (reply(None, report({**GOOD, "answer": "pass"})), "answer of turn 0 must be solved"),
        (reply(None, report({**GOOD, "solvable": ["yes"]})), "solvable of turn 0 must be yes"),
        (reply(None, report({**GOOD, "information": None})), "information of turn 0 must be"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_reason(answer: Reply, why: str) -> None:
    with pytest.raises(InvalidAnswer, match=why.replace("[", r"\[").replace("]", r"\]")):
        read_observations(answer, [0])


def test_a_comparison_needs_a_word_for_each_criterion() -> None:
    said = {"richness": "first", "facts": "equal", "reason": "SECOND", "why": "so"}
    found = read_comparison(reply(None, ("compare", json.dumps(said))), IN_WORDS)
    assert found.choices == {"richness": "first", "facts": "equal", "reason": "second"}
    with pytest.raises(InvalidAnswer, match="milestones must be first, second, equal"):
        read_comparison(reply(json.dumps(said)), CRITERIA)


def test_a_judge_with_tools_is_given_one_and_else_told_the_form() -> None:
    prompts = read_judge_prompts()
    with_tools = JudgeQuestions(prompts, "fc").ask("EPISODE {turns}", "abc", [0, 2])
    assert with_tools.tools is not None
    assert [tool["function"]["name"] for tool in with_tools.tools.tools] == ["report"]
    system, question = (message["content"] for message in with_tools.messages)
    assert "abc KIND>>>" in system
    assert "EPISODE {turns}" in question
    assert "by their numbers: 0, 2." in question
    without = JudgeQuestions(prompts, "prompt").ask("E", "abc", [0])
    assert without.tools is None
    assert '{"turns": [{"turn": 0' in without.messages[0]["content"]
    compares = JudgeQuestions(prompts, "prompt", CRITERIA).ask("E", "abc")
    assert all(f"- {name}: " in compares.messages[0]["content"] for name in CRITERIA)


def test_the_reason_is_told_when_it_is_asked_once_more() -> None:
    questions = JudgeQuestions(read_judge_prompts(), "fc")
    first = questions.ask("E", "abc", [1])
    again = questions.again(first, reply(None, ("report", "7")), "it is 7", [1])
    assert again.messages[:2] == first.messages
    assert again.messages[2] == {"role": "assistant", "content": "report(7)"}
    assert "it is 7" in again.messages[3]["content"]
    assert again.tools is first.tools


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("[criteria]", "[criterion]"), "unknown key"),
        (("richness =", "wealth ="), r"\[criteria\]: must have exactly these strings"),
        (('richness = "', 'richness = 7 # "'), "richness: must be a string"),
        (("{episode}", "the episode"), "must contain {episode}"),
        (("question = ", "queries = "), "unknown key"),
        (('json = """', 'json = 7\nx = """'), "unknown key|must be a string|not a text"),
        (("system =", "system ="), None),
        (('question = """', "question = "), "not valid TOML"),
    ],
)
def test_a_file_of_texts_is_checked(tmp_path: Path, change: tuple[str, str], why: str | None):
    path = tmp_path / "judge.toml"
    path.write_text(JUDGE_PROMPTS.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    if why is None:
        assert read_judge_prompts(path).sha256 == read_judge_prompts().sha256
        return
    with pytest.raises(DataError, match=why):
        read_judge_prompts(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone.toml: cannot be read"):
        read_judge_prompts(tmp_path / "gone.toml")
