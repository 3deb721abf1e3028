"""A judge model for required information; it decides whether an answer reports a fact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter

from checkers.answer_text.reader import list_unreported
from checkers.required_info import Fact
from checkers.statistics import wilson
from envs.errors import DataError
from extensions.judges.episode_brief import EpisodeBrief, quote
from extensions.judges.judge_questions import (
    InvalidAnswer,
    JudgePrompts,
    JudgeQuestions,
    make_tool,
    read_object,
    read_word,
)
from extensions.judges.judged_episode import JudgedEpisode
from extensions.judges.vote_collection import LiveJudge
from extensions.judges.votes import Vote
from runner.analysis.figure_lines import format_percent
from runner.live.episode_player import Ask
from runner.models.model_types import Reply, Request, ToolList
from runner.models.prompting import checked_texts, read_texts
from runner.records.episode_record import Key
from trajectories.jsonl import read_objects
from trajectories.record_validation import validate_record
from trajectories.schema import StrictRecord

INFO_PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "info_judge.toml"
INFO = "report_fact"
"""Function that the judge model calls to answer."""

_TEXTS = {"system": ("{token}",), "question": ("{brief}",), "again": ("{reason}",), "json": ()}
_TOOLS = ToolList(
    [
        make_tool(
            INFO,
            "Say whether the answer reports the fact.",
            {"reported": {"type": "string", "enum": ["yes", "no"]}},
        )
    ]
)


@dataclass(frozen=True)
class _LabelledAnswer(StrictRecord):
    """Line of an answers file: a fact, an answer and a label."""

    fact: Fact
    answer: str
    told: bool
    question: str = ""
    entry: str = ""


_ADAPTER = TypeAdapter(_LabelledAnswer)


class InfoQuestions(JudgeQuestions):
    """Writer of requests that ask the judge model whether an answer reports a fact."""

    __slots__ = ()

    @property
    def tool(self) -> str:
        """Function that the judge model has to call."""
        return INFO

    def ask(self, episode: str, token: str, turns: Sequence[int] = ()) -> Request:
        """Return the request that asks the judge model about the text of an episode."""
        texts = self.prompts.texts
        system = texts["system"].replace("{token}", token)
        if self.mode == "prompt":
            system += "\n\n" + texts["json"]
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": texts["question"].replace("{brief}", episode)},
        ]
        return Request(messages, _TOOLS if self.mode == "fc" else None)


def read_prompts(path: Path = INFO_PROMPTS) -> JudgePrompts:
    """Read a prompt file for questions about facts.

    Raises DataError if the file cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    return JudgePrompts(checked_texts(texts, _TEXTS, path), {}, digest)


def read_info(reply: Reply) -> bool:
    """Return whether the judge model found the fact in the answer.

    Raises InvalidAnswer if the reply is malformed.
    """
    return bool(read_word(read_object(reply, INFO), "reported", ("yes", "no"), None) == "yes")


@dataclass(frozen=True, eq=False)
class InfoCase:
    """One fact that an answer may report."""

    key: Key
    """Entry id, trial, index of the turn, and position of the fact."""
    question: str
    answer: str
    fact: Fact
    judge: LiveJudge
    known: bool | None = None
    """A person's label, if there is one."""

    @cached_property
    def brief(self) -> EpisodeBrief:
        """Text for judge models."""
        asked = (quote("user", self.question),) if self.question else ()
        return EpisodeBrief((*asked, quote("answer", self.answer), quote("fact", str(self.fact))))

    @property
    def expected(self) -> int:
        """Likely number of requests."""
        return 1

    @cached_property
    def is_found(self) -> bool:
        """Whether the parser of answers finds the fact."""
        return not list_unreported([self.fact], self.answer)

    def is_over(self, votes: Sequence[Vote]) -> bool:
        """Return whether the vote is cast."""
        return bool(votes)

    def outcome(self, votes: Sequence[Vote]) -> str:
        """Return the label of the vote."""
        return votes[0].labels[0] if votes[0].labels else "unsure"

    async def draw(self, number: int, ask: Ask) -> Vote:
        """Request the vote. Raises ModelError if the request failed."""
        reported, usage = await self.judge.request(self.key, number, self.brief, read_info, ask)
        vote = Vote(*self.key, number, self.brief.sha256, took=usage)
        if isinstance(reported, InvalidAnswer):
            return vote._replace(abstained=str(reported))
        return vote._replace(labels=["pass" if reported else "fail"])


def read_answers(path: Path, judge: LiveJudge) -> Iterator[InfoCase]:
    """Yield the labelled answers of a JSON Lines file. Raises DataError for an invalid line."""
    for where, line in read_objects(path):
        if "header" not in line:
            each = validate_record(_ADAPTER, line, where)
            yield InfoCase((where, 0), each.question, each.answer, each.fact, judge, each.told)


def list_cases(exhibit: JudgedEpisode, judge: LiveJudge) -> Iterator[InfoCase]:
    """Yield one case for each required fact, with the final answer of the fact's turn."""
    id, trial = exhibit.key
    for number, (turn, end) in enumerate(
        zip(exhibit.trajectory.turns, exhibit.closings, strict=False)
    ):
        for position, fact in enumerate(turn.tells):
            key = f"{id} turn {number + 1} fact {position + 1}", trial
            yield InfoCase(key, turn.words, end.words or "", fact, judge)


class FoundFact(NamedTuple):
    """Label of a fact, and whether the parser and the judge model find the fact."""

    label: bool | None
    parser: bool
    judge: bool


class InfoFigures(NamedTuple):
    """Statistics of a judge model's votes on facts."""

    facts: Sequence[FoundFact]

    @classmethod
    def of(cls, cases: Sequence[InfoCase], votes: Mapping[Key, Sequence[Vote]]) -> InfoFigures:
        """Return one result per fact; omit facts without a clear vote."""
        cast = [(each, each.outcome(votes[each.key])) for each in cases if each.key in votes]
        return cls(
            [
                FoundFact(each.known, each.is_found, label == "pass")
                for each, label in cast
                if label != "unsure"
            ]
        )

    def lines(self) -> Iterator[str]:
        """Yield the statistics as text."""
        facts = self.facts
        parser, judge = sum(each.parser for each in facts), sum(each.judge for each in facts)
        yield f"facts: {len(facts)}; found by the parser {parser}, by the judge model {judge}"
        same = sum(each.parser == each.judge for each in facts)
        yield f"parser and judge model agree: {_share(same, len(facts))}"
        if all(each.label is None for each in facts):
            return
        found = (
            ("parser", [each.parser for each in facts]),
            (
                "judge model",
                [each.judge for each in facts],
            ),
        )
        for name, finds in found:
            pairs = list(zip(facts, finds, strict=True))
            missed = [not find for each, find in pairs if each.label]
            invented = [find for each, find in pairs if each.label is False]
            yield (
                f"{name}: false negatives: {_share(sum(missed), len(missed))}; "
                f"false positives: {_share(sum(invented), len(invented))}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the facts as a JSON object."""
        return {"facts": [each._asdict() for each in self.facts]}


def _share(part: int, whole: int) -> str:
    if not whole:
        return "0 of 0"
    low, high = map(format_percent, wilson(part, whole))
    return f"{part} of {whole} ({format_percent(part / whole)}, {low} to {high})"


def check_cases(cases: Sequence[InfoCase], source: Path) -> None:
    """Raise DataError if there is no fact to ask about."""
    if not cases:
        raise DataError(
            str(source), "has no required information; select entries with the field `tells`"
        )
