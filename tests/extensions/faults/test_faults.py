"""Faults: drawn by seed and call, retried with success, recorded, and absent at rate 0."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import turnwise

from checkers.multi_turn_verdict import judge
from checkers.profile import STRICT
from envs.calls import parse_call
from envs.errors import DataError
from envs.session import Session
from extensions.faults.drift import Drift
from extensions.faults.drifted_documents import drift_toolbox
from extensions.faults.faults import FINAL, KINDS, TEXTS, FaultsAndDrift, FaultSettings, find_kind
from extensions.worlds import shop
from runner.analysis.replayed_runs import replay_run
from runner.cli import main
from runner.episodes.turn_loop import TurnLoop
from runner.models.toolbox import Toolbox, own_documents
from runner.records.recorded_run import open_run
from trajectories.dataset import load_path
from trajectories.prepared_trajectory import prepare
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import Category

WORLDS = ("shop", "calendar", "hotel", "bank")
WORLDS_DATA = Path(shop.__file__).parent / "data"

DESK = {
    "TicketAPI": {
        "current_user": "ann",
        "ticket_counter": 2,
        "ticket_queue": [
            {
                "id": 1,
                "title": "Printer",
                "description": "",
                "status": "Open",
                "priority": 2,
                "created_by": "ann",
            }
        ],
    }
}


def desk(faults: FaultSettings) -> Session:
    return FaultsAndDrift(faults).wrap(Session.load(["TicketAPI"], DESK), "an_entry")


def text(session: Session, call: str) -> str:
    return session.call(parse_call(call)).text


@pytest.mark.parametrize("kind", ["timeout", "refusal"])
def test_a_call_that_fails_changes_nothing_and_succeeds_when_it_is_made_again(kind):
    session = desk(FaultSettings(1.0, (kind,)))
    before = session.snapshot()
    assert find_kind(text(session, "close_ticket(ticket_id=1)")) == kind
    assert session.snapshot() == before
    assert "error" not in text(session, "close_ticket(ticket_id=1)")
    assert session.snapshot() != before


def test_a_read_may_be_incomplete_or_old_and_says_so():
    partial, stale = (desk(FaultSettings(1.0, (kind,))) for kind in ("partial", "stale"))
    assert TEXTS["partial"] in text(partial, "get_ticket(ticket_id=1)")
    assert TEXTS["partial"] not in text(partial, "get_ticket(ticket_id=1)")
    assert find_kind(text(stale, "close_ticket(ticket_id=1)")) == "timeout"
    text(stale, "close_ticket(ticket_id=1)")
    old = text(stale, "get_ticket(ticket_id=1)")
    assert '"status": "Open"' in old
    assert TEXTS["stale"] in old
    assert '"status": "Closed"' in text(stale, "get_ticket(ticket_id=1)")


@pytest.mark.parametrize("kind", ["partial", "stale"])
def test_a_result_that_a_fault_would_not_change_has_no_fault(kind):
    session = FaultsAndDrift(FaultSettings(1.0, (kind,))).wrap(Session.load(["Mailbox"], {}), "id")
    assert text(session, "list_emails()") == '{"emails": {}}'


def test_faults_do_not_depend_on_the_order_of_calls():
    faults = FaultSettings(0.5, ("refusal",), seed=4)
    calls = [f"get_ticket(ticket_id={number})" for number in range(40)]
    there = desk(faults)
    forth = {call: find_kind(text(there, call)) for call in calls}
    there = desk(faults)
    assert {call: find_kind(text(there, call)) for call in reversed(calls)} == forth
    assert 8 < sum(kind is not None for kind in forth.values()) < 32
    other = FaultSettings(0.5, ("refusal",), seed=5)
    assert {call: other.draw("an_entry", call) for call in calls} != forth


def test_forks_continue_alike_and_apart():
    session = desk(FaultSettings(1.0, ("refusal",)))
    fork = session.fork()
    assert find_kind(text(fork, "close_ticket(ticket_id=1)")) == "refusal"
    assert find_kind(text(session, "close_ticket(ticket_id=1)")) == "refusal"
    assert find_kind(text(session.fork(), "close_ticket(ticket_id=1)")) is None


def test_without_a_rate_the_session_is_the_same():
    session = Session.load(["TicketAPI"], DESK)
    assert FaultsAndDrift().wrap(session, "an_entry") is session


def test_options_are_read_and_written():
    assert FaultSettings.read("rate=0.25,kinds=stale|timeout,seed=7") == FaultSettings(
        0.25, ("timeout", "stale"), 7
    )
    assert FaultSettings.read(str(FaultSettings(0.1))) == FaultSettings(0.1, KINDS)
    assert FaultSettings.read("rate=0.1,final=0.5") == FaultSettings(0.1, KINDS, 0, 0.5)
    assert Drift.read(str(Drift(("rename",), 0.5, 3))) == Drift(("rename",), 0.5, 3)


@pytest.mark.parametrize(
    "text", ["", "rate=2", "rate=x", "kinds=stale", "rate=0.1,kinds=loss", "0.1", "rate=1,final=2"]
)
def test_other_options_are_refused(text):
    with pytest.raises(DataError, match="--faults"):
        FaultSettings.read(text)


def play(prepared, faults: FaultSettings, *, retries: bool):
    """Return the verdict on an agent that makes the right calls, and the number of faults."""
    session = FaultsAndDrift(faults).wrap(prepared.template.fork(), prepared.trajectory.id)
    episode = TurnLoop(prepared.trajectory, session, STRICT, None)
    injected = 0
    for turn in prepared.trajectory.turns:
        for call in read_truth_calls(turn):
            [result] = episode.act([call])
            while find_kind(result.text):
                injected += 1
                if not retries:
                    break
                [result] = episode.act([call])
        episode.end_turn()
    return judge(prepared.truth, episode.outcomes, STRICT, prepared.scene).valid, injected


@pytest.mark.parametrize("kinds", [("timeout",), ("refusal", "partial", "stale")])
def test_an_agent_that_tries_again_scores_as_without_faults(kinds):
    data = turnwise.load_dataset(categories="base")
    faulty = 0
    for trajectory in [*data.trajectories.values()][:40]:
        prepared = prepare(data, trajectory, STRICT)
        passed, injected = play(prepared, FaultSettings(0.1, kinds), retries=True)
        assert passed
        trusting, again = play(prepared, FaultSettings(0.1, kinds), retries=False)
        # What is old depends on the state, so that only the first fault is sure to be the same.
        assert bool(again) == bool(injected)
        faulty += bool(injected)
        assert trusting or injected
        assert play(prepared, FaultSettings(0.0), retries=False) == (True, 0)
    assert faulty > 10


def world_of(id):
    """Return the world of an entry."""
    return next(world for world in WORLDS if f"_{world}_" in id)


@pytest.mark.parametrize("kinds", [("timeout",), ("refusal", "partial", "stale")])
def test_an_agent_that_retries_scores_as_without_faults_in_each_world(kinds):
    data = load_path(WORLDS_DATA, [Category.BASE])
    faulty = Counter()
    for trajectory in data.trajectories.values():
        prepared = prepare(data, trajectory, STRICT)
        passed, injected = play(prepared, FaultSettings(0.2, kinds), retries=True)
        assert passed
        trusting, _ = play(prepared, FaultSettings(0.2, kinds), retries=False)
        assert trusting is not bool(injected)
        faulty[world_of(trajectory.id)] += bool(injected)
    assert set(faulty) == set(WORLDS)
    assert min(faulty.values()) >= 2


def test_an_agent_that_does_not_try_again_lacks_what_a_fault_kept_from_happening():
    data = turnwise.load_dataset(categories="base")
    failed = faulty = 0
    for trajectory in [*data.trajectories.values()][:60]:
        prepared = prepare(data, trajectory, STRICT)
        passed, injected = play(prepared, FaultSettings(0.1, ("timeout",)), retries=False)
        faulty += bool(injected)
        failed += not passed
        assert passed or injected
    assert failed >= 0.8 * faulty > 5


def test_a_final_fault_stays():
    session = desk(FaultSettings(1.0, ("timeout",), final=1.0))
    before = session.snapshot()
    for _ in range(3):
        assert FINAL in text(session, "close_ticket(ticket_id=1)")
    assert session.snapshot() == before


def test_a_renamed_function_has_only_its_new_name():
    session = drifted("rename")
    assert "is now called close_ticket_v2" in text(session, "close_ticket(ticket_id=1)")
    assert session.snapshot() == desk(FaultSettings(0.0)).snapshot()
    assert "error" not in text(session, "close_ticket_v2(ticket_id=1)")
    assert '"status": "Closed"' in text(session.fork(), "get_ticket_v2(ticket_id=1)")
    assert "nothing_v2" in text(session, "nothing_v2()")


def test_a_new_parameter_is_required():
    session = drifted("new-parameter")
    assert "requires the parameter api_version" in text(session, "close_ticket(ticket_id=1)")
    assert "requires" in text(session, "close_ticket(ticket_id=1, api_version=1)")
    assert "error" not in text(session, "close_ticket(ticket_id=1, api_version=2)")


def drifted(kind):
    session = Session.load(["TicketAPI"], DESK, checks_arguments=True)
    return FaultsAndDrift(drift=Drift((kind,))).wrap(session, "an_entry")


@pytest.mark.parametrize(
    "given", ["", "move", "rename,share=2", "rename,rate=1", "rename,documents=none"]
)
def test_other_drift_is_refused(given, capsys):
    assert main(["eval", "--model", "oracle", "--drift", given]) == 2
    assert "--drift" in capsys.readouterr().err


def run(folder, *options, limit=40):
    entries = ["--category", "base", "--limit", str(limit)]
    assert main(["eval", "--model", "oracle", *entries, "--run-dir", str(folder), *options]) == 0
    return [list(open_run(folder / name).records) for name in ("without", "with")]


def test_a_model_that_trusts_fails_exactly_where_a_call_failed(tmp_path, capsys):
    without, faulty = run(tmp_path / "run", "--faults", "rate=0.05,kinds=timeout|refusal")
    assert all(each.outcome == "passed" for each in without)
    hit = [each for each in faulty if each.extensions["faults"].injected]
    assert 10 < len(hit) < 35
    for each in faulty:
        injected = each.extensions["faults"].injected
        assert each.verdict.failed_turn == (injected[0].turn if injected else None)
    out = capsys.readouterr().out
    assert f"with         {40 - len(hit)}      {len(hit)} " in out
    assert "injected faults: timeout" in out


FAULTS = ["--faults", "rate=0.2,kinds=timeout|refusal"]


def test_in_each_world_a_model_that_trusts_fails_exactly_where_a_call_failed(tmp_path):
    options = ["--dataset", "worlds", "--category", "base", "--run-dir", str(tmp_path / "run")]
    assert main(["eval", "--model", "oracle", *options, *FAULTS]) == 0
    hit = set()
    for each in open_run(tmp_path / "run" / "with").records:
        injected = each.extensions["faults"].injected
        assert each.verdict.failed_turn == (injected[0].turn if injected else None)
        hit |= {world_of(each.id) for _ in injected}
    assert hit == set(WORLDS)


@pytest.mark.parametrize("limit", [12, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("kind", "documents", "passes"),
    [
        ("rename", "old", False),
        ("new-parameter", "old", False),
        ("deprecated", "old", True),
        ("rename", "new", True),
        ("new-parameter", "new", True),
        ("deprecated", "new", True),
    ],
)
def test_a_model_fails_where_no_document_shows_the_change(
    tmp_path, capsys, kind, documents, passes, limit
):
    _, changed = run(tmp_path / "run", "--drift", f"{kind},documents={documents}", limit=limit)
    assert sum(each.outcome == "passed" for each in changed) == passes * limit
    assert {fault.kind for each in changed for fault in each.extensions["faults"].injected} == {
        kind
    }
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "run" / "with")]) == 0


def test_the_cause_of_a_failure_is_found_behind_changed_functions(tmp_path):
    data = turnwise.load_dataset(categories="base")
    causes = []
    for name in ("without", "with"):
        options = ["--category", "base", "--limit", "15", "--run-dir", str(tmp_path / "run")]
        drift = ["--drift", "rename|new-parameter"]
        if name == "without":
            assert main(["eval", "--model", "scripted:0.5", *options, *drift]) == 0
        replayed = replay_run(open_run(tmp_path / "run" / name), data, STRICT, 20)
        found = {each.trajectory.id: each.examined.diagnosis for each in replayed.episodes}
        causes.append({id: each and (each.cause, each.turn) for id, each in found.items()})
    assert causes[0] == causes[1]
    assert len([each for each in causes[0].values() if each]) > 5


def tools_of(drift, offered=("close_ticket", "get_ticket")):
    toolbox = Toolbox(own_documents(["TicketAPI"]))
    found = drift_toolbox(toolbox, Drift.read(drift)).tools(frozenset(offered), ()).tools
    return {tool["function"]["name"]: tool["function"] for tool in found}


def test_tools_show_the_new_functions():
    assert [*tools_of("rename")] == ["get_ticket_v2", "close_ticket_v2"]
    with_parameter = tools_of("new-parameter")["close_ticket"]["parameters"]
    assert with_parameter["required"] == ["ticket_id", "api_version"]
    assert with_parameter["properties"]["api_version"]["enum"] == [2]
    deprecated = tools_of("deprecated")
    assert [*deprecated] == ["get_ticket", "get_ticket_v2", "close_ticket", "close_ticket_v2"]
    assert "close_ticket is deprecated" in deprecated["close_ticket"]["description"]
    assert "deprecated" not in deprecated["close_ticket_v2"]["description"]
    assert [*tools_of("rename,share=0")] == ["get_ticket", "close_ticket"]


@pytest.mark.parametrize("mode", ["fc", "prompt"])
@pytest.mark.parametrize("drift", ["rename", "new-parameter", "deprecated", "rename,documents=old"])
def test_a_rollout_shows_the_same_documents(mode, drift):
    data = turnwise.load_dataset(categories="base")
    trajectory = next(each for each in data.trajectories.values() if not each.turns[0].outages)
    env = turnwise.RolloutEnv(trajectory, mode=mode, extensions={"faults": {"drift": drift}})
    seen = str(env.reset())
    first = read_truth_calls(trajectory.turns[0])[0].name
    assert (f"{first}_v2" in seen) is (drift in ("rename", "deprecated"))
    assert ("api_version" in seen) is (drift == "new-parameter")


class Adapting:
    """An agent that knows the calls, and does what an error tells it."""

    def __init__(self, dataset):
        self.calls = {
            entry.turns[0].words: [[*map(parse_call, turn.ground_truth)] for turn in entry.turns]
            for entry in dataset.trajectories.values()
        }

    def __call__(self, messages, tools):
        said = [message for message in messages if message["role"] == "user"]
        turn = self.calls[said[0]["content"]][len(said) - 1]
        done = 0
        after = messages[messages.index(said[-1]) + 1 :]
        told = ""
        for message in after:
            if message["role"] == "tool":
                told = message["content"]
                asks = find_kind(told) or "is now called" in told or "now requires" in told
                done += not asks
        if done == len(turn):
            return {"role": "assistant", "content": "Done."}
        name, arguments = turn[done].name, dict(turn[done].kwargs)
        if "is now called" in told:
            name += "_v2"
        if "now requires" in told:
            arguments["api_version"] = 2
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": str(len(messages)), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}


@pytest.mark.parametrize(
    "member",
    [
        {"faults": "rate=0.2"},
        {"drift": "rename|new-parameter,documents=old"},
        {"faults": "rate=0.2,seed=3", "drift": "rename|new-parameter|deprecated,share=0.5"},
    ],
    ids=str,
)
def test_an_agent_that_does_what_it_is_told_scores_as_without(tmp_path, member):
    data = turnwise.load_dataset(categories="base")
    entries = [
        id for id, entry in data.trajectories.items() if not any(t.outages for t in entry.turns)
    ]
    found = turnwise.evaluate(
        Adapting(data),
        data,
        ids=entries[:15],
        run_dir=tmp_path / "run",
        extensions={"faults": member},
    )
    assert (found.passed, found.errors) == (15, 0)
    injected = [len(each.extensions["faults"].injected) for each in found.records()]
    assert sum(injected) > 15
