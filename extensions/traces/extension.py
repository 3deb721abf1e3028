"""Registration of the extension ``traces``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from envs.session import Session
    from extensions.export.commands.export import TranscriptsOfRun
    from extensions.traces import feature, recorded_session, trace_export
    from runner.records import json_codec
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from runner.show import terminal
    from runner.show.terminal import OutputLine
else:
    json_codec = lazy_module("runner.records.json_codec")
    trace_export = lazy_module("extensions.traces.trace_export")
    feature = lazy_module("extensions.traces.feature")
    recorded_session = lazy_module("extensions.traces.recorded_session")
    terminal = lazy_module("runner.show.terminal")


class TracesExtension(Extension):
    """Extension that imports and exports traces of other tools."""

    name = "traces"
    commands = {
        "import": Command(
            "traces", "Judge traces of other tools.", f"{__package__}.commands.import_traces"
        )
    }

    def options(self, command: str) -> type | None:
        """Return the option of ``export``."""
        return trace_export.TraceOptions if command == "export" else None

    def check_export(self, options: Any, own: Any) -> None:
        """Check the option of ``export``."""
        trace_export.check(options, own)

    def export(self, options: Any, own: Any, found: Sequence[TranscriptsOfRun]) -> bool:
        """Write traces."""
        if own.traces is not None:
            trace_export.write(options, own, found)
        return own.traces is not None

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the import feature of a recorded run."""
        return feature.recorded(definition, where)

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the trace of an episode."""
        return json_codec.read(feature.TraceOrigin, member, f"{where}: $.extensions.traces")

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return a session for a replay; its calls return the recorded results that are trusted."""
        trace: feature.TraceOrigin = record.extensions[self.name]
        if not trace.trusted:
            return template
        given = {each.number: each.theirs for each in trace.differences}
        return recorded_session.RecordedSession.of(template, given, trusts=True)

    def episode_lines(self, record: EpisodeRecord, turn: int | None) -> Iterator[OutputLine]:
        """Yield one line for each result that differs from the recorded result."""
        trace = record.extensions.get(self.name)
        if trace is None:
            return
        for each in trace.differences:
            if turn in (None, each.turn):
                yield terminal.OutputLine(f"recorded result: {each}", "faint")

    def episode_json(self, record: EpisodeRecord) -> JsonObject:
        """Return the trace of an episode."""
        trace = record.extensions.get(self.name)
        return {} if trace is None else {"trace": json_codec.to_json_value(trace)}


EXTENSION = TracesExtension()
