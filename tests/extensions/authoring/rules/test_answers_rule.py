"""ANSWERS, by a hand-made entry for each thing that it finds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from envs.errors import DataError
from extensions.authoring.rule_sets import select_rules, validate
from extensions.authoring.rules import known_values, statements
from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.dataset import Dataset
from trajectories.schema import Category, ExpectedCalls, Message, Trajectory, Turn

PARAMETERS = {
    "type": "dict",
    "properties": {
        "place": {"type": "string", "description": "Where."},
        "guests": {"type": "integer", "description": "How many."},
        "room": {"type": "string", "description": "Which room.", "enum": ["bar", "hall"]},
    },
    "required": ["place", "guests"],
}
BOOK = {
    "name": "table.book",
    "description": "Book a table.",
    "parameters": PARAMETERS,
}
RIGHT = {"table.book": {"place": ["Olmo"], "guests": [4], "room": ["hall", ""]}}


def entry(
    *given: Mapping[str, Any],
    functions: Sequence[Mapping[str, Any]] = (BOOK,),
    category: Category = Category.SIMPLE_PYTHON,
    said: str = "A table for four at Olmo.",
) -> Trajectory:
    turns = (Turn((Message("user", said),), ()),)
    expects = ExpectedCalls(tuple(functions), given)
    return Trajectory("hand_made", category, (), {}, turns, expects=expects)


def found(trajectory: Trajectory) -> list[Finding]:
    dataset = Dataset("hand.jsonl", "1", "0", {trajectory.id: trajectory})
    return validate(dataset, [trajectory], select_rules(["ANSWERS"]))


def test_a_sound_entry_has_no_problem_and_no_other_rule_looks_at_it() -> None:
    trajectory = entry(RIGHT)
    dataset = Dataset("hand.jsonl", "1", "0", {trajectory.id: trajectory})
    assert validate(dataset, [trajectory], select_rules(["ANSWERS", "NULL", "EXEC"])) == []


@pytest.mark.parametrize(
    ("trajectory", "field", "message"),
    [
        (entry(RIGHT, functions=[{**BOOK, "name": "2 tables"}]), "expects", "no function document"),
        (entry(functions=[{**BOOK, "name": "2 tables"}], category=Category.IRRELEVANCE),
         "expects.functions[0]", "'2 tables' is not a valid function name"),
        (entry(RIGHT, functions=[BOOK, {**BOOK, "name": "table_book"}]),
         "expects.functions[0]", "duplicate function name table.book"),
        (entry(RIGHT, functions=[{**BOOK, "parameters": {**PARAMETERS, "required": ["x"]}}]),
         "expects.functions[0]", "requires x, which is not a parameter"),
        (entry(RIGHT, functions=[{**BOOK, "parameters": {"properties": {"p": {"type": "str"}}}}]),
         "expects", "'str' is not a type of python"),
        (entry(RIGHT, RIGHT), "expects.answers", "simple_python does not allow 2 answers"),
        (
            entry(RIGHT, category=Category.IRRELEVANCE),
            "expects.answers",
            "irrelevance does not allow 1 answers",
        ),
        (entry({"table.book": {"place": ["Olmo"]}}), "expects.answers[0]", "parameter guests is"),
        (entry({"table.book": {**RIGHT["table.book"], "time": ["4"]}}),
         "expects.answers[0].time", "is not a parameter"),
        (entry(functions=(), category=Category.LIVE_RELEVANCE),
         "expects.functions", "no function is offered"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_an_error_with_its_place(
    trajectory: Trajectory, field: str, message: str
) -> None:
    problems = [p for p in found(trajectory) if p.severity is Severity.ERROR]
    assert [(p.field, message in p.message) for p in problems][:1] == [(field, True)]


def test_an_answer_that_no_call_satisfies_is_an_error_under_each_profile() -> None:
    document = {
        **BOOK,
        "parameters": {
            "properties": {"tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["tags"],
        },
    }
    problems = found(entry({"table.book": {"tags": []}}, functions=[document]))
    said = [problem.message.partition(":")[0] for problem in problems]
    expected = "no call can pass under the profile"
    assert said == [f"{expected} {name}" for name in ("bfcl", "strict", "tau2")]


def test_an_unknown_parameter_that_may_be_left_out_is_but_a_warning() -> None:
    allowed = {**RIGHT["table.book"], "time": ["4", ""]}
    [problem] = found(entry({"table.book": allowed}))
    assert (problem.severity, problem.field) == (Severity.WARNING, "expects.answers[0].time")


@pytest.mark.parametrize(
    ("said", "untold"),
    [
        ("A table for four at Olmo.", []),
        ("A table for 4 at OLMO!", []),
        ("A table at Olmo.", ["guests"]),
        ("A table for four.", ["place"]),
    ],
)
def test_a_value_that_nobody_tells_is_a_warning(said: str, untold: list[str]) -> None:
    problems = found(entry(RIGHT, said=said))
    assert [p.field for p in problems] == [f"expects.answers[0].{name}" for name in untold]
    assert {p.severity for p in problems} <= {Severity.WARNING}


def test_one_alternative_that_is_told_is_enough() -> None:
    given = {"table.book": {"place": ["Casa Olmo", "Olmo"], "guests": [4]}}
    assert found(entry(given)) == []


def test_a_value_outside_of_an_enumeration_is_a_warning() -> None:
    [problem] = found(entry({"table.book": {**RIGHT["table.book"], "room": ["attic", ""]}}))
    assert (problem.severity, problem.field) == (Severity.WARNING, "expects.answers[0].room")
    assert problem.message == "['attic'] is not in the parameter's enum"


def test_a_value_that_follows_from_two_that_are_told_is_worth_knowing() -> None:
    given = {"table.book": {"place": ["Olmo"], "guests": [12]}}
    [problem] = found(entry(given, said="A table at Olmo for 3 families of 4."))
    assert (problem.severity, problem.message) == (
        Severity.INFO,
        "12 is not in the conversation, but equals 3 * 4",
    )


def test_a_missing_grammar_is_one_line(without_grammars: str) -> None:
    document = {**BOOK, "parameters": {"properties": {"n": {"type": "long"}}, "required": ["n"]}}
    trajectory = entry({"table.book": {"n": [5]}}, functions=[document])
    java = replace(trajectory.expects, language="java")
    with pytest.raises(DataError, match=f"^{re.escape(without_grammars)}$"):
        found(replace(trajectory, category=Category.SIMPLE_JAVA, expects=java))


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"Database": {}},
        {"Database": {"tables": []}},
        {"Database": {"tables": {"books": {}}}},
        {"Database": {"tables": {"books": {"columns": [["title"]], "rows": []}}}},
    ],
)
def test_sql_values_need_no_valid_table_in_the_config(config: dict[str, Any]) -> None:
    given = {"sql.execute": {"columns": [["title"]], "conditions": [["year > 2010"]]}}
    sql = entry(given, category=Category.SQL, said="Titles with a year after 2010?")
    call = "sql_execute(sql_keyword='SELECT', table_name='books', columns=['title'])"
    turns = (replace(sql.turns[0], ground_truth=(call,)),)
    values = replace(sql, environments=("Database",), config=config, turns=turns)
    read = statements.extract_values("year > 2010", Entry(Dataset("own", "1", "0", {}), values))
    assert read == [2010]


def test_an_accepted_sql_value_that_is_no_list_has_no_literals() -> None:
    sql = entry(RIGHT, category=Category.SQL)
    read = Entry(Dataset("own", "1", "0", {}), replace(sql, environments=("Database",)))
    assert known_values._strip_sql(read, "conditions", [5, ["year > 2010"]]) == ["", [2010]]
