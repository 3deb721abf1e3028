"""Simulated user that a model plays."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from typing import Any, Self

from envs.calls import Call, check_bounds
from envs.errors import MalformedCall
from envs.results import Result
from extensions.users.record import UserError, UserRecord
from extensions.users.scenario import NAME, DialogueScenario
from runner.models.dialogue_user import UserAct, UserAnswer, UserExchange, UserRequest
from runner.models.model_types import ChatMessage, Reply, ToolList

STOP = "[END]"
"""The model writes this word to end the dialogue."""
_INSTRUCTIONS = f"""You play a customer who talks to a service agent.
Write the next message of the customer.

- Say only what the scenario tells you. Never invent a value; say that you do not know it.
- Tell a fact when the agent asks for it, not before.
- Write one short message at a time, in your own words.
- If you have functions, call one only when the agent asks you to. Report its real result.
- When your wishes are settled, or the agent transfers you, write {STOP} in your message."""


class ModelUser:
    """Simulated user that a model plays.

    Args:
        scenario: Wishes and knowledge of the user.
        opening: Greeting of the agent and first text of the user.
        tools: The user's functions, as chat-completions tools.
        seed: Number of the trial.
        excludes_errors: Whether an error of the user leaves the episode without a verdict.
    """

    extension = NAME

    def __init__(
        self,
        scenario: DialogueScenario,
        opening: tuple[str, str],
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int = 0,
        *,
        excludes_errors: bool = False,
    ) -> None:
        greeting, said = opening
        self._tools = ToolList([dict(each) for each in tools]) if tools else None
        self._seed = seed
        self._answers: tuple[UserAnswer, ...] = ()
        self._replies: tuple[Reply, ...] = ()
        self._excludes_errors = excludes_errors
        self._messages: list[ChatMessage] = [
            {"role": "system", "content": f"{_INSTRUCTIONS}\n\n{describe(scenario)}"},
            {"role": "user", "content": greeting or "Hello."},
            {"role": "assistant", "content": said},
        ]

    def fork(self) -> Self:
        """Return an independent copy."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._messages = self._messages.copy()
        return copy

    def kept(self) -> UserRecord:
        """Return the answers."""
        last = self._answers[-1] if self._answers else UserAnswer("")
        silent = bool(self._answers) and not last.text
        texts = [answer.text for answer in self._answers]
        error: UserError | None = "silent" if silent else None
        found = UserRecord("model", texts, last.stops, self._seed, error, self._excludes_errors)
        # A reply from the cache has no latency.
        asked = [reply for reply in self._replies if reply.latency > 0]
        costs = [reply.cost for reply in asked]
        known = [cost for cost in costs if cost is not None]
        return found._replace(
            requests=len(asked),
            tokens=sum((each.usage.prompt or 0) + (each.usage.completion or 0) for each in asked),
            cost=sum(known) if known and len(known) == len(costs) else None,
        )

    def act(
        self, text: str, done: Sequence[tuple[Call, Result]]
    ) -> Generator[UserRequest, Reply, UserAct]:
        """Ask the model for the next action."""
        messages = [*self._messages, *_write_messages(text, done)]
        # A program that plays the user has an object for each dialogue.
        reply = yield UserRequest(messages, self._tools, conversation=self, trial=self._seed)
        self._replies += (reply,)
        calls = [_read_call(each.name, each.arguments) for each in reply.tool_calls]
        if calls and self._tools is not None:
            return calls
        said = (reply.text or "").strip()
        stops = not said or STOP in said
        return UserAnswer(said.replace(STOP, "").strip(), stops)

    def remember(self, made: UserExchange) -> None:
        """Add an exchange to the conversation."""
        text = str(made.calls[0].kwargs["text"])
        own = list(zip(made.calls[1:], made.results[1:], strict=True))
        self._messages += _write_messages(text, own)
        self._messages.append({"role": "assistant", "content": made.answer.text})
        self._answers += (made.answer,)


def describe(scenario: DialogueScenario) -> str:
    """Return a scenario in words, for the model."""
    lines = ["Scenario of the customer:"]
    if scenario.persona:
        lines.append(f"Person: {scenario.persona.strip()}")
    lines += [f"Wish: {wish.text}" for wish in scenario.wishes]
    lines += [f"Fact: {fact.name}: {fact.value}" for fact in scenario.facts]
    lines += [f"Unknown: {name}" for name in scenario.unknown]
    lines += [f"Never agree to: {words}" for words in scenario.rejects]
    if scenario.instructions:
        lines.append(f"Instructions: {scenario.instructions.strip()}")
    return "\n".join(lines)


def _write_messages(text: str, done: Sequence[tuple[Call, Result]]) -> list[ChatMessage]:
    messages: list[ChatMessage] = [{"role": "user", "content": text}]
    for number, (call, result) in enumerate(done):
        id = f"own{len(text) % 1000:03}{number:03}"
        function = {"name": call.name, "arguments": json.dumps(dict(call.kwargs))}
        made = {"id": id, "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [made]})
        messages.append({"role": "tool", "tool_call_id": id, "content": result.text})
    return messages


def _read_call(name: str, arguments: object) -> Call:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
            check_bounds(arguments)
        except (ValueError, RecursionError, MalformedCall):
            arguments = {}
    given = arguments if isinstance(arguments, Mapping) else {}
    return Call(name, (), {str(key): value for key, value in given.items()})
