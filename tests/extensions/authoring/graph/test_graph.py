"""The function graph: every edge runs, no function is forgotten, and what is wrong is found."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

import trajectories
from envs.calls import Call, parse_call
from envs.errors import DataError
from envs.registry import BACKENDS, check_config
from envs.results import Result
from envs.tool import parameters
from extensions.authoring.graph.drawing import to_dot, to_svg
from extensions.authoring.graph.graph import (
    KINDS,
    TOOLS,
    Edge,
    Graph,
    blank_argument,
    fill,
    find_carried_values,
    find_values,
    flows,
    load,
)

FILE = Path(trajectories.__file__).parent / "data" / "function_graph.json"
GRAPH = load()
SVG = "{http://www.w3.org/2000/svg}"


def edge(name: str) -> Edge:
    return GRAPH.by_name[name]


def declared() -> dict[str, Any]:
    """Return the data file, to be broken in one place."""
    data: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return data


def written(tmp_path: Path, data: dict[str, Any]) -> Path:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


class EdgeExample(NamedTuple):
    """Executed example of a graph edge: all calls, and the value passed between functions."""

    calls: tuple[Call, ...]
    value: Any


def check(graph: Graph) -> list[str]:
    """Return the errors in a graph, without running its examples."""
    errors = [f"{edge.name}: {error}" for edge in graph.edges for error in find_errors(edge)]
    counted = Counter(edge.name for edge in graph.edges)
    errors += [f"{name}: occurs {times} times" for name, times in counted.items() if times > 1]
    linked = {name for edge in graph.edges for name in (edge.source, edge.target)}
    for name in TOOLS:
        if name not in linked and name not in graph.alone:
            errors.append(f'{name}: has no edge; add an edge, or list the function in "alone"')
    for name in graph.alone:
        if name in linked or name not in TOOLS:
            errors.append(f'{name}: is in the list "alone", but has edges or is not a function')
    return errors


def find_errors(edge: Edge) -> Iterator[str]:
    for call in (edge.call, edge.template):
        if call.name not in TOOLS:
            yield f"unknown function {call.name}"
            return
        known = [parameter.name for parameter in parameters(TOOLS[call.name])]
        if call.args or not {*call.kwargs} <= {*known}:
            yield f"{call} has unnamed or unknown arguments"
    if edge.template.name != edge.target:
        yield f"{edge.template} is a call of another function"
    if places(edge.template) != [edge.parameter]:
        found = places(edge.template)
        yield f"{edge.template} must contain the value once, but contains it at {found}"


def places(template: Call) -> list[str]:
    """Return the paths of a template's arguments that contain a placeholder."""
    return [p for p, leaf in leaves(dict(template.kwargs)) if blank_argument(leaf, "") != leaf]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member, f"{path}[]")
    else:
        yield path, value


def example(graph: Graph, edge: Edge) -> EdgeExample:
    """Execute the example calls of a graph edge in the graph's first world.

    Raises DataError if a call fails, or if no value of the field fits the second call.
    """
    session = graph.session()
    first = graph.prepared(session, edge.call)
    if first is None:
        raise DataError(edge.name, f"{edge.call} fails")
    calls, result = first
    found = find_carried_values(edge, result.held)
    for value in found:
        call = fill(edge.template, value)
        second = graph.prepared(session, call) if call else None
        if call and second and flows(edge, result.held, call.kwargs):
            return EdgeExample((*calls, *second[0]), value)
    raise DataError(edge.name, f"{edge.template} does not succeed with the values {found}")


# --- The declared graph


def test_the_graph_is_well_formed() -> None:
    assert check(GRAPH) == []


@pytest.mark.parametrize("world", GRAPH.worlds)
def test_a_world_is_a_sound_config_of_all_backends(world: str) -> None:
    assert tuple(GRAPH.worlds[world]) == tuple(BACKENDS)
    assert check_config(tuple(BACKENDS), GRAPH.worlds[world]) == []


