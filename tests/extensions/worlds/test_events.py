"""Events: verdicts on agents of known behaviour, and order."""
# ruff: noqa: E501 - events are shown in one line.

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import partial
from typing import Any, NamedTuple

import pytest

from checkers.multi_turn_verdict import judge
from checkers.profile import STRICT
from envs.calls import parse_call
from envs.errors import BackendFault, ConfigError
from envs.session import Session
from extensions.worlds import world_clock
from extensions.worlds.events import list_effects
from runner.analysis.report.episode_cards import EpisodeCardRenderer
from runner.analysis.report.value_bounds import ValueBounds
from runner.cli import main
from runner.episodes.offline import examine_truth
from runner.episodes.turn_loop import TurnLoop
from runner.records.episode_record import EpisodeRecord
from runner.rollouts.rollout_env import RolloutEnv, single_dataset
from tests.runner.analysis.report.making import shared_of
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Message, Trajectory, Turn

DAY = "2026-03-02T"
SHOP = {"Stockroom": {"products": {"T1": {"name": "Green tea", "price": 450, "stock": 0}}}}
BUY = ("add_to_cart(product='T1', number=1)", "order_cart()")
FULL = {"Stockroom": {"products": {"T1": {"name": "Green tea", "price": 450, "stock": 9}}}}


class Case(NamedTuple):
    """An entry of one turn: the right calls act after the event and before the deadline."""

    name: str
    config: dict[str, Any]
    event: dict[str, Any]
    acts: tuple[str, ...]
    early: bool = False
    """Whether acting too early is right, too."""


def at(hour: str, **effects: Any) -> dict[str, Any]:
    return {"id": "event", "at": f"{DAY}{hour}", **effects}


CASES = (
    Case("delivery", SHOP, at("11:00", adds={"Stockroom.products.T1.stock": 5}), BUY),
    Case("price falls", FULL, at("11:00", sets={"Stockroom.products.T1.price": 300}), BUY),
    Case("by a call", SHOP, at("11:00", does=["receive_delivery('T1', 5)"]), BUY),
    Case("price by a call", FULL, at("11:00", does=["set_price('T1', 100)"]), BUY),
    Case("told", SHOP, at("10:30", adds={"Stockroom.products.T1.stock": 1}, agent="Tea."), BUY),
    Case("credit", FULL, at("11:00", adds={"Storefront.credit": 450}), (*BUY, "pay_order('1', 450)")),
    Case("renamed", FULL, at("11:00", sets={"Stockroom.products.T1.price": 0}), (*BUY, "pay_order('1', 0)")),
    Case("new product", FULL, at("10:15", sets={"Stockroom.products.C1": {"name": "Pot", "price": 9, "stock": 1}}), ("add_to_cart('C1', 1)", "order_cart()")),
    Case("guard holds", SHOP, at("11:00", when={"Stockroom.products.T1.stock": 0}, adds={"Stockroom.products.T1.stock": 2}), BUY),
    Case("two effects", SHOP, at("11:00", adds={"Stockroom.products.T1.stock": 2}, sets={"Stockroom.products.T1.price": 7}), BUY),
    Case("refused effect", SHOP, at("11:00", does=["receive_delivery('X', 1)"], adds={"Stockroom.products.T1.stock": 2}), BUY),
    Case("only news", FULL, at("11:00", agent="The shop has a new owner."), BUY, early=True),
)  # fmt: skip

DEADLINE = {"id": "closed", "at": f"{DAY}15:00", "sets": {"Stockroom.products": {}}}


def entry(case: Case) -> Trajectory:
    clock = {"now": f"{DAY}09:00", "events": [case.event, DEADLINE]}
    truth = (f"wait(until='{DAY}12:00')", *case.acts)
    return Trajectory(
        id="shop_event",
        category=Category.BASE,
        environments=("Storefront", "BackOffice"),
        config={**case.config, "WorldClock": clock},
        turns=(Turn((Message("user", "Buy some tea once it pays off."),), truth),),
    )


def waits(*hours: str) -> list[str]:
    return [f"wait(until='{DAY}{hour}')" for hour in hours]


