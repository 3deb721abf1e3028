"""Ten examples of the rule for facts, and cases close to them."""

from __future__ import annotations

from typing import Any

import pytest

from checkers.evidence import UnseenFact
from checkers.profile import BFCL, STRICT
from checkers.reasons import Reason
from checkers.seen_facts import _is_rounded, _is_telling
from checkers.verdict import Verdict
from envs.calls import parse_call
from runner.episodes.judging import kind_of
from runner.episodes.script_playback import Script
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import AlternativeRead, Category, Message, Trajectory, Turn

CAR = {"VehicleControlAPI": {"fuelLevel": 10.0}}
BROKER = {"TradingBot": {"watch_list": ["NVDA", "AAPL"]}}
PEOPLE = {
    "MessageAPI": {
        "user_map": {"Agnes Moor": "USR301", "Agnes Muir": "USR302"},
        "user_count": 302,
        "inbox": [],
        "message_count": 0,
        "current_user": "USR302",
    }
}
CREATE = "create_ticket(title='New ink')"
DESK = {
    "TicketAPI": {
        "ticket_queue": [
            {
                "id": 4711,
                "title": "Printer jam",
                "description": "paper",
                "status": "Open",
                "priority": 3,
                "created_by": "ann",
            }
        ],
        "ticket_counter": 4712,
        "current_user": "ann",
    }
}


def file(content: str) -> dict[str, str]:
    return {"type": "file", "content": content}


FILES = {
    "GorillaFileSystem": {
        "root": {
            "home": {
                "type": "directory",
                "contents": {"a.txt": file("one\ntwo"), "b.txt": file("one\nthree")},
            }
        }
    }
}

Asked = tuple[Any, ...]
"""What the user says, the ground truth, and what else the turn is made of."""


def verdict(
    config: dict[str, Any],
    turns: list[Asked],
    model: list[list[str]],
    profile: Any = STRICT,
) -> Verdict:
    """Judge the calls of a model, all of a turn in one step."""
    made = [Turn((Message("user", said),), tuple(truth), *more) for said, truth, *more in turns]
    trajectory = Trajectory("x", Category.BASE, tuple(config), config, tuple(made))
    data = Dataset("made-up", "1", "0" * 64, {"x": trajectory})
    script: Script = [[[parse_call(t) for t in texts]] if texts else [] for texts in model]
    kind: Any = kind_of(trajectory)
    found: Verdict = kind.judge_script(prepare(data, trajectory, profile), script, profile).verdict
    return found


def failing(found: Verdict) -> tuple[Reason, int | None, tuple[str, ...]]:
    assert found.failure is not None
    return found.failure.reason, found.failed_turn, found.failure.unseen


def test_case_1_a_listing_in_another_order_is_the_same() -> None:
    turns: list[Asked] = [
        (
            "Put TSLA and GOOG on my watch list.",
            ["add_to_watchlist(stock='TSLA')", "add_to_watchlist(stock='GOOG')"],
        ),
        ("What is on it?", ["get_watchlist()"]),
    ]
    model = [
        ["add_to_watchlist(stock='GOOG')", "add_to_watchlist(stock='TSLA')"],
        ["get_watchlist()"],
    ]
    assert verdict(BROKER, turns, model).valid
    assert not verdict(BROKER, turns, model, BFCL).valid


ENGINE = [
    "lockDoors(unlock=False, door=['driver', 'passenger', 'rear_left', 'rear_right'])",
    "pressBrakePedal(pedalPosition=1)",
    "startEngine(ignitionMode='START')",
]


def test_case_2_what_another_call_has_just_told_need_not_be_asked() -> None:
    turns: list[Asked] = [
        ("Start the car, and how much fuel is there?", [*ENGINE, "displayCarStatus(option='fuel')"])
    ]
    assert verdict(CAR, turns, [ENGINE]).valid
    assert not verdict(CAR, turns, [ENGINE], BFCL).valid


FUEL = "displayCarStatus(option='fuel')"


def test_case_3_what_an_earlier_turn_has_told_holds_while_nothing_alters_it() -> None:
    turns: list[Asked] = [
        ("How much fuel?", [FUEL]),
        ("Lights on, and the fuel again?", ["setHeadlights(mode='on')", FUEL]),
    ]
    assert verdict(CAR, turns, [[FUEL], ["setHeadlights(mode='on')"]]).valid


