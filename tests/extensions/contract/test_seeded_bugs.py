"""The contract finds bugs that authors make, although the example config is almost empty."""

from __future__ import annotations

import gc
import json
from contextlib import redirect_stdout
from io import StringIO
from unittest import SkipTest

import pytest

from envs import registry
from extensions.contract import isolation_checks, timed_session
from extensions.contract.contract import ContractViolation, contract
from tests.environments.installing import add_metadata
from tests.extensions.contract.seeded_bugs import ALSO, BUGS, CONFIG, MISSED, SOURCE

UNNEEDED = {"examples", "outcomes", "frozen"}
"""Checks that the hotel, which has no examples, does not keep."""
QUICK = {"lru_cache on a method", "no docstring of a parameter"}


@pytest.fixture
def hotel(tmp_path, monkeypatch):
    """Install the hotel with changes, and return its checks."""
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    monkeypatch.setattr(timed_session, "CALL_SECONDS", 2.0)

    def make(number, *changes):
        name, source = f"Inn{number}", SOURCE
        for old, new in changes:
            assert old in source, old
            source = source.replace(old, new, 1)
        package = tmp_path / f"{name.lower()}_env"
        package.mkdir()
        source = source.replace("NAME", name).replace("PREFIX", name.lower())
        for file, text in {
            "__init__.py": "",
            "backend.py": source,
            f"{name}.json": json.dumps({name: CONFIG}),
        }.items():
            (package / file).write_text(text, encoding="utf-8")
        add_metadata(tmp_path, name, f"{package.name}.backend:{name}")
        monkeypatch.syspath_prepend(tmp_path)
        registry.forget_installed()
        return [check for check in contract(name) if check.check.name not in UNNEEDED]

    yield make
    monkeypatch.undo()
    registry.forget_installed()


@pytest.mark.slow
def test_the_sound_hotel_passes(hotel):
    for check in hotel(0):
        check()


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize(
    "bug",
    [
        pytest.param(bug, id=bug.name, marks=[] if bug.name in QUICK else [pytest.mark.slow])
        for bug in BUGS
        if bug.name not in MISSED
    ],
)
def test_a_bug_is_found_and_its_cause_is_named(hotel, bug):
    found = []
    for check in hotel(1 + BUGS.index(bug), (bug.old, bug.new), *ALSO.get(bug.name, ())):
        try:
            with redirect_stdout(StringIO()):
                check()
        except SkipTest:
            continue
        except ContractViolation as violation:
            found.append(violation.message)
            break
    if "async" in bug.new:
        gc.collect()  # later, another test would get the warning that a coroutine was not awaited
    assert [bug.finding in message for message in found] == [True], found
