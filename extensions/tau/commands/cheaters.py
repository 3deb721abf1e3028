"""Command ``turnwise dataset cheaters``: shows the pass rates of agents that give no service."""

from __future__ import annotations

from dataclasses import dataclass

from extensions.injection.commands.attacks import zoo_rows
from extensions.tau import entries
from extensions.tau.cheaters import CHEATERS, count_passes
from runner.commands import DONE
from runner.commands.common_options import JudgingOptions, note
from runner.commands.options import argument
from runner.data.dataset_choice import choose_profile, load_named
from runner.show.terminal import say, table
from trajectories.dataset import Dataset
from trajectories.errors import DataError

EXAMPLE = "turnwise dataset cheaters tau2:airline"
_MAX_SHARE = 0.01
"""Share of entries that a silent agent may pass before a warning is printed."""


@dataclass(frozen=True, kw_only=True)
class Options(JudgingOptions):
    """The data set."""

    dataset: str = argument("tau2, tau2:DOMAIN, tau2:FILE, or a file of attacked entries", "NAME")


def run(options: Options) -> int:
    """Let every cheater answer all entries, and print each cheater's share of passed entries."""
    if options.dataset.partition(":")[0] != entries.NAME:
        return _print_zoo(load_named(options.dataset, None, note))
    dataset = entries.load(options.dataset)
    profile = choose_profile(dataset, options.profile)
    passes, total = count_passes(dataset, profile), len(dataset.trajectories)
    rows = [["cheater", "what it does", "passed", "share"]]
    for name, (text, _) in CHEATERS.items():
        rows.append([name, text, str(passes[name]), f"{passes[name] / total:.1%}"])
    say(table(rows))
    say(f"{total} entries of {dataset.name}, profile {profile.name}")
    if passes["null"] > _MAX_SHARE * total:
        note(f"warning: a silent agent passes {passes['null'] / total:.1%} of {dataset.name}")
    return DONE


def _print_zoo(dataset: Dataset) -> int:
    """Print the measures of scripted models on attacked entries."""
    if not any("injection" in each.extensions for each in dataset.trajectories.values()):
        message = f"{dataset.name} has neither dialogues nor attacked entries"
        raise DataError("NAME", f"{message}; use tau2:DOMAIN, or a file of turnwise dataset attack")
    say(table([*zoo_rows(dataset)]))
    return DONE
