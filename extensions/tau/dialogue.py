"""tau2's part of an episode record: messages and calls of the agent and the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.verdict import Verdict
from envs.calls import Call
from envs.results import Result
from extensions.tau.simulations import Simulation
from runner.models.dialogue_user import SAY, UserAnswer, UserExchange
from runner.records.episode_record import ExtensionData
from runner.records.json_codec import read


class DialogueFields(NamedTuple):
    """Dialogue of an episode."""

    domain: str
    solo: bool
    simulation: Simulation


class DialogueRecord(DialogueFields, ExtensionData):
    """Dialogue as part of an episode record."""

    def verdict_members(self, verdict: Verdict | None) -> Mapping[str, Any]:
        """Return an object with the recorded reward; without one, an empty object."""
        recorded = self.simulation.recorded
        return {} if recorded is None else {"recorded_reward": recorded.reward}

    def exchanges(self) -> Sequence[UserExchange]:
        """Return the agent's messages, each with the user's answer and the user's calls."""
        return tuple(_list_exchanges(self.simulation))


STOP_WORDS = ("###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###")
"""Words that a user of tau2 writes to end the dialogue."""


def _list_exchanges(simulation: Simulation) -> Iterator[UserExchange]:
    text: str | None = None
    calls: list[Call] = []
    results: list[Result] = []
    for message in simulation.messages:
        if message.role == "assistant" and message.text and not message.calls:
            text, calls, results = message.text, [], []
        elif message.role == "user" and message.calls:
            calls += [Call(each.name, (), dict(each.arguments)) for each in message.calls]
        elif message.role == "tool" and message.side == "user":
            results.append(Result(message.text or ""))
        elif message.role == "user" and message.text and text is not None:
            stops = any(word in message.text for word in STOP_WORDS)
            said = message.text
            for word in STOP_WORDS:
                said = said.replace(word, "")
            answer = UserAnswer(said.strip(), stops)
            own = list(zip(calls, results, strict=False))
            named = (Call(SAY, (), {"text": text}), *[call for call, _ in own])
            yield UserExchange(named, (Result(answer.text), *[made for _, made in own]), answer)
            text = None


def read_dialogue(member: Mapping[str, Any], where: str) -> DialogueRecord:
    """Return the dialogue of an episode's record. Raises DataError if the dialogue is invalid."""
    return read(DialogueRecord, member, f"{where}: $.extensions.tau")
