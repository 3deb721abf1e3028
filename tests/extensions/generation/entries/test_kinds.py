"""Groups are data: read, checked, and combined as far as the graph leads from one to another."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.generation.entries.instruction_kinds import (
    GROUPS,
    InstructionKind,
    list_focuses,
    read_groups,
)
from tests.extensions.generation.entries.drawing import GRAPH


def written(folder: Path, text: str) -> Path:
    path = folder / "groups.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_i1_has_one_backend_and_the_others_two_or_three_of_one_group() -> None:
    groups = read_groups(GROUPS, GRAPH)
    assert {len(focus.backends) for focus in list_focuses(InstructionKind.I1, groups, GRAPH)} == {1}
    for kind, tables in (
        (InstructionKind.I2, groups.categories),
        (InstructionKind.I3, groups.collections),
    ):
        for focus in list_focuses(kind, groups, GRAPH):
            assert len(focus.backends) in (2, 3)
            assert {*focus.backends} <= {*tables[focus.group]}


def test_every_backend_is_in_a_group() -> None:
    found = list_focuses(InstructionKind.I1, read_groups(GROUPS, GRAPH), GRAPH)
    assert {backend for focus in found for backend in focus.backends} == {*GRAPH.worlds["desk"]}


def test_a_kind_is_told_by_the_backends_of_an_entry() -> None:
    groups = read_groups(GROUPS, GRAPH)
    assert groups.hold(InstructionKind.I1, ("MathAPI",))
    assert groups.hold(InstructionKind.I2, ("MathAPI", "TradingBot"))
    assert not groups.hold(InstructionKind.I2, ("TicketAPI", "VehicleControlAPI"))
    assert groups.hold(InstructionKind.I3, ("TicketAPI", "VehicleControlAPI"))
    assert not groups.hold(InstructionKind.I3, ("TicketAPI",))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[categories", "is not valid TOML"),
        ("[kinds]\na = []", "kinds: is not a known table; use [categories] and [collections]"),
        ("[categories]\na = 'MathAPI'", "[categories] a: must be a list of backends"),
        ("[categories]\na = []", "must be a list of backends"),
        ("[categories]\na = ['MathApi']", "unknown backend 'MathApi'; did you mean MathAPI"),
        ("[categories]\na = ['MathAPI', 'MathAPI']", "names a backend twice"),
        ("categories = 3", "must be a table"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_groups(written(tmp_path, text), GRAPH)
    assert complaint in str(caught.value)


def test_a_kind_without_a_path_is_refused_with_the_pair_that_has_no_edge(tmp_path: Path) -> None:
    groups = read_groups(
        written(tmp_path, "[categories]\na = ['MathAPI']\n[collections]\nb = ['TicketAPI']"), GRAPH
    )
    with pytest.raises(DataError, match="I2: no category has two backends"):
        list_focuses(InstructionKind.I2, groups, GRAPH)
    sparse = type(GRAPH)(GRAPH.worlds, (), GRAPH.alone, GRAPH.needs, GRAPH.empty)
    pair = read_groups(written(tmp_path, "[collections]\nb = ['MathAPI', 'TicketAPI']"), sparse)
    with pytest.raises(
        DataError,
        match="I3: no edge connects the backends MathAPI and TicketAPI; choose",
    ):
        list_focuses(InstructionKind.I3, pair, sparse)
    with pytest.raises(DataError, match="I1: no backend has a function that uses"):
        list_focuses(InstructionKind.I1, pair, sparse)
