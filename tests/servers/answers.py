"""What the fake server says: the ground truth of a data set, or what a recorded run said."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from checkers.profile import STRICT
from checkers.replies.decoding import Step
from envs import registry
from envs.calls import Call, parse_call
from runner.data import dataset_choice
from runner.records.recorded_run import open_run
from tests.servers.formats import in_format
from tests.servers.serving import Answer, Answerer, Asked, as_json
from tests.servers.shapes import completion
from trajectories.call_checker_tasks import make_call_entry
from trajectories.dataset import Dataset
from trajectories.example_steps import make_expected_calls
from trajectories.replay_queries import retried_calls
from trajectories.schema import ExpectedCalls, Trajectory

DONE = "That is done."
"""What a turn ends with; it is how later requests show how many turns have ended."""
STRANGE = "I do not know what this is about."
"""What is said to a conversation of no known trajectory, such as a harness's first try."""

_NAME_IN_DOCUMENT = re.compile(r"""["']name["']\s*:\s*["']([\w.-]+)["']""")
_PARAMETERS = {
    name: list(inspect.signature(tool.function).parameters)[1:]
    for name, tool in registry.list_tools(
        (*registry.BACKENDS, *registry.load_more(), *registry.load_library())
    ).items()
}


def of_dataset(
    name: str,
    categories: str | None = None,
    recorded: Path | None = None,
    calls_per_step: int | None = None,
) -> Answerer:
    """Return what answers requests about a data set.

    Args:
        name: ``turnwise`` for the embedded one, or what ``--dataset`` takes.
        categories: Comma-separated; None for all.
        recorded: Answer as this recorded run did, not with the ground truth.
        calls_per_step: How many calls of the ground truth a step makes; None for a whole turn's.
    """
    chosen = None if name == "turnwise" else name
    data = dataset_choice.open_dataset(
        chosen, dataset_choice.parse_categories(categories, chosen), lambda _: None
    )
    return GroundTruth(data, calls_per_step) if recorded is None else Recorded(data, recorded)


class GroundTruth:
    """Answers with the calls of the ground truth, and then that the turn is done.

    Args:
        data: What is asked about.
        calls_per_step: How many calls a step makes; None for all of a turn.
    """

    def __init__(self, data: Dataset, calls_per_step: int | None = None) -> None:
        self._conversations = Conversations(data)
        self._calls_per_step = calls_per_step
        self._numbers = itertools.count()

    def __call__(self, asked: Asked) -> Answer:
        """Return the answer to a request."""
        messages = asked.body["messages"]
        said = [_text(m.get("content")) for m in messages if m["role"] == "assistant"]
        turn = said.count(DONE)
        steps = list(reversed(said)).index(DONE) if turn else len(said)
        trajectory = self._conversations.find(asked, lambda _: turn)
        if trajectory is None:
            return as_reply({"role": "assistant", "content": STRANGE}, asked)
        if isinstance(trajectory.expects, ExpectedCalls):
            calls = make_expected_calls(make_call_entry(trajectory), STRICT)
        else:
            turns = trajectory.turns[turn : turn + 1]
            calls = [with_names(call) for each in turns for call in retried_calls(each)]
        size = self._calls_per_step or max(len(calls), 1)
        return self._said(calls[steps * size : (steps + 1) * size], asked)

    def _said(self, calls: Sequence[Call], asked: Asked) -> Answer:
        if not calls:
            return as_reply({"role": "assistant", "content": DONE}, asked)
        if not asked.body.get("tools"):
            text = in_format(calls, _text(asked.body["messages"][0]["content"]))
            return as_reply({"role": "assistant", "content": text}, asked)
        written = [(call.name.replace(".", "_"), json.dumps(call.kwargs)) for call in calls]
        return as_reply(_with_tool_calls(written, self._numbers), asked)


class Recorded:
    """Answers, step by step, as a recorded run did.

    Args:
        data: What is asked about.
        path: The recorded run.
    """

    def __init__(self, data: Dataset, path: Path) -> None:
        self._conversations = Conversations(data)
        self._numbers = itertools.count()
        self._turns = {
            id: [_to_the_end(steps) for steps in entry.turns or ()]
            for id, entry in open_run(path).entries().items()
        }

    def __call__(self, asked: Asked) -> Answer:
        """Return the answer to a request."""
        made = sum(m["role"] == "assistant" for m in asked.body["messages"])
        trajectory = self._conversations.find(asked, lambda t: self._turn(t, made))
        if trajectory is None or trajectory.id not in self._turns:
            return as_reply({"role": "assistant", "content": STRANGE}, asked)
        steps = list(itertools.chain.from_iterable(self._turns[trajectory.id]))
        step = steps[made] if made < len(steps) else DONE
        if isinstance(step, str) or not step:
            return as_reply({"role": "assistant", "content": step or ""}, asked)
        calls = [
            (name, given if isinstance(given, str) else json.dumps(given))
            for member in step
            for name, given in member.items()
        ]
        return as_reply(_with_tool_calls(calls, self._numbers), asked)

    def _turn(self, trajectory: Trajectory, made: int) -> int:
        """Return the turn after some steps; beyond the last if there is no such run."""
        ends = itertools.accumulate(len(steps) for steps in self._turns.get(trajectory.id, ()))
        return next((turn for turn, end in enumerate(ends) if made < end), len(trajectory.turns))


