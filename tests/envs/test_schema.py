from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

import pytest
from annotated_types import Ge, Le
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from envs.backend import Backend, reads, writes
from envs.errors import DataError, InvalidArgument
from envs.registry import backend_class, names
from envs.schema import (
    check_arguments,
    check_value,
    list_docstring_errors,
    make_spec,
)
from envs.tool import choices


class Pet(TypedDict):
    """A pet."""

    name: str
    age: NotRequired[int]


class ZooConfig(TypedDict, total=False):
    pass


class Zoo(Backend):
    """Functions with every supported kind of parameter."""

    Config = ZooConfig

    @reads
    def count(self) -> int:
        """Count the pets.

        Returns:
            Their number.
        """
        return 0

    @writes
    def feed(
        self,
        name: str,
        kind: Literal["hay", "fish"],
        grams: Annotated[int, Ge(1), Le(500)] = 50,
        temperature: float = 4.0,
        note: str | None = None,
    ) -> dict[str, str]:
        """Feed a pet,
        once.

        Longer than one line.

        Args:
            name: Name of the pet: as it
                is called.
            kind: What it gets.
            grams: How much.
            temperature: In degrees.
            note: Anything else.

        Returns:
            status: Confirmation
                on two lines.

        Raises:
            ValueError: Never.
        """
        return {}

    @writes
    def adopt(self, pet: Pet, tags: Sequence[str] = [], friends: list[Pet] = []) -> None:  # noqa: B006
        """Adopt a pet.

        Args:
            pet: The pet.
            tags: Its tags.
            friends: Its friends.
        """

    @reads
    def undescribed(self, name: str) -> None:
        """Say nothing about the name.

        Args:
            nam: A slip.
        """

    @reads
    def misbuilt(self, name: Annotated[str, Field(pattern="[")]) -> None:
        """Ask for a name that matches an invalid pattern.

        Args:
            name: Its name.
        """


class Vet(BaseModel):
    """Who looks after a pet."""

    name: str = Field(min_length=1)
    phones: list[str] = []


class Clinic(Backend):
    """Functions whose arguments are pydantic models."""

    Config = ZooConfig

    @writes
    def visit(self, vet: Vet, pets: Sequence[Vet] = (), other: Vet | None = None) -> dict[str, Any]:
        """Visit a vet.

        Args:
            vet: The vet.
            pets: Others
                who come along.
            other: Another one.

        Returns:
            What the function was given.

        Examples:
            >>> visit(vet={'name': 'Ann'},
            ... pets=[])
            {"vet": "Ann",
            ... }
            >>> visit(vet={'name': 'Bob'})
        """
        assert isinstance(vet, Vet)
        assert all(isinstance(pet, Vet) for pet in pets)
        return {"vet": vet.name, "phones": vet.phones, "other": other and other.name}


def test_a_function_without_parameters():
    count = make_spec(Zoo.TOOLS["count"])
    assert (count.name, count.description, count.returns) == (
        "count",
        "Count the pets.",
        "Their number.",
    )
    assert count.json_schema() == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }


def test_descriptions_ranges_and_defaults_come_from_signature_and_docstring():
    feed = make_spec(Zoo.TOOLS["feed"])
    assert feed.description == "Feed a pet, once. Longer than one line."
    assert feed.returns == "status: Confirmation on two lines."
    assert feed.json_schema() == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Name of the pet: as it is called."},
            "kind": {"enum": ["hay", "fish"], "type": "string", "description": "What it gets."},
            "grams": {
                "type": "integer",
                "minimum": 1,
                "maximum": 500,
                "default": 50,
                "description": "How much.",
            },
            "temperature": {"type": "number", "default": 4.0, "description": "In degrees."},
            "note": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "default": None,
                "description": "Anything else.",
            },
        },
        "required": ["name", "kind"],
        "additionalProperties": False,
    }


def test_objects_are_written_out_in_place():
    schema = make_spec(Zoo.TOOLS["adopt"]).json_schema()
    pet = schema["properties"]["pet"]
    assert pet["properties"] == {"name": {"type": "string"}, "age": {"type": "integer"}}
    assert pet["required"] == ["name"]
    assert schema["properties"]["friends"]["items"]["properties"] == pet["properties"]
    assert schema["properties"]["tags"] == {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
        "description": "Its tags.",
    }
    assert "$ref" not in str(schema)
    assert "title" not in str(schema)


