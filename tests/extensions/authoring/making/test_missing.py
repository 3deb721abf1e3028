from __future__ import annotations

from dataclasses import replace

import pytest

from checkers.required_info import Text
from envs.errors import DataError
from extensions.authoring.making.missing_variants import (
    find_replacements,
    find_supplied_values,
    hold_out,
    leave_out_value,
    split_turn,
)
from extensions.authoring.making.scenarios import MissingFunction, MissingParameter, VariantNotes
from trajectories.schema import AlternativeRead, Category, Message, Trajectory, Turn

FILES = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {
                    "a.txt": {"type": "file", "content": "one\ntwo"},
                    "b.txt": {"type": "file", "content": "one\nthree"},
                },
            }
        }
    }
}
TICKETS = {
    "TicketAPI": {
        "ticket_queue": [
            {"id": 1, "title": "t", "description": "d", "status": "Open", "priority": 1}
        ],
        "ticket_counter": 2,
        "current_user": "me",
    }
}


def scenario(environment, config, *turns):
    return Trajectory(
        "base_x",
        Category.BASE,
        (environment,),
        config,
        tuple([Turn((Message("user", said),), truth) for said, truth in turns]),
        provenance={"author": "Turnwise"},
    )


def noted(turn, *functions):
    return VariantNotes("base_x", MissingParameter(0, "a", "b"), MissingFunction(turn, functions))


DIFFERENCE = scenario(
    "GorillaFileSystem",
    FILES,
    ("Where am I?", ("pwd()",)),
    ("How do a.txt and b.txt differ?", ("diff(file_name1='a.txt', file_name2='b.txt')", "ls()")),
)


def test_the_turn_becomes_a_request_and_a_turn_that_hands_over():
    harder = hold_out(DIFFERENCE, noted(1, "diff"))
    assert (harder.id, harder.category) == ("miss_func_x", Category.MISSING_FUNCTION)
    assert harder.provenance == {"author": "Turnwise", "base": "base_x"}
    before, request, handover = harder.turns
    assert before == DIFFERENCE.turns[0]
    assert request == Turn(DIFFERENCE.turns[1].messages, ())
    assert handover == Turn((), DIFFERENCE.turns[1].ground_truth, ("diff",))


def test_what_else_is_accepted_moves_with_its_call():
    accepts = (AlternativeRead("ls()", ("find()",)),)
    turns = (DIFFERENCE.turns[0], replace(DIFFERENCE.turns[1], accepts=accepts))
    base = replace(DIFFERENCE, turns=turns)
    assert [turn.accepts for turn in hold_out(base, noted(1, "diff")).turns] == [(), (), accepts]
    notes = replace(noted(1, "diff"), missing_parameter=MissingParameter(1, "Differ?", "a.txt"))
    assert [turn.accepts for turn in split_turn(turns, notes)] == [(), (), accepts]


def test_what_the_user_is_told_moves_with_its_turn():
    tells = (Text("three"),)
    turns = (DIFFERENCE.turns[0], replace(DIFFERENCE.turns[1], tells=tells))
    base = replace(DIFFERENCE, turns=turns)
    assert [turn.tells for turn in hold_out(base, noted(1, "diff")).turns] == [(), (), tells]
    notes = replace(noted(1, "diff"), missing_parameter=MissingParameter(1, "Differ?", "a.txt"))
    assert [turn.tells for turn in split_turn(turns, notes)] == [(), (), tells]


RENAMED = ("Rename a.txt to c.txt.", ("mv(source='a.txt', destination='c.txt')",))
CLOSED = ("Close ticket 1.", ("close_ticket(ticket_id=1)",))
RESOLVED = ("Resolve 1: 'done'.", ("resolve_ticket(ticket_id=1, resolution='done')",))


