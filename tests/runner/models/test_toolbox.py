from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.errors import DataError
from envs.registry import BACKENDS
from envs.schema import ToolSpec
from runner.models.model_types import ToolCall, ToolList
from runner.models.toolbox import (
    FunctionNameMapping,
    FunctionNotes,
    Toolbox,
    as_tool,
    bfcl_documents,
    own_documents,
    toolbox_of,
    with_syntax_note,
)
from trajectories.bfcl_reader import function_docs_file
from trajectories.schema import Category, Trajectory

JSON_TYPES = {"object", "number", "array", "string", "integer", "boolean", "null"}
NOTE = " Argument values follow Python 3 syntax."


def document(name="f", parameters=None, **more):
    """Return a function document."""
    shown = {"type": "dict", "properties": {}, "required": []} if parameters is None else parameters
    return {"name": name, "description": f"Does {name}.", "parameters": shown, **more}


def mapped(schema):
    """Return what becomes of the schema of one parameter."""
    parameters = {"type": "dict", "properties": {"x": schema}, "required": ["x"]}
    tool = as_tool(document(parameters=parameters), FunctionNameMapping(["f"]))
    return tool["function"]["parameters"]["properties"]["x"]


def problems(schema, path="$"):
    """Yield where a schema is not JSON Schema as providers want it."""
    kind = schema.get("type")
    if not (kind in JSON_TYPES or (kind is None and schema.get("anyOf"))):
        yield f"{path}.type: {kind}"
    if kind == "array" and "items" not in schema:
        yield f"{path}: no items"
    properties = schema.get("properties", {})
    if not set(schema.get("required", ())) <= set(properties):
        yield f"{path}.required"
    inner = [(f"{path}.{name}", member) for name, member in properties.items()]
    inner += [(f"{path}|{i}", member) for i, member in enumerate(schema.get("anyOf", []))]
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict) and schema[keyword]:
            inner.append((f"{path}.{keyword}", schema[keyword]))
    for where, member in inner:
        yield from problems(member, where)


def test_only_tools_of_bfcls_backends_have_the_note_on_syntax(tmp_path):
    for environments, noted in ((("TicketAPI",), True), (("TicketAPI", "Mailbox"), False)):
        entry = Trajectory("a", Category.BASE, environments, {}, ())
        functions = [document["name"] for document in own_documents(environments)]
        tools = toolbox_of(entry).tools(frozenset(functions), ()).tools
        ends = {tool["function"]["description"].endswith(NOTE) for tool in tools}
        assert ends == {noted}


def test_a_document_without_a_result_has_no_empty_section():
    assert ToolSpec("ping", "Ping.", (), "", ()).document()["description"] == "Ping."


# Documents


def test_our_documents_are_of_all_functions_in_the_order_of_the_backends():
    documents = own_documents(["TicketAPI", "MathAPI"])
    tools = [*BACKENDS["TicketAPI"].TOOLS, *BACKENDS["MathAPI"].TOOLS]
    assert [d["name"] for d in documents] == tools


def test_our_documents_say_what_a_function_does_takes_and_returns():
    [close] = [d for d in own_documents(["TicketAPI"]) if d["name"] == "close_ticket"]
    assert set(close) == {"name", "description", "parameters"}
    assert re.match(r"\S.* Returns: \S", close["description"])
    assert close["parameters"]["required"] == ["ticket_id"]
    assert close["parameters"]["properties"]["ticket_id"]["type"] == "integer"


def test_documents_of_the_reference_are_those_of_its_files_as_they_are(write_lines, tmp_path):
    tickets, sums = [document("a", response={"type": "dict"}), document("b")], [document("c")]
    write_lines(function_docs_file("TicketAPI"), *tickets)
    write_lines(function_docs_file("MathAPI"), *sums)
    assert bfcl_documents(["TicketAPI", "MathAPI"], tmp_path) == [*tickets, *sums]


def test_a_missing_file_of_documents_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match=r"ticket_api\.json: cannot be read: No such file"):
        bfcl_documents(["TicketAPI"], tmp_path)


def test_a_malformed_document_is_a_data_error_with_its_line(write_lines, tmp_path):
    write_lines(function_docs_file("TicketAPI"), document(), "[]")
    with pytest.raises(DataError, match=r"ticket_api\.json:2: must be a JSON object"):
        bfcl_documents(["TicketAPI"], tmp_path)


