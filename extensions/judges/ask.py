"""What a judge is asked, and what is read out of its answers.

One request is one vote on all turns of an episode, or on two episodes in one order. An answer that
does not fit is asked for once more with the reason; then it is an abstention.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

from checkers.profile import Mode
from extensions.judges.judging import CRITERIA, AnswerKind, Choice, Criterion, Observed, Solvable
from runner.models.base import ChatMessage, Reply, Request, ToolList
from runner.models.prompting import checked_texts, read_texts
from trajectories.errors import DataError

JUDGE_PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "judge.toml"
REPORT, COMPARE = "report", "compare"
"""The functions that a judge answers by."""

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "system": ("{token}",),
    "question": ("{episode}", "{turns}"),
    "again": ("{reason}",),
    "json": (),
    "json_comparison": (),
    "comparison_system": ("{token}", "{criteria}"),
    "comparison": ("{episode}",),
}
_LONGEST_REASON = 300
_LONGEST_ANSWER = 200_000
"""Characters of an answer that are looked at."""
_YES_NO = {"type": "string", "enum": ["yes", "no"]}


class JudgePrompts(NamedTuple):
    """The texts of one file; placeholders are filled in by plain replacement, the episode last."""

    texts: Mapping[str, str]
    criteria: Mapping[str, str]
    sha256: str
    """Hash of the file, in hex."""


def read_judge_prompts(path: Path = JUDGE_PROMPTS) -> JudgePrompts:
    """Read a file of texts for judges.

    Raises:
        DataError: It cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    criteria = texts.pop("criteria", None)
    checked = checked_texts(texts, _TEXTS, path)
    if not isinstance(criteria, dict) or {*criteria} != {*CRITERIA}:
        raise DataError(f"{path}: [criteria]", f"must have a text each for {', '.join(CRITERIA)}")
    for name, text in criteria.items():
        if not isinstance(text, str):
            raise DataError(f"{path}: [criteria] {name}", "must be text")
    return JudgePrompts(checked, criteria, digest)


class Unfitting(Exception):
    """An answer that is no report; the message says why, for the judge to mend it."""


class Questions(NamedTuple):
    """Puts episodes into requests."""

    prompts: JudgePrompts
    mode: Mode
    criteria: Sequence[Criterion] = ()
    """Those that a judge of two episodes is asked about."""

    @property
    def tool(self) -> str:
        """The function that the answer is to call."""
        return COMPARE if self.criteria else REPORT

    def ask(self, episode: str, token: str, turns: Sequence[int] = ()) -> Request:
        """Return the request about an episode, or about two.

        Args:
            episode: The text of its brief, with marks.
            token: That of the marks.
            turns: Those that are asked about; of two episodes none.
        """
        texts = self.prompts.texts
        system = texts["comparison_system" if self.criteria else "system"]
        question = texts["comparison" if self.criteria else "question"]
        criteria = "\n".join(f"- {name}: {self.prompts.criteria[name]}" for name in self.criteria)
        system = system.replace("{token}", token).replace("{criteria}", criteria)
        if self.mode == "prompt":
            system += "\n\n" + texts["json_comparison" if self.criteria else "json"]
        question = question.replace("{turns}", _listed(turns)).replace("{episode}", episode)
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": question},
        ]
        return Request(messages, self._tools if self.mode == "fc" else None)

    def again(
        self, request: Request, reply: Reply, reason: str, turns: Sequence[int] = ()
    ) -> Request:
        """Return the request that asks once more, and says why."""
        text = self.prompts.texts["again"].replace("{turns}", _listed(turns))
        # What was called is told in words: not every server takes a call without its result.
        said = _said(reply) or "(nothing)"
        more: list[ChatMessage] = [
            {"role": "assistant", "content": said[:_LONGEST_REASON]},
            {"role": "user", "content": text.replace("{reason}", reason)},
        ]
        return request._replace(messages=[*request.messages, *more])

    @property
    def _tools(self) -> ToolList:
        return _comparison_tools(tuple(self.criteria)) if self.criteria else _REPORT_TOOLS


