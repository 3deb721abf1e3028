from __future__ import annotations

import json
import re
from hashlib import sha256

import pytest

from envs.errors import DataError
from runner.models.prompting import (
    DEFAULT,
    as_first_user,
    read_prompts,
    with_functions,
    with_results,
)

OWN = """
system = "Functions: {functions}"
observation = "Results: {results}"
handover_prompt = "New: {functions}"
handover_fc = "New."
"""


@pytest.fixture
def written(tmp_path):
    """Write a prompt file."""

    def write(content):
        path = tmp_path / "prompts.toml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# Reading


def test_our_prompts_can_be_read():
    prompts = read_prompts()
    assert prompts.system.endswith("{functions}")
    assert prompts.sha256 == sha256(DEFAULT.read_bytes()).hexdigest()
    assert all(text and text == text.strip() for text in prompts[:5])
    assert prompts.first_user is None


def test_a_file_of_the_user_s_replaces_all_texts(written):
    path = written(OWN)
    prompts = read_prompts(path)
    assert prompts[:4] == (
        "Functions: {functions}",
        "Results: {results}",
        "New: {functions}",
        "New.",
    )
    assert prompts.sha256 == sha256(path.read_bytes()).hexdigest()


def test_a_comment_changes_the_hash_and_not_the_texts(written):
    plain = read_prompts(written(OWN))
    commented = read_prompts(written(f"# Mine.\n{OWN}"))
    assert plain[:4] == commented[:4]
    assert plain.sha256 != commented.sha256


NESTING = (
    OWN.replace("Functions:", "{nesting}Functions:")
    + """
nesting = "Calls may be inside calls. "
"""
)


def test_calls_in_calls_are_told_of_where_they_stand_for_values(written):
    path = written(NESTING)
    assert (
        read_prompts(path, nests=True).system
        == "Calls may be inside calls. " + read_prompts(path).system
    )
    assert "nesting" not in read_prompts(path).system
    assert read_prompts(written(OWN), nests=True) == read_prompts(written(OWN))
    assert "first_function(count=second_function())" in read_prompts(nests=True).system
    assert "second_function())" not in read_prompts().system


def test_blank_lines_around_a_text_are_dropped(written):
    padded = OWN.replace('"New."', '"""\n\n  New.\n"""')
    assert read_prompts(written(padded)).handover_fc == "New."


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\xff", "is not UTF-8 text: invalid start byte"),
        (b"a = " + b"[" * 20_000, "is not valid TOML: it is nested too deep"),
        (b"a = 1" + b"0" * 5000, "is not valid TOML: Exceeds the limit (4300 digits)"),
        ("system = ", "is not valid TOML: Invalid value (at end of document)"),
        ("", "system: is missing or not a string"),
        (OWN.replace('"New."', "5"), "handover_fc: is missing or not a string"),
        (
            OWN.replace("handover_fc", "handover"),
            "handover: unknown key; the keys are system, obs",
        ),
        (OWN.replace("Functions: {functions}", "{results}"), "system: must contain {functions}"),
        (OWN.replace("{results}", "{functions}"), "observation: must contain {results}"),
        (f"{OWN}\nnesting = 1", "nesting: is not a string"),
        (OWN.replace("New: {functions}", "New"), "handover_prompt: must contain {functions}"),
    ],
)
def test_an_unusable_file_is_one_clear_line(written, content, complaint):
    path = written(content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))}: {re.escape(complaint)}") as info:
        read_prompts(path)
    assert "\n" not in str(info.value)


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path):
    with pytest.raises(DataError, match=r"none\.toml: cannot be read: No such file or directory$"):
        read_prompts(tmp_path / "none.toml")
    with pytest.raises(DataError, match=r"cannot be read: Is a directory$"):
        read_prompts(tmp_path)


# Filling in

HOSTILE = "{functions} {results} {0} {name!r} %s $x {{}} \\1 } {"


def test_functions_are_filled_in_as_indented_json():
    documents = [{"name": "größe", "parameters": {}}]
    shown = json.dumps(documents, indent=4, ensure_ascii=False)
    assert with_functions("A {functions} B", documents) == f"A {shown} B"
    assert "größe" in shown


def test_documents_are_no_templates():
    documents = [{"name": "f", "description": HOSTILE}]
    assert with_functions("A {functions} B {other}", documents) == (
        "A " + json.dumps(documents, indent=4) + " B {other}"
    )


def test_results_are_filled_in_with_their_calls():
    shown = with_results("Got {results}!", ["f(a=1)", "g()"], ["[é]", '{"b": 2}'])
    assert shown.startswith("Got [\n {\n")
    assert shown.endswith("\n]!")
    assert "é" in shown
    assert json.loads(shown[4:-1]) == [
        {"call": "f(a=1)", "result": "[é]"},
        {"call": "g()", "result": '{"b": 2}'},
    ]


def test_results_are_no_templates():
    shown = with_results("{results} {functions}", [HOSTILE], [HOSTILE])
    assert json.loads(shown.removesuffix(" {functions}")) == [{"call": HOSTILE, "result": HOSTILE}]


def test_there_is_one_result_per_call():
    with pytest.raises(ValueError, match="shorter"):
        with_results("{results}", ["f()", "g()"], ["1"])


PLACED = """
system = "Be brief."
observation = "Results: {results}"
handover_prompt = "New: {functions}"
handover_fc = "New."
[place]
functions = "user"
user = "Asked: {request} Use: {functions}"
"""


def test_functions_may_stand_in_the_first_user_message(written):
    assert read_prompts(written(PLACED)).first_user == "Asked: {request} Use: {functions}"
    assert read_prompts(written(OWN + '[place]\nfunctions = "system"')).first_user is None


def test_a_request_and_documents_are_no_templates_of_each_other():
    document = {"name": "{request}", "description": "", "parameters": {}}
    found = as_first_user("{request}|{functions}", "{functions}", [document])
    request, functions = found.split("|")
    assert request == "{functions}"
    assert json.loads(functions) == [document]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (PLACED.replace('"user"', '"above"'), "functions: must be `system` or `user`"),
        (PLACED.replace("{request}", ""), "user: must contain {request}"),
        (PLACED.replace("Use: {functions}", ""), "user: must contain {functions}"),
        (PLACED.replace('user = "', 'other = "'), "must be a table of functions and user"),
        (
            PLACED.replace("brief", "{functions}"),
            "system: must not contain {functions}; the TOML table [place] adds",
        ),
        (OWN + '[place]\nuser = "{request} {functions}"', "user: has no effect without"),
        (OWN + '[place]\nfunctions = "user"', "user: is missing or not a string"),
        ('place = "user"\n' + OWN, "must be a table"),
    ],
)
def test_an_unusable_place_is_one_clear_line(written, content, complaint):
    with pytest.raises(DataError, match=re.escape(complaint)):
        read_prompts(written(content))
