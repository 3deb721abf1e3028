"""Every form of file, changed again and again and read by every command: ``make fuzz``."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

from tests.fuzz.covered import Covered
from tests.fuzz.making import made
from tests.fuzz.trying import Bench

TRACED = 300
"""Number of a form's changes whose lines are counted."""


def main() -> int:
    """Try so many changes of each form, and print what they led to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=5000, help="of each form")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--form", action="append", help="only these; may be repeated")
    options = parser.parse_args()
    failed = total = total_read = 0
    with tempfile.TemporaryDirectory() as work:
        os.environ["TURNWISE_CACHE"] = f"{work}/cache"
        for name, form in made(Path(work)).items():
            if options.form and name not in options.form:
                continue
            bench = Bench(Path(work) / "bench", form)
            statuses: Counter[int] = Counter()
            problems: Counter[str] = Counter()
            examples: dict[str, str] = {}
            seconds = slowest = 0.0
            covered, tries = Covered(), bench.tries(options.changes, f"{options.seed} {name}")
            for number in range(options.changes):
                # Tracing is slow, and all behaviour of a form shows in a few hundred changes.
                with covered.measured() if number < TRACED else nullcontext():
                    tried = next(tries)
                statuses[tried.status] += 1
                seconds += tried.seconds
                slowest = max(slowest, tried.seconds)
                if tried.problem:
                    # What was said last differs from one to the next.
                    kind = tried.problem.rpartition("\n")[0] or tried.problem
                    problems[kind] += 1
                    examples.setdefault(kind, f"{tried.command}\n{tried.problem}")
            failed += problems.total()
            shown = ", ".join(f"{status}: {n}" for status, n in sorted(statuses.items()))
            read = options.changes - statuses[2]
            total_read, total = total_read + read, total + options.changes
            print(
                f"{name}: {options.changes} changes, {problems.total()} problems; status {shown}; "
                f"{read / options.changes:.0%} read; {covered}; "
                f"{seconds:.0f} s, slowest {slowest:.2f} s",
                flush=True,
            )
            for problem, times in problems.most_common():
                print(f"-- {times} times, such as {examples[problem]}", flush=True)
    print(f"{total} changes, {total_read / total:.0%} of them read by their reader")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
