"""What a writer is asked: a walk's calls with results and where values come from, or functions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from checkers.told import clipped
from envs.calls import Call
from envs.schema import spec
from extensions.authoring.graph.graph import TOOLS, Graph
from extensions.authoring.graph.sampling import Binding, Origin
from extensions.authoring.rules.entry import TruthStep
from extensions.generation.entries.filters import FEWEST_IN_ALL, FEWEST_IN_TURN
from extensions.generation.entries.tasks import BLANK, WritingTask, around_value
from runner.models.base import Request
from runner.models.prompting import checked_texts, read_texts
from trajectories.schema import Trajectory

PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "generate.toml"

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "system": (),
    "paths": ("{persona}", "{turns}", "{task}"),
    "functions": ("{persona}", "{turns}", "{task}"),
    "again": ("{reason}",),
}
_LONGEST_RESULT = 1500
_LONGEST_CONFIG = 20_000
_LONGEST_ANSWER = 20_000
"""Characters."""


class WriterPrompts(NamedTuple):
    """The texts of one file; placeholders are filled in by plain replacement."""

    texts: Mapping[str, str]
    sha256: str
    """Hash of the file, in hex."""


def read_writer_prompts(path: Path = PROMPTS) -> WriterPrompts:
    """Read a file of texts for writers.

    Raises:
        DataError: It cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    return WriterPrompts(checked_texts(texts, _TEXTS, path), digest)


class WriterQuestions(NamedTuple):
    """Puts tasks into requests."""

    prompts: WriterPrompts
    graph: Graph

    def ask(self, task: WritingTask) -> Request:
        """Return the request for a task's words."""
        texts = self.prompts.texts
        system = _filled(texts["system"], fewest=FEWEST_IN_TURN, fewest_in_all=FEWEST_IN_ALL)
        shown = self._calls(task) if task.origin == "paths" else _functions(task)
        question = _filled(
            texts[task.origin],
            persona=task.persona,
            turns=len(task.bare.turns),
            examples="\n\n".join(map(_example, task.examples)),
            task="\n".join(shown),
        )
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        return Request(messages, None)

    def again(self, request: Request, answer: str, reason: str) -> Request:
        """Return the request that asks once more, and says why."""
        more = [
            {"role": "assistant", "content": answer[:_LONGEST_ANSWER] or "(nothing)"},
            {"role": "user", "content": _filled(self.prompts.texts["again"], reason=reason)},
        ]
        return request._replace(messages=[*request.messages, *more])

    def _calls(self, task: WritingTask) -> Iterator[str]:
        place = 0
        for index, steps in enumerate(task.played.turns):
            yield f"turn {index}"
            for step in steps:
                yield from self._call(place, step, task)
                place += 1

    def _call(self, place: int, step: TruthStep, task: WritingTask) -> Iterator[str]:
        assert isinstance(step.call, Call)
        yield f"  step {place}: {step.call}"
        yield f"    what it does: {spec(TOOLS[step.call.name]).description}"
        arguments = task.played.arguments(step.call)
        for binding in task.steps[place][1].bindings:
            yield f"    {self._origin(binding, arguments[binding.argument])}"
        yield f"    result: {clipped(step.result.text, _LONGEST_RESULT)}"

    def _origin(self, binding: Binding, value: Any) -> str:
        name = binding.argument
        if binding.origin is not Origin.RESULT:
            return f"{name}: tell {json.dumps(value, ensure_ascii=False)}"
        around = around_value(self.graph, binding)
        source = f"do not tell: it comes from the result of step {binding.step}"
        if around == BLANK:
            return f"{name}: {source}"
        shown = json.dumps(around, ensure_ascii=False)
        return f"{name}: tell {shown}, but {BLANK} in it {source}"


def _functions(task: WritingTask) -> Iterator[str]:
    yield "Functions:"
    for name in task.functions:
        yield json.dumps(spec(TOOLS[name]).document(), ensure_ascii=False)
    yield ""
    yield "World, as it is at the beginning:"
    yield json.dumps(task.bare.config, ensure_ascii=False)[:_LONGEST_CONFIG]


def _example(entry: Trajectory) -> str:
    lines = []
    for index, turn in enumerate(entry.turns):
        lines.append(f"turn {index}: {turn.words}")
        lines += [f"  {call}" for call in turn.ground_truth]
    return "\n".join(lines)


def _filled(text: str, **values: object) -> str:
    """Fill in placeholders, the last ones given as they are, whatever they hold."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
