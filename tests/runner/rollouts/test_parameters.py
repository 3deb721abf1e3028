"""Wrong types and values of the Python API give one line that names the parameter."""

from __future__ import annotations

from dataclasses import replace

import pytest
import turnwise

from envs.errors import DataError


def agent(messages, tools):
    """Call nothing."""
    return "Done."


def evaluate(**given):
    """Evaluate an agent that is never called."""
    return turnwise.evaluate(agent, **{"categories": "base", "limit": 1, **given})


def entry():
    """Return an entry of the built-in data."""
    return next(iter(turnwise.load_dataset(categories="base").trajectories.values()))


def load_session(**given):
    """Load a session with further parameters."""
    return turnwise.Session.load(["TicketAPI"], {}, **given)


def turn_loop(profile=turnwise.STRICT):
    """Start the turn loop of an entry."""
    return turnwise.TurnLoop(entry(), turnwise.Session.load([], {}), profile)


def desk():
    """Return a session of one backend."""
    return turnwise.Session.load(["TicketAPI"], {})


def step(action):
    """Take an action at the start of an entry."""
    env = turnwise.RolloutEnv(entry())
    env.reset()
    return env.step(action)


WRONG = {
    "limit: must be an integer of at least 1 or None, but is -1": lambda: evaluate(limit=-1),
    "limit: must be an integer of at least 1 or None, but is 'five'": lambda: evaluate(
        limit="five"
    ),
    "trials: must be an integer of at least 1, but is True": lambda: evaluate(trials=True),
    "concurrency: must be an integer of at least 1, but is 0": lambda: evaluate(concurrency=0),
    "concurrency: must be at most 100,000, but is 1000000000": lambda: evaluate(concurrency=10**9),
    "trials: must be at most 100,000, but is 1000000000": lambda: evaluate(trials=10**9),
    "dataset: must be a name or path of a data set, but is 3": lambda: turnwise.load_runs(
        dataset=3
    ),
    "categories: must be a string or a list of strings, but is 3": lambda: evaluate(categories=3),
    "categories: is for a name or path; a Dataset has its own entries": lambda: evaluate(
        dataset=turnwise.load_dataset(categories="base")
    ),
    "categories: 'bsae' is not a category; did you mean base?": lambda: evaluate(categories="bsae"),
    "dataset: must be the name or path": lambda: evaluate(dataset=3),
    "dataset: 'nowhere' must be `bfcl`": lambda: evaluate(dataset="nowhere"),
    "ids: must be a string or a list of strings, but is 1": lambda: evaluate(ids=[1]),
    "profile: 'bfc' is not one of": lambda: evaluate(profile="bfc"),
    "profile: must be a Profile or its name, but is 3": lambda: evaluate(profile=3),
    "engine: must be local or ray, but is 'rya'; did": lambda: evaluate(engine="rya"),
    "run_dir: must be a path or None, but is 3": lambda: evaluate(run_dir=3),
    "resume: needs run_dir": lambda: evaluate(resume=True),
    "trajectory: must be a Trajectory": lambda: turnwise.RolloutEnv("id"),
    "paths: must be one or more paths": lambda: turnwise.open_run(3),
    "paths: must be names or paths of runs, but is 3": lambda: turnwise.load_runs(3),
    "text: must be a string, but is 3": lambda: turnwise.parse_call(3),
    "nowhere": lambda: turnwise.open_run("nowhere"),
    "data: must be a Dataset": lambda: turnwise.judge("bfcl", "id", []),
    "messages: .*: must be a list of messages, but is 3": lambda: turnwise.judge(
        entry(), messages=3
    ),
    "checks: must be a list of checks, but is 3": lambda: evaluate(checks=3),
    "workers: live runs use one process": lambda: evaluate(workers=3),
    "address: is for Ray clusters": lambda: evaluate(address="here"),
    "extensions: must be a dict of .*, but is 3": lambda: turnwise.RolloutEnv(
        entry(), extensions=3
    ),
    "extensions: must be a dict .*, but is 4": lambda: turnwise.RolloutEnv(
        entry(), extensions={4: {}}
    ),
    "observations: must be own or": lambda: turnwise.RolloutEnv(entry(), observations=3),
    "action: must be a string, an assistant message .*, but is None": lambda: step(None),
    "action: must be .* a list of Call; .*name=None": lambda: step([turnwise.Call(None)]),
    "action: must be .* a list of Call; .*args=5": lambda: step([turnwise.Call("ls", 5)]),
    "action: must be .* a list of Call; .*kwargs=5": lambda: step([turnwise.Call("ls", (), 5)]),
    r"action: must be a string, an assistant message .*, but is \{'a': 1\}": lambda: step({"a": 1}),
    "action: must be a string, an assistant message .*'user'": lambda: step({"role": "user"}),
    r"action: the trajectory is not running; call reset\(\)": lambda: turnwise.RolloutEnv(
        entry()
    ).step("Done."),
    "snapshot: was not made": lambda: turnwise.RolloutEnv(entry()).restore(None),
    "snapshot: must be a Snapshot": lambda: turnwise.Session.load([], {}).restore(None),
    "backends: must be backends by name, but is 3": lambda: turnwise.Session(3),
    "backend: must be the name of a backend, but is 1": lambda: turnwise.Session({1: None}),
    "calls: must be a list of calls, but is 3": lambda: turnwise.Session.load([], {}).play(3),
    "tool: must be a Tool, but is 3": lambda: turnwise.Session.load([], {}).replace(3),
    "trajectory: must be a Trajectory, but is 3": lambda: turnwise.TurnLoop(3, None, None),
    "session: must be a Session, but is 3": lambda: turnwise.TurnLoop(entry(), 3, None),
    "step_limit: must be a number or None, but is '9'": lambda: turnwise.TurnLoop(
        entry(), turnwise.Session.load([], {}), turnwise.STRICT, "9"
    ),
    "offering: must be OfferedFunctions, but is 3": lambda: turnwise.TurnLoop(
        entry(), turnwise.Session.load([], {}), turnwise.STRICT, offering=3
    ),
    "trajectory: must be a Trajectory, but is None": lambda: turnwise.EpisodeRecord.of(None, None),
    "verdict: must be a Verdict or None, but is 3": lambda: turnwise.EpisodeRecord.of(entry(), 3),
    "profile: must be BFCL or STRICT, but is 'bfcl'": lambda: turn_loop("bfcl"),
    "calls: must be a list of one or more calls, but is 3": lambda: turn_loop().act(3),
    "trajectory: must be a Trajectory, but is 'a'": lambda: turnwise.load_dataset().config("a"),
    "extensions: must be a dict of settings by extension, but is 5": lambda: evaluate(extensions=5),
    "backend: must be a subclass of Backend, but is 3": lambda: turnwise.register(3),
    "backend: must be a subclass of Backend, but is <class 'dict'>": lambda: turnwise.register(
        dict
    ),
    "function: must be a method, but is 3": lambda: turnwise.reads(3),
    "function: must be a method, but is 'f'": lambda: turnwise.irreversible("f"),
    "function: must be a function, but is 3": lambda: turnwise.check(3),
    "environments: must be a list .*, but is 'TicketAPI'": lambda: turnwise.Session.load(
        "TicketAPI", {}
    ),
    "environments: must be a list .*, but is 3": lambda: turnwise.Session.load(3, {}),
    r"environments: must be a list .*, but is \[None\]": lambda: turnwise.Session.load([None], {}),
    "config: must map environments to configs, but is 3": lambda: turnwise.Session.load([], 3),
    "pack: must be a LongContextPack or None, but is 5": lambda: load_session(pack=5),
    r"behaviour: must be a BfclDeviations or None, but is \[\]": lambda: load_session(behaviour=[]),
    "behaviour: must be a BfclDeviations or None, but is 'bfcl'": lambda: load_session(
        behaviour="bfcl"
    ),
    "tolerant: must be True or False, but is 'no'": lambda: load_session(tolerant="no"),
    "checks_arguments: must be True or False, but is 1": lambda: load_session(checks_arguments=1),
    "checks_config: must be True or False, but is 'x'": lambda: load_session(checks_config="x"),
    r"\$\.TicketApi: unknown backend": lambda: turnwise.Session.load(["TicketApi"], {}),
    r"call: must be a Call whose args are a tuple, but is 'ls\(\)'": lambda: turnwise.Session.load(
        ["TicketAPI"], {}
    ).call("ls()"),
    r"call: must be a Call whose args are a tuple, but is Call\(name='get_ticket', args": lambda: (
        turnwise.Session.load(["TicketAPI"], {}).call(turnwise.Call("get_ticket", {"ticket_id": 1}))
    ),
    r"call.kwargs: must be a dict, but is \[1\]": lambda: desk().call(
        turnwise.Call("get_ticket", (), [1])
    ),
    "snapshot: has no state of TicketAPI": lambda: desk().restore(
        turnwise.Session.load([], {}).snapshot()
    ),
    "actual: must be a Snapshot, but is None": lambda: desk().snapshot().differences(None),
    "extensions: must be a dict .*, but is 5": lambda: turnwise.RolloutEnv(
        entry(), extensions={"compression": 5}
    ),
    "dataset: 'xxx": lambda: turnwise.load_dataset("x" * 100_000),
    "run_dir: must be a path without null bytes": lambda: evaluate(run_dir="a\0b"),
    "id: must be .*, but is 'other'": lambda: turnwise.judge(entry(), "other", []),
    "trajectory: .* has no turns": lambda: turnwise.RolloutEnv(replace(entry(), turns=())).reset(),
    "only: must be the id of a trajectory or None, but is 5": lambda: turnwise.open_run(
        "run", only=5
    ),
}


@pytest.mark.parametrize("message", WRONG)
def test_an_error_names_the_parameter(message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message) as caught:
        WRONG[message]()
    assert "--" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_a_run_folder_can_be_resumed_only_by_the_parameter(tmp_path):
    evaluate(run_dir=tmp_path / "run")
    with pytest.raises(DataError, match="resume=True"):
        evaluate(run_dir=tmp_path / "run")
    assert len(turnwise.open_run(str(tmp_path / "run")).episodes) == 1


def test_names_of_arguments_that_are_no_strings_are_an_error_of_the_call():
    call = {"name": "get_ticket", "arguments": {1: 2}}
    message = {"role": "assistant", "tool_calls": [{"id": "a", "function": call}]}
    assert "has no parameter '1'" in desk().call(turnwise.Call("get_ticket", (), {1: 2})).text
    assert "There is no function '5'" in desk().call(turnwise.Call(5)).text
    assert step(message).observation.messages[0]["role"] == "tool"
