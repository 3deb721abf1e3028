"""Registration of the extension ``ci``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envs.lazy_modules import lazy_module
from runner.extension import Extension, RunFeature

if TYPE_CHECKING:
    from extensions.ci import reports
    from runner.analysis.figures import RunFigures
    from runner.live.run_settings import Settings
    from runner.records import durable_files
    from trajectories.dataset import Dataset
else:
    reports = lazy_module("extensions.ci.reports")
    durable_files = lazy_module("runner.records.durable_files")


class CiExtension(Extension):
    """Extension that writes reports for continuous integration."""

    name = "ci"

    def options(self, command: str) -> type | None:
        """Return the reports that ``eval`` can write."""
        return reports.ReportOptions if command == "eval" else None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Check that the report file is writable; return no features."""
        durable_files.check_writable(own.junit)
        return ()

    def reported(self, own: Any, figures: RunFigures, entries: Dataset) -> None:
        """Write the chosen reports."""
        reports.write(own, figures, entries.trajectories)


EXTENSION = CiExtension()
"""JUnit XML and GitHub Actions."""
