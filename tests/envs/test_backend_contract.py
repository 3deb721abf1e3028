"""What every registered backend must keep, whatever its world is.

A new backend joins by being registered. Its functions are frozen in a golden file; after a change
of a signature or docstring that is meant, write the file anew, and read what changed, with:

    python tests/envs/test_backend_contract.py
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envs.calls import Call
from envs.errors import ToolError
from envs.long_context import Pack
from envs.random_stream import RandomStream
from envs.registry import BACKENDS
from envs.schema import spec
from envs.session import Session
from envs.state import to_json

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "function_schemas.json"
REFRESH = "python tests/envs/test_backend_contract.py"

PACK = Pack(
    file_suffix="\nmore text",
    untouched_files=["plain.txt"],
    extra_files=["extra_1.txt", "extra_2.txt"],
    car_status="more status",
    parking_brake="more brake",
    weather={"humidity": 40, "wind": [1, 2]},
    cities=["Hilltown", "Laketown"],
    watch_list=["AAA", {"BBB": [1.5]}],
    transactions=[{"type": "deposit", "amount": 5.0}],
    moving_average_5=[1.0, 2.0],
    moving_average_20=[3.0, 4.0],
    sector_stocks={"Technology": ["CCC"], "Automobile": ["DDD"]},
    order_metadata={"note": "about {symbol}"},
    credit_cards={"card_1": {"card_number": "4000", "balance": 100.0}},
    bookings={"booking_1": {"travel_cost": 10.0, "transaction_id": "1"}},
)  # fmt: skip

backends = pytest.mark.parametrize("name", list(BACKENDS))
packs = pytest.mark.parametrize("pack", [None, PACK], ids=["short", "long"])
randoms = given(random=st.randoms(use_true_random=True))
few = settings(max_examples=25, deadline=None)


WORLDS = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {
                    "a.txt": {"type": "file", "content": "one\ntwo\n"},
                    "b": {
                        "type": "directory",
                        "contents": {"c.md": {"type": "file", "content": ""}},
                    },
                },
            }
        }
    },
    "MessageAPI": {"current_user": "USR001"},
    "TwitterAPI": {
        "authenticated": True,
        "tweets": {
            "0": {"id": 0, "username": "john", "content": "Hi", "tags": ["#a"], "mentions": []}
        },
        "tweet_counter": 1,
    },
    "TicketAPI": {
        "ticket_queue": [
            {
                "id": 1,
                "title": "Printer",
                "description": "It smokes.",
                "status": "Open",
                "priority": 2,
                "created_by": "ann",
            }
        ],
        "ticket_counter": 2,
        "current_user": "ann",
    },
    "TradingBot": {"authenticated": True, "market_status": "Open"},
    "TravelAPI": {
        "credit_card_list": {"card": {"balance": 50000.0}},
        "booking_record": {
            "booking": {
                "card_id": "card",
                "travel_date": "2026-11-11",
                "travel_from": "SFO",
                "travel_to": "LAX",
                "travel_class": "economy",
                "travel_cost": 200.0,
                "transaction_id": "paid",
            }
        },
        "access_token": "token",
        "token_type": "Bearer",
        "token_expires_in": 1000,
        "token_scope": "read_write",
        "user_first_name": "Ann",
        "user_last_name": "Lee",
        "budget_limit": 9000.0,
    },
}
"""Worlds in which more calls succeed than in the default one; a backend needs no entry."""

# Random calls: arguments fit the schemas, and are mostly drawn from what the world shows.

TEXTS = ["", "a", "new.txt", "Paris", "1", "2026-11-11", "economy", "\u00e9 \U0001f600"]
NUMBERS = [0, 1, 2, -1, 5, 10, 50, 1000, 0.5, -2.5, 10**12]


def live(name, pack=None, **options):
    return Session.load([name], {name: WORLDS.get(name, {})}, pack, **options)


def words_of(name):
    return {word.rstrip("s") for word in str(name).lower().split("_")}


def shown_in(value, words=frozenset()):
    """Yield the texts and numbers in a value, keys too, each with the words that lead to it."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield words, key
            yield from shown_in(member, words | words_of(key))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from shown_in(member, words)
    elif type(value) in (str, int, float):
        yield words, value


def choose(name, types, random, known, others):
    """Choose a value: best one that was shown under a similar name, else any, else made up."""
    fitting = [
        (len(words & words_of(name)), value) for words, value in known if type(value) in types
    ]
    if not fitting or random.random() < 0.2:
        return random.choice([value for value in others if type(value) in types])
    best = max(likeness for likeness, _ in fitting) if random.random() < 0.7 else 0
    return random.choice([value for likeness, value in fitting if likeness >= best])