def test_case_4_what_was_altered_has_to_be_read_again_even_if_it_is_as_before() -> None:
    read = "displayCarStatus(option='doors')"
    lock, unlock = (f"lockDoors(unlock={to}, door=['driver'])" for to in (False, True))
    turns: list[Asked] = [
        ("Which doors are locked?", [read]),
        ("Lock the driver's.", [lock]),
        ("Unlock it again. Which are locked?", [unlock, read]),
    ]
    reason, turn, unseen = failing(verdict(CAR, turns, [[read], [lock], [unlock]]))
    assert (reason, turn) == (Reason.RESPONSE_MISMATCH, 2)
    assert unseen[0] == f"doorStatus.driver 'unlocked'; {read} returns it"
    assert verdict(CAR, turns, [[read], [lock], [unlock, read]]).valid


def test_a_read_after_a_change_may_be_made_by_another_function() -> None:
    write = "echo(content='new', file_name='a.txt')"
    turns: list[Asked] = [
        ("Write 'new' into a.txt and show it.", [write, "cat(file_name='a.txt')"])
    ]
    assert verdict(FILES, turns, [[write, "tail(file_name='a.txt')", "pwd()"]]).valid
    early = verdict(FILES, turns, [["tail(file_name='a.txt')", write]])
    assert failing(early)[0] is Reason.RESPONSE_MISMATCH


def test_case_5_what_the_user_says_need_not_be_asked() -> None:
    lookup, send = (
        "get_user_id(user='Agnes Moor')",
        "send_message(receiver_id='USR301', message='Hi')",
    )
    told: list[Asked] = [("Write 'Hi' to Agnes Moor, USR301.", [lookup, send])]
    assert verdict(PEOPLE, told, [[send]]).valid
    # Where nobody says it, right is not enough.
    untold: list[Asked] = [("Write 'Hi' to Agnes Moor.", [lookup, send])]
    found = verdict(PEOPLE, untold, [[send]])
    assert failing(found) == (
        Reason.RESPONSE_MISMATCH,
        0,
        (f"user_id 'USR301'; {lookup} returns it",),
    )


def test_case_6_a_yes_to_another_question_is_no_answer() -> None:
    near, far = (f"estimate_drive_feasibility_by_mileage(distance={d})" for d in (100, 150))
    turns: list[Asked] = [("Can I drive 100 miles? Yes or no.", [near]), ("150 miles?", [far])]
    found = verdict(CAR, turns, [[near], []])
    assert failing(found) == (Reason.EMPTY_TURN, 1, (f"canDrive True; {far} returns it",))
    # The same question has the same answer.
    assert verdict(CAR, [*turns[:1], ("100 miles?", [near])], [[near], []]).valid


DIFF = "diff(file_name1='a.txt', file_name2='b.txt')"
CATS = ("cat(file_name='a.txt')", "cat(file_name='b.txt')")


def test_case_7_what_the_entry_accepts_does_as_well() -> None:
    accepting: list[Asked] = [("How do they differ?", [DIFF], (), (AlternativeRead(DIFF, CATS),))]
    assert verdict(FILES, accepting, [[*CATS]]).valid
    assert not verdict(FILES, accepting, [[*CATS[:1]]]).valid
    assert not verdict(FILES, [("How do they differ?", [DIFF])], [[*CATS]]).valid


def test_case_8_a_change_is_judged_by_the_state() -> None:
    turns: list[Asked] = [("Rename a to c.", ["mv(source='a.txt', destination='c.txt')"])]
    model = [["cp(source='a.txt', destination='c.txt')", "rm(file_name='a.txt')"]]
    assert verdict(FILES, turns, model).valid
    assert not verdict(FILES, turns, model, BFCL).valid


def test_case_9_what_is_done_and_undone_has_to_be_done() -> None:
    logout, login = "logout()", "ticket_login(username='ann', password='pw-1')"
    turns: list[Asked] = [("Sign out and in again as ann, with pw-1.", [logout, login])]
    assert verdict(DESK, turns, [[logout, login]]).valid
    for calls in ([], [logout], [login], ["get_user_tickets()"]):
        assert not verdict(DESK, turns, [calls]).valid


WAITING: list[Asked] = [
    ("Show me a ticket, please.", []),
    ("It is 4711.", ["get_ticket(ticket_id=4711)"]),
]


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([], None),
        (["get_user_tickets()"], None),
        (["ticket_get_login_status()"], None),
        (["get_user_tickets()", "get_ticket(ticket_id=4711)"], None),
        (["get_ticket(ticket_id=4799)"], Reason.GUESSED_ARGUMENT),
        (["get_ticket(ticket_id=4711)"], Reason.GUESSED_ARGUMENT),
        (["find_ticket(title='a')"], Reason.ABSENT_FUNCTION),
        (["logout()"], Reason.CHANGE_IN_EMPTY_TURN),
    ],
)
def test_case_10_who_waits_may_look_around_and_not_guess(
    calls: list[str], reason: Reason | None
) -> None:
    found = verdict(DESK, WAITING, [calls, ["get_ticket(ticket_id=4711)"]])
    assert (found.failure and found.failure.reason) == reason
    assert found.failed_turn == (None if reason is None else 0)


