"""Command ``turnwise replay``: shows one episode, step by step, beside its ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runner import extension
from runner.analysis.episode_output import EpisodeJsonRenderer, EpisodeTextRenderer
from runner.analysis.episode_view import EpisodePart
from runner.analysis.replayed_runs import source_name
from runner.commands import DONE
from runner.commands.common_options import JsonOption, show
from runner.commands.episode_options import EpisodeOptions, execute_episode, execute_truth
from runner.commands.options import index, option, positive, switch
from runner.episodes.rejudged_episode import RejudgedEpisode
from runner.show.terminal import say_json, whole_texts

EXAMPLE = "turnwise replay multi_turn_base_0 --run runs/mine"


@dataclass(frozen=True, kw_only=True)
class Options(JsonOption, EpisodeOptions):
    """Choice of an episode, and of the turns and steps to show."""

    run: Path | None = option("recorded run (default: the ground truth)", "PATH")
    trial: int = option("trial number, starting at 0", "N", default=0, read=index, needs="--run")
    turn: int | None = option("show only this turn (first turn: 1)", "N", read=positive)
    step: int | None = option(
        "show only this step of each turn (first step: 1)", "N", read=positive
    )
    only_diff: bool = switch("show only differences from the ground truth")
    full: bool = switch("do not cut long calls, results and messages")
    extensions: Mapping[str, Any] = field(default_factory=dict)


def run(options: Options) -> int:
    """Show one episode, or debug the episode with an extension."""
    examined, source = _load_episode(options)
    for name, own in options.extensions.items():
        if extension.load_extension(name).debug(options, own, examined):
            return DONE
    turn, step = (each and each - 1 for each in (options.turn, options.step))
    part = EpisodePart(turn, step, options.only_diff)
    if options.json:
        say_json(examined.show(EpisodeJsonRenderer(source, part)))
    else:
        with whole_texts() if options.full else nullcontext():
            show(examined.show(EpisodeTextRenderer(source, part)))
    return DONE


def _load_episode(options: Options) -> tuple[RejudgedEpisode, str]:
    if options.run is None:
        return execute_truth(options), "ground truth"
    run, examined = execute_episode(options, options.run, options.trial)
    return examined, f"run {source_name(run, examined)}"
