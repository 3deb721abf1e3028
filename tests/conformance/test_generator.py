from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from envs.registry import BACKENDS
from envs.session import Session
from tests.conformance.generator import CALLS, Generator, parameters
from tests.conformance.values import CHAINS, LEADS, World, fitting
from trajectories.bfcl_reader import load_pack
from trajectories.schema import Trajectory


@pytest.fixture
def generator(help_desk: Trajectory, folders: Trajectory, bfcl_folder: Path):
    """Make generators of a seed on two small trajectories."""
    pack = load_pack(bfcl_folder)
    return lambda seed: Generator([help_desk, folders], pack, seed)


def test_a_seed_gives_the_same_scripts(generator) -> None:
    assert list(generator(7).scripts(20)) == list(generator(7).scripts(20))
    assert list(generator(7).scripts(20)) != list(generator(8).scripts(20))


def test_scripts_are_varied(generator) -> None:
    scripts = list(generator(1).scripts(100))
    assert {name for script in scripts for name in script.involved_classes} == set(BACKENDS)
    assert {script.long_context for script in scripts} == {True, False}
    assert max(len(script.turns) for script in scripts) >= CALLS


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=list(BACKENDS))
def test_there_are_likely_values_for_every_parameter(backend) -> None:
    world = World(Session.load([backend.__name__], {}), Random(0))
    for tool in backend.TOOLS.values():
        for parameter in parameters(tool):
            fitting(world, tool.name, parameter.name)


def test_chains_and_leads_name_functions() -> None:
    for name, backend in BACKENDS.items():
        assert {*LEADS[name]}.union(*CHAINS[name]) <= set(backend.TOOLS)
