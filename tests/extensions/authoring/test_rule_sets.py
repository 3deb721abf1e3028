"""Every rule by a hand-made entry that it catches and a clean one that it leaves alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import trajectories
from checkers.required_info import Text
from envs.errors import DataError
from envs.registry import BACKENDS
from envs.schema import list_docstring_errors
from envs.session import Session
from envs.tool import Tool
from extensions.authoring.rule_sets import RULES, select_rules, validate
from extensions.authoring.rules import duplicates_and_documents, mutation_detection
from extensions.authoring.rules.finding import Finding, Severity, apply, read_exemptions
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.dataset import Dataset, load_embedded
from trajectories.schema import MULTI_TURN, Category, LongContextSettings, Message, Trajectory, Turn

FILES = {
    "root": {
        "share": {
            "type": "directory",
            "contents": {
                "notes.txt": {"type": "file", "content": "apples\nbread\napples"},
                "old": {"type": "directory", "contents": {}},
            },
        }
    }
}
TICKETS = {
    "current_user": "ann",
    "ticket_counter": 3,
    "ticket_queue": [
        {
            "id": 1,
            "title": "Broken lamp",
            "description": "Dark.",
            "status": "Open",
            "priority": 2,
            "created_by": "ann",
        },
        {
            "id": 2,
            "title": "Wet floor",
            "description": "Wet.",
            "status": "Open",
            "priority": 2,
            "created_by": "ann",
        },
    ],
}


def trajectory(
    *turns: tuple[str, Sequence[str]],
    backend: str = "GorillaFileSystem",
    config: Mapping[str, Any] = FILES,
    id: str = "base_hand_made",
    **members: Any,
) -> Trajectory:
    made = [
        Turn((Message("user", words),) if words else (), tuple(calls)) for words, calls in turns
    ]
    return Trajectory(id, Category.BASE, (backend,), {backend: config}, tuple(made), **members)


def ticket(*turns: tuple[str, Sequence[str]], **members: Any) -> Trajectory:
    return trajectory(*turns, backend="TicketAPI", config=TICKETS, **members)


def dataset(*entries: Trajectory, tolerant: bool = False) -> Dataset:
    return Dataset("hand.jsonl", "1", "0", {t.id: t for t in entries}, tolerant)


def found(
    rule: str, *entries: Trajectory, tolerant: bool = False, info: bool = False
) -> list[Finding]:
    data = dataset(*entries, tolerant=tolerant)
    problems = validate(data, entries, select_rules([rule]))
    return [p for p in problems if info or p.severity is not Severity.INFO]


CLEAN = trajectory(
    (
        "Make a folder called plans, please, and show me what is in here.",
        ["mkdir('plans')", "ls()"],
    ),
    ("Read notes.txt to me.", ["cat(file_name='notes.txt')"]),
)


@pytest.mark.parametrize("rule", [rule.id for rule in RULES])
def test_a_clean_entry_has_no_problem(rule: str) -> None:
    assert found(rule, CLEAN, info=True) == []


def test_a_problem_names_file_entry_turn_and_field() -> None:
    [problem] = found("EXEC", trajectory(("Go.", ["ls()"]), ("Read.", ["cat(file_name='x.txt')"])))
    assert (problem.file, problem.id, problem.turn) == ("hand.jsonl", "base_hand_made", 1)
    assert problem.field == "ground_truth[0]"
    assert str(problem).startswith(
        "hand.jsonl: base_hand_made: turn 2: ground_truth[0]: error EXEC"
    )
    assert json.loads(json.dumps(problem.to_json()))["severity"] == "error"


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(DataError, match="'SPELLING' is not a rule; use EXEC, CONFIG"):
        select_rules(["exec", "spelling"])


# --- EXEC, CONFIG, UNIQUE, OFFER


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        ("cat(", "not valid Python"),
        ("cat(file_name='missing.txt')", "missing.txt"),
        ("fly()", "no function 'fly'"),
        ("cat(file_name=3)", "file_name"),
    ],
)
def test_calls_that_fail_are_errors(call: str, reason: str) -> None:
    [problem] = found("EXEC", trajectory(("Do it.", [call])))
    assert problem.severity is Severity.ERROR
    assert reason in problem.message


def test_a_ground_truth_that_the_checker_rejects_is_an_error() -> None:
    never = ("mkdir(dir_name='plans')",)
    turns = (CLEAN.turns[1], replace(CLEAN.turns[0], never=never))
    [problem] = found("EXEC", replace(CLEAN, turns=turns))
    assert (problem.severity, problem.turn, problem.field) == (Severity.ERROR, 1, "ground_truth")
    assert problem.message == (
        "the checker rejects the ground truth: mkdir: the user has ruled out "
        "mkdir(dir_name='plans')"
    )


def test_arguments_that_only_irregular_data_may_have_are_warned_of() -> None:
    call = "echo(content=12, file_name='notes.txt')"
    [problem] = found("EXEC", trajectory(("Write 12.", [call])), tolerant=False)
    assert problem.severity is Severity.ERROR
    [problem] = found(
        "EXEC", ticket(("Look at it.", ["get_ticket(ticket_id=True)"])), tolerant=True
    )
    assert problem.severity is Severity.WARNING


def test_a_config_that_cannot_be_loaded_is_an_error_and_ends_no_run() -> None:
    broken = trajectory(("Look.", ["ls()"]), config={"root": {"share": 5}}, id="base_broken")
    problems = validate(dataset(broken, CLEAN), [broken, CLEAN])
    assert {p.rule for p in problems if p.id == "base_broken"} >= {"EXEC", "CONFIG"}
    assert [p for p in problems if p.id == CLEAN.id] == []


def test_a_ticket_without_an_id_is_found() -> None:
    config = {"ticket_queue": [{k: v for k, v in TICKETS["ticket_queue"][0].items() if k != "id"}]}
    entry = trajectory(
        ("Who am I?", ["ticket_get_login_status()"]), backend="TicketAPI", config=config
    )
    [problem] = found("CONFIG", entry)
    assert (problem.field, problem.turn) == ("config.TicketAPI.ticket_queue[0].id", None)


def test_what_is_asked_for_and_not_there_is_found() -> None:
    [problem] = found("CONFIG", trajectory(("Read it.", ["cat(file_name='gone.txt')"])))
    assert problem.message.startswith("asks for a missing object")


def test_a_file_that_exists_nowhere_is_found() -> None:
    entry = trajectory(("What is in here? I miss plan.pdf. Is NOTES.TXT there?", ["ls()"]))
    [problem] = found("CONFIG", entry)
    assert "'plan.pdf'" in problem.message
    assert problem.field == "messages[0].content"


def test_making_what_is_there_is_found() -> None:
    [problem] = found("UNIQUE", trajectory(("Make old.", ["mkdir(dir_name='old')"])))
    assert problem.severity is Severity.ERROR


def test_making_a_second_one_is_found() -> None:
    calls = ["create_ticket(title='{}')"]
    [problem] = found("UNIQUE", ticket(("File it.", [calls[0].format("Wet floor")])))
    assert "creates 'Wet floor' again" in problem.message
    assert found("UNIQUE", ticket(("File it.", [calls[0].format("Dry floor")]))) == []


def test_booking_the_same_flight_again_is_found() -> None:
    flight = {
        "travel_from": "SFO",
        "travel_to": "LAX",
        "travel_date": "2026-10-10",
        "travel_class": "economy",
    }
    given = {"access_token": "t", "card_id": "c", **flight}
    call = f"book_flight({', '.join(f'{name}={value!r}' for name, value in given.items())})"
    config = {
        "access_token": "t",
        "credit_card_list": {"c": {"card_number": "1", "balance": 5000.0}},
        "booking_record": {},
    }
    book = ("Book it.", [call])
    once = trajectory(book, backend="TravelAPI", config=config)
    assert found("UNIQUE", once, tolerant=True) == []
    twice = trajectory(book, book, backend="TravelAPI", config=config)
    [problem] = found("UNIQUE", twice, tolerant=True)
    assert (problem.turn, problem.severity) == (1, Severity.WARNING)


def test_a_needed_function_has_to_be_offered() -> None:
    held = trajectory(("Make x.", ["mkdir(dir_name='x')"]), ("", ["ls()"]))
    late = replace(held.turns[1], offers=("mkdir", "ls"))
    problems = found("OFFER", replace(held, turns=(held.turns[0], late)))
    assert [(p.turn, p.field) for p in problems] == [(0, "ground_truth[0]"), (1, "offers[0]")]
    assert "only offered later" in problems[0].message
    assert problems[1].severity is Severity.WARNING


@pytest.mark.parametrize(
    ("members", "calls", "message"),
    [
        ({"excluded": ("ls",)}, ["ls()"], "is excluded"),
        ({"excluded": ("fly",)}, ["ls()"], "fly is not a function"),
        ({}, ["get_ticket(ticket_id=1)"], "not a function of GorillaFileSystem"),
    ],
)
def test_the_function_list_is_complete(
    members: dict[str, Any], calls: list[str], message: str
) -> None:
    problems = found("OFFER", trajectory(("Go.", calls), **members))
    [problem] = [p for p in problems if p.severity is Severity.ERROR]
    assert message in problem.message


# --- BREVITY, NULL, DETECT, DETERMINISM


def test_a_write_without_effect_is_superfluous() -> None:
    entry = trajectory(("Stay here and look around.", ["cd(folder='.')", "ls()"]))
    [problem] = found("BREVITY", entry)
    assert problem.message == "cd changes nothing: the state is already as requested"


def test_a_read_whose_result_was_shown_is_superfluous() -> None:
    where = ("Where are we?", ["pwd()"])
    entry = trajectory(where, ("Make x; where are we?", ["mkdir(dir_name='x')", "pwd()"]))
    [problem] = found("BREVITY", entry)
    assert (problem.turn, problem.field) == (1, "ground_truth[1]")
    assert problem.message == "pwd may be omitted: an earlier call returned the same information"
    moved = trajectory(where, ("Step into old; where are we?", ["cd(folder='old')", "pwd()"]))
    assert found("BREVITY", moved) == []


def test_what_others_tell_may_be_left_out() -> None:
    entry = ticket(
        ("Show me ticket 1, and all mine.", ["get_ticket(ticket_id=1)", "get_user_tickets()"])
    )
    [problem] = found("BREVITY", entry)
    assert (
        problem.message
        == "get_ticket may be omitted: an earlier call returned the same information"
    )


def test_idleness_must_fail() -> None:
    assert found("NULL", trajectory(("Hello.", [])))[0].rule == "NULL"


def test_a_turn_must_leave_something_to_check() -> None:
    where = ("Where are we?", ["pwd()"])
    problems = found("DETECT", trajectory(where, ("And now?", ["pwd()"])))
    assert [(p.turn, p.field) for p in problems] == [(1, "ground_truth")]
    assert found("DETECT", trajectory(where, ("Make x.", ["mkdir(dir_name='x')"]))) == []


def test_to_read_more_lines_than_asked_for_is_no_defect() -> None:
    asked = ("What are the last two lines?", ["tail(file_name='notes.txt', lines=2)"])
    entry = trajectory(asked)
    assert found("DETECT", entry) == []
    more = [p for p in found("DETECT", entry, info=True) if p.field.endswith(".lines")]
    assert ["larger result" in p.message for p in more] == [True]


def test_a_change_that_may_be_left_out_is_an_error() -> None:
    entry = trajectory(
        ("Make a.", ["touch(file_name='a')"]),
        ("Write.", ["echo(content='ho', file_name='a')", "echo(content='hi', file_name='a')"]),
    )
    # The second call overwrites what the first one wrote, but whoever writes once has not written
    # twice.
    problems = found("DETECT", entry)
    assert {p.severity for p in problems} == {Severity.WARNING}
    assert {p.field for p in problems} == {"ground_truth[0].content"}


def test_mutants_are_the_same_every_time_and_differ_from_the_truth() -> None:
    entry = Entry(dataset(CLEAN), CLEAN)
    first = [
        (m.function, m.parameter, m.value, m.accepted) for m in mutation_detection.mutants(entry)
    ]
    again = mutation_detection.mutants(Entry(dataset(CLEAN), CLEAN))
    assert first == [(m.function, m.parameter, m.value, m.accepted) for m in again]
    assert len([m for m in first if m[1] is None]) == 3


def test_figures_of_mutants() -> None:
    figures = mutation_detection.figures([Entry(dataset(CLEAN), CLEAN)])
    assert (figures.left_out, figures.left_out_rejected) == (3, 3)
    assert figures.changed >= 3
    assert figures.telling <= figures.total
    assert figures.rejected == figures.total - sum(figures.accepted.values())


def test_an_argument_without_effect_is_worth_knowing() -> None:
    # The car reports both modes as off.
    entry = trajectory(
        ("Headlights off.", ["setHeadlights('off')"]),
        backend="VehicleControlAPI",
        config={"headLightStatus": "on"},
    )
    kinds = mutation_detection.figures([Entry(dataset(entry), entry)]).accepted
    assert ("setHeadlights: mode changed", mutation_detection.SAME_EFFECT) in kinds


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (True, {}),
        (3, {}),
        (2.5, {}),
        ("a-b", {}),
        ("", {}),
        ([1, 2], {}),
        ("l", {"enum": ["l", "w"]}),
    ],
)
def test_others_are_never_equal(value: Any, schema: dict[str, Any]) -> None:
    values = list(mutation_detection.others(value, schema, ["a-b", "c"], Random(1)))
    assert values
    assert value not in values


def test_results_that_differ_from_run_to_run_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = iter(range(100))
    load = Session.load.__func__  # type: ignore[attr-defined]

    def shaky(cls: type[Session], *args: Any, **kwargs: Any) -> Session:
        session: Session = load(cls, *args, **kwargs)
        vars(session.backends["TicketAPI"])["ticket_counter"] = next(loads) + 10
        return session

    monkeypatch.setattr(Session, "load", classmethod(shaky))
    [problem] = found("DETERMINISM", ticket(("File it.", ["create_ticket(title='New')"])))
    assert (problem.severity, problem.turn) == (Severity.ERROR, 0)


# --- PROVENANCE


def test_values_have_to_be_told_before_they_are_used() -> None:
    early = ticket(("Close the lamp's.", ["resolve_ticket(ticket_id=1, resolution='new bulb')"]))
    late = ticket(("Close 1: new bulb.", ["resolve_ticket(ticket_id=1, resolution='new bulb')"]))
    [problem] = found("PROVENANCE", early)
    assert problem.field == "ground_truth[0].resolution"
    assert found("PROVENANCE", late) == []


def test_how_a_value_is_worked_out_may_be_said_in_the_provenance() -> None:
    calls = ["resolve_ticket(ticket_id=1, resolution='new bulb')"]
    how = {"worked_out": "new bulb: what every lamp gets"}
    entry = ticket(("Close the lamp's.", calls), provenance=how)
    assert found("PROVENANCE", entry) == []
    [problem] = found("PROVENANCE", entry, info=True)
    assert "calculated" in problem.message


def test_a_question_that_what_was_seen_answers_waits_for_nothing() -> None:
    read = ("Read ticket 1.", ["get_ticket(ticket_id=1)"])
    asked = ticket(read, ("What was its title?", []), ("Close it.", ["close_ticket(ticket_id=1)"]))
    [problem] = found("WAITS", asked)
    assert problem.turn == 1
    answered = replace(asked.turns[1], tells=(Text("Broken lamp"),))
    told = replace(asked, turns=(asked.turns[0], answered, asked.turns[2]))
    assert found("WAITS", told) == []
    unseen = replace(asked, turns=(answered, *asked.turns))
    assert [problem.turn for problem in found("TELLS", unseen)] == [0]


def test_secrets_of_a_config_are_not_told() -> None:
    config = {"access_token": "hush99", "token_type": "Bearer"}
    call = "set_budget_limit(access_token='hush99', budget_limit=900)"
    entry = trajectory(("Cap it at 900.", [call]), backend="TravelAPI", config=config)
    [problem] = found("PROVENANCE", entry)
    assert problem.field == "ground_truth[0].access_token"


def test_names_of_bulk_files_can_be_looked_up() -> None:
    bulky = replace(CLEAN, long_context=LongContextSettings("generated", 1, 40))
    [root] = dataset(bulky).config(bulky)["GorillaFileSystem"]["root"].values()
    name = next(name for name in root["contents"] if name.endswith(".txt") and "_20" in name)
    call = f"tail(file_name={name!r})"
    turn = Turn((Message("user", "Show me the end of the first log."),), (call,))
    assert found("PROVENANCE", replace(bulky, turns=(turn,))) == []


# --- DUPLICATE

LONG = "Please have a look at the notes in here and tell me how many lines there are"


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        (LONG + "!", Severity.ERROR),
        (LONG + " today", Severity.WARNING),
        ("Something else: what is the weather going to be in Lisbon this coming weekend?", None),
        ("Thanks.", None),
    ],
)
def test_near_duplicates_are_found(other: str, severity: Severity | None) -> None:
    one = trajectory((LONG, ["ls()"]), ("Thanks.", []), id="base_one")
    two = trajectory((other, ["ls()"]), ("Thanks.", []), id="base_two")
    problems = found("DUPLICATE", one, two)
    assert [(p.id, p.turn, p.severity) for p in problems] == (
        [("base_two", 0, severity)] if severity else []
    )


def test_near_duplicates_are_those_of_a_plain_search() -> None:
    source = Random(5)
    words = [f"w{n}" for n in range(30)]
    questions = [frozenset(source.sample(words, source.randint(8, 14))) for _ in range(150)]
    questions += [text - {min(text)} for text in questions[:40]]
    plain = {
        index
        for index, text in enumerate(questions)
        if any(
            duplicates_and_documents.jaccard(text, earlier) >= duplicates_and_documents.NEAR
            for earlier in questions[:index]
        )
    }
    assert {
        index for index, _, _ in duplicates_and_documents.find_near_duplicates(questions)
    } == plain


# --- DOCS


def test_our_documents_are_sound() -> None:
    assert list(duplicates_and_documents.check_own()) == []


class _Sloppy:
    def lamp(self, room: str, level: int = 3) -> dict[str, str]:
        """Switch a lamp

        Args:
            room: Which.
            level: How bright.
            colour: Which colour.
        """
        return {}

    def bare(self, room: str) -> dict[str, str]:
        """Switch a lamp."""
        return {}


def test_defects_of_our_documents_are_found() -> None:
    lamp = Tool("lamp", "Sloppy", _Sloppy.lamp, True, None)
    assert [*list_docstring_errors(lamp)] == [
        "the summary must end with a full stop",
        "the section Returns is missing",
        "the section Args describes colour, which is not a parameter",
    ]
    bare = Tool("bare", "Sloppy", _Sloppy.bare, True, None)
    assert "does not describe 'room'" in next(list_docstring_errors(bare))


def document(**changes: Any) -> dict[str, Any]:
    members = {
        "file_name": {"type": "string", "description": "Which."},
        "lines": {"type": "integer", "description": "How many.", "default": 10},
    }
    return {
        "name": "tail",
        "description": "Show the end.",
        "parameters": {"type": "dict", "properties": members, "required": ["file_name"]},
        **changes,
    }


def shaped(members: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return document(parameters={"type": "dict", "properties": members, "required": required})


TAIL = BACKENDS["GorillaFileSystem"].TOOLS["tail"]
NAME = {"type": "string", "description": "Which."}
LINES = {"type": "integer", "description": "How many.", "default": 10}


def test_a_sound_document_has_no_defect() -> None:
    assert list(duplicates_and_documents.defects(document(), TAIL)) == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (document(parameters=None), "is not an object with properties"),
        (document(description=""), "is missing"),
        (
            shaped({"file_name": NAME, "lines": {**LINES, "type": "int"}}, ["file_name"]),
            "'int' is not a known",
        ),
        (shaped({"file_name": NAME, "lines": LINES}, ["file_name", "x"]), "x is not a parameter"),
        (
            shaped({"file_name": NAME, "lines": {**LINES, "default": "None"}}, ["file_name"]),
            "is the string 'None'",
        ),
        (
            shaped({"file_name": NAME, "lines": {**LINES, "default": 2.5}}, ["file_name"]),
            "2.5 is not of the documented type",
        ),
        (
            shaped({"file_name": NAME, "lines": LINES}, ["file_name", "lines"]),
            "a required parameter has a default",
        ),
        (shaped({"file_name": NAME}, ["file_name"]), "the parameter is not documented"),
        (
            shaped({"file_name": NAME, "lines": LINES, "x": NAME}, ["file_name"]),
            "does not have this parameter",
        ),
        (
            shaped({"file_name": NAME, "lines": LINES}, []),
            "the parameter is documented as optional, but it is required",
        ),
        (
            shaped(
                {"file_name": NAME, "lines": {"type": "array", "description": "x"}}, ["file_name"]
            ),
            "the item schema is missing",
        ),
    ],
)
def test_defects_of_the_references_documents_are_found(made: dict[str, Any], message: str) -> None:
    assert any(message in text for _, _, text in duplicates_and_documents.defects(made, TAIL))


def test_documents_of_a_folder_are_compared_with_the_functions(tmp_path: Path) -> None:
    for environment in BACKENDS:
        path = tmp_path / duplicates_and_documents.function_docs_file(environment)
        path.parent.mkdir(exist_ok=True)
        lines = [document()] if environment == "GorillaFileSystem" else []
        path.write_text("\n".join(map(json.dumps, [*lines, document(name="fly")])), "utf-8")
    problems = list(duplicates_and_documents.check_reference(tmp_path))
    assert "GorillaFileSystem.tail" not in {p.id for p in problems}
    assert "GorillaFileSystem.fly" in {p.id for p in problems if "does not exist" in p.message}
    assert "MathAPI.mean" in {p.id for p in problems if "no document" in p.message}


# --- Exceptions


def exceptions(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    path = tmp_path / "allowed.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_a_reviewed_exception_takes_a_problem_out(tmp_path: Path) -> None:
    entry = trajectory(("Go to Rome.", ["touch(file_name='CIA')"]), provenance={"base": "base_b"})
    problems = found("PROVENANCE", entry)
    line = {"rule": "PROVENANCE", "id": "base_b", "turn": 0, "reason": "Everyone knows."}
    read = read_exemptions(exceptions(tmp_path, line))
    left = apply(problems, read, [entry], ["PROVENANCE"])
    assert left.problems == []
    assert [(p, e.reason) for p, e in left.excepted] == [(problems[0], "Everyone knows.")]
    narrower = read_exemptions(exceptions(tmp_path, {**line, "field": "ground_truth[1].x"}))
    assert problems[0] in apply(problems, narrower, [entry], ["PROVENANCE"]).problems


def test_a_stale_exception_is_a_problem(tmp_path: Path) -> None:
    read = read_exemptions(
        exceptions(tmp_path, {"rule": "EXEC", "id": CLEAN.id, "reason": "It was so."})
    )
    [problem] = apply([], read, [CLEAN], ["EXEC"]).problems
    assert (problem.rule, problem.severity, problem.id) == ("ALLOW", Severity.ERROR, CLEAN.id)
    assert problem.file.endswith("allowed.jsonl:1")
    # Where the rule or the entry was not looked at, nothing can be said.
    assert apply([], read, [CLEAN], ["CONFIG"]).problems == []
    # A variant in a category that was not checked may need it.
    assert apply([], read, [CLEAN], ["EXEC"], whole=False).problems == []
    assert apply([], read, [], ["EXEC"]).problems == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"rule": "EXEC", "id": "x"}, "reason: is missing"),
        ({"rule": "EXEC", "id": "x", "reason": " "}, "reason: is missing"),
        ({"rule": "EXEC", "id": "x", "reason": "y", "turn": "1"}, "turn: unknown or of the wrong"),
        ({"rule": "EXEC", "id": "x", "reason": "y", "because": "z"}, "because: unknown"),
    ],
)
def test_an_exception_that_says_too_little_is_refused(
    tmp_path: Path, line: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_exemptions(exceptions(tmp_path, line))


# --- Our data


@pytest.mark.slow
def test_our_data_has_no_problem_that_nobody_has_looked_at() -> None:
    data = load_embedded(list(MULTI_TURN))
    entries = list(data.trajectories.values())
    problems = [p for p in validate(data, entries) if p.severity is not Severity.INFO]
    file = Path(trajectories.__file__).parent / "data" / "allowed.jsonl"
    left = apply(problems, read_exemptions(file), entries, [rule.id for rule in RULES])
    assert [str(problem) for problem in left.problems] == []
    assert [p for p, _ in left.excepted if p.severity is Severity.ERROR] == []


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_the_checker_rejects_what_departs_from_our_ground_truth(every: int) -> None:
    data = load_embedded([Category.BASE])
    some = [*data.trajectories.values()][::every]
    figures = mutation_detection.figures(Entry(data, t) for t in some)
    assert figures.left_out_rejected == figures.left_out
    assert figures.rejected >= 0.98 * figures.telling
