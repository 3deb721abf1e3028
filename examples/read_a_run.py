"""Read a run folder: print the messages and calls of each episode, and the cause of a failure.

python examples/read_a_run.py runs/20260101-120000-my-model
"""

import sys
from collections import Counter
from pathlib import Path

import turnwise

if len(sys.argv) != 2:
    sys.exit("name a run folder, such as runs/20260101-120000-my-model")
run = turnwise.open_run(Path(sys.argv[1]))
print(run.name, "on", run.definition.dataset.name if run.definition else "data unknown")
reasons = Counter()
for episode in run.records:
    print(episode.id, len(episode.steps), "steps,", episode.verdict or episode.error)
    if episode.verdict and episode.verdict.failure:
        reasons[episode.verdict.failure.reason] += 1
for reason, count in reasons.most_common():
    print(count, reason, "-", reason.meaning)
