"""Evaluate a LangGraph agent, such as one of LangChain's ``create_agent``, as it is."""

import os

import turnwise
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from turnwise.extensions.adapters.framework_agent import FrameworkAgent


def langgraph_agent(model):
    history = []

    async def play_turn(said, tools):
        made = [
            StructuredTool.from_function(
                None, t.run, t.name, t.description, args_schema=t.parameters
            )
            for t in tools
        ]
        done = await create_agent(model, made).ainvoke({"messages": [*history, *said]})
        history[:] = done["messages"]
        return history[-1]

    return FrameworkAgent(play_turn)


if __name__ == "__main__":
    model = os.environ["MODEL"]
    run = turnwise.evaluate(
        agent_factory=lambda: langgraph_agent(model), categories="base", limit=10
    )
    print(run)