def test_the_syntax_note_is_added_to_a_copy():
    before = document()
    assert with_syntax_note(before) == {**before, "description": f"Does f.{NOTE}"}
    assert before["description"] == "Does f."


# Types


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("dict", {"type": "object"}),
        ("tuple", {"type": "array", "items": {}}),
        ("array", {"type": "array", "items": {}}),
        ("any", {"type": "string"}),
        ("String", {"type": "string"}),
        *((kind, {"type": kind}) for kind in ("object", "string", "integer", "boolean", "number")),
        ("null", {"type": "null"}),
    ],
)
def test_types_are_those_of_json_schema(kind, schema):
    assert mapped({"type": kind}) == schema


def test_a_float_is_a_number_and_says_so():
    assert mapped({"type": "float", "description": "Price."}) == {
        "type": "number",
        "format": "float",
        "description": "Price. A number, may have a fraction.",
    }


def test_a_float_without_a_description_is_described_without_a_stray_space():
    shown = mapped({"type": "array", "items": {"type": "float"}})
    assert shown["items"]["description"] == "A number, may have a fraction."


def test_a_value_of_no_type_is_text():
    assert mapped({"description": "What?"}) == {"type": "string", "description": "What?"}


def test_a_choice_of_types_needs_no_type():
    choice = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    assert mapped(choice) == choice


def test_nested_objects_and_arrays_are_mapped_all_the_way_down():
    schema = {
        "type": "dict",
        "properties": {
            "points": {
                "type": "array",
                "items": {"type": "tuple", "items": {"type": "float", "description": "Axis."}},
            },
            "more": {
                "type": "dict",
                "properties": {"deep": {"type": "any", "default": 1}},
                "required": ["deep"],
            },
        },
        "required": ["points"],
    }
    axis = {"type": "number", "format": "float"}
    axis["description"] = "Axis. A number, may have a fraction."
    assert mapped(schema) == {
        "type": "object",
        "properties": {
            "points": {"type": "array", "items": {"type": "array", "items": axis}},
            "more": {
                "type": "object",
                "properties": {"deep": {"type": "string", "default": 1}},
                "required": ["deep"],
            },
        },
        "required": ["points"],
    }


def test_parameters_that_are_called_like_keywords_are_parameters():
    inner = {"type": {"type": "dict"}, "items": {"type": "any"}, "anyOf": {"type": "boolean"}}
    shown = mapped({"type": "dict", "properties": inner})
    assert {name: member["type"] for name, member in shown["properties"].items()} == {
        "type": "object",
        "items": "string",
        "anyOf": "boolean",
    }
    assert "items" not in shown


@pytest.mark.parametrize("parameters", [{}, {"type": "dict"}, {"type": "any", "properties": {}}])
def test_the_parameters_as_a_whole_are_always_an_object(parameters):
    tool = as_tool(document(parameters=parameters), FunctionNameMapping(["f"]))
    assert tool["function"]["parameters"]["type"] == "object"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "dict", "additionalProperties": {"type": "float"}},
        {"anyOf": [{"type": "dict", "properties": {"a": {"type": "any"}}}, {"type": "null"}]},
    ],
    ids=["additionalProperties", "anyOf"],
)
def test_types_inside_other_keywords_are_mapped_too(schema):
    assert list(problems(mapped(schema))) == []


plain = st.sampled_from(["dict", "float", "tuple", "any", "integer", "string", "array", "odd"])
schemas = st.recursive(
    st.fixed_dictionaries({"type": plain}, optional={"description": st.text(max_size=5)}),
    lambda inner: (
        st.fixed_dictionaries({"type": st.sampled_from(["array", "tuple"]), "items": inner})
        | st.fixed_dictionaries(
            {"type": st.just("dict"), "properties": st.dictionaries(st.text(max_size=5), inner)}
        )
    ),
    max_leaves=8,
)


@given(schemas)
def test_every_schema_becomes_a_valid_one_and_stays_as_it_was(schema):
    before = json.dumps(schema)
    assert list(problems(mapped(schema))) == []
    assert json.dumps(schema) == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_our_documents_are_tools_with_valid_schemas(backend):
    documents = own_documents([backend])
    names = FunctionNameMapping([d["name"] for d in documents])
    for shown in documents:
        tool = as_tool(shown, names)
        assert tool["type"] == "function"
        assert list(problems(tool["function"]["parameters"])) == []
        # Ours are JSON Schema from the start: nothing is lost on the way.
        assert tool["function"] == shown


