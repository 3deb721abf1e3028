"""A collection of 20 functions in the form of RapidAPI, as ToolBench stores it."""

from __future__ import annotations

from typing import Any

_CITIES = ("Oslo", "Bergen", "Turku", "Gdansk", "Porto")


def parameter(name: str, kind: str, default: object) -> dict[str, Any]:
    """Return a parameter of a function."""
    return {"name": name, "type": kind, "description": f"The {name}.", "default": default}


def api(name: str, told: str, required: list[Any], body: object, **more: Any) -> dict[str, Any]:
    """Return a function of the collection."""
    url = f"https://travel.example/{name.replace(' ', '-').lower()}"
    given = {"required_parameters": required, "optional_parameters": [], "method": "GET"}
    known = {"statuscode": 200, "body": body, "convert": "", "test_endpoint": "", "schema": ""}
    return {"name": name, "url": url, "description": told, **given, **known, **more}


def travel() -> dict[str, Any]:
    """Return the collection."""
    apis = []
    for number, city in enumerate(_CITIES):
        where = [parameter("city-name", "STRING", city)]
        apis += [
            api(
                f"Weather {city}",
                f"Weather of a town in region {number}",
                where,
                {"degrees": number},
            ),
            api(f"Hotels {city}", f"Hotels of a town in region {number}", where, [f"Inn {number}"]),
            api(
                f"Fares {city}",
                f"Fares to a town in region {number}",
                [*where, parameter("adults", "NUMBER", str(number + 1))],
                {"fare": 20 + number, "currency": "EUR"},
            ),
        ]
    room = [parameter("room", "NUMBER", "7")]
    apis += [
        api("Book room", "Book a room of the hotel", room, {"booked": 7}, method="POST"),
        api("Broken", "Always fails", [], {"error": "down"}, statuscode=500),
        api("Page", "Answers with a page", [], "<!DOCTYPE html><html></html>"),
        api("Nothing", "Has no example", [], None),
        api("Random", "A random number", [], {"number": 4}),
    ]
    return {"tool_name": "Travel", "tool_description": "Travel.", "api_list": apis}
