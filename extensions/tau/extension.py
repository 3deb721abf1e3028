"""Registration of the extension ``tau``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject

if TYPE_CHECKING:
    from pathlib import Path

    from extensions.tau import dialogue, entries, fetching, simulations, tau_kind
    from runner.episodes.entry_kinds import EntryKind
    from runner.records.episode_record import ExtensionData
    from runner.records.recorded_run import Run
    from trajectories import schema
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory
else:
    schema = lazy_module("trajectories.schema")
    dialogue = lazy_module("extensions.tau.dialogue")
    entries = lazy_module("extensions.tau.entries")
    fetching = lazy_module("extensions.tau.fetching")
    tau_kind = lazy_module("extensions.tau.tau_kind")
    simulations = lazy_module("extensions.tau.simulations")


class TauExtension(Extension):
    """Extension with tau2's customer-service domains and dialogues with a user."""

    name = "tau"
    commands = {
        "dataset cheaters": Command(
            "dialogues",
            "Show the score of agents that do no useful work.",
            f"{__package__}.commands.cheaters",
        )
    }

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Return tau2's tasks."""
        return entries.load(name) if name.partition(":")[0] == "tau2" else None

    def fetch(self, name: str, source: Path | None, notify: Callable[[str], object]) -> Path | None:
        """Store tau2's files in the cache."""
        return fetching.fetch(source, notify) if name == "tau2" else None

    def read_run(self, paths: Sequence[Path]) -> Run | None:
        """Return tau2's simulations as a run."""
        if len(paths) != 1 or not simulations.is_recording(paths[0]):
            return None
        return entries.open_recording(paths[0])

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind for dialogues."""
        return tau_kind.DIALOGUES if trajectory.category is schema.Category.DIALOGUE else None

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the dialogue of an episode."""
        return dialogue.read_dialogue(member, where)


EXTENSION = TauExtension()
