"""Sampled paths run as they are written, say truly where values come from, and cover on purpose."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path as File
from typing import Any

import pytest

from envs.calls import parse_call
from envs.registry import BACKENDS
from envs.session import Session
from extensions.authoring.graph.graph import TOOLS, flows, load
from extensions.authoring.graph.sampling import (
    Coverage,
    Path,
    Trace,
    ValueOrigin,
    cover,
    coverage,
    sample,
    trace,
)
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ROOT = File(__file__).resolve().parents[3]
GRAPH = load()
SEEDS = range(40)
PAIRS = len(BACKENDS) * (len(BACKENDS) - 1) // 2

each_path = pytest.mark.parametrize("path", SEEDS, indirect=True)


@cache
def paths() -> list[Path]:
    return [sample(GRAPH, "desk", seed, 4, 3) for seed in SEEDS]


@pytest.fixture
def path(request: pytest.FixtureRequest) -> Path:
    return paths()[request.param]


def session(path: Path) -> Session:
    """Return a session of no more backends than the path says it needs."""
    config = {name: GRAPH.worlds[path.world][name] for name in path.environments}
    return Session.load(path.environments, config, checks_arguments=True)


def played(path: Path) -> Trace:
    return trace(session(path), [text for turn in path.calls for text in turn])


def covered(*paths: Path) -> Coverage:
    return coverage(GRAPH, map(played, paths))


def texts(path: Path) -> list[str]:
    return [step.text for step in path.steps]


# --- Paths


@each_path
def test_every_call_of_a_path_succeeds_where_it_stands(path: Path) -> None:
    made = played(path)
    assert [str(call) for call, _ in made] == texts(path)
    assert [str(call) for call, result in made if not GRAPH.fruitful(call, result)] == []


@each_path
def test_a_path_has_the_turns_and_calls_that_were_asked_for(path: Path) -> None:
    assert len(path.turns) == 4
    assert all(1 <= len(turn) <= 3 for turn in path.turns)
    assert len(set(texts(path))) == len(texts(path))
    assert len(path.environments) <= 3


@each_path
def test_every_argument_says_where_its_value_comes_from(path: Path) -> None:
    made = played(path)
    for index, step in enumerate(path.steps):
        arguments = parse_call(step.text).kwargs
        assert [binding.argument for binding in step.bindings] == list(arguments)
        for name, origin, place, source in step.bindings:
            if origin is not ValueOrigin.RESULT:
                assert source is None
                assert (origin is ValueOrigin.CONFIG) == place.startswith("$.")
                continue
            edge = GRAPH.by_name[place]
            assert source is not None
            assert source < index
            call, result = made[source]
            assert (call.name, edge.target) == (edge.source, made[index][0].name)
            assert edge.parameter.startswith(name)
            assert flows(edge, result.value, arguments)


@each_path
def test_a_value_of_the_config_stands_there(path: Path) -> None:
    config = GRAPH.worlds[path.world]
    for step in path.steps:
        arguments = parse_call(step.text).kwargs
        for binding in step.bindings:
            if binding.origin is ValueOrigin.CONFIG:
                backend = re.findall(r"\w+", binding.place)[0]
                assert backend == TOOLS[parse_call(step.text).name].backend
                assert str(arguments[binding.argument]) in scalars(config[backend])


def scalars(value: Any) -> set[str]:
    """Return keys and values of a config, as text."""
    if isinstance(value, dict):
        return {*value, *(text for member in value.values() for text in scalars(member))}
    if isinstance(value, list):
        return {text for member in value for text in scalars(member)}
    return {str(value)}


def test_paths_are_walks_not_heaps_of_calls() -> None:
    bound = [path for path in paths() if path.edges]
    assert len(bound) >= 0.9 * len(paths())
    assert len({path.environments for path in paths()}) >= 20
    assert {len(path.environments) for path in paths()} == {1, 2, 3}


def test_the_same_seed_gives_the_same_path() -> None:
    assert [sample(GRAPH, "desk", seed, 4, 3) for seed in SEEDS] == paths()
    assert len({path.calls for path in paths()}) == len(paths())


def test_a_path_does_not_depend_on_the_process() -> None:
    code = (
        "from extensions.authoring.graph.graph import load;"
        "from extensions.authoring.graph.sampling import cover, sample;"
        "g = load(); print([sample(g, 'desk', s, 4, 3) for s in range(5)]);"
        "print(cover(g, 'morning', 0, 4, 3, ['ls', 'post_tweet', 'startEngine']))"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
    assert "Path(world='morning'" in said.pop()


def test_a_path_may_be_shorter_than_asked_for_but_never_fails() -> None:
    path = sample(GRAPH, "desk", 1, 60, 5)
    assert all(path.turns)
    assert all(GRAPH.fruitful(call, result) for call, result in played(path))


def test_who_is_logged_out_logs_in_first() -> None:
    path = sample(GRAPH, "morning", 3, 2, 3, ["place_order"])
    names = [parse_call(text).name for text in texts(path)]
    assert names.index("trading_login") < names.index("place_order")


# --- On purpose


def test_wishes_are_granted_in_their_order_as_far_as_there_is_room() -> None:
    wishes = ["get_watchlist.watchlist[] -> get_stock_info.symbol", "close_ticket", "rmdir"]
    path = sample(GRAPH, "desk", 0, 3, 3, wishes)
    assert wishes[0] in path.edges
    names = [parse_call(text).name for text in texts(path)]
    assert names[:2] == ["get_watchlist", "get_stock_info"]
    assert "close_ticket" in names
    assert "rmdir" in names
    short = sample(GRAPH, "desk", 0, 1, 2, wishes)
    assert [parse_call(text).name for text in texts(short)] == names[:2]


@pytest.mark.slow
def test_everything_can_be_covered_on_purpose() -> None:
    before = covered(*paths())
    missing = [*before.missing_functions, *before.missing_edges]
    more = cover(GRAPH, "desk", 0, 6, 4, missing)
    login = {"authenticate_twitter", "ticket_login", "trading_login"} & set(missing)
    more += cover(GRAPH, "morning", 0, 6, 4, sorted(login))
    after = covered(*paths(), *more)
    assert (after.missing_functions, after.missing_edges) == ((), ())
    assert (len(after.functions), len(after.edges)) == (127, 632)
    assert (len(after.backends), len(after.pairs)) == (8, PAIRS)
    assert after.paths == len(paths()) + len(more) < 100


def test_what_cannot_be_reached_ends_the_search() -> None:
    helpless = "get_outside_temperature_from_weather_com"
    assert cover(GRAPH, "desk", 0, 2, 2, [helpless]) == []
    paths = cover(GRAPH, "desk", 0, 2, 2, [helpless, "ls"])
    assert len(paths) == 1
    assert cover(GRAPH, "desk", 0, 2, 2, []) == []
    assert (
        cover(GRAPH, "desk", 0, 2, 2, GRAPH.functions, limit=2)
        == (cover(GRAPH, "desk", 0, 2, 2, GRAPH.functions)[:2])
    )


# --- Coverage


def calls(*lines: str, world: str = "desk") -> Coverage:
    return coverage(GRAPH, [trace(GRAPH.session(world), lines)])


@each_path
def test_a_path_covers_what_it_walks(path: Path) -> None:
    found = covered(path)
    assert set(path.edges) <= set(found.edges)
    assert set(found.functions) == {parse_call(text).name for text in texts(path)}
    assert tuple(found.backends) == path.environments


def test_an_edge_is_covered_by_value_and_in_order() -> None:
    name = "get_symbol_by_name.symbol -> get_stock_info.symbol"
    look, show = "get_symbol_by_name(name='Nvidia')", "get_stock_info(symbol='NVDA')"
    assert calls(look, show).edges == {name: 1}
    assert calls(show, look).edges == {}
    assert calls(look, "get_stock_info(symbol='ZETA')").edges == {}
    assert name in calls(show, look, show).edges


def test_what_fails_or_gives_nothing_covers_nothing() -> None:
    found = calls("get_order_details(order_id=9)", "search_tweets(keyword='zzz')", "no call", "x()")
    assert (found.functions, found.edges, found.backends, found.pairs) == ({}, {}, {}, {})
    assert len(found.missing_functions) == 127
    assert len(found.missing_edges) == 632
    assert calls("get_watchlist()", world="morning").functions == {}


def test_arguments_by_position_count_too() -> None:
    found = calls("get_symbol_by_name('Nvidia')", "get_stock_info('NVDA')")
    assert list(found.edges) == ["get_symbol_by_name.symbol -> get_stock_info.symbol"]


def test_pairs_and_counts_are_by_path() -> None:
    one = trace(GRAPH.session(), ["ls()", "ls(a=True)", "list_users()", "get_current_time()"])
    two = trace(GRAPH.session(), ["list_users()", "pwd()"])
    found = coverage(GRAPH, [one, two])
    assert found.paths == 2
    assert found.functions == {"ls": 1, "list_users": 2, "get_current_time": 1, "pwd": 1}
    assert found.pairs == {
        ("GorillaFileSystem", "MessageAPI"): 2,
        ("GorillaFileSystem", "TradingBot"): 1,
        ("MessageAPI", "TradingBot"): 1,
    }


@pytest.mark.slow
def test_ground_truth_can_be_traced() -> None:
    dataset = load_embedded([Category.BASE])
    traces = [
        trace(
            Session.load(t.environments, t.config),
            [text for turn in t.turns for text in turn.ground_truth],
        )
        for t in dataset.trajectories.values()
    ]
    found = coverage(GRAPH, traces)
    assert found.paths == len(traces)
    assert set(found.backends) == set(BACKENDS)
    assert len(found.functions) >= 118
    assert len(found.edges) >= 60
