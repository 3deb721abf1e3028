"""Gold agent: an agent that does what the scenario requires.

The agent asks for facts and consent, makes the right calls, and gives the user the required
information.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import NamedTuple

from envs.calls import Call
from envs.session import Session
from extensions.users.rules import NOT_UNDERSTOOD
from extensions.users.scenario import DialogueScenario
from runner.models.dialogue_user import User, UserAnswer, exchange

ANYTHING_ELSE = "Is there anything else I can help you with?"
_MAX_ENDS = 12


class GoldAct(NamedTuple):
    """A needed call of the agent or the user, and the agent's messages about the call."""

    call: Call
    consents: bool = False
    """Whether the agent asks for consent before the call."""
    request: str | None = None
    """Text that asks the user to make the call; None for a call of the agent."""
    farewell: str | None = None
    """Last text of the agent after a call that ends the dialogue, such as a transfer."""


Script = Generator[str | Call, UserAnswer | None, None]


def script(
    scenario: DialogueScenario, acts: Sequence[GoldAct], information: Sequence[str]
) -> Script:
    """Yield the agent's texts and calls. After each text, the caller sends the user's answer."""
    names = dict.fromkeys(fact.name for fact in scenario.facts if not fact.opens)
    if names:
        yield f"Could you please provide your {', '.join(names)}?"
    if wrong := [name for name in names if name in scenario.knobs.mistakes]:
        yield f"I do not find that. Could you please check your {', '.join(wrong)}?"
    for _ in [wish for wish in scenario.wishes if wish.when == "later"]:
        answer = yield "Thank you. Please tell me all about it."
        if answer is not None and answer.text == NOT_UNDERSTOOD:
            break
    for act in acts:
        if act.request is not None:
            yield act.request
            continue
        if act.consents:
            question = f"I would {describe(act.call)}. Do you want me to proceed?"
            answer = yield question
            if answer is not None and answer.text in scenario.knobs.changes.values():
                yield question
        yield act.call
    if information:
        yield f"Here is the information: {'; '.join(information)}."
    yield from [act.farewell for act in acts if act.farewell is not None]
    for _ in range(_MAX_ENDS):
        answer = yield ANYTHING_ELSE
        if answer is not None and answer.stops:
            return


def describe(call: Call) -> str:
    """Return a call in words."""
    values = ", ".join(f"{name} {value}" for name, value in call.kwargs.items())
    return f"{call.name.replace('_', ' ')} ({values})"


def play(script: Script, user: User, session: Session) -> list[list[Call]]:
    """Run a dialogue between the gold agent and an offline user; return the steps of both."""
    steps: list[list[Call]] = []
    answer: UserAnswer | None = None
    while answer is None or not answer.stops:
        try:
            said = script.send(answer)
        except StopIteration:
            break
        if isinstance(said, Call):
            session.call(said)
            steps.append([said])
            answer = None
            continue
        try:
            next(exchange(user, said, session))
        except StopIteration as end:
            made = end.value
            steps.append([*made.calls])
            answer = made.answer
    return steps
