"""Which parameters a function may have, checked when its class is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence  # noqa: F401 - some in texts only
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from annotated_types import Ge, MinLen, MultipleOf
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from envs.backend import Backend, reads
from envs.tool import (
    ENDLESS,
    choices,
    defaults,
    find_json_error,
    locate_error,
    make_unknown_function_error,
    parameter_names,
    place,
    shorten_path,
)


class Shape(TypedDict):
    name: str
    sides: NotRequired[list[Annotated[int, Ge(3)]]]


class Tree(TypedDict):
    branches: list[Tree]


class Page(BaseModel):
    number: int
    notes: dict[str, str | None] = {}


class Diary(BaseModel):
    written: datetime


def make(annotation: Any, default: Any = None) -> type[Backend]:
    """Make a backend whose only function has one parameter, of some type."""

    def show(self, thing): ...

    show.__annotations__["thing"] = annotation
    members = {"Config": Shape, "__annotations__": {}, "show": reads(show)}
    return type("Museum", (Backend,), members)


@pytest.mark.parametrize(
    "kind",
    [
        bool, int, float, str, list, dict, Any, None,
        "str", "str | None", "Sequence[str]", "Mapping[str, float]", "list[Shape]",
        int | str, list[dict[str, list[float]]],
        Literal["a", 1, None], Annotated[int, Ge(1)], Annotated[list[str], MinLen(1)],
        Annotated[str, Field(pattern="^a", max_length=5)], Annotated[float, MultipleOf(0.5)],
        Annotated[dict[str, int], Field(min_length=1, description="Counts.")],
        Shape, Page, list[Page | None],
    ],
    ids=str,
)  # fmt: skip
def test_a_type_that_json_can_express(kind):
    assert list(make(kind).TOOLS) == ["show"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (complex, "JSON cannot express complex"),
        ("datetime", "JSON cannot express datetime"),
        (bytes, "JSON cannot express bytes"),
        (set[str], r"JSON cannot express set\[str\]"),
        (tuple[int, str], r"JSON cannot express tuple\[int, str\]"),
        (list[set[int]], r"JSON cannot express set\[int\]"),
        (int | Callable[[], int], "JSON cannot express"),
        (Backend, "JSON cannot express Backend"),
        (Diary, "JSON cannot express datetime"),
        (dict[int, str], "the keys of a JSON object are strings, not int"),
        (Literal[b"a"], "JSON cannot express the choice b'a'"),
        (Tree, "Tree contains itself"),
        ("Nowhere", "name 'Nowhere' is not defined"),
        (Annotated[str, Ge(1)], "ge does not apply to str"),
        (Annotated[int, Field(max_length=3)], "max_length does not apply to int"),
        (Annotated[int | None, Field(ge=3)], "ge does not apply to int | None"),
        (list[Annotated[int, Field(pattern="a")]], "pattern does not apply to int"),
    ],
    ids=str,
)
def test_a_type_that_it_cannot_express(kind, message):
    with pytest.raises(
        TypeError, match=rf"test_tool.py:\d+: Museum.show: parameter thing: {message}"
    ):
        make(kind)


def test_a_parameter_without_a_type():
    with pytest.raises(TypeError, match=r"Museum.show: parameter thing: has no type"):

        class Museum(Backend):
            Config = Shape

            @reads
            def show(self, thing) -> None: ...


def test_a_function_may_have_no_module():
    # As in code that `exec` runs without `__name__`.
    def show(self, thing: Annotated[int, Ge(3)]): ...

    show.__module__ = None
    made = type("Hall", (Backend,), {"Config": Shape, "__annotations__": {}, "show": reads(show)})
    assert [*made.TOOLS] == ["show"]


def any_positional(self, *things: str): ...
def any_named(self, **things: str): ...
def without_name(self, thing: str, /): ...


@pytest.mark.parametrize("function", [any_positional, any_named, without_name])
def test_a_parameter_without_a_name(function):
    members = {"Config": Shape, "__annotations__": {}, "show": reads(function)}
    with pytest.raises(TypeError, match=r"Museum\.\w+: name every parameter"):
        type("Museum", (Backend,), members)


def without_self(): ...
def text_first(text: str): ...
def only_named(*, text: str): ...


text_of_future = text_first.__class__(text_first.__code__, {}, "text_of_future")
text_of_future.__annotations__ = {"text": "str"}


@pytest.mark.parametrize("function", [without_self, text_first, only_named, text_of_future])
def test_a_function_without_self(function):
    members = {"Config": Shape, "__annotations__": {}, "show": reads(function)}
    with pytest.raises(TypeError, match=r"test_tool.py:\d+: Museum\.\w+: the first parameter must"):
        type("Museum", (Backend,), members)


def nan_default(self, thing: float = float("nan")): ...
def model_default(self, thing: Page = Page(number=1)): ...  # noqa: B008
def named_default(self, *, thing: int = object()): ...


@pytest.mark.parametrize("function", [nan_default, model_default, named_default])
def test_a_default_is_json(function):
    members = {"Config": Shape, "__annotations__": {}, "show": reads(function)}
    with pytest.raises(TypeError, match=r"test_tool.py:\d+: Museum\.\w+: a default value: .*JSON"):
        type("Museum", (Backend,), members)


def test_only_functions_with_models_are_wrapped():
    plain, models = make(Shape), make(list[Page])
    assert plain.TOOLS["show"].function is plain.show
    assert models.TOOLS["show"].function is not models.show


def test_the_place_of_a_function_and_of_a_class():
    for thing in (make, make(Page).TOOLS["show"].function, Diary):
        file, line = place(thing).rsplit(":", 1)
        assert file.endswith("test_tool.py")
        assert line.isdecimal()
    assert place(make) == f"{place(Diary).rsplit(':', 1)[0]}:{make.__code__.co_firstlineno}"


def test_parameters_by_keyword_are_checked_and_local_variables_are_not():
    def show(self, one: int, *, two: str = "") -> int:
        three = one + 1
        return three * three

    def hide(self, one: int, *, two: complex) -> None: ...

    members = {"Config": Shape, "__annotations__": {}}
    made = type("Museum", (Backend,), {**members, "show": reads(show)})
    tool = made.TOOLS["show"]
    assert parameter_names(tool) == (("one", "two"), ("one",))
    assert dict(defaults(tool)) == {"one": inspect.Parameter.empty, "two": ""}
    with pytest.raises(
        TypeError, match=r"Museum\.hide: parameter two: JSON cannot express complex"
    ):
        type("Museum", (Backend,), {**members, "hide": reads(hide)})


def test_choices_are_the_parameters_with_several_values():
    def show(
        self,
        one: Literal["a"],
        two: Literal["a", "b"],
        three: Annotated[Literal[1, 2], Field(description="Of two.")],
        four: str,
        five: str | None = None,
        six: Literal["a", "b"] | None = None,
    ) -> None: ...

    made = type("Museum", (Backend,), {"Config": Shape, "__annotations__": {}, "show": reads(show)})
    assert choices(made.TOOLS["show"]) == {"two", "three"}


def test_an_error_is_located_where_it_was_raised():
    def fail():
        raise KeyError

    with pytest.raises(KeyError) as caught:
        fail()
    line = fail.__code__.co_firstlineno + 1
    assert locate_error(caught.value) == f"{shorten_path(__file__)}:{line}"
    assert shorten_path("/nowhere/a.py") == "/nowhere/a.py"
    assert shorten_path(str(Path.cwd() / "a.py")) == "a.py"


@pytest.mark.parametrize(
    ("name", "offered", "message"),
    [
        ("shwo", None, "There is no function 'shwo'. Did you mean show or shown?"),
        ("shwo", frozenset({"hide"}), "There is no function 'shwo'. There are: hide."),
        ("xyz", None, "There is no function 'xyz'. There are: show, shown, hide."),
        ("sho", None, "There is no function 'sho'. Did you mean show or shown?"),
        ("x" * 101, frozenset(), f"There is no function {'x' * 100!r}. There are: ."),
    ],
)
def test_an_unknown_function_is_answered_with_similar_ones(name, offered, message):
    tool = make(int).TOOLS["show"]
    tools = {"show": tool, "shown": tool, "hide": tool}
    assert make_unknown_function_error(name, tools, offered).message == message


def test_types_without_json_are_named_with_the_reason():
    keys = "the keys of a JSON object are strings, not int"
    odd = "JSON cannot express datetime; use bool, int, float, str, Literal, list, dict, "
    for kind, reason in (
        *((plain, None) for plain in (bool, int, float, str, None.__class__, Any, list, dict)),
        (dict[str, int], None),
        (dict[int, str], keys),
        (Mapping[int, str], keys),
        (list[dict[int, str]], keys),
        (str | dict[int, str], keys),
        (NotRequired[dict[int, str]], keys),
        (Annotated[int, Ge(1)], None),
        (Annotated[dict[int, str], "a note"], keys),
        (Annotated[str, Ge(1)], "ge does not apply to str; annotate the inner type"),
        (Annotated[list[int], MinLen(1)], None),
        (Annotated[int, MinLen(1)], "min_length does not apply to int; annotate the inner type"),
        (Annotated[int, Field(ge=1, multiple_of=2)], None),
        (Annotated[str, Field(ge=1)], "ge does not apply to str; annotate the inner type"),
        (Literal["a", 1, True, None], None),
        (Literal["a", b"b"], "JSON cannot express the choice b'b'"),
        (datetime, odd),
        (list[datetime], odd),
        (Shape, None),
    ):
        found = find_json_error(kind)
        assert found is None if reason is None else found is not None and found.startswith(reason)
    reason = "Shape contains itself; declare the inner part as Any"
    assert find_json_error(Shape, (Shape,)) == reason
    assert find_json_error(Shape, (Shape, ENDLESS)) is None
    assert find_json_error(dict[int, str], (Shape, ENDLESS)) == keys


def test_an_unknown_function_is_told_the_three_closest_names():
    tools = dict.fromkeys(("read_note", "read_notes", "read_noted", "read_noter", "paint"))
    said = make_unknown_function_error("read_notex", tools, None).message
    assert said.startswith("There is no function 'read_notex'. Did you mean read_note")
    assert (said.count(" or "), said.count("paint")) == (2, 0)
    long = make_unknown_function_error("x" * 101, {"paint": None}, None).message
    assert long == f"There is no function '{'x' * 100}'. There are: paint."
