"""Verdicts on recorded runs: BFCL's, which are kept beside them, and ours."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple


class Verdict(NamedTuple):
    """Whether an entry passes and, if not, the type of its error."""

    valid: bool | None
    error_type: str | None

    def __str__(self) -> str:
        """Return the verdict in a word."""
        return "valid" if self.valid else str(self.error_type)


def verdicts_of(path: Path) -> dict[str, Verdict]:
    """Read verdict lines, ``{"id", "valid", "error_type"}`` and perhaps more, by id."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line["id"]: Verdict(line["valid"], line.get("error_type")) for line in lines}


def our_verdicts(files: Sequence[Path], data: Path) -> dict[str, Verdict]:
    """Score result files with ``turnwise score``.

    Args:
        files: Result files of one run.
        data: BFCL's data folder.

    Raises:
        RuntimeError: They cannot be scored.
    """
    with TemporaryDirectory() as folder:
        output = Path(folder) / "verdicts.jsonl"
        score = [sys.executable, "-m", "runner.cli", "score", *map(str, files)]
        options = ["--dataset", f"bfcl:{data}", "--profile", "bfcl", "--output", str(output)]
        done = subprocess.run([*score, *options], capture_output=True, text=True, check=False)
        if not output.exists():
            raise RuntimeError(f"turnwise score does not run: {done.stderr.strip()[-300:]}")
        return verdicts_of(output)