# Beside the cases


def test_the_evidence_comes_back_from_its_json() -> None:
    found = verdict(CAR, [("How much fuel?", [FUEL])], [["displayCarStatus(option='doors')"]])
    assert found.failure is not None
    assert found.failure.missing == ('{"fuelLevel": 10.0}',)
    assert Verdict.from_json(found.to_json()) == found
    shown = found.to_json()["missing_facts"]
    assert shown == [UnseenFact("fuelLevel", 10.0, FUEL)._asdict()]


def test_facts_of_one_thing_are_not_put_together_from_others() -> None:
    queue = [
        {"id": 1, "title": "Noise", "description": "", "status": "Open", "priority": 5},
        {"id": 2, "title": "Smell", "description": "", "status": "Closed", "priority": 1},
        {"id": 3, "title": "Light", "description": "", "status": "Open", "priority": 1},
    ]
    config = {"TicketAPI": {"ticket_queue": queue, "ticket_counter": 4, "current_user": "ann"}}
    turns: list[Asked] = [("Show me ticket 3.", ["get_ticket(ticket_id=3)"])]
    others = ["get_ticket(ticket_id=1)", "get_ticket(ticket_id=2)"]
    assert not verdict(config, turns, [others]).valid


def test_what_is_shown_from_another_folder_still_holds() -> None:
    home = FILES["GorillaFileSystem"]["root"]["home"]["contents"]
    sub = {"type": "directory", "contents": {}}
    config = {
        "GorillaFileSystem": {
            "root": {"home": {"type": "directory", "contents": {**home, "sub": sub}}}
        }
    }
    read = "cat(file_name='a.txt')"
    turns: list[Asked] = [
        ("Read a.txt.", [read]),
        ("Go to sub.", ["cd(folder='sub')"]),
        ("Back; what was in a.txt?", ["cd(folder='..')", read]),
    ]
    assert verdict(config, turns, [[read], ["cd(folder='sub')"], ["cd(folder='..')"]]).valid


def test_lines_are_told_by_more_lines_of_the_same_file_and_by_no_other() -> None:
    lines = {"type": "file", "content": "14:00 31\n20:00 26\n22:00 26"}
    home = {"a.txt": lines, "b.txt": lines, "c.txt": {"type": "file", "content": "x 22:00 26"}}
    config = {"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": home}}}}
    turns: list[Asked] = [("The last line of a.txt?", ["tail(file_name='a.txt', lines=1)"])]
    for call in ("tail(file_name='a.txt', lines=2)", "cat(file_name='a.txt')"):
        assert verdict(config, turns, [[call]]).valid
        assert not verdict(config, turns, [[call]], BFCL).valid
    for call in ("cat(file_name='b.txt')", "tail(file_name='c.txt', lines=1)", "ls()"):
        assert not verdict(config, turns, [[call]]).valid
    more: list[Asked] = [("The last two lines?", ["tail(file_name='a.txt', lines=2)"])]
    assert not verdict(config, more, [["tail(file_name='a.txt', lines=1)"]]).valid


def test_even_one_short_word_is_told_by_another_read_of_the_same_file_only() -> None:
    word = {"type": "file", "content": "export"}
    home = {"hold.txt": word, "old.txt": word}
    config = {"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": home}}}}
    turns: list[Asked] = [("What is on hold?", ["cat(file_name='hold.txt')"])]
    assert verdict(config, turns, [["tail(file_name='hold.txt')"]]).valid
    assert not verdict(config, turns, [["tail(file_name='old.txt')"]]).valid


def test_a_change_of_place_has_to_be_made() -> None:
    home = {"sub": {"type": "directory", "contents": {}}}
    config = {"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": home}}}}
    turns: list[Asked] = [("Go to 'sub', current_working_directory sub.", ["cd(folder='sub')"])]
    assert not verdict(config, turns, [["ls()"]]).valid


def test_a_word_of_the_user_does_not_outlast_a_change() -> None:
    write = "echo(content='one two three', file_name='a.txt')"
    read = "cat(file_name='a.txt')"
    turns: list[Asked] = [("Write 'one two three' to a.txt and read it to me.", [write, read])]
    assert not verdict(FILES, turns, [[write]]).valid
    later: list[Asked] = [
        ("Write 'one two three' to a.txt.", [write]),
        ("What is in a.txt now?", [read]),
    ]
    assert not verdict(FILES, later, [[write], []]).valid


def test_nothing_need_be_called_by_who_knows_it_all() -> None:
    turns: list[Asked] = [("How much fuel?", [FUEL]), ("Once more?", [FUEL])]
    assert verdict(CAR, turns, [[FUEL], []]).valid
    assert failing(verdict(CAR, turns, [[], []]))[:2] == (Reason.EMPTY_TURN, 0)