def test_parameters_keep_their_order():
    names = [parameter.name for parameter in make_spec(Zoo.TOOLS["feed"]).parameters]
    assert names == ["name", "kind", "grams", "temperature", "note"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("undescribed", "Zoo.undescribed: the docstring does not describe 'name'"),
        ("misbuilt", "Zoo.misbuilt: .*unclosed character class$"),
    ],
)
def test_a_function_that_cannot_be_described(name, message):
    with pytest.raises(DataError, match=message):
        make_spec(Zoo.TOOLS[name])


FED = {"name": "Rex", "kind": "hay"}
PET = {"name": "Rex"}


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("count", (), {}),
        ("feed", ("Rex", "hay"), {}),
        ("feed", (), FED),
        ("feed", ("Rex",), {"kind": "fish", "grams": 500, "temperature": 4, "note": None}),
        ("adopt", (PET,), {}),
        ("adopt", ({**PET, "age": 3}, ["a"], [PET]), {}),
    ],
)
def test_arguments_that_fit(name, args, kwargs):
    check_arguments(Zoo.TOOLS[name], args, kwargs)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "message"),
    [
        ("feed", (), {}, "feed needs the argument name."),
        ("feed", ("Rex",), {}, "feed needs the argument kind."),
        ("feed", ("Rex", "meat"), {}, "feed: kind = 'meat': input should be 'hay' or 'fish'."),
        ("feed", (5, "hay"), {}, "feed: name = 5: input should be a valid string."),
        ("feed", (None, "hay"), {}, "feed: name = None: input should be a valid string."),
        ("feed", (), {**FED, "grams": 0}, "grams = 0: input should be greater than or equal to 1."),
        ("feed", (), {**FED, "grams": 501}, "grams = 501: input should be less than or equal"),
        ("feed", (), {**FED, "grams": 5.0}, "grams = 5.0: input should be a valid integer."),
        ("feed", (), {**FED, "grams": True}, "grams = True: input should be a valid integer."),
        ("feed", (), {**FED, "grams": "5"}, "grams = '5': input should be a valid integer."),
        ("feed", (), {**FED, "temperature": "x" * 10_000}, "temperature = 'xxx"),
        ("feed", (), {**FED, "note": 5}, "note"),
        (
            "feed",
            (),
            {**FED, "nate": "x"},
            "feed has no parameter 'nate'; it takes name, kind, grams",
        ),
        ("feed", (), {**FED, "x" * 10_000: 1}, "feed has no parameter 'xxx"),
        ("feed", ("Rex",), FED, "feed: name is given twice."),
        ("feed", ("R", "hay", 1, 1.0, "", 1), {}, "feed takes 5 arguments (name, kind, grams, "),
        ("count", (1,), {}, "count takes 0 arguments"),
        ("adopt", ({},), {}, "adopt needs the argument pet.name."),
        ("adopt", ({**PET, "colour": "red"},), {}, "pet.colour = 'red': extra inputs"),
        ("adopt", (PET, "tags"), {}, "tags = 'tags': "),
        ("adopt", (PET, ["a", 1]), {}, "tags[1] = 1: input should be a valid string."),
        ("adopt", (PET, [], [PET, {"name": 1}]), {}, "friends[1].name = 1: input should be"),
    ],
)
def test_arguments_that_do_not_fit(name, args, kwargs, message):
    with pytest.raises(InvalidArgument) as caught:
        check_arguments(Zoo.TOOLS[name], args, kwargs)
    assert message in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize(
    ("name", "value"),
    [("grams", None), ("grams", 0), ("kind", 1), ("note", 5), ("temperature", "")],
)
def test_a_value_that_does_not_fit_its_parameter(name, value):
    with pytest.raises(InvalidArgument, match=f"feed: {name}"):
        check_value(Zoo.TOOLS["feed"], name, value)