@pytest.mark.parametrize("source", list(dict.fromkeys(edge.source for edge in GRAPH.edges)))
def test_every_edge_has_an_example_that_runs(source: str) -> None:
    for one in (edge for edge in GRAPH.edges if edge.source == source):
        calls, value = example(GRAPH, one)
        # Played anew from the start, by the session alone: what flows is seen from the results.
        session = GRAPH.session()
        results: dict[str, list[Result]] = {}
        for call in calls:
            result = session.call(call)
            assert GRAPH.fruitful(call, result), f"{one.name}: {call}: {result}"
            results.setdefault(call.name, []).append(result)
        assert calls[-1].name == one.target
        given = [found for r in results[one.source] for found in find_values(r.value, one.field)]
        assert value in given
        assert fill(one.template, value) == calls[-1]


@pytest.mark.parametrize("name", GRAPH.alone)
def test_a_function_without_an_edge_has_a_reason_and_works_if_any_call_does(name: str) -> None:
    reason, world, call = GRAPH.alone[name]
    assert reason
    if call is None:
        assert name == "get_outside_temperature_from_weather_com"
        assert not GRAPH.session().call(parse_call(f"{name}()")).ok
        return
    assert call.name == name
    assert GRAPH.prepared(GRAPH.session(world), call) is not None


def test_functions_without_an_edge_are_few_and_known() -> None:
    quiet = {name for name in TOOLS if name.endswith("get_login_status")}
    login = {"authenticate_twitter", "ticket_login", "trading_login", "verify_traveler_information"}
    others = {"logout", "trading_logout", "releaseBrakePedal"}
    broken = {"get_outside_temperature_from_weather_com"}
    assert set(GRAPH.alone) == quiet | login | others | broken
    linked = {name for edge in GRAPH.edges for name in (edge.source, edge.target)}
    assert linked | set(GRAPH.alone) == set(TOOLS)
    assert linked & set(GRAPH.alone) == set()


def test_what_there_is() -> None:
    assert (len(TOOLS), len(GRAPH.functions), len(GRAPH.edges)) == (128, 127, 632)
    within = {a: times for (a, b), times in GRAPH.pairs.items() if a == b}
    assert within == {
        "GorillaFileSystem": 37,
        "MathAPI": 49,
        "MessageAPI": 13,
        "TwitterAPI": 37,
        "TicketAPI": 15,
        "TradingBot": 41,
        "TravelAPI": 58,
        "VehicleControlAPI": 22,
    }
    assert len(GRAPH.pairs) == 54
    assert set(GRAPH.kinds) == KINDS
    assert sum(GRAPH.kinds.values()) == sum(GRAPH.pairs.values()) == len(GRAPH.edges)
    assert len(GRAPH.alone) == 13


def test_all_that_is_declared_is_used() -> None:
    data = declared()
    taken = {(f"{edge.target}.{edge.parameter}", edge.kind) for edge in GRAPH.edges}
    assert {(name, kind) for name, kinds in data["inputs"].items() for kind in kinds} == taken
    assert {name.split(".")[0] for name in data["empty"]} <= set(TOOLS)
    assert set(data["needs"]) <= set(TOOLS) | set(BACKENDS)


# --- Values and where they go


@pytest.mark.parametrize(
    ("value", "path", "found"),
    [
        ({"order_id": 7}, "order_id", [7]),
        ({"message_id": {"new_id": 7}}, "message_id.new_id", [7]),
        ({"names": ["a", "b", "a"]}, "names[]", ["a", "b"]),
        ([{"id": 1}, {"id": 2}], "[].id", [1, 2]),
        (["SFO"], "[]", ["SFO"]),
        ({"b": {"1": {"card": "x"}}}, "b{key}", ["1"]),
        ({"b": {"1": {"card": "x"}}}, "b{value}.card", ["x"]),
        ({"m": {"u": ["hi", "ho"]}}, "m{value}[]", ["hi", "ho"]),
        ({"MA(5)": 2.5}, "MA(5)", [2.5]),
        ({}, "order_id", []),
        (None, "order_id", []),
        ("text", "[]", []),
    ],
)
def test_values_at_a_path(value: Any, path: str, found: list[Any]) -> None:
    assert find_values(value, path) == found


