"""Registration of the extension ``injection``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from envs.session import Session
    from extensions.injection import attack_figures, feature, proof
    from extensions.injection.dojo import dojo_kind, dojo_runs, entries, worlds
    from runner.analysis.figure_table import FigureRow
    from runner.data.web_services import AllowedServices
    from runner.episodes.entry_kinds import EntryKind
    from runner.live.run_settings import Settings
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from runner.records.recorded_run import Run
    from runner.show.terminal import OutputLine
    from trajectories import schema
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, Trajectory
else:
    entries = lazy_module("extensions.injection.dojo.entries")
    feature = lazy_module("extensions.injection.feature")
    attack_figures = lazy_module("extensions.injection.attack_figures")
    proof = lazy_module("extensions.injection.proof")
    dojo_kind = lazy_module("extensions.injection.dojo.dojo_kind")
    dojo_runs = lazy_module("extensions.injection.dojo.dojo_runs")
    schema = lazy_module("trajectories.schema")
    worlds = lazy_module("extensions.injection.dojo.worlds")


class InjectionExtension(Extension):
    """Extension for prompt injection in tool results, and for AgentDojo."""

    name = "injection"
    commands = {
        "dataset attack": Command(
            "data authoring",
            "Plant instructions in tool results of entries.",
            f"{__package__}.commands.dataset_attack",
        ),
        "attacks": Command(
            "experiments",
            "Score runs and scripted models on attacked entries.",
            f"{__package__}.commands.attacks",
        ),
    }

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Return AgentDojo's user tasks as a data set."""
        if name.partition(":")[0] != "agentdojo":
            return None
        return entries.load(name)

    def options(self, command: str) -> type | None:
        """Return the attack and defence options of ``eval``."""
        return feature.AttackOptions if command == "eval" else None

    def entries(self, dataset: Dataset, own: Any) -> Dataset:
        """Return the attacked entries of a data set."""
        if not own.attack:
            return dataset
        return feature.attacked(dataset, own.attack, controls=own.controls)

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the run feature that applies the attack and the defences in the options."""
        return [own.feature] if own.feature else []

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the feature that repeats the attack and the defences of a recorded run."""
        return feature.InjectionFeature.of(definition)

    def figures(self) -> Sequence[FigureRow]:
        """Return the table rows for utility and attack success."""
        return attack_figures.FIGURES

    def episode_lines(self, record: EpisodeRecord, turn: int | None) -> Iterator[OutputLine]:
        """Yield a line on the success of the attack."""
        member = record.extensions[self.name]
        yield from member.lines()

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the entry kind for attacked entries or for AgentDojo's entries."""
        is_dojo = trajectory.category is schema.Category.AGENTDOJO
        is_attacked = self.name in trajectory.extensions
        found: EntryKind | None = dojo_kind.KIND if is_dojo else None
        return found or (proof.PROVEN if is_attacked else None)

    def read_run(self, paths: Sequence[Path]) -> Run | None:
        """Return a recorded run of AgentDojo."""
        return dojo_runs.read_run(paths)

    def connect(self, session: Session, reach: AllowedServices) -> None:
        """Turn off argument checks for AgentDojo's tools."""
        if any(name.startswith("AgentDojo") for name in session.backends):
            worlds.leave_checks(session)

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return a session with the unexecuted calls; AgentDojo's judges read these calls."""
        member = record.extensions[self.name]
        if not isinstance(member, dojo_runs.DojoEpisodeData):
            return template
        session = template.fork()
        for backend in session.backends.values():
            assert isinstance(backend, worlds.DojoBackend)
            backend.with_unexecuted(member.unexecuted)
        return session

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the extension's data of an episode."""
        return dojo_runs.read_member(member, where)


EXTENSION = InjectionExtension()