AGENTS = {
    "oracle": (waits("12:00"), [], True),
    "polling": (waits(*(f"{h:02}:{m:02}" for h in (9, 10, 11) for m in (20, 40))), [], True),
    "a little later": (waits("13:45"), [], True),
    "too early": ([], waits("12:00"), None),
    "too late": (waits("16:00"), [], False),
}


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_agent_gets_the_verdict_that_its_time_deserves(case, agent):
    before, after, passes = AGENTS[agent]
    trajectory = entry(case)
    prepared = prepare(single_dataset(trajectory), trajectory, STRICT)
    episode = TurnLoop(trajectory, prepared.template.fork(), STRICT, None)
    for text in (*before, *case.acts, *after):
        episode.act([parse_call(text)])
    episode.end_turn()
    verdict = judge(prepared.truth, episode.outcomes, STRICT, prepared.scene)
    assert verdict.valid is (case.early if passes is None else passes), verdict.failure


def test_the_model_is_told_after_the_results_of_the_step():
    env = RolloutEnv(entry(CASES[4]))
    env.reset()
    seen = env.step([parse_call(f"wait(until='{DAY}12:00')")]).observation.messages
    assert [message["role"] for message in seen] == ["tool", "user"]
    assert seen[1]["content"] == f"[Notice {DAY}10:30] Tea."


def test_time_passes_between_turns_and_the_model_is_told_before_the_user_speaks():
    trajectory = entry(CASES[4])
    clock = {**trajectory.config["WorldClock"], "minutes_per_turn": 120}
    asked = Turn((Message("user", "And now?"),), BUY)
    first = Turn((Message("user", "Any tea?"),), ("find_products(text='tea')",))
    trajectory = Trajectory(
        **{
            **trajectory.__dict__,
            "config": {**SHOP, "WorldClock": clock},
            "turns": (first, asked),
        }
    )
    env = RolloutEnv(trajectory)
    env.reset()
    env.step([parse_call("find_products(text='tea')")])
    seen = env.step("There is none.").observation.messages
    assert [message["content"] for message in seen] == [f"[Notice {DAY}10:30] Tea.", "And now?"]
    for text in BUY:
        env.step([parse_call(text)])
    assert env.step("Done.").info["verdict"]["valid"]


def test_events_happen_in_the_order_of_times_then_of_the_list():
    events = [
        {"id": name, "at": f"{DAY}{hour}", "agent": name}
        for name, hour in (("c", "11:00"), ("a", "10:00"), ("d", "11:00"), ("b", "10:30"))
    ]
    session = Session.load(["WorldClock"], {"WorldClock": {"now": f"{DAY}09:00", "events": events}})
    session.call(parse_call(f"wait(until='{DAY}12:00')"))
    assert [notice.text for notice in session.notices] == ["a", "b", "c", "d"]


@pytest.mark.parametrize("end_turn", [False, True])
@pytest.mark.parametrize("kind", ["bug", "endless"])
def test_an_event_that_fails_takes_back_the_whole_call(kind, end_turn, monkeypatch):
    def list_broken(event, session):
        yield from list_effects(event, session)
        if event["id"] == "b" and kind == "bug":
            yield "reorder()", lambda: session.backends["Nowhere"]

    monkeypatch.setattr(world_clock, "list_effects", list_broken)
    monkeypatch.setattr(world_clock, "_MAX_EVENTS", 9 if kind == "bug" else 1)
    events = [
        {"id": name, "at": f"{DAY}{hour}", "adds": {"Storefront.credit": 5}, "agent": "x"}
        for name, hour in (("a", "10:00"), ("b", "11:00"), ("c", "13:00"))
    ]
    clock = {"now": f"{DAY}09:00", "events": events, "minutes_per_turn": 180}
    session = Session.load(["Storefront"], {**SHOP, "WorldClock": clock})
    before = session.snapshot()
    wait = parse_call(f"wait(until='{DAY}12:00')")
    act = session.end_turn if end_turn else partial(session.call, wait)
    for _ in range(2):
        with pytest.raises(BackendFault, match="raised"):
            act()
        assert session.snapshot().states == before.states
        assert session.notices == []
    monkeypatch.undo()
    act()
    assert [(each.event, each.at) for each in session.notices if each.to] == [
        ("a", f"{DAY}10:00"),
        ("b", f"{DAY}11:00"),
    ]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"at": f"{DAY}10:00"}, "needs an effect"),
        ({"agent": "x"}, "needs one trigger"),
        ({"at": "2026-02-30T10:00", "agent": "x"}, "not a real date and time"),
        ({"at": "2026-03-01T10:00", "agent": "x"}, "is in the past"),
        ({"at": f"{DAY}10:00", "sets": {"Nowhere.x": 1}}, "no backend Nowhere"),
        ({"at": f"{DAY}10:00", "sets": {"Storefront.carts": 1}}, "has no field carts"),
        ({"at": f"{DAY}10:00", "sets": {"Storefront": 1}}, "is not a path"),
        ({"at": f"{DAY}10:00", "does": ["vanish()"]}, "no function or reaction vanish"),
        ({"at": f"{DAY}10:00", "does": ["__import__('os').system('x')"]}, "is not a call"),
        ({"after": "vanish", "agent": "x"}, "no function vanish"),
        ({"when": {"Storefront.credit": {"under": 1}}, "agent": "x"}, "with one of below"),
    ],
)
def test_a_mistake_in_an_event_is_told_with_its_place(event, said):
    clock = {"now": f"{DAY}09:00", "events": [{"id": "event", **event}]}
    with pytest.raises(ConfigError, match=said) as caught:
        Session.load(["Storefront"], {"WorldClock": clock})
    assert caught.value.problems[0].path.startswith("$.WorldClock.events[0]")


