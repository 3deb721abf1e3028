"""Evaluate an agent of pydantic-ai as it is."""

import os

import turnwise
from pydantic_ai import Agent, Tool, UnexpectedModelBehavior
from turnwise.extensions.adapters.framework_agent import FrameworkAgent


def pydantic_agent(model):
    history = []

    async def play_turn(said, tools):
        made = [Tool.from_schema(t.run, t.name, t.description, t.parameters) for t in tools]
        words = "\n".join(message["content"] for message in said)
        try:
            done = await Agent(model, tools=made).run(words, message_history=history)
        except UnexpectedModelBehavior as error:  # the model's fault: judge it
            return str(error)
        history[:] = done.all_messages()
        return done.output

    return FrameworkAgent(play_turn)


if __name__ == "__main__":
    name = os.environ["MODEL"]
    print(
        turnwise.evaluate(agent_factory=lambda: pydantic_agent(name), categories="base", limit=10)
    )
