from __future__ import annotations

import re
from asyncio import CancelledError
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from typing_extensions import TypedDict

from envs import registry
from envs.backend import AS_BFCL, OWN, Backend, random_stream, reads, writes, writes_even_refused
from envs.calls import Call, parse_call
from envs.errors import (
    BackendFault,
    ConfigError,
    InvalidArgument,
    MalformedCall,
    NotFound,
    Refused,
    UnknownFunction,
)
from envs.long_context import LongContextPack
from envs.random_stream import RandomStream
from envs.registry import BACKENDS, check_config
from envs.session import Session


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError

    __repr__ = __str__


BUGS = {
    "exit": SystemExit,
    "cancel": CancelledError,
    "close": GeneratorExit,
    "own": type("Own", (BaseException,), {}),
    "unprintable": Unprintable,
}


class ShelfConfig(TypedDict, total=False):
    books: list[str]
    lent: dict[str, str]
    random_seed: int


class Shelf(Backend):
    """A world as small as can be that shows every kind of outcome."""

    Config = ShelfConfig

    books: Sequence[str] = ["Emma"]
    lent: Mapping[str, str] = {}
    count: int = 0
    _random: RandomStream = RandomStream(1)

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self.count = len(self.books)
        self._random = random_stream(config, 1)

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        for book in config.get("lent", {}):
            if book not in config.get("books", cls.books):
                yield f".lent[{book!r}]", "is on no shelf"

    @reads
    def titles(self) -> list[str]:
        """List the books."""
        return list(self.books)

    @reads
    def draw(self) -> str:
        """Pick a book."""
        index, self._random = self._random.randint(0, len(self.books) - 1)
        return self.books[index]

    @writes
    def add(self, book: str, copies: int = 1) -> dict[str, Any]:
        """Add a book."""
        self.books = [*self.books, *[book] * copies]
        self.count += copies
        if len(book) > 20:
            raise Refused("too thick", thick=True)
        return {"book": book, "copies": copies}

    @writes
    def touch(self, book: str) -> str:
        """Write what is there already."""
        self.books = list(self.books)
        return book

    @writes_even_refused("the visit counts")
    def ask(self, book: str) -> str:
        """Ask for a book."""
        self.count += book == "Ulysses"
        raise NotFound(f"no {book}")

    @writes
    def break_down(self, book: str) -> str:
        """Show a bug."""
        self.books = []
        raise BUGS.get(book, ZeroDivisionError)(book)


@pytest.fixture(autouse=True)
def shelf(monkeypatch):
    monkeypatch.setattr(registry, "BACKENDS", {**registry.BACKENDS, "Shelf": Shelf})


def session(config=None, **options):
    return Session.load(["Shelf"], {"Shelf": config or {}}, **options)


def call(live, text):
    return live.call(parse_call(text))


def state(live):
    return live.snapshot().states["Shelf"]


# Outcomes of a call


def test_a_read():
    result = call(session(), "titles()")
    assert (result.value, result.error, result.changed) == (["Emma"], None, False)


def test_a_read_that_draws_does_not_count_as_a_change():
    live = session({"books": list("abcdefgh")})
    result = call(live, "draw()")
    assert result.ok
    assert not result.changed
    assert state(live)["_random"].position == 1


@pytest.mark.parametrize(
    "text", ["add('Emma', 2)", "add(book='Emma', copies=2)", "add('Emma', copies=2)"]
)
def test_a_write(text):
    live = session()
    result = call(live, text)
    assert (result.value, result.changed) == ({"book": "Emma", "copies": 2}, True)
    assert state(live)["books"] == ["Emma", "Emma", "Emma"]
    assert state(live)["count"] == 3


def test_a_write_of_the_same_is_no_change():
    assert not call(session(), "touch('x')").changed


def test_a_refusal_is_undone_and_keeps_its_fields():
    live = session()
    before = live.snapshot()
    result = call(live, f"add('{'x' * 21}')")
    assert isinstance(result.error, Refused)
    assert result.value == {"thick": True, "error": "too thick"}
    assert not result.changed
    assert live.snapshot().states == before.states


