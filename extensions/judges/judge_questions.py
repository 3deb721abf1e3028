"""Requests for judge models, and parsers of their answers.

One request asks for a vote on all turns of an episode. A vote on a pair of episodes needs two
requests, one for each order of the pair. An invalid answer is requested once more, with the reason.
A second invalid answer counts as an abstention.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from checkers.profile import Mode
from envs.errors import DataError
from extensions.judges.label_rules import (
    CRITERIA,
    AnswerKind,
    Choice,
    Criterion,
    Solvable,
    TurnObservation,
)
from runner.models.model_types import ChatMessage, Reply, Request, ToolList
from runner.models.prompting import checked_texts, read_texts

JUDGE_PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "judge.toml"
REPORT, COMPARE = "report", "compare"
"""Functions that a judge model calls to answer."""

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "system": ("{token}",),
    "question": ("{episode}", "{turns}"),
    "again": ("{reason}",),
    "json": (),
    "json_comparison": (),
    "comparison_system": ("{token}", "{criteria}"),
    "comparison": ("{episode}",),
}
_MAX_REASON_CHARS = 300
_MAX_ANSWER_CHARS = 200_000
_YES_NO = {"type": "string", "enum": ["yes", "no"]}


class JudgePrompts(NamedTuple):
    """Prompts of one file.

    ``{episode}`` is the last placeholder that is replaced. Therefore, braces in the episode's text
    are not replaced.
    """

    texts: Mapping[str, str]
    criteria: Mapping[str, str]
    sha256: str


def read_judge_prompts(path: Path = JUDGE_PROMPTS) -> JudgePrompts:
    """Read a prompt file for judge models.

    Raises DataError if the file cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    criteria = texts.pop("criteria", None)
    checked = checked_texts(texts, _TEXTS, path)
    if not isinstance(criteria, dict) or {*criteria} != {*CRITERIA}:
        raise DataError(
            f"{path}: [criteria]", f"must have exactly these strings: {', '.join(CRITERIA)}"
        )
    for name, text in criteria.items():
        if not isinstance(text, str):
            raise DataError(f"{path}: [criteria] {name}", "must be a string")
    return JudgePrompts(checked, criteria, digest)


class InvalidAnswer(Exception):
    """Malformed answer; the message tells the judge model how to correct the answer."""


class JudgeQuestions(NamedTuple):
    """Writer of the requests to a judge model."""

    prompts: JudgePrompts
    mode: Mode
    criteria: Sequence[Criterion] = ()
    """Criteria of a comparison; empty for requests about one episode."""

    @property
    def tool(self) -> str:
        """Function that the judge model has to call."""
        return COMPARE if self.criteria else REPORT

    def ask(self, episode: str, token: str, turns: Sequence[int] = ()) -> Request:
        """Return a request to judge ``turns`` of an episode, or to compare two episodes."""
        texts = self.prompts.texts
        system = texts["comparison_system" if self.criteria else "system"]
        question = texts["comparison" if self.criteria else "question"]
        criteria = "\n".join(f"- {name}: {self.prompts.criteria[name]}" for name in self.criteria)
        system = system.replace("{token}", token).replace("{criteria}", criteria)
        if self.mode == "prompt":
            system += "\n\n" + texts["json_comparison" if self.criteria else "json"]
        question = question.replace("{turns}", _list_turns(turns)).replace("{episode}", episode)
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
        ]
        tools = _make_comparison_tools(tuple(self.criteria)) if self.criteria else _REPORT_TOOLS
        return Request(messages, tools if self.mode == "fc" else None)

    def again(
        self, request: Request, reply: Reply, reason: str, turns: Sequence[int] = ()
    ) -> Request:
        """Return ``request`` with the refused answer and the reason for the refusal."""
        text = self.prompts.texts["again"].replace("{turns}", _list_turns(turns))
        # Calls are quoted as text: some servers reject a call without its result.
        said = _read_text(reply) or "(nothing)"
        more: list[ChatMessage] = [
            {"role": "assistant", "content": said[:_MAX_REASON_CHARS]},
            {"role": "user", "content": text.replace("{reason}", reason)},
        ]
        return request._replace(messages=[*request.messages, *more])


