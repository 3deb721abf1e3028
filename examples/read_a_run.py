"""Read a run folder: what was said and done in each episode, and why it failed.

python examples/read_a_run.py runs/20260101-120000-my-model
"""

import sys
from collections import Counter
from pathlib import Path

import turnwise

run = turnwise.read_run(Path(sys.argv[1]))
print(run.definition["model"], "on", run.definition["dataset"]["name"])
reasons = Counter()
for episode in run.episodes():
    if episode["verdict"] is None:
        print(episode["id"], episode["error"])
        continue
    verdict = turnwise.Verdict.from_json(episode["verdict"])
    reasons[verdict.failure.reason if verdict.failure else "passed"] += 1
    print(episode["id"], len(episode["steps"]), "steps,", verdict)
for reason, count in reasons.most_common():
    print(count, reason, "-", getattr(reason, "meaning", "as the ground truth"))
