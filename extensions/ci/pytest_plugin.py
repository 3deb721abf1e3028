"""Plugin for pytest, with a fixture that runs agents and a marker that creates a test per entry.

pytest loads this module in every environment with Turnwise. The module therefore imports other
modules lazily.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from envs.errors import DataError
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from extensions.ci import reports
    from runner.data import dataset_choice
    from runner.rollouts import evaluation, rollout_env
    from runner.rollouts.evaluation import Evaluation
    from trajectories.schema import Trajectory
else:
    reports = lazy_module("extensions.ci.reports")
    dataset_choice = lazy_module("runner.data.dataset_choice")
    rollout_env = lazy_module("runner.rollouts.rollout_env")
    evaluation = lazy_module("runner.rollouts.evaluation")

_MARKER = "turnwise"
_SELECTION = ("categories", "ids", "limit", "tag")


class AgentTester:
    """Runs agents in a test, in temporary run folders."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0

    def evaluate(self, agent: Any, dataset: Any = None, **options: Any) -> Evaluation:
        """Run an agent as ``turnwise.evaluate`` does."""
        self._runs += 1
        options.setdefault("run_dir", self._folder / f"run-{self._runs}")
        return evaluation.evaluate(agent, dataset, **options)

    def require_pass(self, agent: Callable[..., Any], entry: Trajectory, **options: Any) -> None:
        """Run an agent on one entry; if the episode fails, fail the test with the cause."""
        run = self.evaluate(agent, rollout_env.single_dataset(entry), **options)
        bad = [record for record in run.records() if record.outcome != "passed"]
        if bad:
            lines = [f"{each.id} {each.outcome}: {reports.explain(each)}" for each in bad]
            pytest.fail("\n".join(lines), pytrace=False)


@pytest.fixture(name="turnwise")
def agent_tester(tmp_path: Path) -> AgentTester:
    """Provide an agent tester to a test."""
    return AgentTester(tmp_path)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker with its description."""
    config.addinivalue_line(
        "markers",
        "turnwise(dataset, categories, ids, limit, tag): run the test once per entry; the "
        "parameter `entry` receives the entry",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Create a test for every entry that the marker selects."""
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if marker is None:
        return
    if "entry" not in metafunc.fixturenames:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: add a parameter named `entry` to the test function"
        )
    if len(marker.args) > 1 or not marker.kwargs.keys() <= {"dataset", *_SELECTION}:
        known = ", ".join(_SELECTION)
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: the marker has only these arguments: dataset, {known}"
        )
    entries = _entries(*marker.args, **marker.kwargs)
    metafunc.parametrize("entry", entries, ids=[entry.id for entry in entries])


def _entries(
    dataset: Any = None,
    *,
    categories: Any = None,
    ids: Any = None,
    limit: int | None = None,
    tag: str | None = None,
) -> list[Trajectory]:
    """Return the selected entries. Raises UsageError if the data cannot be used."""
    try:
        data = dataset_choice.load_dataset(dataset, categories=categories)
        named = ids if ids is None or isinstance(ids, str) else ",".join(ids)
        everything = dataset_choice.filter_by_tag([*data.trajectories.values()], tag)
        return dataset_choice.select_entries(everything, named, limit)
    except DataError as error:
        raise pytest.UsageError(str(error)) from None
