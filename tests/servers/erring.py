"""A model that errs: the ground truth, one call a step, with mistakes that follow from the place.

Whatever a harness has put into the conversation besides, the same step of the same turn gets the
same answer, ids of calls included. So two harnesses can be compared request by request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from envs.calls import Call
from tests.servers.answers import DONE, STRANGE, Conversations, as_reply, with_names
from tests.servers.serving import Answer, Asked
from trajectories.dataset import Dataset
from trajectories.replay_queries import retried_calls

Written = tuple[str, object]
"""A call as it is sent: a name, and arguments as whatever they are."""

_Mistake = Callable[[str, Mapping[str, Any]], list[Written]]


def _all(given: Mapping[str, Any], change: Callable[[Any], Any]) -> str:
    return json.dumps({name: change(value) for name, value in given.items()})


def _in_capitals(name: str, given: Mapping[str, Any]) -> list[Written]:
    return [(name.upper(), json.dumps(given))]


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else json.dumps(value)


MISTAKES: Mapping[str, _Mistake] = {
    "silent": lambda name, given: [],
    "other value": lambda name, given: [(name, _all(given, lambda v: type(v)()))],
    "all texts": lambda name, given: [(name, _all(given, _text))],
    "all null": lambda name, given: [(name, _all(given, lambda _: None))],
    "all lists": lambda name, given: [(name, _all(given, lambda v: [v]))],
    "all true": lambda name, given: [(name, _all(given, lambda _: True))],
    "odd characters": lambda name, given: [
        (name, _all(given, lambda v: f"{v}'\"\\\n\u00e9" if isinstance(v, str) else v))
    ],
    "one less": lambda name, given: [(name, json.dumps(dict([*given.items()][1:])))],
    "one more": lambda name, given: [(name, json.dumps({**given, "loudly": True}))],
    "nowhere": lambda name, given: [("find_my_way", "{}"), (name, json.dumps(given))],
    "capitals": _in_capitals,
    "twice": lambda name, given: [(name, json.dumps(given))] * 2,
    "look first": lambda name, given: [("ls", "{}"), (name, json.dumps(given))],
    "cut off": lambda name, given: [(name, json.dumps(given)[:-1])],
    "no object": lambda name, given: [(name, "[1, 2]")],
}
"""What may go wrong with a call, by name."""


class Erring:
    """Answers with the ground truth's calls, some of them wrong.

    Args:
        data: What is asked about; a turn is known by how many the user has begun.
        rate: Share of calls that are wrong.
        mistakes: Names of those it makes.
        seed: The same seed gives the same mistakes.
    """

    def __init__(
        self, data: Dataset, rate: float, mistakes: Sequence[str] = (*MISTAKES,), seed: int = 0
    ) -> None:
        self._conversations = Conversations(data)
        self._rate = rate
        self._mistakes = mistakes
        self._seed = seed

    def __call__(self, asked: Asked) -> Answer:
        """Return the answer to a request."""
        roles = [message["role"] for message in asked.body["messages"]]
        turn = max(roles.count("user") - 1, 0)
        step = roles[::-1].index("user") if "user" in roles else 0
        step = roles[len(roles) - step :].count("assistant")
        trajectory = self._conversations.find(asked, lambda _: turn)
        if trajectory is None:
            return as_reply({"role": "assistant", "content": STRANGE}, asked)
        truth = retried_calls(trajectory.turns[turn])[step : step + 1]
        place = f"{trajectory.id}_{turn}_{step}"
        random = Random(f"{self._seed} {place}")
        made = [each for call in truth for each in self._made(call, random)]
        if not made:
            return as_reply({"role": "assistant", "content": DONE}, asked)
        calls = [
            {
                "id": f"call_{place}_{number}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for number, (name, arguments) in enumerate(made)
        ]
        return as_reply({"role": "assistant", "content": None, "tool_calls": calls}, asked)

    def _made(self, right: Call, random: Random) -> list[Written]:
        name, given = right.name, with_names(right).kwargs
        if random.random() >= self._rate:
            return [(name, json.dumps(given))]
        return MISTAKES[random.choice(self._mistakes)](name, given)