def observed_in(reply: Reply, turns: Sequence[int]) -> tuple[Observed, ...]:
    """Return what a judge observed of turns.

    Raises:
        Unfitting: It is no report on just these turns.
    """
    stated = _object_in(reply, REPORT).get("turns")
    if not isinstance(stated, list):
        raise Unfitting('there is no list "turns"')
    found: dict[int, Observed] = {}
    for index, each in enumerate(stated):
        if not isinstance(each, dict):
            raise Unfitting(f"turns[{index}] is no object")
        number = each.get("turn")
        if type(number) is not int or number not in turns:
            raise Unfitting(f'turns[{index}] has no "turn" of {_listed(turns)}')
        if number in found:
            raise Unfitting(f"turn {number} is there twice")
        found[number] = Observed(
            number,
            _word(each, "solvable", get_args(Solvable), number),
            _word(each, "information", ("yes", "no"), number) == "yes",
            _word(each, "tried_all", ("yes", "no"), number) == "yes",
            _word(each, "answer", get_args(AnswerKind), number),
            _reason(each),
        )
    missing = [number for number in turns if number not in found]
    if missing:
        raise Unfitting(f"nothing is said of turn {_listed(missing)}")
    return tuple([found[number] for number in turns])


class ComparedAnswer(NamedTuple):
    """What a judge says of two episodes in one order."""

    choices: Mapping[Criterion, Choice]
    why: str


def compared_in(reply: Reply, criteria: Sequence[Criterion]) -> ComparedAnswer:
    """Return which of two episodes a judge finds better, by criterion.

    Raises:
        Unfitting: It says that not of all.
    """
    stated = _object_in(reply, COMPARE)
    choices = {name: _word(stated, name, get_args(Choice), None) for name in criteria}
    return ComparedAnswer(choices, _reason(stated))


def _object_in(reply: Reply, tool: str) -> dict[str, Any]:
    """Return the JSON object that an answer holds: the arguments of its call, or in its words.

    Raises:
        Unfitting: There is none.
    """
    called = next((call for call in reply.tool_calls if call.name == tool), None)
    value: object = called.arguments if called else _said(reply)
    if isinstance(value, str):
        value = _parsed(value[:_LONGEST_ANSWER])
    if not isinstance(value, dict):
        cut = " (it was cut off)" if reply.finish_reason == "length" else ""
        raise Unfitting(f"there is no call of {tool} and no JSON object{cut}")
    return value


def _parsed(text: str) -> object:
    """Return the first JSON object in a text, None where there is none."""
    decoder, start = json.JSONDecoder(), text.find("{")
    try:
        return decoder.raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        return None


def _said(reply: Reply) -> str:
    calls = [f"{call.name}({call.arguments})" for call in reply.tool_calls]
    return (reply.text or "") or " ".join(calls)


def _word(stated: Mapping[str, Any], name: str, known: Sequence[Any], turn: int | None) -> Any:
    """Return a word out of a closed list; truth values stand for yes and no."""
    value = stated.get(name)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    word = value.strip().lower() if isinstance(value, str) else value
    if word not in known:
        place = name if turn is None else f"{name} of turn {turn}"
        raise Unfitting(f"{place} must be {', '.join(known)}")
    return word


def _reason(stated: Mapping[str, Any]) -> str:
    why = stated.get("why")
    return " ".join(why.split())[:_LONGEST_REASON] if isinstance(why, str) else ""


def _listed(turns: Sequence[int]) -> str:
    return ", ".join(map(str, turns))


def _tool(name: str, text: str, properties: Mapping[str, Any]) -> dict[str, Any]:
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
        _tool(
            REPORT,
            "Report what you observed, an object for every turn that was asked about.",
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
def _comparison_tools(criteria: tuple[Criterion, ...]) -> ToolList:
    choice = {"type": "string", "enum": [*get_args(Choice)]}
    properties: dict[str, Any] = dict.fromkeys(criteria, choice)
    properties["why"] = _TURN["why"]
    return ToolList([_tool(COMPARE, "Say which episode is better, by each criterion.", properties)])
