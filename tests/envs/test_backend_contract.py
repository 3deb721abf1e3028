"""The contract, for every environment of this repository: one joins by being registered."""

from __future__ import annotations

import pytest

from envs.registry import BACKENDS, library, more
from envs.testing import contract
from envs.testing.play import Play, scripts

CONTRACTS = {name: contract(name) for name in (*BACKENDS, *more(), *library())}


@pytest.mark.parametrize("check", [c for checks in CONTRACTS.values() for c in checks], ids=str)
def test_contract(check):
    check()


@pytest.mark.parametrize("name", CONTRACTS)
def test_results_say_whether_the_compared_state_has_changed(name):
    subject = CONTRACTS[name][0].subject
    for script in scripts(subject):
        play = Play(subject, script.world, script.next_call)
        before = play.session.snapshot()
        for _, result in play.steps():
            after = play.session.snapshot()
            assert result.changed is (before != after)
            before = after
