"""The page on two runs of the same entries."""

from __future__ import annotations

from runner.analysis.comparison import RunComparison
from runner.analysis.comparison_lines import conclusion
from runner.analysis.report.page import packed, page

_ASSETS = ("report.css", "compare.css", "compare.js")


def comparison_page(comparison: RunComparison) -> str:
    """Return the page on a comparison."""
    shown = {**comparison.to_json(), "conclusion": [line.text for line in conclusion(comparison)]}
    names = " and ".join(run.name for run in comparison.runs)
    return page(f"Turnwise: {names}", [packed(shown)], _ASSETS)