def _to_the_end(steps: Sequence[Step]) -> list[Step]:
    """Return the steps of a turn with the answer that ends it, which not every run recorded."""
    ended = steps and (isinstance(steps[-1], str) or not steps[-1])
    return [*steps] if ended else [*steps, DONE]


class Conversations:
    """Finds the trajectory that a request is about.

    Several categories ask the same. They differ in what is offered when; where they do not, the
    first is taken, so that a client has to name the one it means.
    """

    def __init__(self, data: Dataset) -> None:
        self._by_id = data.trajectories
        self._by_opening: dict[str, list[Trajectory]] = defaultdict(list)
        for trajectory in data.trajectories.values():
            opening = next(_said_by_user(trajectory, 0), None)
            if opening is not None:
                self._by_opening[opening].append(trajectory)

    def find(self, asked: Asked, turn_of: Callable[[Trajectory], int]) -> Trajectory | None:
        """Return the trajectory that a request names, or else the one that it looks like.

        Args:
            asked: The request.
            turn_of: Tells in which turn the conversation is, if it is of this trajectory.
        """
        named = asked.headers.get("x-turnwise-id") or asked.body.get("turnwise_id")
        if named:
            return self._by_id.get(named)
        texts = [_text(m["content"]) for m in asked.body["messages"] if m["role"] == "user"]
        found = [
            trajectory
            for text in texts[:1]
            for trajectory in self._by_opening.get(text, ())
            if turn_of(trajectory) < len(trajectory.turns)
            and _in_order(_said_by_user(trajectory, turn_of(trajectory)), texts)
        ]
        if len(found) < 2:
            return found[0] if found else None
        offered = _offered(asked.body)
        return min(found, key=lambda t: _mismatch(t, turn_of(t), offered))


def _said_by_user(trajectory: Trajectory, turn: int) -> Iterator[str]:
    turns = trajectory.turns[: turn + 1]
    return (m.content for each in turns for m in each.messages if m.role == "user")


def _in_order(wanted: Iterable[str], texts: Sequence[str]) -> bool:
    """Tell whether texts occur among others in their order."""
    rest = iter(texts)
    return all(text in rest for text in wanted)


def _mismatch(trajectory: Trajectory, turn: int, offered: frozenset[str]) -> int:
    """Return how many functions are offered that should not be, or the other way round."""
    so_far = trajectory.turns[: turn + 1]
    handed_over = {name for each in so_far for name in each.offers}
    needed = {parse_call(text).name for each in so_far for text in each.ground_truth}
    held_out = {*trajectory.held_out} - handed_over
    return len(held_out & offered) + len((handed_over | needed) - offered)


def _offered(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the functions that a request offers, as tools or in its texts."""
    if body.get("tools"):
        return frozenset(tool["function"]["name"] for tool in body["tools"])
    texts = [_text(m["content"]) for m in body["messages"] if m["role"] in ("system", "user")]
    return frozenset().union(*map(_documented, texts))


@lru_cache(maxsize=4096)
def _documented(text: str) -> frozenset[str]:
    return frozenset(_NAME_IN_DOCUMENT.findall(text))


def _text(content: object) -> str:
    """Return the text of a message's content, which may be a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def with_names(call: Call) -> Call:
    """Return a call with all arguments named, which is all that tool calls can express."""
    named = dict(zip(_PARAMETERS.get(call.name, ()), call.args, strict=False))
    return Call(call.name, (), {**named, **call.kwargs})


def _with_tool_calls(calls: Iterable[tuple[str, str]], numbers: Iterable[int]) -> dict[str, Any]:
    tool_calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        }
        for (name, arguments), number in zip(calls, numbers, strict=False)
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def as_reply(message: Mapping[str, Any], asked: Asked) -> Answer:
    """Return a completion; its numbers of tokens are guessed from the lengths."""
    prompt = int(asked.headers.get("content-length", 0)) // 4
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    model = asked.body.get("model", "fake")
    return as_json(completion(message, reason, prompt=prompt, model=model))
