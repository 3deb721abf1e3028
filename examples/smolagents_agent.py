"""Evaluate an agent of smolagents as it is; its steps run in a thread."""

import asyncio
import os

import turnwise
from smolagents import InferenceClientModel, ToolCallingAgent
from turnwise.extensions.adapters.framework_agent import FrameworkAgent
from turnwise.extensions.adapters.smolagents_tools import make_tool


def smol_agent(model):
    agent = ToolCallingAgent([], model, max_steps=50, verbosity_level=0)

    async def play_turn(said, tools):
        agent.tools |= {tool.name: make_tool(tool) for tool in tools}
        words = "\n".join(message["content"] for message in said)
        return str(await asyncio.to_thread(agent.run, words, reset=False))

    return FrameworkAgent(play_turn)


if __name__ == "__main__":
    model = InferenceClientModel(os.environ["MODEL"])
    print(turnwise.evaluate(agent_factory=lambda: smol_agent(model), categories="base", limit=10))