@pytest.mark.parametrize(("book", "changed"), [("Ulysses", True), ("Emma", False)])
def test_a_marked_refusal_is_not_undone(book, changed):
    live = session()
    result = call(live, f"ask('{book}')")
    assert isinstance(result.error, NotFound)
    assert result.changed is changed
    assert state(live)["count"] == 1 + changed


@pytest.mark.parametrize(
    ("book", "told"),
    [
        ("x", "ZeroDivisionError: x"),
        ("exit", "SystemExit: exit"),
        ("cancel", "CancelledError: cancel"),
        ("close", "GeneratorExit: close"),
        ("own", "Own: own"),
        ("unprintable", "Unprintable: its message cannot be shown"),
    ],
)
def test_a_bug_stops_the_run_and_is_undone(book, told):
    live = session()
    before = live.snapshot()
    told = re.escape(f"Shelf.break_down('{book}') raised {told}")
    with pytest.raises(BackendFault, match=f"^{told}$"):
        call(live, f"break_down('{book}')")
    assert live.snapshot().states == before.states


def test_an_interrupt_is_no_bug(monkeypatch):
    monkeypatch.setitem(BUGS, "interrupt", KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        call(session(), "break_down('interrupt')")


@pytest.mark.parametrize("fork", [False, True])
@pytest.mark.parametrize("book", ["x", "cancel", "unprintable"])
def test_a_backend_that_stumbles_over_an_unchecked_config_refuses(fork, book):
    live = session({"books": [None]}, tolerant=True)
    live = live.fork() if fork else live
    before = live.snapshot()
    result = call(live, f"break_down('{book}')")
    assert isinstance(result.error, InvalidArgument)
    assert "The state of Shelf is irregular" in result.error.message
    assert live.snapshot().states == before.states
    assert isinstance(call(live, "break_down(5)").error, InvalidArgument)


def test_types_of_arguments_are_checked_by_default():
    refused = call(session(), "add('Ulysses', copies='two')")
    assert "copies = 'two': input should be a valid integer" in refused.text
    assert call(session(behaviour=AS_BFCL), "add('x', copies=True)").ok
    assert call(session(tolerant=True), "add('x', copies=True)").ok
    assert not call(session(), "add('x', copies=True)").ok


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("break_down(5)", "break_down: book = 5: input should be a valid string"),
        ("add(['x'] , 'y')", "add: book = .* valid string"),
        ("add()", "add needs the argument book"),
        ("add('x', 1, 2)", r"add takes 2 arguments \(book, copies\), got 3"),
        ("add('x', book='y')", "add: book is given twice"),
        ("add('x', colour='red')", "add has no parameter 'colour'; it takes book, copies"),
        ("titles(5)", "titles takes 0 arguments"),
        ("titles(x=5)", "titles has no parameter 'x'; it takes no arguments"),
    ],
)
@pytest.mark.parametrize("checks_arguments", [False, True])
def test_arguments_that_no_function_could_digest(text, message, checks_arguments):
    live = session(checks_arguments=checks_arguments)
    before = live.snapshot()
    result = call(live, text)
    assert isinstance(result.error, InvalidArgument)
    assert live.snapshot().states == before.states
    with pytest.raises(InvalidArgument, match=message):
        raise result.error


@pytest.mark.parametrize(("checks_arguments", "ok"), [(False, True), (True, False)])
def test_arguments_that_are_only_odd_are_checked_on_demand(checks_arguments, ok):
    live = session(checks_arguments=checks_arguments)
    assert call(live, "add('x', copies=True)").ok is ok
    assert call(live, "add('x')").ok


def test_a_malformed_call_is_a_result_too():
    live = session()
    result = live.call(MalformedCall("not a call"))
    assert (result.ok, result.text) == (False, '{"error": "not a call"}')


# Which functions there are


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("title", "There is no function 'title'. Did you mean titles?"),
        ("zzz", "There is no function 'zzz'. There are: titles, draw, add, touch, ask"),
        ("load", "There is no function 'load'"),
        ("_load", "There is no function '_load'"),
        ("__init__", "There is no function '__init__'"),
        ("fork", "There is no function 'fork'"),
        ("books", "There is no function 'books'"),
        ("Shelf.titles", "There is no function 'Shelf.titles'"),
        ("x" * 10_000, "There is no function 'xxx"),
    ],
)
def test_an_unknown_function(name, message):
    live = session()
    before = live.snapshot()
    result = live.call(Call(name))
    assert isinstance(result.error, UnknownFunction)
    assert result.error.message.startswith(message)
    assert len(result.text) < 500
    assert live.snapshot().states == before.states


