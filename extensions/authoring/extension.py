"""What this extension registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from extensions.authoring import held_back, standing
    from trajectories.dataset import Dataset
    from trajectories.schema import Category
else:
    held_back = lazily("extensions.authoring.held_back")
    standing = lazily("extensions.authoring.standing")


class AuthoringExtension(Extension):
    """Makes, validates, describes and audits data sets."""

    name = "authoring"
    commands = {
        "dataset show": Command(
            "data authoring", "Show what is in a data set.", f"{__package__}.commands.show"
        ),
        "dataset build": Command(
            "data authoring",
            "Build the five categories out of scenarios.",
            f"{__package__}.commands.build",
        ),
        "dataset validate": Command(
            "data authoring",
            "Check a data set by rule: truth, configs, documents.",
            f"{__package__}.commands.validate",
        ),
        "dataset graph": Command(
            "data authoring",
            "Show which results can feed which arguments; sample paths.",
            f"{__package__}.commands.graph",
        ),
        "dataset audit": Command(
            "data authoring",
            "List entries where the data, not the models, may be wrong.",
            f"{__package__}.commands.audit",
        ),
        "dataset unpack": Command(
            "data authoring",
            "Unpack the entries that are held back.",
            f"{__package__}.commands.unpack",
        ),
        "dataset overlap": Command(
            "data authoring",
            "Show what two data sets share word for word.",
            f"{__package__}.commands.overlap",
        ),
    }

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the held-back entries."""
        return held_back.load_held_back(categories) if name == held_back.NAME else None

    def reviews(self, dataset: Dataset) -> str | None:
        """Return how many of the built-in entries readers found sound."""
        return standing.summary(standing.standings(dataset.trajectories, standing.read_record()))


EXTENSION = AuthoringExtension()
