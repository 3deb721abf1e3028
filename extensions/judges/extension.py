"""Registration of the extension ``judges``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from envs.lazy_modules import lazy_module
from runner.extension import Command, Extension

if TYPE_CHECKING:
    from extensions.judges import judges_page, vote_export
    from runner.analysis.replayed_runs import ReplayedRun
    from runner.analysis.report.page_parts import PagePart
else:
    vote_export = lazy_module("extensions.judges.vote_export")
    judges_page = lazy_module("extensions.judges.judges_page")

_COMMANDS = f"{__package__}.commands"


_ASSETS = Path(__file__).parent / "assets"


class JudgesExtension(Extension):
    """Extension with judge models that vote on episodes, and with labels of people."""

    name = "judges"
    page_assets = (_ASSETS / "judges.css", _ASSETS / "judges.js")
    commands = {
        "judge": Command(
            "judge models", "Have a judge model vote on episodes.", f"{_COMMANDS}.judge"
        ),
        "judge-info": Command(
            "judge models",
            "Ask a judge model which required facts the answers report.",
            f"{_COMMANDS}.judge_info",
        ),
        "label": Command(
            "judge models",
            "Write an HTML page on which people label episodes or pairs.",
            f"{_COMMANDS}.label",
        ),
    }

    def page_part(self, run: ReplayedRun) -> PagePart | None:
        """Return the page part that shows a run's stored votes; None if there are no votes."""
        found = list(vote_export.load_opinions(run))
        return judges_page.JudgesPagePart(found) if found else None


EXTENSION = JudgesExtension()
