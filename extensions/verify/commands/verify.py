"""Command ``turnwise verify``: executes a run again and compares verdicts and results."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkers.profile import Mode
from envs.state import cut_repr
from extensions.verify.verification import VerifiedEpisode, changes, recorded_verdicts, verify
from runner.analysis.replayed_runs import dataset_of
from runner.commands import DONE
from runner.commands.common_options import DatasetOption, JudgingOptions, note, show
from runner.commands.episode_options import rules_of
from runner.commands.options import argument, option
from runner.records.recorded_run import Run, open_run
from runner.show.terminal import OutputLine, progress

EXAMPLE = "turnwise verify runs/mine"

DIFFERENT = 1
"""Exit status if a verdict or result differs."""
_SHOWN = ("valid", "error_type", "failed_turn")
"""Fields in the line of a verdict."""


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JudgingOptions):
    """Options of ``verify``."""

    run: Path = argument("run folder, result file, or folder of result files", "RUN")
    verdicts: Path | None = option(
        "file or folder with the verdicts (default for result files: verdicts.jsonl)",
        "PATH",
    )
    mode: Mode | None = option("how the model called functions (default: read from the files)")


def run(options: Options) -> int:
    """Execute a run again, and print the verdicts and results that have changed."""
    source = open_run(options.run, mode=options.mode, hold=False)
    verdicts = recorded_verdicts(source, options.verdicts)
    dataset = dataset_of(source, options.dataset, note)
    profile, step_limit = rules_of(source, dataset, options)
    for change in changes(source, profile, verdicts):
        note(f"{source.path}: {change}")
    verified = verify(source, dataset, profile, step_limit, verdicts)
    lines: list[OutputLine] = []
    same_verdicts = same_results = 0
    for episode in progress(verified, len(verdicts), "executed", sys.stderr):
        lines += _difference_lines(episode)
        same_verdicts += not episode.members
        same_results += episode.result is None
    lines += _count_lines(source, len(verdicts), same_verdicts, same_results)
    show(lines)
    return DONE if same_verdicts == same_results == len(verdicts) else DIFFERENT


def _count_lines(run: Run, total: int, verdicts: int, results: int) -> Iterator[OutputLine]:
    yield _count_line(f"{verdicts} of {total} verdicts", verdicts == total)
    if run.definition is not None:
        yield _count_line(f"{results} of {total} episodes' results", results == total)
    if total < len(run.episodes):
        yield OutputLine(f"episodes without a recorded verdict: {len(run.episodes) - total}")


def _count_line(count: str, same: bool) -> OutputLine:
    return OutputLine(f"{count} are as recorded", "good" if same else "bad")


def _difference_lines(episode: VerifiedEpisode) -> Iterator[OutputLine]:
    id, trial = episode.now.key
    if episode.members:
        members = ", ".join(episode.members)
        was, now = _describe_verdict(episode.then), _describe_verdict(episode.now.verdict_line())
        yield OutputLine(f"{id}, trial {trial}: was {was}, is now {now} ({members})", "bad")
        judged = episode.now.verdict_line()
        for name in episode.members:
            if name not in _SHOWN:
                was, now = cut_repr(episode.then[name], 200), cut_repr(judged[name], 200)
                yield OutputLine(f"  {name}: was {was}, is now {now}")
    if episode.result is not None:
        turn, step, call, then, new = episode.result
        yield OutputLine(
            f"{id}, trial {trial}: result differs in turn {turn + 1}, step {step + 1}: {call}"
        )
        yield OutputLine(f"  was {_describe_result(then)}")
        yield OutputLine(f"  is  {_describe_result(new)}")


def _describe_verdict(verdict: Mapping[str, Any]) -> str:
    if verdict["valid"]:
        return "passed"
    turn = verdict.get("failed_turn")
    reason = verdict.get("error_type") or verdict.get("error")
    return f"{reason}" if turn is None else f"{reason} in turn {turn + 1}"


def _describe_result(result: str | None) -> str:
    return "no call" if result is None else cut_repr(result, 300)
