"""Requests to the model that writes user messages.

A request shows the writer either functions or calls. Calls come with their results and with the
origin of each argument.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from checkers.known_values import clip_text
from envs.calls import Call
from envs.schema import make_spec
from extensions.authoring.graph.graph import TOOLS, Graph
from extensions.authoring.graph.sampling import ArgumentBinding, ValueOrigin
from extensions.authoring.rules.replayed_entry import TruthStep
from extensions.generation.entries.filters import MIN_TOTAL_WORDS, MIN_TURN_WORDS
from extensions.generation.entries.tasks import BLANK, WritingTask, blank_result_part
from runner.models.model_types import Request
from runner.models.prompting import checked_texts, read_texts
from trajectories.schema import Trajectory

PROMPTS = Path(__file__).parents[2] / "configs" / "prompts" / "generate.toml"

_TEXTS: Mapping[str, tuple[str, ...]] = {
    "system": (),
    "paths": ("{persona}", "{turns}", "{task}"),
    "functions": ("{persona}", "{turns}", "{task}"),
    "again": ("{reason}",),
}
_MAX_RESULT_CHARS = 1500
_MAX_CONFIG_CHARS = 20_000
_MAX_ANSWER_CHARS = 20_000


class WriterPrompts(NamedTuple):
    """Prompts of one file; string replacement fills their placeholders."""

    texts: Mapping[str, str]
    sha256: str


def read_writer_prompts(path: Path = PROMPTS) -> WriterPrompts:
    """Read a prompt file for writers.

    Raises DataError if the file cannot be read, or a text or its placeholder is missing.
    """
    texts, digest = read_texts(path)
    return WriterPrompts(checked_texts(texts, _TEXTS, path), digest)


class WriterQuestions(NamedTuple):
    """Requests to the model that writes user messages."""

    prompts: WriterPrompts
    graph: Graph

    def ask(self, task: WritingTask) -> Request:
        """Return the request for the user messages of a task."""
        texts = self.prompts.texts
        system = _fill(texts["system"], fewest=MIN_TURN_WORDS, fewest_in_all=MIN_TOTAL_WORDS)
        shown = self._write_calls(task) if task.origin == "paths" else _write_functions(task)
        question = _fill(
            texts[task.origin],
            persona=task.persona,
            turns=len(task.bare.turns),
            examples="\n\n".join(map(_write_example, task.examples)),
            task="\n".join(shown),
        )
        messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        return Request(messages, None)

    def again(self, request: Request, answer: str, reason: str) -> Request:
        """Return a request for another answer, with the reason why the first answer was refused."""
        more = [
            {"role": "assistant", "content": answer[:_MAX_ANSWER_CHARS] or "(nothing)"},
            {"role": "user", "content": _fill(self.prompts.texts["again"], reason=reason)},
        ]
        return request._replace(messages=[*request.messages, *more])

    def _write_calls(self, task: WritingTask) -> Iterator[str]:
        place = count()
        for index, steps in enumerate(task.played.turns):
            yield f"turn {index}"
            for step in steps:
                yield from self._write_call(next(place), step, task)

    def _write_call(self, place: int, step: TruthStep, task: WritingTask) -> Iterator[str]:
        assert isinstance(step.call, Call)
        yield f"  step {place}: {step.call}"
        yield f"    what it does: {make_spec(TOOLS[step.call.name]).description}"
        arguments = task.played.arguments(step.call)
        for binding in task.steps[place][1].bindings:
            yield f"    {self._write_origin(binding, arguments[binding.argument])}"
        yield f"    result: {clip_text(step.result.text, _MAX_RESULT_CHARS)}"

    def _write_origin(self, binding: ArgumentBinding, value: Any) -> str:
        name = binding.argument
        if binding.origin is not ValueOrigin.RESULT:
            return f"{name}: tell {json.dumps(value, ensure_ascii=False)}"
        around = blank_result_part(self.graph, binding)
        source = f"comes from the result of step {binding.step}"
        if around == BLANK:
            return f"{name}: do not tell: it {source}"
        shown = json.dumps(around, ensure_ascii=False)
        return f"{name}: tell {shown}; do not tell {BLANK}, which {source}"


def _write_functions(task: WritingTask) -> Iterator[str]:
    yield "Functions:"
    for name in task.functions:
        yield json.dumps(make_spec(TOOLS[name]).document(), ensure_ascii=False)
    yield ""
    yield "World, as it is at the beginning:"
    yield json.dumps(task.bare.config, ensure_ascii=False)[:_MAX_CONFIG_CHARS]


def _write_example(entry: Trajectory) -> str:
    lines = []
    for index, turn in enumerate(entry.turns):
        lines.append(f"turn {index}: {turn.words}")
        lines += [f"  {call}" for call in turn.ground_truth]
    return "\n".join(lines)


def _fill(text: str, **values: object) -> str:
    """Replace the placeholders of a text one after another, in the order of ``values``."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text
