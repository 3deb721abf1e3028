"""One measure of BFCL, as a black box: ``python bfcl_side.py WORKLOAD MEASURE``.

Run by the interpreter that has bfcl-eval. Writes one JSON object: ``value`` in CPU seconds, and for
``memory`` in bytes, per operation; for ``judge`` also how many entries were ``valid``.
"""

import gc
import json
import sys
import tracemalloc
import warnings
from collections import Counter
from copy import deepcopy
from hashlib import sha256
from importlib.util import find_spec
from time import process_time
from unittest.mock import MagicMock

NOT_NEEDED = ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript", "filelock", "tenacity")
"""Packages that are imported along with the decoder, which itself does without them."""

WARM_UP = 50
"""Worlds that are played before the clock starts."""
ROUNDS = 3
"""How often a measure is taken; the fastest counts, which is the one that was least disturbed."""

runs = Counter()


def judge(workload):
    """Execute and judge every recorded entry."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

    rounds = []
    for number in range(ROUNDS):
        freeze()
        valid = 0
        start = process_time()
        for entry in workload["recorded"]:
            turns = [
                [calls for step in turn if (calls := decoded(step))] for turn in entry["turns"]
            ]
            if len(turns) == len(entry["truth"]):
                # Instances live on under the name of the run, so each round has runs of its own.
                run, category = f"{entry['run']}_{number}", f"multi_turn_{entry['category']}"
                valid += multi_turn_checker(
                    turns, entry["truth"], entry["question"], category, run
                )["valid"]
        rounds.append((process_time() - start) / len(workload["recorded"]))
    return {"value": min(rounds), "valid": valid}


def reset(workload):
    """Make the instances of a world."""
    execute = executor()
    execute([], workload["worlds"][0], "warm up")
    return timed(lambda world: execute([], world), workload["worlds"])


def step_text(workload):
    """Make a call, from its text to the text of its result."""
    execute = executor()
    stepped(execute, workload["worlds"][:WARM_UP])
    freeze()
    return {"value": min(stepped(execute, workload["worlds"]) for _ in range(ROUNDS))}


def stepped(execute, worlds):
    """Return the seconds of one call."""
    seconds = calls = 0
    for world in worlds:
        name = fresh_name()
        execute([], world, name)
        start = process_time()
        for call in world["calls"]:
            execute([call], world, name)
        seconds += process_time() - start
        calls += len(world["calls"])
    return seconds / calls


step_structured = step_text
"""Structured calls become text first; only what comes then is measured."""


def snapshot(workload):
    """Keep a state: there is no other way than to copy all of it."""
    return timed(deepcopy, played(workload))


fork = snapshot
"""The same copy is also the only way to go on from a state twice."""


def compare_equal(workload):
    """Compare two states that agree."""
    check = checker()
    pairs = list(zip(played(workload), played(workload), strict=True))
    assert all(check(*pair)["valid"] for pair in pairs)
    return timed(lambda pair: check(*pair), pairs)


def compare_different(workload):
    """Compare two states that do not agree."""
    check = checker()
    pairs = zip(played(workload), loaded(workload), strict=True)
    return timed(lambda pair: check(*pair), [pair for pair in pairs if not check(*pair)["valid"]])


def state_hash(workload):
    """Hash a state; there is no function for it, so this is what a user would write."""

    def digest(instances):
        public = {
            name: {key: value for key, value in vars(instance).items() if key[0] != "_"}
            for name, instance in instances.items()
        }
        text = json.dumps(public, default=plain)
        return sha256(text.encode()).hexdigest()

    return timed(digest, played(workload))


def plain(value):
    """Return what JSON does not know as what it knows: file trees, and odds and ends by name."""
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if not hasattr(value, "__dict__"):
        return str(value)
    return {key: member for key, member in vars(value).items() if key not in ("parent", "_parent")}


def memory(workload):
    """Keep worlds alive."""
    execute = executor()
    execute([], workload["worlds"][0], "warm up")
    return allocated(lambda world: execute([], world), workload["worlds"])


def parse(workload):
    """Read the calls of a prompting model's reply."""
    for name in NOT_NEEDED:
        if find_spec(name) is None:
            sys.modules[name] = MagicMock()
    from bfcl_eval.model_handler.utils import default_decode_execute_prompting

    warnings.simplefilter("ignore")
    return timed(default_decode_execute_prompting, workload["replies"])


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


def executor():
    """Return what makes calls on a world; the instances live on under the name of the entry."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

    def execute(calls, world, name=None):
        return execute_multi_turn_func_call(
            calls,
            world["config"],
            world["environments"],
            model_name="benchmark",
            test_entry_id=name or fresh_name(),
            long_context=False,
            is_evaL_run=False,
        )

    return execute


def fresh_name():
    """Return a name that no world had yet: instances are kept per name."""
    runs["names"] += 1
    return f"world_{runs['names']}"


def checker():
    """Return what compares instances."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import state_checker

    return state_checker


def loaded(workload):
    """Return the instances of every world."""
    execute = executor()
    return [execute([], world)[1] for world in workload["worlds"]]


def played(workload):
    """Return the instances of every world, after its ground truth."""
    execute = executor()
    return [execute(world["calls"], world)[1] for world in workload["worlds"]]


def decoded(step):
    """Return the call texts of a function-calling step, None where it does not decode."""
    if not isinstance(step, list):
        return None
    calls = []
    for member in step:
        for name, arguments in member.items():
            try:
                values = json.loads(arguments) if isinstance(arguments, str) else arguments
            except ValueError:
                return None
            if not isinstance(values, dict):
                return None
            calls.append(f"{name}({','.join(f'{k}={v!r}' for k, v in values.items())})")
    return calls


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
