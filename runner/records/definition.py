"""What defines a run: its model and settings, its data, and how its episodes are judged."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple

from runner.models.settings import LiveSettings, recorded
from runner.records.codec import members_of
from runner.records.record import JsonObject


class DatasetReference(NamedTuple):
    """Which data a run is of."""

    name: str
    """What the user called it."""
    version: str
    """Its version, where it says."""
    sha256: str
    """Hash of what was loaded of it, in hex."""


class Selection(NamedTuple):
    """Which entries of the data, and how often."""

    category: str | None
    """Categories or suites between commas; null for those that are taken by default."""
    ids: str | None
    """Ids between commas; null for all."""
    limit: int | None
    """How many, from the first; null for all."""
    sample: int | None
    """Size of a stratified sample; null for none."""
    sample_seed: int | None
    """Seed of the sample."""
    trials: int
    """How often each is done."""
    split: str | None = None
    """A part of the data that has a name; left out for the whole."""

    def to_json(self) -> dict[str, Any]:
        """Return what was chosen as a JSON object."""
        members = members_of(self)
        if self.split is None:
            del members["split"]
        return members


def asked_of(settings: type) -> Any:
    """Return the record of those of the settings that define a run."""
    members = recorded(settings)
    late = [None for member in members if not member.always]
    make: Any = namedtuple
    made = make("Asked", [m.name for m in members], defaults=late, module=__name__)
    made.__annotations__ = {member.name: member.kind for member in members}
    return made


class Asked(asked_of(LiveSettings)):  # type: ignore[misc]
    """How a model was reached and asked: those of the settings that decide what it answers."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object; a later one is left out where it is null."""
        late = self._field_defaults
        return {k: v for k, v in members_of(self).items() if v is not None or k not in late}


class RunDefinition(NamedTuple):
    """Everything that defines a run's result: it is gone on with only under an equal one."""

    model: str
    """The model's name."""
    settings: Asked
    """How it was reached and asked."""
    prompts_sha256: str
    """Hash of our own texts that were put to it, in hex."""
    dataset: DatasetReference
    """What it was asked about."""
    profile: str
    """Name of the profile by which episodes are executed and judged."""
    step_limit: int
    """Steps with calls that a turn may take."""
    selection: Selection
    """Which entries, and how often."""
    simulator: str
    """Version of turnwise."""
    extensions: Mapping[str, JsonObject] = {}
    """What extensions determine of it, by their names; left out where none does."""

    def to_json(self) -> dict[str, Any]:
        """Return the definition as a JSON object."""
        members = members_of(self)
        if not self.extensions:
            del members["extensions"]
        return members


class RunFile(NamedTuple):
    """The file ``run.json``."""

    format: int
    """``FORMAT``."""
    definition: RunDefinition
    """What defines the run's result."""
    note: JsonObject
    """What else is worth knowing of its start, such as the time and the command line."""
