"""Use a trajectory as an environment: step it, step a fork of it, and compare the rewards."""

import turnwise

data = turnwise.load_dataset(categories="base")
trajectory = data.trajectories["base_files_quarterly_report"]
env = turnwise.RolloutEnv(trajectory, reward="progress")
env.reset()

for turn in trajectory.turns:
    lazy = env.fork()
    _, nothing, over, _, _ = lazy.step("I did it.")
    reward = 0.0
    for call in turn.ground_truth:
        _, reward, over, _, _ = env.step([turnwise.parse_call(call)])
    observation, reward, over, truncated, info = env.step("I did it.")
    print(f"reward {reward:.2f} for doing it, {nothing:.2f} for only saying so")

print(env.verdict)
