"""What of an entry makes its fingerprint another one."""

from __future__ import annotations

from dataclasses import replace

from trajectories.fingerprint import fingerprint
from trajectories.schema import Category, ExpectedCalls, Message, Trajectory, Turn

ENTRY = Trajectory(
    "base_one",
    Category.BASE,
    ("GorillaFileSystem",),
    {"GorillaFileSystem": {"root": {}}},
    (
        Turn((Message("user", "Make plans."),), ("mkdir(dir_name='plans')",)),
        Turn((Message("user", "And a list."),), ("touch(file_name='list')",)),
    ),
)
DOCUMENT = {"name": "f", "description": "", "parameters": {}}


def test_a_fingerprint_tells_words_calls_and_config() -> None:
    first, second = ENTRY.turns
    others = [
        replace(ENTRY, turns=(replace(first, ground_truth=("pwd()",)), second)),
        replace(ENTRY, turns=(replace(first, messages=(Message("user", "Go."),)), second)),
        replace(ENTRY, turns=(second, first)),
        replace(ENTRY, config={}),
        replace(ENTRY, expects=ExpectedCalls((DOCUMENT,), ({"f": {}},))),
        replace(ENTRY, expects=ExpectedCalls((DOCUMENT,), ())),
    ]
    assert len({fingerprint(each) for each in [ENTRY, *others]}) == 7
    assert fingerprint(replace(ENTRY, provenance={"author": "me"})) == fingerprint(ENTRY)
