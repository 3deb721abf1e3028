"""Registration of the extension ``authoring``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from extensions.authoring import held_back, hops_part, review_status
    from runner.analysis.replayed_runs import ReplayedRun
    from runner.analysis.report.page_parts import PagePart
    from trajectories.dataset import Dataset
    from trajectories.schema import Category
else:
    hops_part = lazy_module("extensions.authoring.hops_part")
    held_back = lazy_module("extensions.authoring.held_back")
    review_status = lazy_module("extensions.authoring.review_status")

_COMMANDS = f"{__package__}.commands"


class AuthoringExtension(Extension):
    """Extension that creates, validates, describes and audits data sets."""

    name = "authoring"
    page_assets = (Path(__file__).parent / "assets" / "hops.js",)
    commands = {
        "dataset show": Command(
            "data authoring", "Show the contents of a data set.", f"{_COMMANDS}.show"
        ),
        "dataset build": Command(
            "data authoring",
            "Build the multi-turn categories from scenarios.",
            f"{_COMMANDS}.build",
        ),
        "dataset validate": Command(
            "data authoring", "Check a data set by rules.", f"{_COMMANDS}.validate"
        ),
        "dataset graph": Command(
            "data authoring",
            "Show the coverage of data flows between functions.",
            f"{_COMMANDS}.graph",
        ),
        "dataset audit": Command(
            "data authoring", "List entries whose ground truth may be wrong.", f"{_COMMANDS}.audit"
        ),
        "dataset author": Command(
            "data authoring",
            "Write and review ground truths in the browser.",
            f"{_COMMANDS}.author",
        ),
        "dataset unpack": Command(
            "data authoring", "Unpack the held-back entries.", f"{_COMMANDS}.unpack"
        ),
        "dataset overlap": Command(
            "data authoring",
            "Show word sequences that two data sets share.",
            f"{_COMMANDS}.overlap",
        ),
    }

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the held-back entries."""
        return held_back.load_held_back(categories) if name == held_back.NAME else None

    def page_part(self, run: ReplayedRun) -> PagePart | None:
        """Return the page section that shows the score for each number of hops."""
        return hops_part.hops_part(run)

    def reviews(self, dataset: Dataset) -> str | None:
        """Return the review status of the built-in entries."""
        return review_status.summary(
            review_status.compute_statuses(dataset.trajectories, review_status.read_record())
        )


EXTENSION = AuthoringExtension()
