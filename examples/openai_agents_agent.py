"""Evaluate an agent of the OpenAI Agents SDK as it is."""

import os

import turnwise
from agents import Agent, FunctionTool, MaxTurnsExceeded, ModelBehaviorError, Runner
from turnwise.extensions.adapters.framework_agent import FrameworkAgent


def openai_agent(model):
    history = []

    async def play_turn(said, tools):
        def made(tool):
            run = lambda _, arguments: tool.run_json(arguments)  # noqa: E731
            return FunctionTool(tool.name, tool.description, tool.parameters, run, False)

        agent = Agent("desk", model=model, tools=[*map(made, tools)])
        try:
            done = await Runner.run(agent, [*history, *said], max_turns=50)
        except (MaxTurnsExceeded, ModelBehaviorError) as error:  # the model's fault: judge it
            return str(error)
        history[:] = done.to_input_list()
        return done.final_output

    return FrameworkAgent(play_turn)


if __name__ == "__main__":
    name = os.environ["MODEL"]
    print(turnwise.evaluate(agent_factory=lambda: openai_agent(name), categories="base", limit=10))
