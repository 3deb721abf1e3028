"""The SQL entries that BFCL publishes, each with tables on which its statement does something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from extensions.sql.witness import NoWitness, witness
from trajectories.bfcl import single_turn
from trajectories.schema import Category, ExpectedCalls, Trajectory

NOT_EXECUTED = "not_executed"
"""Member of the provenance of an SQL entry that says why only its calls are compared."""


def read_statements(entry: Mapping[str, Any], answers: Any, category: Category) -> Trajectory:
    """Return an entry of SQL with tables that its statement does something to, if there are any.

    BFCL's rules expect one call of it and look at the first answer only.
    """
    trajectory = single_turn(entry, answers, category)
    assert isinstance(trajectory.expects, ExpectedCalls)
    (turn,), answers = trajectory.turns, trajectory.expects.answers[:1]
    expects = replace(trajectory.expects, answers=answers)
    try:
        found = witness(turn.messages[-1].content, answers[0])
    except NoWitness as reason:
        provenance = {**trajectory.provenance, NOT_EXECUTED: str(reason)}
        return replace(trajectory, expects=expects, provenance=provenance)
    return replace(
        trajectory,
        expects=expects,
        environments=("Database",),
        config={"Database": {"tables": found.tables}},
        turns=(replace(turn, ground_truth=(str(found.call),)),),
    )