def test_a_tool_has_only_members_that_servers_know():
    # BFCL's documents have a member "response" besides; OpenAI refuses what it does not
    # know.
    tool = as_tool(
        document(response={"type": "dict", "properties": {}}), FunctionNameMapping(["f"])
    )
    assert set(tool["function"]) <= {"name", "description", "parameters", "strict"}


# Names


@pytest.mark.parametrize(
    ("names", "legal"),
    [
        (["cd", "send_message", "lock-doors", "A1"], ["cd", "send_message", "lock-doors", "A1"]),
        (["math.sum", "größe", "a b"], ["math_sum", "gr__e", "a_b"]),
        (["a.b", "a_b", "a b"], ["a_b", "a_b_2", "a_b_3"]),
        (["a_b_2", "a.b", "a_b"], ["a_b_2", "a_b", "a_b_3"]),
        (["x" * 64, "y" * 65], ["x" * 64, "y" * 64]),
        (["x" * 65, "x" * 66, "x" * 64], ["x" * 64, "x" * 62 + "_2", "x" * 62 + "_3"]),
    ],
    ids=["legal", "illegal", "clash", "clash with a number", "long", "long and alike"],
)
def test_names_are_made_legal_unique_and_mapped_back(names, legal):
    known = FunctionNameMapping(names)
    assert [known.legal(name) for name in names] == legal
    assert [known.real(name) for name in legal] == names


@given(st.lists(st.text(alphabet="ab._é", min_size=1, max_size=70), unique=True, max_size=12))
def test_any_names_can_be_sent_and_come_back(names):
    known = FunctionNameMapping(names)
    legal = [known.legal(name) for name in names]
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", name) for name in legal)
    assert len(set(legal)) == len(names)
    assert [known.real(name) for name in legal] == names


def test_a_name_that_was_never_sent_is_itself():
    known = FunctionNameMapping(["math.sum"])
    assert known.real("math.sum") == "math.sum"
    assert known.real("nonsense") == "nonsense"
    assert known.real("") == ""


def test_a_tool_has_the_legal_name():
    assert (
        as_tool(document("math.sum"), FunctionNameMapping(["math.sum"]))["function"]["name"]
        == "math_sum"
    )


# Toolboxes

ABC = [document(name) for name in ("a", "b.b", "c", "d")]


def names_of(tools):
    """Return the names of the tools of a list."""
    return [tool["function"]["name"] for tool in tools.tools]


def test_early_documents_have_the_syntax_note_and_the_order_of_the_documents():
    early = Toolbox(ABC).early(frozenset(["d", "a"]))
    assert early == [with_syntax_note(ABC[0]), with_syntax_note(ABC[3])]


def test_late_documents_are_as_they_are_in_the_order_of_handing_over():
    assert Toolbox(ABC).late(["d", "a"]) == [ABC[3], ABC[0]]


def test_tools_that_were_handed_over_come_last_and_have_no_syntax_note():
    box = Toolbox(ABC)
    tools = box.tools(frozenset(["a", "b.b", "c", "d"]), ("c", "a"))
    assert names_of(tools) == ["b_b", "d", "c", "a"]
    noted = [NOTE in tool["function"]["description"] for tool in tools.tools]
    assert noted == [True, True, False, False]


def test_what_is_not_offered_is_no_tool():
    assert names_of(Toolbox(ABC).tools(frozenset(["d"]), ())) == ["d"]
    assert names_of(Toolbox(ABC).tools(frozenset(), ())) == []


def test_equal_tool_lists_are_one_and_encoded_once():
    box = Toolbox(ABC)
    first = box.tools(frozenset(["a", "b.b"]), ("a",))
    assert box.tools(frozenset(["b.b", "a"]), ("a",)) is first
    assert json.loads(first.encoded) == first.tools
    others = [box.tools(frozenset(["a", "b.b"]), late) for late in ((), ("b.b",), ("b.b", "a"))]
    assert len({first.digest, *(tools.digest for tools in others)}) == 4
    encoded = first.encoded
    first.tools.clear()
    assert first.encoded == encoded


def test_a_digest_depends_on_nothing_but_the_tools():
    first, second = (Toolbox(ABC).tools(frozenset(["a"]), ()) for _ in range(2))
    assert first is not second
    assert first.digest == second.digest
    assert re.fullmatch("[0-9a-f]{64}", first.digest)


def test_tools_are_encoded_without_spaces_and_in_ascii():
    assert ToolList([{"a": "é", "b": [1, 2]}]).encoded == b'[{"a":"\\u00e9","b":[1,2]}]'


