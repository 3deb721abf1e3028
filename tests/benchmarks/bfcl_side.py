"""BFCL's checker over recorded runs, timed; run by the interpreter that has bfcl-eval.

Reads ``{"run", "category", "entry", "truth", "turns"}`` lines, writes seconds and verdicts.
"""

import json
import sys
import time


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


def main():
    """Check all entries, in one pass."""
    from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

    entries = [json.loads(line) for line in sys.stdin]
    valid = 0
    start = time.perf_counter()
    for entry in entries:
        turns = [[calls for step in turn if (calls := decoded(step))] for turn in entry["turns"]]
        if len(turns) != len(entry["truth"]):
            continue
        verdict = multi_turn_checker(
            turns, entry["truth"], entry["entry"], entry["category"], entry["run"]
        )
        valid += verdict["valid"]
    print(json.dumps({"seconds": time.perf_counter() - start, "valid": valid}))


if __name__ == "__main__":
    main()