def random_value(name, schema, random, known):
    if "anyOf" in schema:
        schema = random.choice(schema["anyOf"])
    if "enum" in schema:
        return random.choice(schema["enum"])
    match schema.get("type"):
        case "boolean":
            return random.random() < 0.5
        case "string":
            return choose(name, (str,), random, known, TEXTS)
        case "integer" | "number" as kind:
            types = (int,) if kind == "integer" else (int, float)
            value = choose(name, types, random, known, NUMBERS)
            return min(max(value, schema.get("minimum", value)), schema.get("maximum", value))
        case "array":
            items = schema.get("items", {"type": "string"})
            return [random_value(name, items, random, known) for _ in range(random.randrange(4))]
        case "object":
            return {
                key: random_value(key, member, random, known)
                for key, member in schema.get("properties", {}).items()
                if key in schema.get("required", []) or random.random() < 0.5
            }
        case "null":
            return None
    raise NotImplementedError(f"arguments for {schema}")


def random_call(session, random, earlier=()):
    """Make up a call with arguments from the state and from what earlier calls gave."""
    tool = random.choice(list(session.tools.values()))
    known = [*shown_in(session.snapshot().compared()), *earlier[-60:]]
    kwargs = {
        parameter.name: random_value(parameter.name, parameter.schema, random, known)
        for parameter in spec(tool).parameters
        if parameter.required or random.random() < 0.7
    }
    return Call(tool.name, (), kwargs)


def random_play(session, random, count):
    """Make random calls; yield each with its result."""
    earlier = []
    for _ in range(count):
        call = random_call(session, random, earlier)
        result = session.call(call)
        earlier += shown_in(result.value)
        yield call, result


# Configs


def config_of(name, snapshot):
    """Return the initial config that describes a state, as far as its keys say it."""
    backend, state = BACKENDS[name], snapshot.to_json()[name]
    fields = {key: backend.RENAMED.get(key, key) for key in backend.Config.__annotations__}
    return {key: state[field] for key, field in fields.items() if field in state}


@backends
@pytest.mark.parametrize("config", [{}, None], ids=["default", "rich"])
def test_a_config_round_trips(name, config):
    loaded = Session.load(
        [name], {name: WORLDS.get(name, {}) if config is None else config}
    ).snapshot()
    config = json.loads(json.dumps(config_of(name, loaded)))
    assert Session.load([name], {name: config}).snapshot() == loaded


@backends
def test_an_absent_config_is_an_empty_one(name):
    default = Session.load([name], {}).snapshot()
    assert Session.load([name], {name: {}}).snapshot().states == default.states
    assert Session.load([name], {name: {}}, tolerant=True).snapshot().states == default.states


@backends
def test_a_config_key_stands_for_one_field(name):
    backend = BACKENDS[name]
    keys = backend.Config.__annotations__
    assert set(backend.RENAMED) <= set(keys)
    assert set(backend.RENAMED.values()) <= set(backend.FIELDS)
    assert len({backend.RENAMED.get(key, key) for key in keys}) == len(keys)


@backends
def test_an_unknown_key_is_refused_with_its_path(name):
    [problem] = BACKENDS[name].check_config({"no_such_key": 1})
    assert problem.path == f"$.{name}.no_such_key"
    assert problem.message == "unknown key; remove it"


@backends
def test_a_value_of_a_wrong_type_is_refused_with_its_path(name):
    for key in BACKENDS[name].Config.__annotations__:
        problems = BACKENDS[name].check_config({key: 1j})
        assert problems
        assert all(problem.path == f"$.{name}.{key}" for problem in problems)


@backends
@pytest.mark.parametrize("config", [None, [], "text", 1])
def test_a_config_that_is_no_object_is_refused(name, config):
    assert BACKENDS[name].check_config(config)[0].path == f"$.{name}"


@backends
@packs
@few
@randoms
def test_neither_config_nor_pack_nor_defaults_are_changed(name, pack, random):
    def inputs():
        return repr(
            (config, pack, [getattr(BACKENDS[name], field) for field in BACKENDS[name].FIELDS])
        )

    config = config_of(name, live(name).snapshot())
    before = inputs()
    list(random_play(Session.load([name], {name: config}, pack), random, 12))
    assert inputs() == before


# Functions


def schemas():
    return {
        name: {
            tool.name: {
                "description": spec(tool).description,
                "parameters": spec(tool).json_schema(),
                "returns": spec(tool).returns,
            }
            for tool in backend.TOOLS.values()
        }
        for name, backend in BACKENDS.items()
    }


@backends
def test_every_function_is_described(name):
    assert BACKENDS[name].TOOLS
    for tool in BACKENDS[name].TOOLS.values():
        described = spec(tool)
        texts = [described.description, described.returns]
        texts += [parameter.schema["description"] for parameter in described.parameters]
        assert all(texts), tool.name
        assert described.description.endswith("."), tool.name
        assert json.loads(json.dumps(described.json_schema())) == described.json_schema()


