"""Pytest plugin that records the lines that each test runs: ``-p tests.mutation.recording``."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest
from coverage import Coverage

from tests.mutation.equivalents import MUTATED, RECORD_VARIABLE


class LineRecorder:
    """Recorder of each test's lines and CPU time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seconds: dict[str, float] = {}
        self._coverage = Coverage(data_file=None, include=[f"{name}/*" for name in MUTATED])
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Record one test with its fixtures."""
        self._coverage.switch_context(item.nodeid)
        begin = _measure_cpu_seconds()
        try:
            return (yield)  # type: ignore[return-value]
        finally:
            self._seconds[item.nodeid] = _measure_cpu_seconds() - begin
            self._coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        """Write the record."""
        self._coverage.stop()
        data, tests = self._coverage.get_data(), list(self._seconds)
        numbers = {test: number for number, test in enumerate(tests)}
        lines: dict[str, dict[int, list[int]]] = defaultdict(dict)
        for file in data.measured_files():
            name = os.path.relpath(file)
            for line, contexts in data.contexts_by_lineno(file).items():
                lines[name][line] = sorted(numbers[test] for test in contexts if test)
        seconds = [round(self._seconds[test], 3) for test in tests]
        Path(self._path).write_text(
            json.dumps({"tests": tests, "seconds": seconds, "lines": lines}), encoding="utf-8"
        )


def _measure_cpu_seconds() -> float:
    """Return CPU time, also of ended child processes; it depends little on the machine's load."""
    return process_time() + sum(os.times()[2:4])


def pytest_configure(config: pytest.Config) -> None:
    """Add the recorder."""
    config.pluginmanager.register(LineRecorder(os.environ[RECORD_VARIABLE]))