@pytest.mark.parametrize(
    ("base", "functions", "instead"),
    [
        pytest.param(
            scenario("GorillaFileSystem", FILES, RENAMED), ["mv"], ["cp", "rm"], id="a pair"
        ),
        pytest.param(
            scenario("TicketAPI", TICKETS, CLOSED), ["close_ticket"], ["edit_ticket"], id="one"
        ),
        pytest.param(
            scenario("MathAPI", {}, ("7.5 less 2.25?", ("subtract(a=7.5, b=2.25)",))),
            ["subtract"],
            ["add"],
            id="the negative added",
        ),
        pytest.param(
            scenario("MathAPI", {}, ("7.5 times 2.5?", ("multiply(a=7.5, b=2.5)",))),
            ["multiply"],
            ["divide"],
            id="by the inverse",
        ),
        pytest.param(
            scenario("MathAPI", {}, ("Part of 40: 15?", ("percentage(part=15, whole=40)",))),
            ["percentage"],
            ["multiply"],
            id="a hundred times the quotient",
        ),
        pytest.param(
            scenario(
                "MathAPI", {}, ("Mean of these?", ("mean(numbers=[1.5, 2.75, 9.0, 31.125])",))
            ),
            ["mean"],
            ["divide"],
            id="the sum divided by the count",
        ),
    ],
)
def test_what_other_functions_do_as_well_is_refused(base, functions, instead):
    note = noted(0, *functions)
    assert [call.name for call in find_replacements(base, note)] == instead
    with pytest.raises(DataError, match=f"base_x: missing_function: {instead[0]}"):
        hold_out(base, note)


def test_what_nothing_else_does_is_held_out():
    base = scenario("TicketAPI", TICKETS, RESOLVED)
    assert find_replacements(base, noted(0, "resolve_ticket")) == []
    assert find_replacements(DIFFERENCE, noted(1, "diff")) == []


def test_what_would_stand_in_for_a_function_is_held_out_with_it():
    base = scenario("TicketAPI", TICKETS, RESOLVED)
    missing = MissingFunction(0, ("resolve_ticket",), ("edit_ticket",))
    harder = hold_out(base, replace(noted(0), missing_function=missing))
    assert harder.turns[1].offers == ("resolve_ticket", "edit_ticket")


@pytest.mark.parametrize(
    ("functions", "stand_ins", "complaint"),
    [
        (("diff",), ("ls",), "ls is in stand_ins, but turn 1 needs it"),
        (("diff",), ("pwd",), "turn 0 already needs pwd"),
        ((), ("cat",), "the list is empty; name a function"),
    ],
)
def test_what_is_needed_stands_in_for_nothing(functions, stand_ins, complaint):
    missing = MissingFunction(1, functions, stand_ins)
    with pytest.raises(DataError, match=complaint):
        hold_out(DIFFERENCE, replace(noted(1), missing_function=missing))


@pytest.mark.parametrize(
    ("note", "complaint"),
    [
        (noted(2, "diff"), "turn 2 does not exist"),
        (noted(1), "the list is empty; name a function"),
        (noted(1, "cat"), "turn 1 does not call cat"),
    ],
)
def test_notes_that_do_not_fit_are_refused(note, complaint):
    with pytest.raises(DataError, match=complaint):
        hold_out(DIFFERENCE, note)


def test_a_function_that_is_needed_earlier_is_refused():
    base = scenario("GorillaFileSystem", FILES, ("List.", ("ls()",)), ("Again.", ("ls()",)))
    with pytest.raises(DataError, match="turn 0 already needs ls"):
        hold_out(base, noted(1, "ls"))


GREETING = Trajectory(
    "base_greeting",
    Category.BASE,
    ("MessageAPI", "VehicleControlAPI"),
    {
        "MessageAPI": {
            "user_map": {"Ann": "USR001", "Ben": "USR002"},
            "user_count": 2,
            "inbox": [],
            "message_count": 0,
            "current_user": "USR001",
        }
    },
    (
        Turn((Message("user", "Who is there?"),), ("list_users()",)),
        Turn(
            (Message("user", "Tell Ben 'see you at six'."),),
            (
                "get_user_id(user='Ben')",
                "send_message(receiver_id='USR002', message='see you at six')",
            ),
        ),
        Turn((Message("user", "Fill in 7.25 gallons."),), ("fillFuelTank(fuelAmount=7.25)",)),
    ),
    provenance={"author": "Turnwise", "persona": "a friend"},
)


def lacking(turn, without, answer):
    parameter = MissingParameter(turn, without, answer)
    return VariantNotes(GREETING.id, parameter, MissingFunction(0, ("list_users",)))


GOOD = lacking(1, "Tell Ben what I told you.", "I mean 'see you at six'.")


