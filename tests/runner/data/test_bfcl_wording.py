from __future__ import annotations

import pickle

import pytest

from checkers.profile import BFCL, STRICT
from envs.backend import AS_BFCL
from envs.calls import read_call
from envs.errors import DataError
from envs.registry import BACKENDS
from envs.session import Session
from runner.data.bfcl_wording import (
    BfclWording,
    RefusalTextPlace,
    RefusalTexts,
    fill,
    observations_for,
    read_table,
    wording_of,
)
from runner.models.prompting import read_prompts
from trajectories.dataset import load_bfcl, load_embedded
from trajectories.schema import Category

RAISED = "executor.run.0"
TEXTS = {
    "executor": {"run": [{"text": ["broke: ", {"conversion": "", "spec": ""}]}]},
    "Made": {
        "up": [
            {"members": [["error", {"text": ["no ", {"conversion": "r", "spec": ""}]}]]},
            {"text": ["raised"], "raised": True},
            {"members": [["error", {"text": ["other: no"]}]]},
            {"members": [["error", {}]]},
            {"text": [{"conversion": "", "spec": "d"}]},
        ]
    },
}


def wording(**kinds):
    """Return a wording of refusals of get_ticket by kind."""
    return BfclWording(
        TEXTS, RefusalTexts({"raised": RAISED}, {"TicketAPI": {"get_ticket": kinds}})
    )


@pytest.fixture
def session():
    config = {"ticket_queue": [{"id": 1}], "current_user": "ann"}
    return Session.load(["TicketAPI"], {"TicketAPI": config}, tolerant=True, behaviour=AS_BFCL)


def read(session, text, words):
    """Return what a model reads of a call."""
    call = read_call(text)
    return words(session, call, session.call(call))


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (RefusalTextPlace("Made.up.0", ("argument:ticket_id",)), '{"error": "no 7"}'),
        (RefusalTextPlace("Made.up.0", ("state:current_user",)), '{"error": "no \'ann\'"}'),
        (RefusalTextPlace("Made.up.0", ("constant:x",)), '{"error": "no \'x\'"}'),
        (RefusalTextPlace("Made.up.1"), "broke: raised"),
        (RefusalTextPlace("Made.up.2", own="other"), '{"error": "get_ticket: no"}'),
        (RefusalTextPlace("Made.up.3", ("place:Made.up.1",)), '{"error": "raised"}'),
        (RefusalTextPlace("Made.up.9"), None),
        (RefusalTextPlace("Made.up.0"), None),
        (RefusalTextPlace("Made.up.0", ("state:nowhere",)), None),
        (RefusalTextPlace("Made.up.4", ("constant:x",)), None),
    ],
)
def test_a_refusal_takes_the_text_at_its_place(session, place, expected):
    assert read(session, "get_ticket(ticket_id=7)", wording(NotFound=place)) == expected


def test_what_python_refuses_reads_as_python_says_it(session):
    words = wording(NotFound=RefusalTextPlace("Made.up.1"))
    for text in ("get_ticket()", "get_ticket(ticket_id=1, x=2)", "get_ticket(1, 2)"):
        assert read(session, text, words).startswith("broke: TicketAPI.get_ticket() ")
    assert read(session, "nothing()", words) == "broke: name 'nothing' is not defined"
    assert read(session, "get_ticket(", words) == "broke: '(' was never closed (<string>, line 1)"


def test_a_success_and_an_unknown_kind_read_as_ours(session):
    words = wording()
    assert read(session, "get_ticket(ticket_id=1)", words) is None
    assert read(session, "get_ticket(ticket_id=7)", words) is None


def test_a_call_inside_a_call_is_worded_with_its_value(session):
    words = wording(NotFound=RefusalTextPlace("Made.up.0", ("argument:ticket_id",)))
    inner = "get_ticket(ticket_id=get_ticket(ticket_id=1))"
    assert read(session, inner, words) == '{"error": "no {\'id\': 1}"}'


def test_members_of_ours_come_before_or_after():
    given = {"members": [["a", {"value": 1}], ["b", {"items": [{}]}]]}
    assert fill(given, iter([2])) == {"a": 1, "b": [2]}


def test_the_table_names_backends_functions_and_places_only():
    table = read_table()
    assert set(table.refusals) == set(BACKENDS) & set(table.refusals)
    for backend, functions in table.refusals.items():
        assert set(functions) <= set(BACKENDS[backend].TOOLS)
        for kinds in functions.values():
            for place in kinds.values():
                owner, function, number = place.place.split(".")
                assert owner.isidentifier()
                assert function.isidentifier()
                assert number.isdigit()
                assert all(" " not in hole for hole in place.holes)


def test_bfcl_is_the_default_for_its_data_under_its_profile(bfcl_folder):
    theirs, ours = load_bfcl(bfcl_folder, [Category.BASE]), load_embedded([Category.BASE])
    assert observations_for(None, theirs, BFCL) == "bfcl"
    assert observations_for(None, theirs, STRICT) == "own"
    assert observations_for(None, ours, BFCL) == "own"
    assert observations_for("own", theirs, BFCL) == "own"
    assert wording_of("own", theirs) is None
    with pytest.raises(DataError, match="is not BFCL's data"):
        wording_of("bfcl", ours)


def test_sentences_take_the_place_of_ours_and_another_process_reads_them_again(bfcl_folder):
    words = wording_of("bfcl", load_bfcl(bfcl_folder, [Category.BASE]))
    for one in (words, pickle.loads(pickle.dumps(words))):
        assert one.prompts(read_prompts()).handover_fc == "There is more now."
        assert one.notes().syntax["python"] == " It is Python."
        assert one.notes().float == " It is a float."


def test_types_of_java_and_javascript_are_told_by_place():
    one = {"conversion": "", "spec": ""}
    said = [[" any"], [" of ", one], [" each ", one], [" with ", one]]
    names = ("java_any", "java_type", "items_note", "members_note")
    texts = {"m": {"f": [{"text": parts} for parts in said]}}
    places = {name: f"m.f.{number}" for number, name in enumerate(names)}
    others = ("python_note", "java_note", "javascript_note", "float_note")
    words = BfclWording(texts, RefusalTexts({**places, **dict.fromkeys(others, "m.f.0")}, {}))
    typed = words.notes().typed
    assert typed("java", {"type": "any"}) == " any"
    assert typed("java", {"type": "long"}) == " of long"
    assert typed("java", {"type": "Array", "items": {"type": "char"}}) == " of Array each char"
    assert typed("java", {"type": "dict", "properties": {"a": 1}}) == ' of dict with {"a": 1}'