def test_only_what_is_offered_may_be_called():
    live = session()
    live.offer(frozenset({"titles", "draw"}))
    assert call(live, "titles()").ok
    result = call(live, "add('x')")
    assert isinstance(result.error, UnknownFunction)
    assert result.error.message == "There is no function 'add'. There are: titles, draw."
    assert not call(live, "touch(add('x'))").ok
    assert not call(live, "titles(add('x'))").ok
    live.offer(None)
    assert call(live, "add('x')").ok
    assert state(live)["books"] == ["Emma", "x"]


# Nested calls


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("add(draw())", {"book": "Emma", "copies": 1}),
        ("add(book=touch('x'), copies=2)", {"book": "x", "copies": 2}),
        ("touch(touch(touch('x')))", "x"),
        ("touch([1, {'a': (touch('x'),)}])", [1, {"a": ("x",)}]),
        ("touch(titles())", ["Emma"]),
    ],
)
def test_a_nested_call_passes_its_value_on(text, value):
    result = call(session(checks_arguments=False), text)
    assert result.value == value


def test_nested_calls_run_left_to_right_and_one_that_fails_stops_the_outer_one():
    live = session()
    result = call(live, "add(add('a'), ask('Ulysses'))")
    assert result.value == {"error": "no Ulysses"}
    assert state(live)["books"] == ["Emma", "a"]
    result = call(live, "touch([ask('b'), add('c')])")
    assert result.value == {"error": "no b"}
    assert state(live)["books"] == ["Emma", "a"]


def test_a_nested_call_that_succeeded_stays_when_the_outer_one_is_refused():
    live = session()
    assert not call(live, "ask(add('a'))").ok
    assert state(live)["books"] == ["Emma", "a"]


def test_the_arguments_of_an_unknown_function_are_not_run():
    live = session()
    assert not call(live, "unknown(add('a'))").ok
    assert state(live)["books"] == ["Emma"]


def worth(text, checks_arguments=True):
    """Return what a call gives in a session of mathematics."""
    live = Session.load(["MathAPI", "NumberTools"], {}, checks_arguments=checks_arguments)
    return call(live, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("add(a=mean(numbers=[1, 3]), b=2)", 4.0),
        ("mean(numbers=[add(a=1, b=2), add(a=3, b=mean(numbers=[1, 3]))])", 4.0),
        ("add(a=binomial_coefficient(n=4, k=2), b=1)", 7),
        ("add(a=square_root(number=16, precision=5), b=2)", 6.0),
        ("add(a=logarithm(value=8.0, base=2.0, precision=5), b=2)", 5.0),
        ("sum_values(numbers=prime_factors(number=12))", 7),
    ],
)
def test_a_nested_call_stands_for_the_one_value_of_its_result(text, value):
    assert worth(text).value == {"result": value}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("add(a=fit_line(x=[1, 2], y=[1, 2]), b=1)", "{'slope': 1.0, 'intercept': 0.0}"),
        ("add(a=logarithm(value=-8.0, base=2.0, precision=3), b=1)", "mpc("),
    ],
)
def test_a_nested_call_without_one_value_stands_for_all_of_its_result(text, shown):
    result = worth(text)
    assert f"add: a = {shown}" in result.text
    assert not result.ok


def test_a_nested_call_stands_for_its_whole_result_where_arguments_are_not_checked():
    assert "{'result': 2.0}" in worth("add(a=mean(numbers=[1, 3]), b=2)", False).text


def test_what_a_nested_call_was_made_with_are_values():
    made = worth("add(a=mean(numbers=[1, 3]), b=2)").call
    assert str(made) == "add(a=2.0, b=2)"


def test_a_nested_value_of_the_wrong_type_is_refused_where_arguments_are_checked():
    result = call(session(checks_arguments=True), "touch(titles())")
    assert isinstance(result.error, InvalidArgument)


