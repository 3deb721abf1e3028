"""Definition of a run: model, settings, data and checking rules."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from typing import Any, NamedTuple

from runner.models.settings import LiveSettings, list_definition_settings
from runner.records.episode_record import JsonObject
from runner.records.json_codec import members_of


class DatasetReference(NamedTuple):
    """Data set of a run."""

    name: str
    version: str
    """Version of the data set, or null."""
    sha256: str


class Selection(NamedTuple):
    """Selected entries of the data set, and number of trials."""

    category: str | None
    """Categories or suites, separated by commas; null for the default."""
    ids: str | None
    """Ids, separated by commas; null for all entries."""
    limit: int | None
    """Maximum number of entries; null for all entries."""
    sample: int | None
    """Size of a stratified sample; null without a sample."""
    sample_seed: int | None
    trials: int
    subset: str | None = None
    """Named subset of the data set, if one is selected."""
    tag: str | None = None
    """Tag of the selected entries; left out for all entries."""

    def to_json(self) -> dict[str, Any]:
        """Return the selection as a JSON object."""
        left_out = [("subset", self.subset), ("tag", self.tag)]
        members = members_of(self)
        for name, value in left_out:
            if value is None:
                del members[name]
        return members


def recorded_settings_class(settings: type) -> Any:
    """Make a record class whose fields are the settings that define a run."""
    members = list_definition_settings(settings)
    late = [None for member in members if not member.always]
    make: Any = namedtuple
    made = make("ModelSettings", [m.name for m in members], defaults=late, module=__name__)
    made.__annotations__ = {member.name: member.kind for member in members}
    return made


class ModelSettings(recorded_settings_class(LiveSettings)):  # type: ignore[misc]
    """Settings of the model that influence its answers."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        late = self._field_defaults
        return {k: v for k, v in members_of(self).items() if v is not None or k not in late}


class RunDefinition(NamedTuple):
    """All settings that determine a run's result. A resumed run must have an equal definition."""

    model: str
    settings: ModelSettings
    prompts_sha256: str
    """Hexadecimal hash of Turnwise's own prompts."""
    dataset: DatasetReference
    profile: str
    step_limit: int
    selection: Selection
    simulator: str
    extensions: Mapping[str, JsonObject] = {}
    """Settings of extensions by name; omitted if empty."""

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
    note: JsonObject
    """Facts about the start, such as time and command line."""
