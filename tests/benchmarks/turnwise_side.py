"""One measure of Turnwise, the counterpart of ``bfcl_side.py``: same arguments, same answer.

It measures whichever Turnwise is first on the path, so that an earlier one can be measured too.
"""

import gc
import json
import sys
import tracemalloc
from pathlib import Path
from time import process_time

from checkers.profile import BFCL
from envs.calls import make_call_from_tool, parse_call, parse_calls
from envs.session import Session

WARM_UP = 50
"""Worlds that are played before the clock starts."""
ROUNDS = 3
"""How often a measure is taken; the fastest counts, which is the one that was least disturbed."""


def judge(workload):
    """Execute and judge every recorded entry; a trajectory is prepared once for all its runs.

    As in ``evaluate``, the variants of a scenario share the replayed ground truth.
    """
    import envs.schema  # noqa: F401 - loaded on demand otherwise, and start-up is not timed
    from runner.episodes.judging import judge_recorded
    from trajectories.dataset import load_bfcl
    from trajectories.prepared_trajectory import prepare
    from trajectories.schema import Category

    try:
        from trajectories.replay_queries import PlayedTruths as Cache
    except ImportError:  # an earlier Turnwise, which plays each ground truth
        Cache = None

    wanted = {entry["category"] for entry in workload["recorded"]}
    dataset = load_bfcl(Path(workload["data"]), [c for c in Category if c in wanted])
    for trajectory in dataset.trajectories.values():
        dataset.pack(trajectory)

    def judge_all():
        ready, valid, truths = {}, 0, Cache and Cache()
        for entry in workload["recorded"]:
            id = entry["question"]["id"]
            if id not in ready:
                given = [BFCL, truths] if truths else [BFCL]
                ready[id] = prepare(dataset, dataset.trajectories[id], *given)
            valid += judge_recorded(ready[id], entry["turns"], "fc", BFCL).verdict.valid
        return valid

    rounds = []
    for _ in range(ROUNDS):
        freeze()
        start = process_time()
        valid = judge_all()
        rounds.append((process_time() - start) / len(workload["recorded"]))
    return {"value": min(rounds), "valid": valid}


def reset(workload):
    """Load the session of a world."""
    return timed(load, workload["worlds"])


def step_text(workload):
    """Make a call, from its text to the text of its result."""
    return steps(workload["worlds"], parse_call, lambda world: [(text,) for text in world["calls"]])


def step_structured(workload):
    """Make a call, from name and arguments to the text of its result."""
    return steps(workload["worlds"], make_call_from_tool, lambda world: world["structured"])


def steps(worlds, read, given):
    """Return the seconds of one call, once the first ones are over."""
    stepped(worlds[:WARM_UP], read, given)
    freeze()
    return {"value": min(stepped(worlds, read, given) for _ in range(ROUNDS))}


def stepped(worlds, read, given):
    """Return the seconds of one call."""
    seconds = count = 0
    for world in worlds:
        session = load(world)
        calls = given(world)
        start = process_time()
        for call in calls:
            session.call(read(*call)).text  # noqa: B018 - written out on first access
        seconds += process_time() - start
        count += len(calls)
    return seconds / count


def snapshot(workload):
    """Keep a state."""
    return timed(Session.snapshot, played(workload))


def fork(workload):
    """Go on from a state twice."""
    return timed(Session.fork, played(workload))


def compare_equal(workload):
    """Compare two states that agree, and share nothing."""
    first, second = snapshots(played(workload)), snapshots(played(workload))
    pairs = list(zip(first, second, strict=True))
    assert all(one == other for one, other in pairs)
    return timed(lambda pair: pair[0] == pair[1], pairs)


def compare_different(workload):
    """Compare two states that do not agree, and share nothing."""
    first, second = snapshots(played(workload)), snapshots(map(load, workload["worlds"]))
    pairs = [pair for pair in zip(first, second, strict=True) if pair[0] != pair[1]]
    return timed(lambda pair: pair[0] == pair[1], pairs)


def state_hash(workload):
    """Hash a state."""
    return timed(lambda snapshot: snapshot.digest(), snapshots(played(workload)))


def memory(workload):
    """Keep worlds alive."""
    for world in workload["worlds"]:
        load(world)  # what a first session imports is no session's own
    return allocated(load, workload["worlds"])


def parse(workload):
    """Read the calls of a prompting model's reply."""
    return timed(parse_calls, workload["replies"])


def timed(function, arguments):
    """Return the seconds of one application, of many."""
    arguments = list(arguments)
    repeats = max(1, 2000 // len(arguments))
    rounds = []
    for _ in range(ROUNDS):
        freeze()
        start = process_time()
        for _ in range(repeats):
            for argument in arguments:
                function(argument)
        rounds.append((process_time() - start) / repeats / len(arguments))
    return {"value": min(rounds)}


def freeze():
    """Keep what was read so far out of the collector's way, for it is no part of the measure."""
    gc.collect()
    gc.freeze()


def allocated(make, worlds):
    """Return the bytes of one of a thousand live worlds."""
    make(worlds[0])
    gc.collect()
    tracemalloc.start()
    alive = [make(worlds[number % len(worlds)]) for number in range(1000)]
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    # Tracing slows down all that is done after it.
    tracemalloc.stop()
    return {"value": size / len(alive)}


def load(world):
    """Return the session of a world."""
    return Session.load(world["environments"], world["config"], tolerant=True)


def played(workload):
    """Return the session of every world, after its ground truth."""
    sessions = []
    for world in workload["worlds"]:
        session = load(world)
        session.play([parse_call(text) for text in world["calls"]])
        sessions.append(session)
    return sessions


def snapshots(sessions):
    """Return the states of sessions."""
    return [session.snapshot() for session in sessions]


MEASURES = {
    "judge": judge,
    "reset": reset,
    "step_structured": step_structured,
    "step_text": step_text,
    "snapshot": snapshot,
    "fork": fork,
    "compare_equal": compare_equal,
    "compare_different": compare_different,
    "hash": state_hash,
    "memory": memory,
    "parse": parse,
}

if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        given = json.load(file)
    print(json.dumps(MEASURES[sys.argv[2]](given)))