@pytest.mark.parametrize(
    ("template", "value", "filled"),
    [
        ("cat(file_name='{value}')", "a.txt", "cat(file_name='a.txt')"),
        ("cat(file_name='{value|name}')", "./b/a.txt", "cat(file_name='a.txt')"),
        ("echo(content='{value|text}')", 2.5, "echo(content='2.5')"),
        ("echo(content='it is {value}!')", 2.5, "echo(content='it is 2.5!')"),
        ("mean(numbers=['{value}', 1.0])", 2.5, "mean(numbers=[2.5, 1.0])"),
        ("f(updates={'priority': '{value}'})", 2, "f(updates={'priority': 2})"),
        ("tail(lines='{value|whole}')", 2.9, "tail(lines=2)"),
        ("divide(a='{value|number}', b=2)", "-12.5 bytes", "divide(a=-12.5, b=2)"),
        ("divide(a='{value|number}', b=2)", "mpf('3')", "divide(a=3, b=2)"),
    ],
)
def test_a_template_takes_a_value(template: str, value: Any, filled: str) -> None:
    assert str(fill(parse_call(template), value)) == filled


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("tail(lines='{value|whole}')", "three"),
        ("divide(a='{value|number}', b=2)", "nothing"),
        ("cat(file_name='{value|shouted}')", "a"),
    ],
)
def test_a_template_refuses_what_does_not_fit(template: str, value: Any) -> None:
    assert fill(parse_call(template), value) is None


def test_places_of_a_value() -> None:
    assert places(parse_call("f(a='{value}', b={'c': ['x', '{value|name}']}, d=1)")) == [
        "a",
        "b.c[]",
    ]


@pytest.mark.parametrize(
    ("name", "result", "arguments", "does"),
    [
        ("get_symbol_by_name.symbol -> get_stock_info.symbol", "ZETA", "ZETA", True),
        ("get_symbol_by_name.symbol -> get_stock_info.symbol", "ZETA", "NVDA", False),
        ("get_symbol_by_name.symbol -> get_stock_info.symbol", "", "", False),
        ("place_order.order_id -> send_message.message", 51, "Order 51.", True),
        ("place_order.order_id -> send_message.message", 51, "order_51", True),
        ("place_order.order_id -> send_message.message", 51, "Order 5104", False),
        ("place_order.order_id -> send_message.message", 51, "51.75 dollars", False),
        ("round_number.result -> place_order.amount", 21.6, 21, True),
        ("round_number.result -> place_order.amount", 21.6, 22, False),
        ("du.disk_usage -> divide.a", "300 bytes", 300.0, True),
        ("du.disk_usage -> divide.a", "300 bytes", 301.0, False),
        ("get_ticket.priority -> edit_ticket.updates.priority", True, 1, False),
    ],
)
def test_a_value_flows_or_does_not(name: str, result: Any, arguments: Any, does: bool) -> None:
    one = edge(name)
    given: Any = arguments
    for part in reversed(one.parameter.split(".")):
        given = {part: given}
    assert flows(one, {one.field: result}, given) is does


def test_a_path_flows_by_its_last_step() -> None:
    one = edge("find.matches[] -> cat.file_name")
    assert flows(one, {"matches": ["./a/b.txt"]}, {"file_name": "b.txt"})
    assert not flows(one, {"matches": ["./a/b.txt"]}, {"file_name": "c.txt"})


# --- Success that achieves nothing, and what comes first


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("get_symbol_by_name(name='Apple')", True),
        ("get_symbol_by_name(name='Pear')", False),
        ("search_tweets(keyword='nothing of the sort')", False),
        ("get_order_details(order_id=1)", False),
        ("message_login(user_id='USR999')", False),
        ("touch(file_name='new.txt')", True),
    ],
)
def test_a_fruitful_call(text: str, does: bool) -> None:
    call = parse_call(text)
    assert GRAPH.fruitful(call, GRAPH.session().call(call)) is does


@pytest.mark.parametrize(
    ("world", "text", "names"),
    [
        ("desk", "get_watchlist()", ["get_watchlist"]),
        ("morning", "get_watchlist()", ["trading_login", "get_watchlist"]),
        (
            "desk",
            "startEngine(ignitionMode='START')",
            ["lockDoors", "pressBrakePedal", "startEngine"],
        ),
        (
            "morning",
            "get_tweet_comments(tweet_id=11)",
            ["authenticate_twitter", "comment", "get_tweet_comments"],
        ),
    ],
)
def test_needs_come_first_where_they_are_needed(world: str, text: str, names: list[str]) -> None:
    session = GRAPH.session(world)
    done = GRAPH.prepared(session, parse_call(text))
    assert done is not None
    assert [call.name for call in done[0]] == names
    again = GRAPH.session(world)
    again.play(done[0])
    assert again.snapshot() == session.snapshot()


