from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired

import pytest
from annotated_types import Ge, Le
from typing_extensions import TypedDict

from envs.backend import Backend, reads, writes
from envs.errors import InvalidArgument
from envs.schema import check_arguments, spec


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
    def untyped(self, name) -> None:  # type: ignore[no-untyped-def]
        """Show a parameter without a type.

        Args:
            name: Its name.
        """

    @reads
    def unsupported(self, pet: Zoo) -> None:
        """Show a parameter that has no JSON Schema.

        Args:
            pet: An object.
        """


def test_a_function_without_parameters():
    count = spec(Zoo.TOOLS["count"])
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
    feed = spec(Zoo.TOOLS["feed"])
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
    schema = spec(Zoo.TOOLS["adopt"]).json_schema()
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
    names = [parameter.name for parameter in spec(Zoo.TOOLS["feed"]).parameters]
    assert names == ["name", "kind", "grams", "temperature", "note"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("undescribed", "Zoo.undescribed: the docstring does not describe 'name'"),
        ("untyped", "Zoo.untyped: the parameter 'name' has no type"),
        ("unsupported", "Zoo.unsupported: "),
    ],
)
def test_a_function_that_cannot_be_described(name, message):
    with pytest.raises(TypeError, match=message):
        spec(Zoo.TOOLS[name])


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