def test_a_made_up_password_that_nothing_depends_on_is_a_guess() -> None:
    config = {"TicketAPI": {**DESK["TicketAPI"], "current_user": None}}
    right = "ticket_login(username='ann', password='pw-1')"
    turns: list[Asked] = [("Sign me in: ann, password pw-1.", [right])]
    wrong = verdict(config, turns, [["ticket_login(username='ann', password='hunter22')"]])
    assert failing(wrong)[:2] == (Reason.GUESSED_ARGUMENT, 0)
    assert wrong.failure is not None
    assert wrong.failure.calls is not None
    assert wrong.failure.calls.parameter == "password"
    # A wrong value and then the right one is a slip.
    both = ["ticket_login(username='ann', password='hunter22')", right]
    assert verdict(config, turns, [both]).valid
    # Where nobody tells it, something has to be made up.
    untold: list[Asked] = [("Sign me in as ann.", [right])]
    assert verdict(config, untold, [["ticket_login(username='ann', password='hunter22')"]]).valid


def test_an_equal_answer_to_another_question_is_no_answer() -> None:
    right = "estimate_drive_feasibility_by_mileage(distance=279.617)"
    turns: list[Asked] = [("It is 450 km, 279.617 miles. Do I get there?", [right])]
    for given in ("279.6", "280", "279.617"):
        assert verdict(CAR, turns, [[right.replace("279.617", given)]]).valid
    for given in ("450", "27", "281"):
        assert not verdict(CAR, turns, [[right.replace("279.617", given)]]).valid
    # A wrong question and then the right one is a slip.
    assert verdict(CAR, turns, [[right.replace("279.617", "450"), right]]).valid


def test_a_sum_may_be_computed_in_another_way() -> None:
    config: dict[str, Any] = {"MathAPI": {}}
    turns: list[Asked] = [("What is 30 percent of 200?", ["percentage(part=60, whole=200)"])]
    assert verdict(config, turns, [["divide(a=60, b=2)"]]).valid
    assert not verdict(config, turns, [["percentage(part=30, whole=100)"]]).valid
    maximum: list[Asked] = [("The largest of 3, 5 and 4?", ["max_value(numbers=[3, 5, 4])"])]
    assert verdict(config, maximum, [["max_value(numbers=[4, 3, 5])"]]).valid
    assert not verdict(config, maximum, [["max_value(numbers=[3, 5])"]]).valid


def test_a_step_up_is_judged_by_where_it_leads() -> None:
    sub = {"type": "directory", "contents": {"c.txt": file("four five")}}
    contents = {"sub": {"type": "directory", "contents": {}}, "more": sub}
    root = {"home": {"type": "directory", "contents": contents}}
    config = {"GorillaFileSystem": {"root": root}}
    turns: list[Asked] = [
        ("Go to sub.", ["cd(folder='sub')"]),
        ("What is in c.txt of more?", ["cd('..')", "cd(folder='more')", "cat(file_name='c.txt')"]),
    ]
    for up in ("cd('..')", "cd('/')"):
        assert verdict(config, turns, [[turns[0][1][0]], [up, *turns[1][1][1:]]]).valid
    assert not verdict(config, turns, [[turns[0][1][0]], [turns[1][1][0], "ls()"]]).valid


def test_an_early_look_holds_if_only_the_turn_itself_changes_the_facts_later() -> None:
    read, close = "get_ticket(ticket_id=4711)", "close_ticket(ticket_id=4711)"
    turns: list[Asked] = [
        ("Hello.", ["ticket_get_login_status()"]),
        ("Make a ticket 'New ink', show me 4711, then close that.", [CREATE, read, close]),
    ]
    assert verdict(DESK, turns, [["ticket_get_login_status()", read], [CREATE, close]]).valid
    assert not verdict(DESK, turns, [["ticket_get_login_status()"], [CREATE, close]]).valid


@pytest.mark.parametrize(
    ("value", "is_telling"),
    [
        (9.99e299, True),
        (1e300, False),
        (-1e300, False),
        (float("inf"), False),
        (float("nan"), False),
        (True, False),
        (None, False),
    ],
)
def test_a_huge_number_tells_nothing(value: Any, is_telling: bool) -> None:
    assert _is_telling(value) is is_telling
    assert _is_telling([value]) is is_telling
    assert _is_telling({"a": [value]}) is is_telling


def test_numbers_beyond_the_range_of_floats_are_compared() -> None:
    assert not _is_rounded(10**400, 1.5)
    assert not _is_rounded(1.5, 10**400)
    assert _is_rounded(1.2345, 1.23)