def test_no_two_backends_have_a_function_of_the_same_name():
    names = [name for backend in BACKENDS.values() for name in backend.TOOLS]
    assert len(names) == len(set(names))


def test_functions_are_as_frozen():
    assert GOLDEN.exists(), f"make it with: {REFRESH}"
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    current = json.loads(json.dumps(schemas()))
    assert list(golden) == list(current), f"if that is meant: {REFRESH}"
    for name, functions in current.items():
        assert golden[name] == functions, f"if that is meant: {REFRESH}"
        assert list(golden[name]) == list(functions), f"if that is meant: {REFRESH}"


@backends
@few
@randoms
def test_arguments_that_fit_the_schema_are_accepted_by_it(name, random):
    loose, strict = live(name), live(name, checks_arguments=True)
    for _ in range(10):
        call = random_call(loose, random)
        assert strict.call(call).text == loose.call(call).text


# Sessions


@backends
@packs
@few
@randoms
def test_forks_and_snapshots_are_out_of_reach(name, pack, random):
    session = live(name, pack)
    list(random_play(session, random, 4))
    snapshot, fork = session.snapshot(), session.fork()
    before = (snapshot.digest(), json.dumps(snapshot.to_json()), repr(snapshot.states))
    played = [
        (call, repr(call), result, result.text) for call, result in random_play(session, random, 8)
    ]
    assert (snapshot.digest(), json.dumps(snapshot.to_json()), repr(snapshot.states)) == before
    assert repr(fork.snapshot().states) == before[2]
    for call, written, result, text in played:
        assert repr(call) == written
        # Text is kept once it is made: look at what it was made from.
        assert type(result)(result.value).text == text
    after = session.snapshot()
    assert [fork.call(call).text for call, *_ in played] == [text for *_, text in played]
    assert repr(fork.snapshot().states) == repr(after.states)
    session.restore(snapshot)
    assert repr(session.snapshot().states) == before[2]


@backends
@packs
@few
@randoms
def test_marks_tell_what_a_call_may_change(name, pack, random):
    session = live(name, pack)
    earlier = []
    for _ in range(12):
        before = session.snapshot()
        call = random_call(session, random, earlier)
        result = session.call(call)
        earlier += shown_in(result.value)
        after = session.snapshot()
        tool, old, new = session.tools[call.name], before.states[name], after.states[name]
        assert old.keys() == new.keys()
        changed = {field for field in old if repr(old[field]) != repr(new[field])}
        if not result.ok and tool.keeps_on_refusal is None:
            assert not changed
        if not tool.writes:
            assert all(isinstance(old[field], RandomStream) for field in changed)
        assert result.changed is (before != after)


@backends
@packs
@few
@randoms
def test_results_can_be_read(name, pack, random):
    session = live(name, pack)
    for _, result in random_play(session, random, 12):
        assert type(result.text) is str
        assert result.text.encode()
        assert isinstance(result.error, ToolError | None)
        if not isinstance(result.value, str):
            # JSON and Python notation are both Python expressions.
            ast.parse(result.text, mode="eval")
        if result.error is not None:
            assert result.error.message
            assert json.loads(result.text) == {**result.error.fields, "error": result.error.message}


def test_the_same_calls_give_the_same_bytes_in_every_process():
    def run(seed):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, __file__, "transcripts"]
        done = subprocess.run(command, env=environment, capture_output=True, check=True)
        return json.loads(done.stdout)

    assert transcripts() == run("1") == run("2")


def transcripts():
    """Return a digest of calls, results and end state of a random session per backend."""
    digests = {}
    for name in BACKENDS:
        for pack in (None, PACK):
            session = live(name, pack)
            lines = [
                f"{call} -> {result.text}" for call, result in random_play(session, Random(5), 60)
            ]
            lines += [session.snapshot().digest(), json.dumps(to_json(session.snapshot().states))]
            digests[f"{name} {pack is not None}"] = sha256("\n".join(lines).encode()).hexdigest()
    return digests


def test_interleaved_sessions_are_as_if_alone():
    names = list(BACKENDS)
    scripts, ends = [], []
    for seed in range(200):
        session = Session.load(names, WORLDS, PACK if seed % 2 else None)
        scripts.append(
            [(call, result.text) for call, result in random_play(session, Random(seed), 6)]
        )
        ends.append(session.snapshot())
    sessions = [Session.load(names, WORLDS, PACK if seed % 2 else None) for seed in range(200)]
    for step in range(6):
        for session, script in zip(sessions, scripts, strict=True):
            call, text = script[step]
            assert session.call(call).text == text
    for session, end in zip(sessions, ends, strict=True):
        assert session.snapshot() == end
        assert session.snapshot().digest() == end.digest()


def main(arguments):
    if arguments == ["transcripts"]:
        print(json.dumps(transcripts()))
        return
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(schemas(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
