"""Registration of the extension ``search``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension, JsonObject, RunFeature

if TYPE_CHECKING:
    from extensions.search import feature, record, search_tree
    from runner.analysis.figures import StepUsage
    from runner.analysis.replayed_runs import ReplayedRun
    from runner.analysis.report.page_parts import PagePart
    from runner.records import json_codec
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from runner.show.terminal import OutputLine
else:
    json_codec = lazy_module("runner.records.json_codec")
    feature = lazy_module("extensions.search.feature")
    record = lazy_module("extensions.search.record")
    search_tree = lazy_module("extensions.search.search_tree")


_ASSETS = Path(__file__).parent / "assets"


class SearchExtension(Extension):
    """Extension with tree search: a model can undo steps."""

    name = "search"
    page_assets = (_ASSETS / "search.css", _ASSETS / "search.js")
    commands = {
        "search": Command(
            "experiments",
            "Run a tree search with undo, and compare it with ReAct.",
            f"{__package__}.commands.search",
        )
    }

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Return the search tree of an episode."""
        return json_codec.read(record.SearchRecord, member, f"{where}: $.extensions.search")

    def episode_lines(self, record: EpisodeRecord, turn: int | None) -> Iterator[OutputLine]:
        """Yield the search tree of an episode, or of one of its turns, as lines."""
        view = search_tree.view_of(record)
        if view is not None:
            yield from view.lines(turn)

    def episode_json(self, record: EpisodeRecord) -> JsonObject:
        """Return the search tree of an episode."""
        view = search_tree.view_of(record)
        return {"search": view.to_json()} if view else {}

    def page_part(self, run: ReplayedRun) -> PagePart:
        """Return the report part with the search trees of a run."""
        return search_tree.SearchTreePagePart()

    def undone(self, member: JsonObject) -> Sequence[StepUsage]:
        """Return the usage of the steps that the search undid."""
        tree = json_codec.read(search_tree.UsageByAnswer, member, "$.extensions.search").tree
        return [tried.step for tried in tree if tried.step]

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the search feature of a recorded run."""
        return feature.recorded(definition, where)


EXTENSION = SearchExtension()
