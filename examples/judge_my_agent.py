"""Judge your own agent; this example calls a random function and then ends the turn.

``turnwise table RUN``, ``turnwise report RUN`` and ``turnwise replay ID --run RUN`` show the run.
``turnwise eval --model python:judge_my_agent:RandomAgent`` runs the agent from the shell.
"""

from random import Random

import turnwise


class RandomAgent:
    """Agent that remembers only its own calls; each episode creates a new one."""

    def __init__(self):
        self.random = Random(0)
        self.calls = 0

    def __call__(self, messages, tools):
        if messages[-1]["role"] == "tool":
            return "Done."
        self.calls += 1
        name = self.random.choice(tools)["function"]["name"]
        call = {"id": f"call_{self.calls}", "type": "function"}
        call["function"] = {"name": name, "arguments": "{}"}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


if __name__ == "__main__":
    run = turnwise.evaluate(RandomAgent, categories="base", limit=10, trials=2)
    print(run, f"{run.score:.0%}")
