"""First example: create an environment, make a call, show its change, and run your own model."""

import turnwise

data = turnwise.load_dataset(categories="base")
trajectory = data.trajectories["base_files_quarterly_report"]
print(trajectory.turns[0].messages[0].content)

session = turnwise.Session.load(trajectory.environments, trajectory.config)
before = session.snapshot()
print(session.call(turnwise.parse_call("mkdir('drafts')")).text)
print(*before.differences(session.snapshot()), sep="\n")


def agent(messages, tools):
    return {"role": "assistant", "content": "I cannot do that."}


print(turnwise.evaluate(agent, data, limit=5))