# Single-turn entries


def typed(**parameters):
    """Return a document with parameters of some types."""
    schema = {"type": "dict", "properties": parameters, "required": list(parameters)}
    return document(parameters=schema)


def test_python_documents_are_shown_as_they_are(single_turn):
    own = typed(n={"type": "integer", "description": "How many."})
    assert toolbox_of(single_turn("python", own)).plain(frozenset({"f"})) == [own]


@pytest.mark.parametrize("language", ["java", "javascript"])
def test_values_of_other_languages_are_texts_whose_type_is_told(single_turn, language):
    members = {"k": {"type": "integer"}, "l": {"type": "array", "items": {"type": "String"}}}
    own = typed(
        n={"type": "long", "description": "How many."},
        a={"type": "ArrayList", "items": {"type": "integer"}},
        d={"type": "dict", "properties": members},
    )
    (shown,) = toolbox_of(single_turn(language, own)).plain(frozenset({"f"}))
    assert shown["parameters"]["properties"] == {
        "n": {"type": "string", "description": "How many. Its type is long."},
        "a": {"type": "string", "description": "Its type is ArrayList of integer."},
        "d": {
            "type": "string",
            "description": "Its type is dict with k (integer), l (array of String).",
        },
    }
    assert own["parameters"]["properties"]["n"]["type"] == "long"


def test_the_sentences_may_be_others(single_turn):
    notes = FunctionNotes(
        dict.fromkeys(("python", "java"), " Note."), " F.", lambda *said: f" {said}"
    )
    own = typed(n={"type": "long", "description": "How many."})
    toolbox = toolbox_of(single_turn("java", own), notes=notes)
    (tool,) = toolbox.tools(frozenset({"f"}), ()).tools
    assert tool["function"]["description"].endswith(" Note.")
    said = tool["function"]["parameters"]["properties"]["n"]["description"]
    assert said == f"How many. {('java', own['parameters']['properties']['n'])}"


def test_numbers_in_a_list_may_be_bare_and_results_told(single_turn):
    parameters = {"l": {"type": "array", "items": {"type": "float"}}, "f": {"type": "float"}}
    own = {**typed(**parameters), "response": {"type": "dict"}}
    told, bare = (
        toolbox_of(single_turn("python", own), notes=notes).tools(frozenset({"f"}), ()).tools[0]
        for notes in (FunctionNotes(), FunctionNotes(bare_items=True, response=True))
    )
    shown = [each["function"]["parameters"]["properties"] for each in (told, bare)]
    assert shown[0]["l"]["items"] == shown[0]["f"]
    assert shown[1]["l"]["items"] == {"type": "number"}
    assert shown[1]["f"] == shown[0]["f"]
    assert "response" not in told["function"]
    assert bare["function"]["response"] == {"type": "dict"}


def test_a_single_turn_entry_has_its_own_functions_in_its_own_language(single_turn):
    entry = single_turn("java", typed(n={"type": "long"}))
    (tool,) = toolbox_of(entry).tools(frozenset({"f"}), ()).tools
    assert tool["function"]["description"].endswith("texts of Java 8 expressions.")
    assert tool["function"]["parameters"]["properties"]["n"]["type"] == "string"


def test_trajectories_over_the_same_backends_share_their_functions(help_desk):
    assert toolbox_of(help_desk) is toolbox_of(help_desk)


ONE = {"name": "close", "parameters": {"properties": {"ticket_id": {"type": "integer"}}}}
TWO = {"name": "move", "parameters": {"properties": {"source": {}, "target": {}}}}


@pytest.mark.parametrize(
    ("name", "given", "read"),
    [
        ("close", '{"__arg1": "7"}', {"ticket_id": 7}),
        ("close", {"__arg1": "seven"}, {"__arg1": "seven"}),
        ("close", '{"__arg1": 7, "x": 1}', '{"__arg1": 7, "x": 1}'),
        ("close", '{"__arg1": ', '{"__arg1": '),
        ("close", '{"ticket_id": 7}', '{"ticket_id": 7}'),
        ("move", '{"__arg1": "a"}', '{"__arg1": "a"}'),
        ("unknown", {"__arg1": "a"}, {"__arg1": "a"}),
        ("close", None, None),
    ],
)
def test_the_only_argument_of_langchain_gets_the_name_of_the_parameter(name, given, read):
    assert Toolbox([ONE, TWO]).real_call(ToolCall("a", name, given)) == {name: read}
