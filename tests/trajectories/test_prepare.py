"""What every run starts from: a loaded session, connected where it may be, and the truth played."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.profile import BFCL, STRICT
from envs.errors import MalformedCall
from trajectories.errors import DataError
from trajectories.prepare import load_session, prepare, truth_calls
from trajectories.schema import Turn


@pytest.mark.parametrize("profile", [BFCL, STRICT], ids=lambda profile: profile.name)
def test_the_template_stays_as_it_was_loaded(dataset_of, folders, profile) -> None:
    ready = prepare(dataset_of(folders), folders, profile)
    assert ready.template.checks_arguments is profile.execution.checks_arguments
    assert ready.template.snapshot() == load_session(dataset_of(folders), folders).snapshot()
    assert ready.template.snapshot() != ready.truth[-1].snapshot
    assert [len(outcome.results) for outcome in ready.truth] == [
        len(turn.ground_truth) for turn in folders.turns
    ]


def test_a_session_is_connected_by_what_the_data_set_was_opened_with(dataset_of, folders) -> None:
    connected = []
    data = replace(dataset_of(folders), connect=connected.append)
    assert connected == []
    assert [prepare(data, folders, STRICT).template] == connected


def test_only_what_is_there_can_be_held_out(dataset_of, folders) -> None:
    odd = replace(folders, excluded=("no_such_function",))
    with pytest.raises(DataError, match="there is no function no_such_function to hold out"):
        prepare(dataset_of(odd), odd, STRICT)


def test_what_cannot_be_read_stands_as_the_reason_why() -> None:
    call, reason = truth_calls(Turn((), ("ls()", "ls(")))
    assert call.name == "ls"
    assert isinstance(reason, MalformedCall)