@pytest.mark.parametrize("text", ["touch(add('a'))", "titles(add('a'))", "touch([ask('Ulysses')])"])
def test_what_a_nested_call_changed_is_a_change(text):
    assert call(session(), text).changed


# Sessions as values


def test_play_goes_on_after_a_failure():
    live = session()
    calls = [parse_call(text) for text in ("add('a')", "unknown()", "add('b')")]
    results = live.play([*calls, MalformedCall("x")])
    assert [result.ok for result in results] == [True, False, True, False]
    assert state(live)["books"] == ["Emma", "a", "b"]


def test_a_fork_and_its_original_do_not_see_each_other():
    live = session({"books": list("abcdefgh")}, checks_arguments=True)
    live.offer(frozenset({"add", "draw"}))
    fork = live.fork()
    assert (fork.offered, fork.checks_arguments) == (live.offered, True)
    before = live.snapshot()
    call(fork, "add('x')")
    assert live.snapshot().states == before.states
    call(live, "draw()")
    assert state(fork)["_random"].position == 0
    fork.offer(None)
    assert live.offered is not None


def test_forks_draw_alike():
    live = session({"books": list("abcdefgh"), "random_seed": 9})
    fork = live.fork()
    draws = [[call(each, "draw()").value for _ in range(20)] for each in (live, fork)]
    assert draws[0] == draws[1]
    assert len(set(draws[0])) > 1


def test_restoring_a_snapshot():
    live = session({"books": list("abcdefgh")})
    before = live.snapshot()
    first = [call(live, text).value for text in ("draw()", "add('x')", "draw()")]
    after = live.snapshot()
    live.restore(before)
    assert live.snapshot().states == before.states
    assert [call(live, text).value for text in ("draw()", "add('x')", "draw()")] == first
    assert live.snapshot() == after
    live.fork().restore(before)
    assert live.snapshot() == after


def test_a_snapshot_is_not_changed_by_later_calls():
    live = session()
    snapshot = live.snapshot()
    digest, shown = snapshot.digest(), snapshot.to_json()
    call(live, "add('x')")
    assert (snapshot.digest(), snapshot.to_json()) == (digest, shown)
    assert snapshot != live.snapshot()


# Loading


def test_loading_shares_nothing_with_the_config():
    config = {"books": ["a"], "lent": {"a": "me"}}
    live = session(config)
    config["books"].append("b")
    config["lent"]["b"] = "you"
    assert state(live)["books"] == ["a"]
    assert state(live)["lent"] == {"a": "me"}


def test_the_state_keeps_no_list_of_a_call():
    config = {"username": "ada", "password": "x", "authenticated": True}
    live = Session.load(["TwitterAPI"], {"TwitterAPI": config})
    written = parse_call("post_tweet(content='x', tags=['#a'], mentions=['@b'])")
    assert live.call(written).ok
    before = live.snapshot()
    shown = before.to_json()
    written.kwargs["tags"].append("#other")
    written.kwargs["mentions"].clear()
    assert live.snapshot().to_json() == shown


def test_the_state_keeps_no_list_in_a_tuple_of_a_call():
    config = {"username": "ada", "password": "x", "authenticated": True}
    live = Session.load(["TwitterAPI"], {"TwitterAPI": config}, checks_arguments=False)
    written = parse_call("post_tweet(content='x', tags=(['#a'], {'b': []}))")
    assert live.call(written).ok
    shown = live.snapshot().to_json()
    written.kwargs["tags"][0].append("#other")
    written.kwargs["tags"][1]["b"].append("#other")
    assert live.snapshot().to_json() == shown


@pytest.mark.parametrize("mark", [reads, writes])
def test_a_function_that_sorts_its_argument_does_not_change_the_call(mark, monkeypatch):
    class Sorter(Backend):
        """Sorts."""

        Config = ShelfConfig
        books: Sequence[str] = []

        @mark
        def order(self, names: list[str]) -> list[str]:
            """Sort names."""
            names.sort()
            return names

    monkeypatch.setattr(registry, "BACKENDS", {**registry.BACKENDS, "Sorter": Sorter})
    made = parse_call("order(names=['b', 'a'])")
    live = Session.load(["Sorter"], {}, checks_arguments=False)
    assert live.call(made).held == ["a", "b"]
    assert str(made) == "order(names=['b', 'a'])"