@pytest.mark.parametrize(
    "events",
    [
        *(5, "x", None, {"id": "e"}, ["x"], [None], [["x"]]),
        [{"id": "e", "agent": "n", "does": 5}],
        [{"id": "e", "agent": "n", "sets": ["a"]}],
        [{"id": "e", "agent": "n", "when": "x"}],
        [{"id": "e", "after": 5}],
        [{"id": "e", "after": "f("}],
    ],
)
def test_malformed_events_are_refused_even_if_the_config_is_not_checked(events):
    config = {"WorldClock": {"events": events}}
    with pytest.raises(ConfigError, match=r"WorldClock\.events.*: (must be a list|is not a valid)"):
        Session.load(["WorldClock"], config, checks_config=False)


def test_a_replay_shows_events_below_the_call(tmp_path, capsys):
    file = tmp_path / "shop.jsonl"
    file.write_text(json.dumps(asdict(entry(CASES[4]))) + "\n", encoding="utf-8")
    assert main(["replay", "shop_event", "--dataset", str(file)]) == 0
    shown = capsys.readouterr().out
    assert f"event     event, to agent: [Notice {DAY}10:30] Tea." in shown
    assert shown.index("wait(") < shown.index("[Notice") < shown.index("add_to_cart(")


def between_turns() -> Trajectory:
    """An entry whose event happens between its two turns, in which nothing is called."""
    trajectory = entry(CASES[4])
    clock = {**trajectory.config["WorldClock"], "minutes_per_turn": 120}
    turns = (
        Turn((Message("user", "Any tea?"),), ("find_products(text='tea')",)),
        Turn((Message("user", "And now?"),), BUY),
    )
    config = {**SHOP, "WorldClock": clock}
    return replace(trajectory, config=config, turns=turns)


def test_a_replay_shows_events_between_turns(tmp_path, capsys):
    file = tmp_path / "shop.jsonl"
    file.write_text(json.dumps(asdict(between_turns())) + "\n", encoding="utf-8")
    assert main(["replay", "shop_event", "--dataset", str(file)]) == 0
    shown = capsys.readouterr().out
    assert shown.index("turn 2") < shown.index("[Notice") < shown.index("And now?")
    assert main(["replay", "shop_event", "--dataset", str(file), "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["turns"]
    assert "notices" not in first
    assert [each["to"] for each in second["notices"]] == [None, "agent"]


def test_a_page_has_events_and_the_state_between_turns():
    trajectory = between_turns()
    prepared = prepare(single_dataset(trajectory), trajectory, STRICT)
    examined = examine_truth(prepared, STRICT, 20)
    record = EpisodeRecord.of(trajectory, examined.verdict)
    renderer = EpisodeCardRenderer(record, shared_of(None, record), ValueBounds(500, 20))
    made = renderer.turns(examined)
    first, second = made["turns"]
    assert not {"events", "state", "expected"} & first.keys()
    assert [reader for reader, _ in second["events"]] == ["nobody", "agent"]
    assert second["state"] == second["expected"]
    assert "Stockroom" in second["state"]


def test_the_debugger_shows_events_between_turns():
    pytest.importorskip("textual")
    from extensions.debugger.stepper import Stepper
    from extensions.debugger.views import call_view, transcript

    trajectory = between_turns()
    prepared = prepare(single_dataset(trajectory), trajectory, STRICT)
    stepper = Stepper(examine_truth(prepared, STRICT, 20))
    [start] = [m for m in stepper.timeline.moments if m.place[:2] == (1, "start")]
    stepper.cursor = stepper.timeline.index(start.place)
    for shown in (call_view(stepper).plain, transcript(stepper).plain):
        assert f"event for agent: [Notice {DAY}10:30] Tea." in shown