def read_observations(reply: Reply, turns: Sequence[int]) -> tuple[TurnObservation, ...]:
    """Read a judge model's report on turns.

    Raises InvalidAnswer if the report is malformed or has the wrong turns.
    """
    stated = read_object(reply, REPORT).get("turns")
    if not isinstance(stated, list):
        raise InvalidAnswer('the answer has no list "turns"')
    found: dict[int, TurnObservation] = {}
    for index, each in enumerate(stated):
        if not isinstance(each, dict):
            raise InvalidAnswer(f"turns[{index}] is not an object")
        number = each.get("turn")
        if type(number) is not int or number not in turns:
            raise InvalidAnswer(f'turns[{index}]: "turn" must be one of {_list_turns(turns)}')
        if number in found:
            raise InvalidAnswer(f"turn {number} occurs twice")
        found[number] = TurnObservation(
            number,
            read_word(each, "solvable", get_args(Solvable), number),
            read_word(each, "information", ("yes", "no"), number) == "yes",
            read_word(each, "tried_all", ("yes", "no"), number) == "yes",
            read_word(each, "answer", get_args(AnswerKind), number),
            _read_reason(each),
        )
    missing = [number for number in turns if number not in found]
    if missing:
        raise InvalidAnswer(f"the answer does not contain turn {_list_turns(missing)}")
    return tuple([found[number] for number in turns])


class ComparedAnswer(NamedTuple):
    """Answer to one comparison request."""

    choices: Mapping[Criterion, Choice]
    why: str


def read_comparison(reply: Reply, criteria: Sequence[Criterion]) -> ComparedAnswer:
    """Read a judge model's choice for each criterion.

    Raises InvalidAnswer if the choice for a criterion is missing or unknown.
    """
    stated = read_object(reply, COMPARE)
    choices = {name: read_word(stated, name, get_args(Choice), None) for name in criteria}
    return ComparedAnswer(choices, _read_reason(stated))


def read_object(reply: Reply, tool: str) -> dict[str, Any]:
    """Return the arguments of the judge model's call of ``tool``.

    Without such a call, return the first JSON object in the text of the answer.

    Raises InvalidAnswer if the answer has no such call and no JSON object.
    """
    called = next((call for call in reply.tool_calls if call.name == tool), None)
    value: object = called.arguments if called else _read_text(reply)
    if isinstance(value, str):
        value = parse_object(value[:_MAX_ANSWER_CHARS])
    if not isinstance(value, dict):
        cut = " (it was cut off)" if reply.finish_reason == "length" else ""
        raise InvalidAnswer(f"the answer must be a call of {tool} or a JSON object{cut}")
    return value


def parse_object(text: str) -> object:
    """Return the first JSON object in a text, or None."""
    decoder, start = json.JSONDecoder(), text.find("{")
    try:
        return decoder.raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _read_text(reply: Reply) -> str:
    return reply.text or " ".join(f"{call.name}({call.arguments})" for call in reply.tool_calls)


def read_word(stated: Mapping[str, Any], name: str, known: Sequence[Any], turn: int | None) -> Any:
    """Return the word in a field, such as "yes"; JSON's true and false are read as yes and no."""
    value = stated.get(name)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    word = value.strip().lower() if isinstance(value, str) else value
    if word not in known:
        place = name if turn is None else f"{name} of turn {turn}"
        raise InvalidAnswer(f"{place} must be {', '.join(known)}")
    return word


def _read_reason(stated: Mapping[str, Any]) -> str:
    why = stated.get("why")
    return " ".join(why.split())[:_MAX_REASON_CHARS] if isinstance(why, str) else ""


def _list_turns(turns: Sequence[int]) -> str:
    return ", ".join(map(str, turns))


def make_tool(name: str, text: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return a function document with required properties."""
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    return {
        "type": "function",
        "function": {"name": name, "description": text, "parameters": parameters},
    }


_TURN = {
    "turn": {"type": "integer", "description": "its number"},
    "solvable": {"type": "string", "enum": [*get_args(Solvable)]},
    "information": _YES_NO,
    "tried_all": _YES_NO,
    "answer": {"type": "string", "enum": [*get_args(AnswerKind)]},
    "why": {"type": "string", "description": "the reason, in one line"},
}
_REPORT_TOOLS = ToolList(
    [
        make_tool(
            REPORT,
            "Report what you observed. Give one object for every turn that you were asked about.",
            {
                "turns": {
                    "type": "array",
                    "items": {"type": "object", "properties": _TURN, "required": [*_TURN]},
                }
            },
        )
    ]
)


@cache
def _make_comparison_tools(criteria: tuple[Criterion, ...]) -> ToolList:
    choice = {"type": "string", "enum": [*get_args(Choice)]}
    properties: dict[str, Any] = dict.fromkeys(criteria, choice)
    properties["why"] = _TURN["why"]
    text = "Say which episode is better, by each criterion."
    return ToolList([make_tool(COMPARE, text, properties)])