def test_two_sessions_share_nothing():
    left, right = session(), session()
    call(left, "add('x')")
    assert state(right)["books"] == ["Emma"]
    assert Shelf.books == ["Emma"]


@pytest.mark.parametrize(
    ("config", "problems"),
    [
        ({"Shelf": {"book": []}}, ["$.Shelf.book: unknown key; did you mean books?"]),
        ({"Shelf": {"books": "Emma"}}, ["$.Shelf.books: input should be a valid list, got 'Emma'"]),
        ({"Shelf": {"lent": {"x": "me"}}}, ["$.Shelf.lent['x']: is on no shelf"]),
        ({"Self": {}}, ["$.Self: is not a backend of this session: Shelf"]),
        (
            {"Other": {}, "Shelf": {"books": [1, 2]}},
            [
                "$.Other: is not a backend of this session: Shelf",
                "$.Shelf.books[0]: input should be a valid string, got 1",
                "$.Shelf.books[1]: input should be a valid string, got 2",
            ],
        ),
    ],
)
def test_a_config_that_does_not_fit_is_refused_with_every_problem(config, problems):
    assert [str(problem) for problem in check_config(["Shelf"], config)] == problems
    with pytest.raises(ConfigError) as caught:
        Session.load(["Shelf"], config)
    assert [str(problem) for problem in caught.value.problems] == problems


def test_tolerant_loading_takes_what_it_can():
    config = {"Other": {}, "Shelf": {"books": "ab", "lent": None, "unknown": 1}}
    live = Session.load(["Shelf"], config, tolerant=True)
    assert live.snapshot().compared() == {"Shelf": {"books": "ab", "lent": None, "count": 2}}


@pytest.mark.parametrize("config", [None, [], "x", {"books": 5}, {"books": None}])
def test_what_cannot_be_loaded_at_all_is_a_config_error_even_so(config):
    with pytest.raises(ConfigError, match=r"\$\.Shelf"):
        Session.load(["Shelf"], {"Shelf": config}, tolerant=True)


@pytest.mark.parametrize("seed", [None, "x", 1.5, [1]])
def test_a_seed_that_is_no_integer_cannot_be_loaded(seed):
    with pytest.raises(ConfigError, match=r"\$\.Shelf\.random_seed"):
        session({"random_seed": seed}, tolerant=True)


def test_an_unknown_backend_is_a_config_error():
    with pytest.raises(ConfigError, match=r"\$\.Xyz: unknown backend; known backends are .*Shelf"):
        Session.load(["Xyz"], {})


def test_backends_come_in_the_order_that_was_asked_for():
    names = ["TicketAPI", "TravelAPI"]
    live = Session.load(["Shelf", *names], {})
    assert list(live.snapshot().states) == ["Shelf", *names]
    assert list(live.tools)[: len(Shelf.TOOLS)] == list(Shelf.TOOLS)


def test_a_session_of_backends_checks_no_arguments_unless_asked():
    def make(**options):
        return Session({"TravelAPI": BACKENDS["TravelAPI"].load({})}, **options)

    assert [make(**given).checks_arguments for given in ({}, {"checks_arguments": True})] == [
        False,
        True,
    ]
    assert [make(**given).tolerant for given in ({}, {"tolerant": True})] == [False, True]


def test_a_backend_as_in_bfcl_lacks_the_fields_beyond_bfcl():
    for name, beyond in (("TravelAPI", "insurances"), ("VehicleControlAPI", "cruiseSpeed")):
        ours, theirs = (BACKENDS[name].load({}, behaviour=each) for each in (OWN, AS_BFCL))
        assert beyond in ours.__dict__
        assert beyond not in theirs.__dict__
        assert vars(theirs).keys() < vars(ours).keys()
        assert vars(BACKENDS[name].load({})).keys() == vars(ours).keys()
        drawn = [
            [each.by_occasion for each in vars(made).values() if isinstance(each, RandomStream)]
            for made in (ours, theirs)
        ]
        assert drawn == [[True] * len(drawn[1]), [False] * len(drawn[0])]
