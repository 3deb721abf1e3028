"""How a fleet does with actors that die or stall: a Ray without processes, a clock of ours."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from extensions.pools.pool_workers import TRIES
from extensions.ray import cluster
from extensions.ray.cluster import ActorPool, NoResult

PATIENCE = 60.0


class ActorDied(Exception):
    """Stands for Ray's error."""


class Result:
    """What an actor may give, in the end."""

    def __init__(self, actor, item):
        self.actor, self.item = actor, item
        self.value = None
        self.is_there = False


class Handle:
    """An actor; items say by their first word what it does with them."""

    def __init__(self, ray):
        self.ray = ray
        self.is_killed = self.is_stalled = False
        self.results = []
        self.do = SimpleNamespace(remote=lambda needs, item: self._add(item))
        self.alive = SimpleNamespace(remote=lambda: self._add("answer"))

    def _add(self, item):
        self.results.append(Result(self, item))
        return self.results[-1]

    def go_on(self):
        """Do all that it has, as far as it lives."""
        for result in self.results:
            self.ray.most = max(self.ray.most, len(self.results))
            if self.is_killed or self.is_stalled or result.is_there:
                continue
            self.is_killed = result.item.startswith("kill")
            self.is_stalled = result.item.startswith("stall")
            if not self.is_killed and not self.is_stalled:
                result.value, result.is_there = result.item, True
        if self.is_killed:
            for result in self.results:
                result.is_there = True


class Ray:
    """As much of the library as a fleet takes."""

    exceptions = SimpleNamespace(RayActorError=ActorDied)

    def __init__(self):
        self.handles = []
        self.now = 0.0
        self.most = 0
        self.options = []

    def put(self, value):
        return value

    def remote(self, kind):
        return SimpleNamespace(options=self._options)

    def _options(self, **options):
        self.options.append(options)
        return SimpleNamespace(remote=self._new)

    def _new(self):
        self.handles.append(Handle(self))
        return self.handles[-1]

    def wait(self, results, num_returns=1, timeout=None):
        for handle in self.handles:
            handle.go_on()
        ready = [result for result in results if result.is_there][:num_returns]
        assert ready or timeout is not None, "it would wait for ever"
        self.now += 0 if ready else timeout
        return ready, []

    def get(self, result):
        if result.actor.is_killed and result.value is None:
            raise ActorDied
        return result.value

    def kill(self, handle):
        handle.is_killed = True
        handle.go_on()


@pytest.fixture
def ray(monkeypatch):
    """Return a Ray that is found by what uses it."""
    ray = Ray()
    monkeypatch.setattr(cluster, "library", lambda: ray)
    monkeypatch.setattr(cluster, "monotonic", lambda: ray.now)
    return ray


def done(ray, items, **how):
    """Return what a fleet gives for items."""
    found = ActorPool(object, 2, **how).results(items)
    return {n: r if isinstance(r, NoResult) else ray.get(r) for n, r in found}


GOOD = [f"item {number}" for number in range(20)]


@pytest.mark.parametrize("at_once", [None, 1, 8])
def test_all_items_are_done(ray, at_once):
    assert done(ray, GOOD, at_once=at_once) == dict(enumerate(GOOD))
    assert len(ray.handles) == 2


@pytest.mark.parametrize("at_once", [None, 1, 8])
@pytest.mark.parametrize("places", [[0], [3], [19], [2, 3, 4], [0, 7, 12, 19]])
def test_what_kills_whoever_does_it_costs_no_other_item(ray, at_once, places):
    items = [f"kill {n}" if n in places else item for n, item in enumerate(GOOD)]
    lost = NoResult(f"was killed {TRIES} times")
    wanted = {n: lost if n in places else item for n, item in enumerate(items)}
    assert done(ray, items, at_once=at_once) == wanted


@pytest.mark.parametrize("at_once", [None, 1, 8])
@pytest.mark.parametrize("places", [[0], [3], [19], [2, 3, 4], [0, 7, 12, 19]])
def test_what_stalls_whoever_does_it_costs_no_other_item(ray, at_once, places):
    items = [f"stall {n}" if n in places else item for n, item in enumerate(GOOD)]
    lost = NoResult("did not respond for 60 seconds (--entry-timeout)")
    wanted = {n: lost if n in places else item for n, item in enumerate(items)}
    assert done(ray, items, at_once=at_once, patience=PATIENCE) == wanted


def test_killing_and_stalling_items_at_once(ray):
    items = [
        f"{'kill' if n % 3 == 0 else 'stall' if n % 3 == 1 else 'item'} {n}" for n in range(30)
    ]
    found = done(ray, items, at_once=8, patience=PATIENCE)
    assert {n: r for n, r in found.items() if not isinstance(r, NoResult)} == {
        n: item for n, item in enumerate(items) if item.startswith("item")
    }
    assert len(found) == 30


def test_who_is_slow_but_answers_is_let_be(ray):
    """An item that takes ten times the patience, of an actor that answers meanwhile."""
    fleet = ActorPool(object, 1, patience=PATIENCE)
    found = fleet.results(["stall 0"])
    handle = ray.handles[0]

    def go_on():
        for result in handle.results:
            result.is_there = result.item == "answer" or ray.now > 10 * PATIENCE
            result.value = result.item

    handle.go_on = go_on
    assert [ray.get(result) for _, result in found] == ["stall 0"]
    assert len(ray.handles) == 1


def test_the_one_that_does_items_alone_takes_no_processor(ray):
    done(ray, ["kill 0", *GOOD])
    assert {options["num_cpus"] for options in ray.options} == {0, 1}
