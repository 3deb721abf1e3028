"""The command ``turnwise episodes``: the episodes of a run, and why those failed that did."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkers.why.diagnosis import Cause, Diagnosis
from envs.state import cut
from runner.analysis.runs import Viewed, dataset_of, view_run
from runner.commands import DONE
from runner.commands.one_episode import rules_of
from runner.commands.options import argument, option, switch
from runner.commands.shared import DatasetOption, JsonOption, JudgingOptions, TellingOption, note
from runner.data import choose
from runner.records.run import open_run
from runner.show.terminal import WIDTH, say, say_json
from trajectories.errors import DataError, did_you_mean
from trajectories.schema import Category

EXAMPLE = "turnwise episodes runs/a --failed"
NOTES = (
    "causes of failure (docs/causes.md has the rules):\n"
    + "".join(f"  {cause}\n      {cause.meaning}\n" for cause in Cause)
    + "\n"
)


@dataclass(frozen=True, kw_only=True)
class Options(DatasetOption, JsonOption, JudgingOptions, TellingOption):
    """Which episodes to list."""

    run: Path = argument("run folder, result file or folder of such", "RUN")
    failed: bool = switch("only those that failed")
    cause: str | None = option("only those that failed by this cause", "CAUSE")
    category: str | None = option("only those of these categories or suites", "NAMES")


def run(options: Options) -> int:
    """Print one line for each episode of a run, executed once more."""
    if options.cause is not None and options.cause not in list(Cause):
        raise DataError(
            "--cause", f"{options.cause!r} is no cause{did_you_mean(options.cause, Cause)}"
        )
    source = open_run(options.run)
    dataset = dataset_of(source, options.dataset, note)
    profile, limit = rules_of(source, dataset, options)
    named = options.category and choose.categories(options.category, options.dataset)
    wanted = list(Category) if named is None else named
    viewed = view_run(source, dataset, profile, limit, require_told=options.require_told)
    episodes = [each for each in viewed.episodes if _is_wanted(each, options, wanted)]
    if options.json:
        say_json({"episodes": [*map(_json, episodes)]})
    else:
        for line in _lines(episodes, max(WIDTH, shutil.get_terminal_size().columns)):
            say(line)
    return DONE


def _cause(episode: Viewed) -> Diagnosis | None:
    return episode.examined.diagnosis if episode.examined else None


def _is_wanted(episode: Viewed, options: Options, categories: Iterable[str]) -> bool:
    found = _cause(episode)
    return (
        episode.trajectory.category in categories
        and (not options.failed or episode.judged.outcome == "failed")
        and (options.cause is None or (found is not None and found.cause == options.cause))
    )


def _lines(episodes: list[Viewed], width: int) -> Iterable[str]:
    names = [_name(each) for each in episodes]
    longest = min(max(map(len, names), default=0), width // 2)
    for name, episode in zip(names, episodes, strict=True):
        yield cut(f"{cut(name, longest):{longest}}  {_became(episode)}", width)


def _name(episode: Viewed) -> str:
    trial = episode.recorded.trial
    return f"{episode.trajectory.id} trial {trial}" if trial else episode.trajectory.id


def _became(episode: Viewed) -> str:
    judged, found = episode.judged, _cause(episode)
    if judged.outcome == "error":
        return f"error: {judged.error}"
    if found is None:
        return str(judged.outcome)
    turn = "" if found.turn is None else f" turn {found.turn}"
    return f"{judged.outcome}{turn} {found.name}: {_difference(episode) or found.detail}"


def _difference(episode: Viewed) -> str | None:
    """Return the first value that is not as in the ground truth, of one that failed by state."""
    failure = episode.judged.verdict and episode.judged.verdict.failure
    return str(failure.differences[0]) if failure and failure.differences else None


def _json(episode: Viewed) -> dict[str, Any]:
    found = _cause(episode)
    return {
        "id": episode.trajectory.id,
        "trial": episode.recorded.trial,
        "category": episode.trajectory.category,
        "outcome": episode.judged.outcome,
        "cause": found and found.cause,
        "sub_reason": found and found.sub_reason,
        "turn": found and found.turn,
        "detail": episode.judged.error or (found and found.detail),
        "difference": _difference(episode),
    }
