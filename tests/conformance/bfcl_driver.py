"""Plays call scripts on BFCL, or decodes replies; run by the interpreter that has it.

Reads one script per line on standard input and writes one reply per line, both as JSON:

    {"id", "initial_config", "involved_classes", "long_context", "turns": [[call text, ...], ...]}
    {"id", "initial_state", "turns": [{"results": [text, ...], "state": {class: {field: value}}}]}

Every script runs in a process of its own, forked from one that has imported everything, because
BFCL keeps state per process. A script that cannot be played gives {"id", "problem": why}.

With the argument "decode" a line is a reply of a prompting model, as a JSON string; the answer is
the list of call texts that BFCL's default decoder makes of it, or null where that fails.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import traceback
import warnings
from importlib.util import find_spec
from unittest.mock import MagicMock

from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import execute_multi_turn_func_call

CLASSES = (
    "GorillaFileSystem",
    "MathAPI",
    "MessageAPI",
    "TwitterAPI",
    "TicketAPI",
    "TradingBot",
    "TravelAPI",
    "VehicleControlAPI",
)
NOT_NEEDED = ("tree_sitter", "tree_sitter_java", "tree_sitter_javascript", "filelock", "tenacity")
"""Packages that are imported along with the decoder, which itself does without them."""
SECONDS = 20
MEMORY = 4 << 30


def main() -> None:
    """Answer lines until standard input ends."""
    replies = os.dup(1)
    os.dup2(2, 1)  # whatever BFCL prints must not get between the replies
    if sys.argv[1:] == ["decode"]:
        decode(replies)
    else:
        answer(replies)


def answer(replies: int) -> None:
    """Play scripts."""
    execute([], {}, CLASSES, False, "warm_up")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            write(replies, reply(json.loads(line)))
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        if status:
            problem = f"the process ended with status {status}"
            write(replies, {"id": json.loads(line)["id"], "problem": problem})


def reply(script: dict) -> dict:
    """Play one script."""
    signal.alarm(SECONDS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        return play(script)
    except Exception:
        return {"id": script["id"], "problem": traceback.format_exc(limit=-1)}


def play(script: dict) -> dict:
    """Make the calls of a script turn by turn."""
    world = (script["initial_config"], script["involved_classes"], script["long_context"])
    initial = state(execute([], *world)[1])
    turns = []
    for calls in script["turns"]:
        results, instances = execute(calls, *world)
        turns.append({"results": results, "state": state(instances)})
    return {"id": script["id"], "initial_state": initial, "turns": turns}


def decode(replies: int) -> None:
    """Decode replies."""
    for name in NOT_NEEDED:
        if find_spec(name) is None:
            sys.modules[name] = MagicMock()
    from bfcl_eval.model_handler.utils import default_decode_execute_prompting

    warnings.simplefilter("ignore")
    for line in sys.stdin:
        try:
            calls = default_decode_execute_prompting(json.loads(line))
        except Exception:
            calls = None
        write(replies, calls)


def execute(calls, initial_config, classes, long_context, entry="script"):
    """Make calls; the instances live on under the name of the entry."""
    return execute_multi_turn_func_call(
        calls,
        initial_config,
        list(classes),
        model_name="conformance",
        test_entry_id=entry,
        long_context=long_context,
        is_evaL_run=False,
    )


def state(instances: dict) -> dict:
    """Return what BFCL compares: the public attributes of every instance."""
    return {
        name: {
            attribute: plain(value)
            for attribute, value in vars(instance).items()
            if not attribute.startswith("_")
        }
        for name, instance in instances.items()
    }


def plain(value, around: tuple = ()):
    """Return a value in JSON's types; a file tree as the nodes of an initial config.

    Args:
        value: Any value of the state.
        around: Identities of the values that it is in, for it may be in itself.
    """
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if id(value) in around:
        return "in itself"
    around = (*around, id(value))
    if isinstance(value, dict):
        return {str(key): plain(member, around) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(member, around) for member in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(member, around) for member in value)
    if hasattr(value, "name") and (hasattr(value, "contents") or hasattr(value, "content")):
        return {str(value.name): node(value, value.name, around)}
    return repr(value)


def node(item, name, around: tuple) -> dict:
    """Return a file or directory; its own name only where it is entered under another."""
    odd = {} if item.name == name else {"name": plain(item.name)}
    if not hasattr(item, "contents"):
        return {"type": "file", "content": plain(item.content), **odd}
    contents = {
        str(key): "in itself" if id(member) in around else node(member, key, (*around, id(member)))
        for key, member in item.contents.items()
    }
    return {"type": "directory", "contents": contents, **odd}


def write(channel: int, record) -> None:
    """Write one line, whole."""
    line = memoryview(json.dumps(record).encode() + b"\n")
    while line:
        line = line[os.write(channel, line) :]


if __name__ == "__main__":
    main()
