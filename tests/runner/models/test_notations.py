"""Function documents in three forms: each says all that there is to say."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from runner.models.prompting import render
from trajectories.dataset import load_embedded
from trajectories.schema import Category

ORDER = {
    "name": "seeds.order",
    "description": "Order <seeds> & more.",
    "parameters": {
        "type": "dict",
        "properties": {
            "items": {
                "type": "array",
                "description": "What.",
                "items": {
                    "type": "dict",
                    "properties": {"plant": {"type": "string", "description": "Name."}},
                },
            },
            "pace": {"type": "string", "description": "How.", "enum": ["slow", "fast"]},
            "days": {"type": "array", "description": "When.", "items": {"type": "integer"}},
        },
        "required": ["items"],
    },
}
NOTHING = {"name": "go", "description": "Go.", "parameters": {"type": "dict", "properties": {}}}


def test_json_is_the_documents_themselves():
    assert json.loads(render([ORDER, NOTHING], "json")) == [ORDER, NOTHING]


def test_python_is_a_stub_with_a_docstring():
    assert render([ORDER, NOTHING], "python") == (
        "def seeds.order(items: list[dict], pace: str = ..., days: list[int] = ...):\n"
        '    """Order <seeds> & more.\n'
        "\n"
        "    Args:\n"
        "        items (list[dict]): What.\n"
        "            plant (str): Name.\n"
        '        pace (str): How. enum: ["slow", "fast"].\n'
        "        days (list[int]): When.\n"
        '    """\n'
        "\n"
        "def go():\n"
        '    """Go.\n'
        '    """'
    )


def test_xml_is_well_formed_and_nested():
    root = ElementTree.fromstring(f"<all>{render([ORDER, NOTHING], 'xml')}</all>")
    order, nothing = root.findall("function")
    assert (order.get("name"), order.findtext("description")) == (
        "seeds.order",
        "Order <seeds> & more.",
    )
    items, pace, days = order.findall("parameter")
    assert [p.get("required") for p in (items, pace, days)] == ["true", "false", "false"]
    assert [p.get("type") for p in (items, pace, days)] == [
        "array[dict]",
        "string",
        "array[integer]",
    ]
    assert items.find("parameter").get("name") == "plant"
    assert json.loads(pace.findtext("enum")) == ["slow", "fast"]
    assert nothing.findall("parameter") == []


@pytest.mark.parametrize("style", ["python", "xml"])
def test_nothing_that_a_document_says_is_lost(style):
    data = load_embedded([Category.SIMPLE_PYTHON, Category.MULTIPLE])
    for document in [d for e in data.trajectories.values() for d in e.expects.functions]:
        text = render([document], style)
        if style == "xml":
            text = "".join(ElementTree.fromstring(f"<all>{text}</all>").itertext()) + text
        for word in said(document):
            assert word in text, (document["name"], word)


def said(schema):
    """Yield the texts of a document, and its names of parameters."""
    for key, value in schema.items():
        if key == "properties":
            yield from value
        if key in ("name", "description") and isinstance(value, str):
            yield value
        if key == "enum":
            yield from value
        if isinstance(value, dict):
            yield from said(value)
