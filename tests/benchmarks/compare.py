"""Speed beside that of an earlier revision: ``python -m tests.benchmarks.compare REVISION``.

The revision is checked out in a temporary folder and run by the same interpreter on the same
workload, each side by its own ``turnwise_side.py``. A ratio above 1 says that we have become
faster.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import measuring, workload
from tests.benchmarks.__main__ import NAMES, ROOT


def main() -> int:
    """Take the measures of both revisions and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="what git calls the earlier one")
    parser.add_argument("--recorded", type=Path, help="folder of recorded runs, to judge")
    parser.add_argument("--run", type=Path, help="folder of one recorded run, to score as a whole")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="MEASURE")
    parser.add_argument("--pairs", type=int, default=5, help="how often both sides are measured")
    parser.add_argument("--output", type=Path, default=Path("runs/bench-compare.json"))
    options = parser.parse_args()
    data = workload.find_data()
    with TemporaryDirectory() as folder, _checked_out(options.revision, Path(folder)) as root:
        path = Path(folder, "workload.json")
        workload.write(path, data, options.recorded)
        before, now = (measuring.turnwise(at, options.run, data) for at in (root, ROOT))
        found = measuring.taken(before, now, path, options.only, options.pairs)
    measuring.write(options.output, options.revision, "now", found)
    print(measuring.shown(options.revision, "now", found))
    print(f"medians of {options.pairs} pairs; {measuring.machine()}; all in {options.output}")
    return 0


@contextmanager
def _checked_out(revision: str, folder: Path) -> Iterator[Path]:
    """Check a revision out below a folder, and leave no trace of it in the repository."""
    root = folder / "revision"
    git = ["git", "-C", str(ROOT), "worktree"]
    done = subprocess.run(
        [*git, "add", "--quiet", "--detach", str(root), revision],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"compare: {done.stderr.strip()}")
    try:
        yield root
    finally:
        subprocess.run([*git, "remove", "--force", str(root)], check=True)


if __name__ == "__main__":
    sys.exit(main())
