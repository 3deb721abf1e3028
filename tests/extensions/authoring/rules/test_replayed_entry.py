"""Replays of an entry with changed calls: what is executed again, and the same verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from checkers.multi_turn_verdict import check_turn
from checkers.verdict import ExecutedTurn, Failure
from envs.calls import Call, MalformedCall, parse_call
from envs.session import Session
from extensions.authoring.rules.replayed_entry import Entry
from tests.extensions.authoring.test_rule_sets import dataset, ticket
from trajectories.dataset import load_embedded
from trajectories.schema import Category

TICKETS = [f"create_ticket(title='Lamp {number}', priority=2)" for number in range(3)]
READS = [f"get_ticket(ticket_id={number})" for number in (3, 5, 4)]
ENTRY = ticket(("Open three tickets.", [*TICKETS, *READS]), ("Show the fifth.", [READS[1]]))


def replay_all(entry: Entry, turn: int, calls: Sequence[Call | MalformedCall]) -> Failure | None:
    """Return what ``rejection`` returns, from a replay of all calls since the turn's start."""
    session, played = entry.starts[turn].fork(), list(entry.truth[:turn])
    for index in range(turn, len(entry.truth)):
        if entry.profile.execution.only_offered:
            session.offer(entry.offered(index))
        made = tuple(calls if index == turn else entry.calls[index])
        results = tuple(session.play(made))
        played.append(ExecutedTurn(results, session.snapshot(), bool(made), made))
        failure = check_turn(entry.truth[: index + 1], played, entry.profile, entry.scene)
        if failure is not None:
            return failure
        session.end_turn()
    return None


@pytest.mark.parametrize(
    ("position", "other", "executed"),
    [
        (0, "create_ticket(title='Lamp 4', priority=2)", [*range(6)]),
        (2, "create_ticket(title='Lamp 4', priority=2)", [2, 3, 4, 5]),
        (2, "create_ticket('Lamp 2', '', 2)", [2]),
        (4, "get_ticket(ticket_id=4)", [4]),
        (5, "get_ticket(ticket_id=5)", [5]),
        (3, "get_ticket(ticket_id=99)", [3]),
        (4, None, []),
    ],
)
def test_calls_with_known_results_are_not_executed_again(
    monkeypatch: pytest.MonkeyPatch, position: int, other: str | None, executed: list[int]
) -> None:
    entry = Entry(dataset(ENTRY), ENTRY)
    truth = entry.calls[0]
    changed = [parse_call(other)] if other else []
    calls = [*truth[:position], *changed, *truth[position + 1 :]]
    expected = replay_all(entry, 0, calls)
    made: list[object] = []
    play = Session.play
    monkeypatch.setattr(Session, "play", lambda self, each: made.extend(each) or play(self, each))
    monkeypatch.setattr("extensions.authoring.rules.replayed_entry.check_turn", lambda *_: None)
    assert entry.rejection(0, calls) is None
    assert made[: len(executed)] == [calls[place] for place in executed]
    monkeypatch.undo()
    assert entry.rejection(0, calls) == expected


@pytest.mark.parametrize("category", [Category.BASE, Category.MISSING_FUNCTION])
def test_changed_calls_have_the_verdict_of_a_replay_of_all_calls(category: Category) -> None:
    data = load_embedded([category])
    for trajectory in [*data.trajectories.values()][::40]:
        entry = Entry(data, trajectory)
        for turn, calls in enumerate(entry.calls):
            others = [calls[:place] + calls[place + 1 :] for place in range(len(calls))]
            others += [[*calls[:place], calls[0], *calls[place:]] for place in range(len(calls))]
            for other in [*others, calls, calls[::-1], []]:
                assert entry.rejection(turn, other) == replay_all(entry, turn, other)