def test_a_call_that_gives_nothing_leaves_the_session_alone() -> None:
    session = GRAPH.session("morning")
    before = session.snapshot()
    assert GRAPH.prepared(session, parse_call("get_stock_info(symbol='NONE')")) is None
    assert session.snapshot() == before


# --- What is wrong is found


def broken(**changes: Any) -> Graph:
    """Return the graph with its first edge changed."""
    first, *others = GRAPH.edges
    return replace(GRAPH, edges=(replace(first, **changes), *others))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"source": "peek", "call": parse_call("peek()")}, "unknown function peek"),
        ({"call": parse_call("ls(all=True)")}, "has unnamed or unknown arguments"),
        ({"template": parse_call("wc(file_name='{value}')")}, "is a call of another function"),
        (
            {"template": parse_call("cat(file_name='notes.txt')")},
            "must contain the value once, but contains it at []",
        ),
    ],
)
def test_a_badly_written_edge_is_found(changes: dict[str, Any], found: str) -> None:
    assert any(found in problem for problem in check(broken(**changes)))


def test_a_doubled_edge_and_a_forgotten_function_are_found() -> None:
    doubled = replace(GRAPH, edges=(*GRAPH.edges, GRAPH.edges[0]))
    assert check(doubled) == [f"{GRAPH.edges[0].name}: occurs 2 times"]
    assert check(replace(GRAPH, alone={}))[0] == (
        'message_get_login_status: has no edge; add an edge, or list the function in "alone"'
    )
    listed = replace(GRAPH, alone={**GRAPH.alone, "ls": GRAPH.alone["logout"]})
    assert check(listed) == ['ls: is in the list "alone", but has edges or is not a function']


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"call": parse_call("ls(a='often')")}, "fails"),
        ({"field": "contents[]"}, "does not succeed with the values []"),
        ({"template": parse_call("cat(file_name='{value}.bak')")}, "does not succeed with"),
    ],
)
def test_an_example_that_does_not_run_is_found(changes: dict[str, Any], found: str) -> None:
    graph = broken(**changes)
    with pytest.raises(DataError, match=r"fails|does not succeed with") as caught:
        example(graph, graph.edges[0])
    assert found in str(caught.value)


def test_a_file_that_is_no_graph(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        load(tmp_path / "none.json")
    data = declared()
    del data["needs"]
    with pytest.raises(DataError, match="'needs' is missing"):
        load(written(tmp_path, data))


@pytest.mark.parametrize(
    ("member", "value", "found"),
    [
        ("kind", "colour", "'colour' is not a kind of value; use account, airport"),
        ("kind", "token", "has no example call with a token argument"),
        ("call", "ls(", "ls"),
        ("to", ["cat.dog"], "'cat.dog' is missing"),
    ],
)
def test_a_bad_line_of_the_file(tmp_path: Path, member: str, value: Any, found: str) -> None:
    data = declared()
    data["outputs"][0][member] = value
    with pytest.raises(DataError, match=r"graph\.json") as caught:
        load(written(tmp_path, data))
    assert found in str(caught.value)


# --- Pictures


def test_dot_has_every_function_and_every_edge() -> None:
    text = to_dot(GRAPH)
    assert text.count("subgraph cluster_") == len(BACKENDS)
    assert text.count("[label=") == len(GRAPH.edges)
    assert all(f'    "{name}";' in text for name in TOOLS)
    assert '"place_order" -> "cancel_order" [label="order_id -> order_id"' in text


def test_svg_shows_every_function_and_every_edge() -> None:
    root = ElementTree.fromstring(to_svg(GRAPH))
    labels = [text.text for text in root.iter(f"{SVG}text")]
    assert labels == [*TOOLS, *BACKENDS]
    titles = [t.text or "" for path in root.iter(f"{SVG}path") for t in path.iter(f"{SVG}title")]
    assert sorted(line for title in titles for line in title.split("\n")) == sorted(GRAPH.by_name)


def test_svg_keeps_within_its_frame() -> None:
    root = ElementTree.fromstring(to_svg(GRAPH))
    size = float(root.attrib["viewBox"].split()[2])
    places = [float(text.attrib[axis]) for text in root.iter(f"{SVG}text") for axis in ("x", "y")]
    assert min(places) > 0
    assert max(places) < size
