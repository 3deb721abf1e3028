"""Command ``turnwise dataset cheaters``: shows the pass rates of agents that give no service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from envs.errors import DataError
from extensions.injection.commands.attacks import zoo_rows
from extensions.tau import entries, fetching
from extensions.tau.cheaters import CHEATERS, list_misfits, list_passes
from extensions.tau.simulations import read_recording
from runner.commands import DONE
from runner.commands.common_options import JudgingOptions, note
from runner.commands.options import argument
from runner.data.dataset_choice import choose_profile, load_named
from runner.show.terminal import format_count, say, table

EXAMPLE = "turnwise dataset cheaters tau2:airline"
_MAX_SHARE = 0.01
"""The command warns if a silent agent passes more than this share of the entries."""


@dataclass(frozen=True, kw_only=True)
class Options(JudgingOptions):
    """Options for the data set."""

    dataset: str = argument(
        "tau2, tau2:DOMAIN, tau2:FILE, a set of dialogues, or a file of attacked entries", "NAME"
    )


def run(options: Options) -> int:
    """Run every cheater on all entries, and print which share of the entries it passes.

    If the data set is a file of recorded dialogues, also print the dialogues that contradict their
    tasks.
    """
    _, _, rest = options.dataset.partition(":")
    if options.dataset.startswith(f"{entries.NAME}:") and Path(rest).exists():
        _print_misfits(Path(rest))
    dataset = load_named(options.dataset, None, note)
    members = [each.extensions for each in dataset.trajectories.values()]
    if any("injection" in each for each in members):
        say(table([*zoo_rows(dataset)]))
        return DONE
    if not isinstance(dataset, entries.TaskDataset) and not all(
        "users" in each for each in members
    ):
        message = f"{dataset.name} has entries with neither a user nor an attack"
        raise DataError("NAME", f"{message}; use tau2:DOMAIN, dialogues, or a file of dialogues")
    profile = choose_profile(dataset, options.profile)
    passes, total = list_passes(dataset, profile), len(dataset.trajectories)
    rows = [["cheater", "what it does", "passed", "share"]]
    for name, (text, _) in CHEATERS.items():
        rows.append([name, text, str(len(passes[name])), f"{len(passes[name]) / total:.1%}"])
    say(table(rows))
    say(f"{format_count(total, 'entry')} of {dataset.name}, profile {profile.name}")
    silent = passes["null"]
    if silent:
        say(f"entries that pass although the agent does nothing: {', '.join(silent)}")
    if len(silent) > _MAX_SHARE * total:
        share = f"{len(silent) / total:.1%} of the entries of {dataset.name}"
        note(f"warning: an agent that does nothing passes {share}")
    return DONE


def _print_misfits(path: Path) -> None:
    recording = read_recording(path)
    misfits = [*list_misfits(recording, fetching.find_checkout())]
    say(f"{len(misfits)} findings on {len(recording.simulations)} recorded dialogues")
    for line in [*recording.notes, *[f"{name}: {reason}" for name, reason in misfits]]:
        say(line)