def test_the_turn_becomes_a_request_and_an_answer():
    harder = leave_out_value(GREETING, GOOD)
    assert (harder.id, harder.category) == ("miss_param_greeting", Category.MISSING_PARAMETER)
    assert harder.provenance == {"author": "Turnwise", "base": "base_greeting"}
    assert harder.config == GREETING.config
    before, request, answer, after = harder.turns
    assert (before, after) == (GREETING.turns[0], GREETING.turns[2])
    assert request == Turn((Message("user", "Tell Ben what I told you."),), ())
    assert answer.messages == (Message("user", "I mean 'see you at six'."),)
    assert answer.ground_truth == GREETING.turns[1].ground_truth


@pytest.mark.parametrize(
    ("groups", "order"),
    [
        (None, [0, 1, 2]),
        ((), [0, 1, 2]),
        (((2, 0),), [1, 2, 0]),
        (((1, 0), (1, 2)), [1, 0, 2]),
        (((0, 2),), [0, 1, 2]),
    ],
)
def test_the_note_on_a_value_dictates_the_order_of_the_calls(groups, order):
    texts = ("touch(file_name='c')", "rm(file_name='b.txt')", "mkdir(dir_name='d')")
    base = scenario("GorillaFileSystem", FILES, ("Go.", texts))
    base = replace(base, turns=(replace(base.turns[0], ordered=(texts[:2],)),))
    note = replace(MissingParameter(0, "Go.", "c"), ordered=groups)
    _, answer = split_turn(base.turns, replace(noted(0, "rm"), missing_parameter=note))
    assert answer.ground_truth == tuple(texts[position] for position in order)
    if groups is not None:
        assert answer.ordered == tuple(tuple(texts[position] for position in g) for g in groups)
    else:
        assert answer.ordered == (texts[:2],)


@pytest.mark.parametrize("groups", [((0, 1), (1, 0)), ((0, 3),), ((1, 1),)])
def test_an_order_that_no_calls_have_is_refused(groups):
    base = scenario("GorillaFileSystem", FILES, ("Go.", ("pwd()", "ls()")))
    note = replace(MissingParameter(0, "Go.", "c"), ordered=groups)
    with pytest.raises(DataError, match="ordered: no order of the calls fits"):
        split_turn(base.turns, replace(noted(0, "rm"), missing_parameter=note))


def test_the_same_notes_give_the_same_trajectory():
    assert leave_out_value(GREETING, GOOD) == leave_out_value(GREETING, GOOD)


@pytest.mark.parametrize(
    ("note", "values"),
    [
        (GOOD, ["see you at six"]),
        (lacking(2, "Fill it up some.", "By 7.25 gallons."), [7.25]),
    ],
)
def test_a_value_that_only_the_user_knows_is_named(note, values):
    assert find_supplied_values(GREETING, note) == values


@pytest.mark.parametrize(
    "note",
    [
        pytest.param(lacking(1, "Tell the other one 'see you at six'.", "Ben."), id="in the state"),
        pytest.param(lacking(1, "Say 'see you at six', Ben.", "I said Ben."), id="said before"),
        pytest.param(lacking(2, "Fill in 7.25 of it.", "Those 7.25 gallons."), id="said at once"),
        pytest.param(lacking(1, "Tell Ben something.", "Something nice!"), id="never supplied"),
    ],
)
def test_a_value_that_can_be_had_otherwise_is_refused(note):
    assert find_supplied_values(GREETING, note) == []
    with pytest.raises(DataError, match="base_greeting: missing_parameter"):
        leave_out_value(GREETING, note)


def test_a_value_that_a_function_tells_is_refused():
    asked = Turn(
        (Message("user", "How far is it from Rivermist to Stonebrook?"),),
        ("estimate_distance(cityA='83214', cityB='74532')",),
    )
    base = Trajectory("base_way", Category.BASE, ("VehicleControlAPI",), {}, (asked,))
    note = VariantNotes(
        base.id,
        MissingParameter(0, "How far is it from Rivermist to there?", "To 83214, from 83214."),
        MissingFunction(0, ("estimate_distance",)),
    )
    assert find_supplied_values(base, note) == []


def test_a_turn_that_is_not_there_is_refused():
    with pytest.raises(DataError, match="turn 3 does not exist"):
        leave_out_value(GREETING, lacking(3, "a", "b"))