def test_the_name_of_a_parameter_may_come_from_a_file():
    [name] = json.loads('["grams"]')
    with pytest.raises(InvalidArgument, match="feed: grams"):
        check_value(Zoo.TOOLS["feed"], name, 0)


def test_a_value_that_fits_its_parameter_whatever_the_others_are():
    check_value(Zoo.TOOLS["feed"], "grams", 5)


def test_a_document_holds_all_that_is_told():
    document = make_spec(Zoo.TOOLS["feed"]).document()
    assert list(document) == ["name", "description", "parameters"]
    assert document["description"] == (
        "Feed a pet, once. Longer than one line. Returns: status: Confirmation on two lines."
    )


# Pydantic models

VISIT = Clinic.TOOLS["visit"]


def test_a_model_is_an_object_in_the_schema():
    schema = make_spec(VISIT).json_schema()["properties"]["vet"]
    assert schema == {
        "type": "object",
        "description": "The vet.",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "phones": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["name"],
    }


def test_a_function_gets_models_however_arguments_are_given():
    given = {"name": "Ann", "phones": ["1"]}
    told = {"vet": "Ann", "phones": ["1"], "other": None}
    assert VISIT.function(Clinic.load({}), given) == told
    assert VISIT.function(Clinic.load({}), vet=given, pets=[given]) == told
    assert VISIT.function(Clinic.load({}), Vet(name="Ann"), other=given)["other"] == "Ann"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "visit needs the argument vet."),
        ({"vet": "Ann"}, "visit: vet = 'Ann'"),
        ({"vet": {"name": ""}}, "visit: vet.name = ''"),
        ({"vet": {"name": "Ann", "phones": [1]}}, "visit: vet.phones[0] = 1"),
        ({"vet": {"name": "Ann"}, "pets": [{}]}, "visit needs the argument pets[0].name."),
    ],
)
def test_what_is_no_model_is_refused_before_the_function_runs(arguments, message):
    with pytest.raises(InvalidArgument) as caught:
        VISIT.function(Clinic.load({}), **arguments)
    assert caught.value.message.startswith(message)


def test_examples_are_read_and_not_told_to_models():
    told = make_spec(VISIT)
    assert told.examples == (
        ("visit(vet={'name': 'Ann'}, pets=[])", '{"vet": "Ann", ... }'),
        ("visit(vet={'name': 'Bob'})", ""),
    )
    assert "Bob" not in str(told.document())


Side = Annotated[Literal["left", "right"], Field(description="Which side.")]


class Chooser(Backend):
    """Chooses."""

    Config = ZooConfig

    @reads
    def choose(self, side: Side, level: Literal[1, 2], mode: Literal["only"], name: str) -> str:
        """Choose.

        Args:
            side: Which side.
            level: How high.
            mode: There is one.
            name: Any.

        Returns:
            Nothing.
        """
        return ""


def test_choices_of_a_closed_set_are_those_that_the_schema_lists() -> None:
    assert choices(Chooser.TOOLS["choose"]) == {"side", "level"}
    tools = [tool for name in names() for tool in backend_class(name).TOOLS.values()]
    for tool in (*tools, Chooser.TOOLS["choose"]):
        listed = {each.name for each in make_spec(tool).parameters if "enum" in each.schema}
        assert choices(tool) == listed, tool.name


class Careless(Backend):
    """Functions with errors in their docstrings."""

    Config = ZooConfig

    @reads
    def good(self, a: int) -> int:
        """Count.

        Args:
            a: A number.

        Returns:
            A number.
        """
        return a

    @reads
    def bad(self, a: int) -> int:
        """Count

        Args:
            a: A number.
            b: A slip.
        """
        return a

    @reads
    def worse(self, a: int) -> int:
        """Count."""
        return a

    @reads
    def silent(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("good", []),
        (
            "bad",
            [
                "the summary must end with a full stop",
                "the section Returns is missing",
                "the section Args describes b, which is not a parameter",
            ],
        ),
        ("silent", ["it is missing", "the section Returns is missing"]),
        ("worse", ["Careless.worse: the docstring does not describe 'a'"]),
    ],
)
def test_errors_in_docstrings_are_listed(name: str, errors: list[str]) -> None:
    assert [*list_docstring_errors(Careless.TOOLS[name])] == errors
