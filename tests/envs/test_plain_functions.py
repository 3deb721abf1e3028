"""Backends made of plain functions and of objects."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial

import pytest
from pydantic import BaseModel

from envs import registry
from envs.backend import Backend, reads
from envs.calls import parse_call
from envs.errors import BackendFault, ConfigError, Refused
from envs.schema import make_config_schema, make_spec
from envs.session import Session
from envs.tool import parameter_names


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    yield
    monkeypatch.undo()
    registry.list_tools.cache_clear()
    registry._find_clashes.cache_clear()


@dataclass
class Order:
    id: str
    total: float
    refunded: bool = False


@dataclass
class Shop:
    orders: dict[str, Order] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)


def refund(shop: Shop, order_id: str) -> dict[str, bool]:
    """Refund an order.

    Args:
        order_id: Id of the order.

    Returns:
        refunded: Whether it worked.
    """
    order = shop.orders[order_id]
    if order.refunded:
        raise ValueError(f"{order_id} was refunded before")
    order.refunded = True
    shop.log.append(order_id)
    return {"refunded": True}


async def show_order(shop: Shop, order_id: str) -> Order:
    """Show an order."""
    return shop.orders[order_id]


def add_tax(total: float, rate: float = 0.2) -> float:
    """Add the tax."""
    return total * (1 + rate)


def forget(shop: Shop, names: list[str]) -> int:
    """Remove names from the log."""
    names.sort()
    shop.log = [name for name in shop.log if name not in names]
    return shop.misspelt  # type: ignore[attr-defined]


CONFIG = {"Shop": {"orders": {"o1": {"id": "o1", "total": 5}}}}


def load(*functions, config=CONFIG, checks_arguments=True):
    registry.register(Backend.from_functions(Shop(), functions))
    return Session.load(["Shop"], config, checks_arguments=checks_arguments)


def call(session, text):
    return session.call(parse_call(text))


def test_a_function_changes_a_copy_of_the_state():
    session = load(refund, reads(show_order))
    before, fork = session.snapshot(), session.fork()
    result = call(session, "refund(order_id='o1')")
    assert result.text == '{"refunded": true}'
    assert result.changed
    paths = [each.path for each in before.differences(session.snapshot())]
    assert paths == ["Shop.orders.o1.refunded", "Shop.log[0]"]
    assert fork.snapshot() == before
    session.restore(before)
    assert call(session, "refund(order_id='o1')").ok


def test_exceptions_for_the_caller_refuse_the_call():
    session = load(refund)
    call(session, "refund(order_id='o1')")
    after = session.snapshot()
    assert call(session, "refund('o1')").text == '{"error": "o1 was refunded before"}'
    assert call(session, "refund('o2')").text == '{"error": "unknown \'o2\'"}'
    assert "valid string" in call(session, "refund(5)").text
    assert session.snapshot() == after


def test_other_exceptions_are_faults_and_undo_the_call():
    session = load(forget)
    before = session.snapshot()
    asked = parse_call("forget(names=['b', 'a'])")
    with pytest.raises(BackendFault, match="misspelt"):
        session.call(asked)
    assert session.snapshot() == before
    assert asked.kwargs == {"names": ["b", "a"]}


def test_coroutines_and_functions_without_a_state():
    session = load(show_order, add_tax)
    shown = call(session, "show_order(order_id='o1')")
    assert shown.text == '{"id": "o1", "total": 5.0, "refunded": false}'
    assert not shown.changed
    assert call(session, "add_tax(100.0)").held == 120.0


def test_the_error_of_a_coroutine_has_no_other_context():
    async def wait(state: dict) -> bool:
        raise OSError("no network")

    registry.register(Backend.from_functions({"notes": []}, [wait], "Store"))
    with pytest.raises(BackendFault) as found:
        call(Session.load(["Store"], {}), "wait()")
    assert found.value.__cause__.__context__ is None


def test_documents_and_config_schema_come_from_the_types():
    backend = Backend.from_functions(Shop(), [refund, add_tax], "Store")
    document = make_spec(backend.TOOLS["refund"]).document()
    assert document["parameters"]["properties"] == {
        "order_id": {"type": "string", "description": "Id of the order."}
    }
    assert list(make_spec(backend.TOOLS["add_tax"]).json_schema()["properties"]) == [
        "total",
        "rate",
    ]
    assert "Order" in make_config_schema(backend.Config)["$defs"]


def test_a_wrong_config_is_refused_with_its_path():
    with pytest.raises(
        ConfigError, match=r"\$\.Shop\.orders\.o1\.total: input should be a valid n"
    ):
        load(refund, config={"Shop": {"orders": {"o1": {"id": "o1", "total": "x"}}}})
    with pytest.raises(ConfigError, match=r"did you mean orders\?"):
        load(refund, config={"Shop": {"order": {}}})


class Ledger(BaseModel):
    entries: list[int] = []


def book(state: Ledger, amount: int) -> int:
    """Book an amount."""
    state.entries.append(amount)
    return sum(state.entries)


def note(state: dict, text: str) -> list[str]:
    """Note a text."""
    state["notes"].append(text)
    if text == "new key":
        state["more"] = 1
    return state["notes"]


@pytest.mark.parametrize(
    ("state", "function", "written", "fields"),
    [
        (Ledger(), book, "book(3)", {"entries": [3]}),
        ({"notes": []}, note, "note('x')", {"notes": ["x"]}),
    ],
)
def test_models_and_dicts_are_states(state, function, written, fields):
    backend = registry.register(Backend.from_functions(state, [function], "Store"))
    session = Session.load(["Store"], {})
    assert call(session, written).changed
    assert session.snapshot().compared() == {"Store": fields}
    assert vars(backend)[next(iter(fields))] == []


def test_a_key_that_the_state_does_not_declare_is_a_fault():
    registry.register(Backend.from_functions({"notes": []}, [note], "Store"))
    with pytest.raises(BackendFault, match="sets more, but the state does not declare this field"):
        call(Session.load(["Store"], {}), "note('new key')")


def test_a_deleted_key_of_the_state_is_a_fault():
    def forget(state: dict) -> bool:
        del state["notes"]
        return True

    registry.register(Backend.from_functions({"notes": ["x"]}, [forget], "Store"))
    session = Session.load(["Store"], {})
    with pytest.raises(BackendFault, match="deletes notes, but the state declares this field"):
        call(session, "forget()")
    assert session.snapshot().compared() == {"Store": {"notes": ["x"]}}


class Counter:
    """A counter."""

    def __init__(self) -> None:
        self.count = 0

    def increase(self, by: int = 1) -> int:
        """Increase the count."""
        self.count += by
        return self.count

    def helper(self) -> None:
        raise AssertionError


def test_an_object_is_a_backend_of_its_documented_methods():
    counter = Counter()
    backend = registry.register(Backend.from_object(counter))
    assert list(backend.TOOLS) == ["increase"]
    session = Session.load(["Counter"], {"Counter": {"count": 4}})
    assert call(session, "increase()").held == 5
    assert counter.count == 0


def notes(state: dict) -> int:
    return len(state)


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([notes], "Store has two members notes; rename one"),
        ([note, note], "Store has two members note; rename one"),
        ([lambda state: 1], "is not a named function; define it with `def`"),
        ([partial(note, text="x")], "is not a named function; define it with `def`"),
        ([len], "is not a named function; define it with `def`"),
    ],
)
def test_functions_have_names_that_nothing_else_has(functions, message):
    with pytest.raises(TypeError, match=message):
        Backend.from_functions({"notes": []}, functions, "Store")


@pytest.mark.parametrize("state", [None, 3, [], Counter, Ledger])
def test_a_state_has_fields(state):
    with pytest.raises(TypeError, match="is not a state; pass a dict or an object with fields"):
        Backend.from_functions(state, [note], "Store")


def test_states_of_other_than_plain_data_are_refused():
    with pytest.raises(
        TypeError, match=r"dict\.lock holds a object; a state consists of plain data"
    ):
        Backend.from_functions({"lock": object()}, [note])
    with pytest.raises(TypeError, match="the list of functions is empty"):
        Backend.from_functions({"notes": []}, [])


@pytest.mark.parametrize(
    ("state", "name", "message"),
    [
        ({"a": 1}, "my shop", "'my shop' is not a class name; pass the argument `name`"),
        ({"a": 1}, "class", "'class' is not a class name; pass the argument `name`"),
        ({"a b": 1}, None, "dict: the field 'a b' must have the name of a Python variable"),
        ({5: 1}, None, "dict: the field 5 must have the name of a Python variable"),
        ({"a": {1, 2}}, None, None),
        ({"a": lambda: 1}, None, "dict.a holds a function; a state consists of plain data"),
    ],
)
def test_names_and_values_of_a_state_are_checked(state, name, message):
    def look_up(state: dict) -> int:
        return len(state)

    if message is None:
        backend = Backend.from_functions(state, [look_up])
        assert state == backend.FIELDS
        return
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        Backend.from_functions(state, [look_up], name)


@pytest.mark.parametrize("functions", [None, 5, [5], "ab", {"note": note}])
def test_functions_are_a_list_of_functions(functions):
    with pytest.raises(TypeError, match=r"^Desk: .* is not a named function"):
        Backend.from_functions({}, functions, "Desk")


def test_a_name_is_a_text():
    with pytest.raises(TypeError, match=r"^5 is not a class name; pass the argument `name`$"):
        Backend.from_functions({}, [note], 5)


def take_state(state) -> int:
    return 1


def take_self(self) -> int:
    return 1


def take_class(basket: dict) -> int:
    return 1


def take_kind(basket) -> int:
    return 1


# As in modules without postponed evaluation.
take_kind.__annotations__["basket"] = dict


def take_other(basket: int) -> int:
    return basket


def take_nothing() -> int:
    return 1


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (take_state, ()),
        (take_self, ()),
        (take_class, ()),
        (take_kind, ()),
        (take_other, ("basket",)),
        (take_nothing, ()),
    ],
)
def test_the_first_parameter_may_be_the_state(function, names):
    backend = Backend.from_functions({"a": 1}, [function], "Basket")
    assert parameter_names(backend.TOOLS[function.__name__])[0] == names


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("too late"), "too late"),
        (ValueError(), "ValueError"),
        (KeyError("o1"), "unknown 'o1'"),
        (IndexError("no third"), "no third"),
        (PermissionError("locked"), "locked"),
        (Refused("Closed."), "Closed."),
    ],
)
def test_the_message_of_a_refusal_is_that_of_the_exception(error, message):
    def try_it(state: dict) -> int:
        state["a"] = 2
        raise error

    registry.register(Backend.from_functions({"a": 1}, [try_it], "Basket"))
    session = Session.load(["Basket"], {})
    result = call(session, "try_it()")
    assert (result.error.message, result.changed) == (message, False)
    assert session.backends["Basket"].a == 1


def test_missing_parts_of_a_docstring_are_made_from_names():
    def add_to_basket(state: dict, item_name: str, count: int = 1) -> int:
        return count

    def count_items(state: dict) -> int:
        """Count the items.

        Returns:
            Their number.

        Examples:
            >>> count_items()
            1
        """
        return 1

    backend = Backend.from_functions({"a": 1}, [add_to_basket, reads(count_items)], "Basket")
    assert backend.TOOLS["add_to_basket"].writes
    assert not backend.TOOLS["count_items"].writes
    assert [tool.function.__doc__ for tool in backend.TOOLS.values()] == [
        "add to basket.\n\nArgs:\n    item_name: item name\n    count: count\n\n"
        "Returns:\n    The result.",
        "Count the items.\n\nReturns:\n    Their number.\n\n"
        "Examples:\n\n    >>> count_items()\n    1",
    ]
    assert [example.call for example in make_spec(backend.TOOLS["count_items"]).examples] == [
        "count_items()"
    ]


def test_a_backend_has_the_name_module_and_docstring_of_its_state():
    class Desk:
        """A desk with one drawer."""

        def __init__(self):
            self.drawer = []

    def open_drawer(state) -> list:
        """Open the drawer."""
        return state["drawer"] if isinstance(state, dict) else state.drawer

    ours = Backend.from_functions(Desk(), [open_drawer])
    assert (ours.__name__, ours.__module__) == ("Desk", __name__)
    assert ours.__doc__ == "A desk with one drawer."
    plain = Backend.from_functions({"drawer": []}, [open_drawer], "Box")
    assert (plain.__name__, plain.__doc__) == ("Box", None)
    for name in ("a b", "class", "1a"):
        with pytest.raises(TypeError, match=f"'{name}' is not a class name"):
            Backend.from_functions(Desk(), [open_drawer], name)
    with pytest.raises(TypeError, match="Desk: the list of functions is empty"):
        Backend.from_functions(Desk(), [])
