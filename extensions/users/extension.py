"""Registration of the extension ``users``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from envs.session import Session
    from extensions.users import dialogue_kind, feature, record, session, user_figures
    from runner.analysis.figure_table import FigureRow
    from runner.episodes.entry_kinds import EntryKind
    from runner.live.run_settings import Settings
    from runner.records import json_codec
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from trajectories import dataset, schema
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory
else:
    dataset = lazy_module("trajectories.dataset")
    schema = lazy_module("trajectories.schema")
    json_codec = lazy_module("runner.records.json_codec")
    dialogue_kind = lazy_module("extensions.users.dialogue_kind")
    feature = lazy_module("extensions.users.feature")
    user_figures = lazy_module("extensions.users.user_figures")
    record = lazy_module("extensions.users.record")
    session = lazy_module("extensions.users.session")


class UsersExtension(Extension):
    """Extension with simulated users of dialogues."""

    name = "users"
    commands = {
        "user evaluate": Command(
            "dialogues",
            "Compare the simulated user with recorded users.",
            f"{__package__}.commands.evaluate",
        )
    }

    def options(self, command: str) -> type | None:
        """Return the options of ``eval``."""
        return feature.UserOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature for simulated users; nothing if the options select no user."""
        found = feature.feature_of(own)
        return [found] if found else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature that simulates users with the settings of a recorded run."""
        return feature.recorded(definition, where)

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind of an entry with a user."""
        return dialogue_kind.UserDialogue() if self.name in trajectory.extensions else None

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the built-in data set ``dialogues``; return None for any other name."""
        if name != "dialogues":
            return None
        found = dataset.load_path(Path(__file__).with_name("data"), [schema.Category.DIALOGUE])
        return replace(found, name=name)

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the data of the simulated user in an episode's record."""
        return json_codec.read(record.UserRecord, member, f"{where}: $.extensions.users")

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return a session with a user who repeats the recorded answers."""
        answers = tuple(record.extensions[self.name].answers)
        return session.with_answers(template, answers)

    def figures(self) -> Sequence[FigureRow]:
        """Return the rows of metrics for runs with a user."""
        return user_figures.FIGURES


EXTENSION = UsersExtension()
