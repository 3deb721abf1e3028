"""What this extension registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envs.lazy import lazily
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from extensions.judges import beside, page
    from runner.analysis.report.parts import PagePart
    from runner.analysis.runs import ViewedRun
else:
    beside = lazily("extensions.judges.beside")
    page = lazily("extensions.judges.page")


class JudgesExtension(Extension):
    """Has judge models vote on episodes, beside the verdicts."""

    name = "judges"
    commands = {
        "judge": Command(
            "judge models",
            "Have a model judge episodes, beside their verdicts.",
            f"{__package__}.commands.judge",
        ),
        "label": Command(
            "judge models",
            "Write a page on which people label the episodes of a run.",
            f"{__package__}.commands.label",
        ),
    }

    def page_part(self, run: ViewedRun) -> PagePart | None:
        """Return the votes that lie beside a run, if there are any."""
        opinions = list(beside.opinions_of(run))
        return page.JudgesPart(opinions) if opinions else None


EXTENSION = JudgesExtension()
