"""Evaluate an agent of smolagents as it is; its steps run in a thread."""

import asyncio
import os

import turnwise
from smolagents import InferenceClientModel, Tool, ToolCallingAgent
from turnwise.extensions.adapters.own_loop import OwnLoop


def smol_agent(model):
    agent = None

    async def play_turn(said, tools):
        nonlocal agent
        made = {tool.name: smol_tool(tool) for tool in tools}
        agent = agent or ToolCallingAgent([], model, max_steps=50, verbosity_level=0)
        agent.tools |= made
        words = "\n".join(message["content"] for message in said)
        return str(await asyncio.to_thread(agent.run, words, reset=False))

    return OwnLoop(play_turn)


def smol_tool(tool):
    """Return a tool of smolagents with the inputs of a JSON schema."""
    needed, members = tool.parameters.get("required", ()), tool.parameters["properties"]
    inputs = {
        name: {"type": "any", "description": str(member), "nullable": name not in needed}
        for name, member in members.items()
    }
    own = {"name": tool.name, "description": tool.description, "inputs": inputs}
    own |= {"output_type": "string", "skip_forward_signature_validation": True}
    own["forward"] = lambda self, **given: tool.run_in_thread(**given)
    return type("Offered", (Tool,), own)()


if __name__ == "__main__":
    model = InferenceClientModel(os.environ["MODEL"])
    print(turnwise.evaluate(agent_factory=lambda: smol_agent(model), categories="base", limit=10))
