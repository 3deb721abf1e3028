"""Small defects, each put into a copy of an entry of ours, and whether anything says so.

What is looked at is what `turnwise dataset validate` lists at its default severity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.authoring.rule_sets import validate
from extensions.authoring.rules.finding import Severity
from trajectories.dataset import load_embedded, load_path
from trajectories.record_validation import to_json
from trajectories.schema import MULTI_TURN, Category

Entry = dict[str, Any]


@cache
def _texts() -> dict[str, str]:
    entries = load_embedded(list(MULTI_TURN)).trajectories
    return {id: json.dumps(to_json(trajectory)) for id, trajectory in entries.items()}


def _entry(id: str) -> Entry:
    entry: Entry = json.loads(_texts()[id])
    return entry


def _said(entry: Entry, turn: int, words: str) -> None:
    entry["turns"][turn]["messages"] = [{"role": "user", "content": words}] if words else []


def _truth(entry: Entry, turn: int, *calls: str) -> None:
    entry["turns"][turn]["ground_truth"] = list(calls)
    entry["turns"][turn].pop("accepts", None)


def _turn(words: str, *calls: str, offers: tuple[str, ...] = ()) -> Entry:
    messages = [{"role": "user", "content": words}] if words else []
    return {"messages": messages, "ground_truth": list(calls), "offers": list(offers)}


# --- Form, config and execution


def wrong_class(entry: Entry) -> None:
    entry["environments"] = ["TwitterAPI", "TicketsAPI"]


def no_such_ticket(entry: Entry) -> None:
    _truth(entry, 0, "get_ticket(ticket_id=77)")


def password_missing_in_words(entry: Entry) -> None:
    _said(entry, 1, "I see, then sign me in as h.pemberton, and get me the orders in the account.")


def title_and_description_missing(entry: Entry) -> None:
    _said(entry, 1, "Am I signed in at the help desk? If I am, raise a ticket with priority 4.")


def null_entry(entry: Entry) -> None:
    for turn in range(len(entry["turns"])):
        _truth(entry, turn)
        entry["turns"][turn].pop("tells", None)


def unknown_config_key(entry: Entry) -> None:
    entry["config"]["TwitterAPI"]["tweet_count"] = 3


def wrong_type_in_config(entry: Entry) -> None:
    entry["config"]["TicketAPI"]["ticket_counter"] = "nine"


def held_out_not_used(entry: Entry) -> None:
    entry["turns"][4]["offers"].append("comment")
    _truth(entry, 1, "retweet(tweet_id=11)")


def held_out_needed_earlier(entry: Entry) -> None:
    _truth(entry, 1, "mention(tweet_id=11, mentioned_usernames=['@plate_conservators'])")


def wrong_argument_type(entry: Entry) -> None:
    _truth(entry, 0, "get_ticket(ticket_id='7')")


def unknown_function(entry: Entry) -> None:
    _truth(entry, 0, "get_tickets(ticket_id=7)")


def unknown_argument(entry: Entry) -> None:
    _truth(entry, 0, "get_ticket(ticket=7)")


def existing_title(entry: Entry) -> None:
    entry["config"]["TicketAPI"]["ticket_queue"][0]["title"] = "Nightly backup failed on volume B"


def write_without_effect(entry: Entry) -> None:
    entry["config"]["TicketAPI"]["ticket_queue"][1] |= {"priority": 5, "status": "In Progress"}


def unknown_file_name(entry: Entry) -> None:
    _said(entry, 0, "Go into backup_logs. Which lines of wednesday.log say FAILED?")


def unknown_held_out_function(entry: Entry) -> None:
    entry["turns"][4]["offers"].append("mention_everybody")


def unknown_member(entry: Entry) -> None:
    entry["turns"][0]["groundtruth"] = []


def dictated_text_differs(entry: Entry) -> None:
    _truth(entry, 2, "resolve_ticket(ticket_id=7, resolution='Raised the tunnel MTU to 1500')")


# --- Meaning


def empty_truth_in_a_turn_that_asks(entry: Entry) -> None:
    _truth(entry, 0)
    entry["turns"][0].pop("tells", None)


def nothing_missing(entry: Entry) -> None:
    _said(entry, 2, "done, fixed. resolve it, resolution is 'Lowered the tunnel MTU to 1400'")
    _said(entry, 3, "go on, please")


def missing_value_that_a_function_tells(entry: Entry) -> None:
    entry["turns"][4:5] = [
        _turn("let rupinder kaur know: 'VPN should be stable now, ticket 7 is resolved'"),
        _turn(
            "the id is USR022",
            "send_message(receiver_id='USR022', "
            "message='VPN should be stable now, ticket 7 is resolved')",
        ),
    ]


def same_read_twice(entry: Entry) -> None:
    _truth(entry, 0, "get_ticket(ticket_id=7)", "get_ticket(ticket_id=7)")


def read_that_nobody_asked_for(entry: Entry) -> None:
    entry["turns"][4]["ground_truth"].append("list_all_following()")


def id_that_nothing_shows(entry: Entry) -> None:
    _said(entry, 0, "the one with the vpn drops, what does it say")


def other_number_than_said(entry: Entry) -> None:
    _truth(entry, 1, "place_order(order_type='Buy', symbol='NVDA', price=131.45, amount=45)")


def other_tweet(entry: Entry) -> None:
    _said(entry, 1, "Retweet what the archive says of its glass negatives, please.")
    _truth(entry, 1, "retweet(tweet_id=13)")


def request_left_out(entry: Entry) -> None:
    del entry["turns"][3]["ground_truth"][1]


def unused_backend(entry: Entry) -> None:
    entry["environments"].append("VehicleControlAPI")


def forbidden_function_misspelt(entry: Entry) -> None:
    entry["turns"][0]["never"] = ["delete_tickets(ticket_id=7)"]


def forbidden_parameter_misspelt(entry: Entry) -> None:
    entry["turns"][0]["never"] = ["close_ticket(id=7)"]


def failing_function_misspelt(entry: Entry) -> None:
    entry["turns"][0]["outages"] = {"read_ticket": 0}


def no_turn_to_ask_in(entry: Entry) -> None:
    del entry["turns"][2]
    _said(entry, 2, "done, fixed. resolve it, resolution is 'Lowered the tunnel MTU to 1400'")


def no_bulk(entry: Entry) -> None:
    base = _entry("base_math_garden_plan")
    entry["turns"], entry["config"] = base["turns"], base["config"]
    entry["environments"], entry["long_context"] = base["environments"], None


def held_out_function_with_a_substitute(entry: Entry) -> None:
    asked = entry["turns"][2]
    handed_over = {**asked, "messages": [], "offers": ["sort"]}
    entry["turns"][2:3] = [{**asked, "ground_truth": [], "accepts": [], "tells": []}, handed_over]
    entry["category"] = "miss_func"
    handed_over["ground_truth"] = ["sort(file_name='regions.csv')"]
    handed_over["accepts"], handed_over["tells"] = [], []


def words_that_name_a_function(entry: Entry) -> None:
    _said(entry, 0, "call get_ticket for ticket 7, what does it say")


VPN, MUSEUM = "base_message_ticket_vpn_outage", "base_twitter_museum_account"
LOGIN, LINE = "base_trading_widower_first_login", "base_twitter_ticket_line_nine"
BACKUP, CHIPS = "base_files_ticket_backup_failure", "base_trading_twitter_chip_bet"
WITHOUT_VALUE = "miss_param_message_ticket_vpn_outage"
WITHOUT_FUNCTION = "miss_func_twitter_museum_account"
LONG, REPORT = "long_context_files_ticket_disk_pressure", "base_files_quarterly_report"

SEEDED: list[tuple[Callable[[Entry], None], str, str]] = [
    (wrong_class, MUSEUM, "TicketsAPI"),
    (no_such_ticket, VPN, "EXEC: get_ticket.* fails"),
    (password_missing_in_words, LOGIN, "PROVENANCE: 'Marigold1961'"),
    (title_and_description_missing, BACKUP, "PROVENANCE: 'Nightly backup failed"),
    (null_entry, VPN, "NULL: a model that makes no call passes"),
    (unknown_config_key, MUSEUM, "CONFIG: .*tweet_counter"),
    (wrong_type_in_config, VPN, "ticket_counter"),
    (held_out_not_used, WITHOUT_FUNCTION, "OFFER: offers comment, but .* does not call comment"),
    (held_out_needed_earlier, WITHOUT_FUNCTION, "OFFER: needs mention"),
    (wrong_argument_type, VPN, "EXEC: .*ticket_id"),
    (unknown_function, VPN, "EXEC: .*no function 'get_tickets'"),
    (unknown_argument, VPN, "EXEC: .*ticket_id"),
    (existing_title, BACKUP, "UNIQUE: creates 'Nightly backup.*again"),
    (write_without_effect, VPN, "BREVITY: edit_ticket changes nothing"),
    (unknown_file_name, BACKUP, "CONFIG: names the file 'wednesday.log'"),
    (unknown_held_out_function, WITHOUT_FUNCTION, "OFFER: offers mention_everybody"),
    (unknown_member, VPN, "groundtruth"),
    (dictated_text_differs, VPN, "PROVENANCE: .*1500"),
    (empty_truth_in_a_turn_that_asks, VPN, "WAITS: the request has no ground truth"),
    (nothing_missing, WITHOUT_VALUE, "WAITS: .*no later turn completes the request"),
    (
        missing_value_that_a_function_tells,
        WITHOUT_VALUE,
        r"WAITS: waits for 'USR022', but \w+\(.*\) shows",
    ),
    (same_read_twice, VPN, "BREVITY: get_ticket may be omitted"),
    (read_that_nobody_asked_for, MUSEUM, "ASKED: the user did not ask for list_all_following"),
    (id_that_nothing_shows, VPN, "PROVENANCE: 7 is in no message"),
    (other_number_than_said, CHIPS, "PROVENANCE: 45"),
    (other_tweet, MUSEUM, "ASKED: the user describes .*, not 13"),
    (
        request_left_out,
        LINE,
        "ASKED: the user says 'Line 9 is running again', but no call and no result contains it",
    ),
    (unused_backend, VPN, "OFFER: the ground truth never uses VehicleControlAPI"),
    (forbidden_function_misspelt, VPN, r"OFFER: delete_tickets is not a function"),
    (forbidden_parameter_misspelt, VPN, "OFFER: close_ticket has no parameter id"),
    (failing_function_misspelt, VPN, "outages.read_ticket: .*OFFER: read_ticket is not a function"),
    (no_turn_to_ask_in, WITHOUT_VALUE, "WAITS: in the category miss_param, at least one turn must"),
    (no_bulk, LONG, "BULK: the ground truth reads no generated items"),
    (
        held_out_function_with_a_substitute,
        REPORT,
        "WAITS: other calls can replace the missing function sort: cat",
    ),
    (words_that_name_a_function, VPN, "ASKED: names the function get_ticket"),
]
"""Defect, entry that it is put into, and what says so; three more are of a whole file."""


def _found(tmp_path: Path, *lines: str) -> list[str]:
    """Return what is listed for a file of entries."""
    file = tmp_path / "entries.jsonl"
    file.write_text("".join([f"{line}\n" for line in lines]))
    try:
        data = load_path(file, list(Category))
    except DataError as error:
        return [str(error)]
    problems = validate(data, list(data.trajectories.values()))
    return [str(problem) for problem in problems if problem.severity is not Severity.INFO]


def _matches(found: list[str], pattern: str) -> bool:
    return any(re.search(pattern, problem) for problem in found)


@pytest.mark.parametrize(
    ("seed", "id", "says"), SEEDED, ids=[seed.__name__ for seed, _, _ in SEEDED]
)
def test_a_seeded_defect_is_found(
    seed: Callable[[Entry], None], id: str, says: str, tmp_path: Path
) -> None:
    entry = _entry(id)
    assert not _matches(_found(tmp_path, json.dumps(entry)), says)
    seed(entry)
    found = _found(tmp_path, json.dumps(entry))
    assert _matches(found, says), found


def test_the_entries_have_no_defect_before(tmp_path: Path) -> None:
    ids = dict.fromkeys(id for _, id, _ in SEEDED)
    found = _found(tmp_path, *[json.dumps(_entry(id)) for id in ids])
    # The older ticket of the same title is there to mislead, as the exceptions beside the data say.
    assert [problem for problem in found if f"{LINE}: turn 2: ground_truth[1]" not in problem] == []


def test_an_id_that_is_used_twice_is_found(tmp_path: Path) -> None:
    entry = json.dumps(_entry(VPN))
    assert _matches(_found(tmp_path, entry, entry), "is used twice")


def test_a_question_that_is_asked_twice_is_found(tmp_path: Path) -> None:
    entry, other = _entry(MUSEUM), {**_entry(MUSEUM), "id": "base_other_museum"}
    found = _found(tmp_path, json.dumps(entry), json.dumps(other))
    assert _matches(
        found, "DUPLICATE: asks the same question as turn 1 of base_twitter_museum_account"
    )


def test_broken_json_is_found(tmp_path: Path) -> None:
    assert _matches(_found(tmp_path, json.dumps(_entry(VPN))[:-9]), "not valid JSON|JSON")


def test_there_are_as_many_defects_as_in_the_review() -> None:
    assert len({seed.__name__ for seed, _, _ in SEEDED}) + 3 == 38
