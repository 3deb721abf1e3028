"""Worlds shared by several backends: access, refusals, forks, snapshots, and what happens alone."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from typing_extensions import TypedDict

from envs import registry
from envs.backend import Backend, NoConfig, reads, writes, writes_even_refused
from envs.bounds import BOUNDS, UNMEASURED, measure_size
from envs.calls import Call, parse_call
from envs.errors import BackendFault, ConfigError, ConfigProblem, Refused
from envs.notices import Notice
from envs.session import Session
from envs.worlds import World, WorldSession


class StoreroomConfig(TypedDict, total=False):
    """Initial config."""

    stock: dict[str, int]


class Storeroom(World):
    """Shelves, and a bell that rings when one is empty."""

    Config = StoreroomConfig

    stock: dict[str, int] = {}
    nights: int = 0

    def take(self, item: str) -> None:
        self.stock = {**self.stock, item: self.stock[item] - 1}
        if self.stock[item] < 0:
            raise Refused(f"There is no {item}.")

    def _settle(self, session: WorldSession, call: Call) -> None:
        self.nights += "bomb" in self.stock
        if "bomb" in self.stock and self.stock["bomb"] < 5:
            raise Refused("The world breaks.")
        for item, number in self.stock.items():
            if number == 0:
                self.stock = {**self.stock, item: 5}
                self._notify(Notice("bell", f"{item} was filled up.", "agent"))

    def _end_turn(self, session: WorldSession) -> None:
        self.nights += 1
        if "bomb" in self.stock:
            raise ValueError("broken night")

    def _find_problems(self, session: WorldSession) -> Iterator[ConfigProblem]:
        if "Guard" in session.backends:
            yield ConfigProblem("$.Storeroom", "needs no guard")


class Counter(Backend):
    """Where goods go out."""

    Config = NoConfig
    uses = [Storeroom]

    sold: list[str] = []

    @writes
    def sell_goods(self, item: str) -> dict[str, Any]:
        """Sell an item."""
        self.sold = [*self.sold, item]
        room = self.world(Storeroom)
        room.take(item)
        return {"left": room.stock[item]}

    @writes_even_refused("shows that worlds keep changes, too")
    def waste_goods(self, item: str) -> dict[str, Any]:
        """Waste an item."""
        self.world(Storeroom).take(item)
        raise Refused("It is gone.")

    @writes
    def break_goods(self, item: str) -> dict[str, Any]:
        """Break an item, and the function, too."""
        self.world(Storeroom).take(item)
        raise RuntimeError("broken")


class Audit(Backend):
    """Who counts the goods."""

    Config = NoConfig
    uses = [Storeroom]

    @reads
    def count_goods(self) -> dict[str, Any]:
        """Count all goods."""
        return {"goods": sum(self.world(Storeroom).stock.values())}

    @writes
    def hoard_goods(self, item: str, text: str) -> dict[str, Any]:
        """Grow the world only."""
        room = self.world(Storeroom)
        room.stock = {**room.stock, item + text: 1}
        return {}


class Guard(Backend):
    """One who must not be there."""

    Config = NoConfig


class Stranger(Backend):
    """One who declares no world."""

    Config = NoConfig

    @reads
    def peek_goods(self) -> dict[str, Any]:
        """Look without leave."""
        return self.world(Storeroom).stock


OURS = (Counter, Audit, Guard, Stranger)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_REGISTERED", {})
    for backend in OURS:
        registry.register(backend)
    yield
    monkeypatch.undo()
    # Registering clears what is known of names.
    registry.register(Guard)
    del registry._REGISTERED["Guard"]


def load(*names: str, stock: dict[str, int] | None = None) -> Session:
    config = {"Storeroom": {"stock": stock or {"tea": 2, "salt": 9}}}
    return Session.load(names or ["Counter", "Audit"], config)


def call(session: Session, text: str) -> str:
    return session.call(parse_call(text)).text


def test_two_backends_read_and_write_one_state():
    session = load(stock={"tea": 3})
    assert [*session.backends] == ["Counter", "Audit", "Storeroom"]
    assert call(session, "sell_goods(item='tea')") == '{"left": 2}'
    assert call(session, "count_goods()") == '{"goods": 2}'


def test_differences_are_told_under_the_owner():
    session = load()
    before = session.snapshot()
    result = session.call(parse_call("sell_goods(item='tea')"))
    assert result.changed
    assert [d.path for d in before.differences(session.snapshot())] == [
        "Counter.sold[0]",
        "Storeroom.stock.tea",
    ]


def test_a_world_may_be_listed_anywhere_and_is_not_added_twice():
    assert [*load("Storeroom", "Audit").backends] == ["Storeroom", "Audit"]
    assert [*load("Audit", "Storeroom").backends] == ["Audit", "Storeroom"]


@pytest.mark.parametrize(
    "made", [lambda s: s.fork(), copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_copies_share_no_world(made):
    session = load(stock={"tea": 5})
    other = made(session)
    assert call(other, "sell_goods(item='tea')") == '{"left": 4}'
    assert call(session, "count_goods()") == '{"goods": 5}'
    assert call(other, "count_goods()") == '{"goods": 4}'


def test_a_refusal_undoes_the_changes_of_all():
    session = load(stock={"tea": 0})
    before = session.snapshot()
    result = session.call(parse_call("sell_goods(item='tea')"))
    assert result.text == '{"error": "There is no tea."}'
    assert not result.changed
    assert session.snapshot() == before


def test_a_refusal_may_keep_the_changes_of_all():
    session = load()
    result = session.call(parse_call("waste_goods(item='tea')"))
    assert result.error is not None
    assert result.changed
    assert call(session, "count_goods()") == '{"goods": 10}'


def test_a_bug_undoes_the_changes_of_all():
    session = load()
    before = session.snapshot()
    with pytest.raises(BackendFault):
        call(session, "break_goods(item='tea')")
    assert session.snapshot() == before


def test_a_bug_of_a_world_undoes_the_whole_call_or_end_of_turn():
    session = load(stock={"bomb": 6, "tea": 2})
    call(session, "sell_goods(item='bomb')")
    before = session.snapshot()
    with pytest.raises(BackendFault, match="The world breaks"):
        call(session, "sell_goods(item='bomb')")
    assert session.snapshot() == before
    with pytest.raises(BackendFault, match="broken night"):
        session.end_turn()
    assert session.snapshot() == before


def test_an_interrupt_in_a_world_undoes_the_end_of_turn_and_stays_an_interrupt(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    session = load(stock={"tea": 2})
    monkeypatch.setattr(Storeroom, "_end_turn", interrupt)
    before = session.snapshot()
    with pytest.raises(KeyboardInterrupt):
        session.end_turn()
    assert session.snapshot() == before


def test_growth_of_a_world_alone_is_bounded():
    session = load("Audit")
    text = "x" * 90_000
    texts = {call(session, f"hoard_goods(item='{n}', text='{text}')") for n in range(400)}
    assert any("error" in each for each in texts)
    assert len(str(session.snapshot().to_json())) < BOUNDS.state * 1.2


def test_restoring_a_snapshot_restores_the_worlds_and_their_notices():
    session = load(stock={"tea": 1})
    before = session.snapshot()
    call(session, "sell_goods(item='tea')")
    assert [str(each) for each in session.notices] == ["[Notice] tea was filled up."]
    session.restore(before)
    assert call(session, "count_goods()") == '{"goods": 1}'
    assert session.notices == []


def test_a_world_acts_after_calls_that_succeed_and_between_turns():
    session = load(stock={"tea": 1, "salt": 9})
    call(session, "sell_goods(item='salt')")
    assert session.notices == []
    call(session, "sell_goods(item='tea')")
    assert session.snapshot().states["Storeroom"]["stock"]["tea"] == 5
    session.end_turn()
    assert session.snapshot().states["Storeroom"]["nights"] == 1


def test_a_write_that_makes_a_world_act_counts_as_a_change():
    session = load("Counter", "Audit", stock={"tea": 0})
    assert session.call(parse_call("count_goods()")).changed is False
    assert session.snapshot().states["Storeroom"]["stock"] == {"tea": 5}


def test_access_is_declared():
    session = load("Counter", "Stranger")
    with pytest.raises(BackendFault, match="Stranger: has no world Storeroom; add it to `uses`"):
        call(session, "peek_goods()")


def test_a_backend_outside_of_a_session_has_no_world():
    with pytest.raises(TypeError, match="load the backend in a session"):
        Counter.load({}).world(Storeroom)


def test_a_world_refuses_a_config_that_does_not_fit_the_session():
    with pytest.raises(ConfigError, match="needs no guard"):
        load("Counter", "Guard")


def test_unknown_keys_of_a_world_are_refused_with_their_path():
    with pytest.raises(ConfigError, match=r"\$\.Storeroom\.shelf"):
        Session.load(["Counter"], {"Storeroom": {"shelf": 1}})


def test_two_worlds_of_one_name_cannot_be_in_a_session():
    class Storeroom(World):
        """Another one."""

    class Kiosk(Backend):
        """Uses it."""

        Config = NoConfig
        uses = [Storeroom]

    registry.register(Kiosk)
    load()
    with pytest.raises(ConfigError, match="another backend has this name"):
        load("Kiosk", "Counter")


def test_a_session_without_worlds_is_a_plain_one():
    session = Session.load(["TicketAPI"], {})
    assert type(session) is Session
    assert session.notices == ()
    session.end_turn()
    assert "uses" not in session.snapshot().states["TicketAPI"]


def test_an_action_of_an_event_is_undone_if_it_is_refused():
    session = load(stock={"tea": 1})
    room = session.backends["Storeroom"]
    assert session.act("sale", lambda: room.take("tea")) is None
    assert room.stock == {"tea": 0}
    refusal = session.act("sale", lambda: room.take("tea"))
    assert refusal.message == "There is no tea."
    assert room.stock == {"tea": 0}
    with pytest.raises(BackendFault, match=r"^sale raised KeyError: 'salt'$"):
        session.act("sale", lambda: room.take("salt"))


@pytest.mark.parametrize("hook", ["_settle", "_end_turn"])
@pytest.mark.parametrize("error", [KeyError, GeneratorExit, KeyboardInterrupt])
def test_only_an_interrupt_in_a_hook_of_a_world_is_no_bug(monkeypatch, hook, error):
    def fail(world, *_):
        world.stock = {}
        raise error

    monkeypatch.setattr(Storeroom, hook, fail)
    session = load(stock={"tea": 2})
    before = session.snapshot().states
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else BackendFault):
        call(session, "sell_goods(item='tea')") if hook == "_settle" else session.end_turn()
    assert session.snapshot().states == before


def test_a_world_acts_on_each_call_that_succeeds(monkeypatch):
    seen = []
    monkeypatch.setattr(Storeroom, "_settle", lambda self, session, call: seen.append(str(call)))
    session = load(stock={"tea": 2, "gold": 0})
    call(session, "sell_goods(item='tea')")
    call(session, "sell_goods(item='gold')")
    call(session, "hoard_goods(item='a', text='b')")
    call(session, "hoard_goods(item='a', text=count_goods())")
    assert seen == ["sell_goods(item='tea')", "hoard_goods(item='a', text='b')", "count_goods()"]


def test_a_world_is_measured_at_every_16th_change():
    for share in (10, 33):
        session = load("Audit")
        text = "x" * (BOUNDS.state // share)
        kept = [call(session, f"hoard_goods(item='{n}', text='{text}')") for n in range(60)]
        refused = next(n for n, found in enumerate(kept) if "error" in found)
        measured = range(UNMEASURED - 1, 60, UNMEASURED)
        assert refused == next(n for n in measured if n >= share - 1)


@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_a_state_may_be_as_large_as_its_bound(more, fits):
    session = load("Audit")
    changes = 3 * UNMEASURED - 1
    for number in range(changes):
        text = "x" * (BOUNDS.state // changes - 1000)
        assert "error" not in call(session, f"hoard_goods(item='{number:02}', text='{text}')")
    size = measure_size(session.snapshot().compared(), 2 * BOUNDS.state)
    # A key, a number and an object count 8 each; the outermost object does not count.
    text = "x" * (BOUNDS.state - (size - 8) - 16 - len("zz") + more)
    found = call(session, f"hoard_goods(item='zz', text='{text}')")
    assert ("error" not in found) is fits
