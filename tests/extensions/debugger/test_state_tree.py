from __future__ import annotations

from envs.state import ABSENT, Difference, Snapshot
from extensions.debugger.state_tree import StateNode, children, whole


def state(**fields) -> Snapshot:
    """Return the state of one backend."""
    return Snapshot({"World": fields})


def fields(
    before: Snapshot, after: Snapshot, expected: Snapshot, *off: Difference
) -> list[StateNode]:
    """Return the places of the one backend's fields."""
    (world,) = children(whole(before, after, expected), off)
    return children(world, off)


def test_a_place_has_what_is_was_and_should_be_there():
    (node,) = fields(state(x=1), state(x=2), state(x=3))
    assert (node.name, node.path) == ("x", "World.x")
    assert (node.was, node.value, node.expected) == (1, 2, 3)


def test_what_the_call_changed_is_marked_and_what_is_equal_is_not():
    nodes = fields(state(x=1, y=[1], z=1), state(x=1, y=[2], z=1.0), state(x=1, y=[2], z=1))
    assert [node.changed for node in nodes] == [False, True, False]


def test_what_the_call_took_away_is_still_shown():
    (node,) = fields(state(x={"a": 1}), state(x={}), state(x={}))
    (gone,) = children(node, ())
    assert (gone.name, gone.value, gone.was, gone.changed) == ("a", ABSENT, 1, True)


def test_what_the_truth_will_have_is_shown_only_where_it_is_missed():
    states = state(x={}), state(x={}), state(x={"a": 1})
    (node,) = fields(*states)
    assert children(node, ()) == []
    missed = Difference("World.x.a", 1, ABSENT)
    (node,) = fields(*states, missed)
    assert [(child.name, child.value) for child in children(node, [missed])] == [("a", ABSENT)]


def test_places_off_the_truth_and_above_and_below_are_marked():
    value = {"a b": [{"c": 1}], "a": 0}
    off = [Difference("World.x['a b'][0]", {}, {"c": 1})]
    (x,) = fields(state(x=value), state(x=value), state(x=value), *off)
    ab, a = children(x, off)
    (first,) = children(ab, off)
    (c,) = children(first, off)
    marks = [(node.off, node.off_below) for node in (x, ab, a, first, c)]
    assert marks == [(False, True), (False, True), (False, False), (True, False), (True, False)]


def test_a_name_that_another_begins_with_is_not_marked():
    off = [Difference("World.name_of", 1, 2)]
    nodes = fields(*[state(name=1, name_of=2)] * 3, *off)
    assert [node.off or node.off_below for node in nodes] == [False, True]


def test_a_place_is_worth_opening_where_something_below_and_not_all_is_new():
    nodes = fields(state(x={"a": 1}, y=ABSENT), state(x={"a": 2}, y={"a": 1}), state(x={}, y={}))
    assert [node.noteworthy for node in nodes] == [True, False]


def test_what_is_not_compared_is_not_shown():
    assert fields(state(_hidden=1), state(_hidden=2), state(_hidden=3)) == []
