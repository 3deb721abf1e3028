"""Measures of two sides, taken in pairs one right after the other, and what they come to.

Only ratios of a pair are compared: on a machine that others use too, seconds are not.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from runner.show.terminal import table

HERE = Path(__file__).parent


class Measure(NamedTuple):
    """One thing that is measured on both sides."""

    name: str
    text: str
    unit: str = "us"


IN_PROCESS = (
    Measure("judge", "execute and judge a recorded entry"),
    Measure("reset", "reset: load an initial config"),
    Measure("step_structured", "step: structured call to result text"),
    Measure("step_text", "step: call text to result text"),
    Measure("snapshot", "snapshot"),
    Measure("fork", "fork"),
    Measure("compare_equal", "compare equal states"),
    Measure("compare_different", "compare different states"),
    Measure("hash", "hash a state"),
    Measure("parse", "read a reply's calls"),
    Measure("memory", "memory of a live session", "KB"),
)
WHOLE = (
    Measure("score", "whole command: score a recorded run", "ms"),
    Measure("score_memory", "whole command: peak memory", "MB"),
)
_PER_SECOND = {"us": 1e6, "ms": 1e3, "KB": 1 / 1024, "MB": 1 / 1024 / 1024}


class Side(NamedTuple):
    """How one side is run: by a script that takes a workload and a measure's name."""

    name: str
    script: list[str]
    environment: Mapping[str, str]
    score: list[str] | None = None
    """The whole command that scores a recorded run, or None where that is not measured."""
    folder: Path | None = None
    """Where the commands are run."""

    def value(self, measure: str, workload: Path) -> float | None:
        """Return a measure's value in seconds or bytes, None where this side cannot take it."""
        done = self._run([*self.script, str(workload), measure])
        if done.returncode:
            print(f"{self.name}: {measure}: {done.stderr.strip()[-300:]}", file=sys.stderr)
            return None
        value: float = json.loads(done.stdout.splitlines()[-1])["value"]
        return value

    def scored(self) -> tuple[float, float]:
        """Run the whole command; return its seconds and its peak memory in bytes.

        Raises:
            RuntimeError: It fails.
        """
        assert self.score is not None
        launcher = [sys.executable, "-I", "-S", str(HERE / "whole_command.py")]
        done = self._run([*launcher, *self.score])
        if done.returncode:
            raise RuntimeError(f"{' '.join(self.score)} ends with status {done.returncode}")
        taken = json.loads(done.stdout)
        return taken["seconds"], taken["bytes"]

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        # Byte code is kept, as it is for every user.
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return subprocess.run(
            command,
            env={**kept, **self.environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )


class Pairs(NamedTuple):
    """One measure's values of both sides, pair by pair."""

    measure: Measure
    first: list[float]
    second: list[float]

    @property
    def ratios(self) -> list[float]:
        """How many times as much the first side needs, by pair."""
        return [one / other for one, other in zip(self.first, self.second, strict=True)]

    def row(self) -> list[str]:
        """Return the measure as cells of the table."""
        scale = _PER_SECOND[self.measure.unit]
        one, other = (f"{scale * median(side):.4g}" for side in (self.first, self.second))
        ratios = self.ratios
        spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
        return [
            self.measure.text,
            self.measure.unit,
            one,
            other,
            f"{median(ratios):.2f}",
            spread,
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the values, and the ratio's median and spread."""
        ratios = self.ratios
        return {
            "text": self.measure.text,
            "first": self.first,
            "second": self.second,
            "ratio": {"median": median(ratios), "low": min(ratios), "high": max(ratios)},
        }


def taken(
    first: Side, second: Side, workload: Path, names: Sequence[str], pairs: int
) -> list[Pairs]:
    """Take measures on both sides in turn.

    Args:
        first: The side that is compared with.
        second: The other one.
        workload: The file to measure on.
        names: Of the measures; those that a side cannot take are left out.
        pairs: How often both sides are measured.
    """
    found = []
    for measure in IN_PROCESS:
        if measure.name in names:
            print(f"measuring {measure.text} ...", file=sys.stderr)
            found += _in_process(first, second, workload, measure, pairs)
    if "score" in names and first.score and second.score:
        print(f"measuring {WHOLE[0].text} ...", file=sys.stderr)
        second.scored()
        runs = [(first.scored(), second.scored()) for _ in range(pairs)]
        for index, measure in enumerate(WHOLE):
            one, other = ([pair[side][index] for pair in runs] for side in (0, 1))
            found.append(Pairs(measure, one, other))
    return found


def _in_process(
    first: Side, second: Side, workload: Path, measure: Measure, pairs: int
) -> Iterable[Pairs]:
    values = []
    for _ in range(pairs):
        pair = first.value(measure.name, workload), second.value(measure.name, workload)
        if pair[0] is None or pair[1] is None:
            return
        values.append((pair[0], pair[1]))
    yield Pairs(measure, [one for one, _ in values], [other for _, other in values])


def machine() -> str:
    """Return what the figures were taken on."""
    return f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"


def shown(
    first: str, second: str, found: Sequence[Pairs], targets: Mapping[str, float] | None = None
) -> str:
    """Return the table of ratios.

    Args:
        first: Name of the side that is compared with.
        second: Name of the other one.
        found: The measures.
        targets: By measure, the ratio that is aimed at; None for no such column.
    """
    rows = [["measure", "unit", first, second, "ratio", "from to"], *(p.row() for p in found)]
    if targets is not None:
        aims = [f"{targets[p.measure.name]:g}" if p.measure.name in targets else "" for p in found]
        rows = [[*row, aim] for row, aim in zip(rows, ["target", *aims], strict=True)]
    return table(rows)


def write(path: Path, first: str, second: str, found: Sequence[Pairs]) -> None:
    """Write all values as JSON."""
    record = {
        "machine": machine(),
        "first": first,
        "second": second,
        "measures": {pairs.measure.name: pairs.to_json() for pairs in found},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def turnwise(root: Path, run: Path | None, data: Path) -> Side:
    """Return the side that is the Turnwise of a checkout.

    Args:
        root: The checkout.
        run: The folder of a recorded run, for the whole command, or None.
        data: BFCL's data folder.
    """
    score = None
    if run is not None:
        files = [str(path.resolve()) for path in sorted(run.glob("*multi_turn_*_result.json"))]
        score = [sys.executable, "-m", "runner.cli", "score", *files, "--dataset", f"bfcl:{data}"]
    # Its own script: an earlier checkout has its modules elsewhere.
    side = root / HERE.relative_to(HERE.parents[1]) / "turnwise_side.py"
    script = [sys.executable, "-P", str(side)]
    return Side("turnwise", script, {"PYTHONPATH": str(root)}, score, root)
