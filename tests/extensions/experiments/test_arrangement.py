"""How functions are presented: order, places, names and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.registry import BACKENDS, load_library
from extensions.experiments.arrangement import Arrangement, Paraphrase, first_sentence
from runner.models.toolbox import FunctionNameMapping, own_documents

DOCUMENTS = own_documents([*BACKENDS])
NAMES = [document["name"] for document in DOCUMENTS]
NEED = ["mkdir", "create_ticket", "book_flight"]


def names_of(documents):
    return [document["name"] for document in documents]


def arranged(key="entry", need=NEED, **how):
    """Return the names of all functions as they are arranged."""
    return names_of(Arrangement(**how).arranged(DOCUMENTS, need, key))


def test_without_an_arrangement_all_is_as_it_is():
    assert Arrangement().arranged(DOCUMENTS, NEED, "entry") == list(DOCUMENTS)


@pytest.mark.parametrize("order", ["as-is", "shuffled", "alphabetical"])
def test_an_order_loses_nothing(order):
    assert sorted(arranged(order=order)) == sorted(NAMES)


def test_orders_are_what_they_are_called():
    assert arranged(order="alphabetical") == sorted(NAMES)
    assert arranged(order="shuffled") != NAMES
    assert arranged(order="shuffled") == arranged(order="shuffled")
    assert arranged(order="shuffled") != arranged(order="shuffled", seed=1)
    assert arranged(order="shuffled") != arranged("other", order="shuffled")


def test_places_are_what_they_are_called_and_keep_the_order():
    need = [name for name in NAMES if name in NEED]
    others = [name for name in NAMES if name not in NEED]
    half = len(others) // 2
    assert arranged(place="head") == [*need, *others]
    assert arranged(place="tail") == [*others, *need]
    assert arranged(place="middle") == [*others[:half], *need, *others[half:]]
    spread = arranged(place="spread")
    assert [name for name in spread if name in NEED] == need
    assert [name for name in spread if name not in NEED] == others
    assert [place for place, name in enumerate(spread) if name in NEED] == [0, 42, 85]


@given(st.sets(st.sampled_from(NAMES)), st.sampled_from(["head", "middle", "tail", "spread"]))
def test_a_place_loses_nothing(need, place):
    assert sorted(arranged(need=need, place=place)) == sorted(NAMES)


@given(
    st.sampled_from(["plain", "snake", "codes", "swapped"]),
    st.integers(0, 99),
    st.sets(st.sampled_from(NAMES), max_size=9),
)
def test_names_map_back(naming, seed, need):
    shown = Arrangement(names=naming, seed=seed).shown_names(DOCUMENTS, need, "entry")
    names = FunctionNameMapping(NAMES, shown)
    assert [names.real(names.legal(name)) for name in NAMES] == NAMES
    assert len({names.legal(name) for name in NAMES}) == len(NAMES)


def test_names_are_what_they_are_called():
    documents = [{"name": name} for name in ("getTheUser", "a.b-c", "plain_one")]
    snake = Arrangement(names="snake").shown_names(documents, (), "entry")
    assert [*snake.values()] == ["get_the_user", "a_b_c", "plain_one"]
    codes = Arrangement(names="codes").shown_names(DOCUMENTS, NEED, "entry")
    assert all(len(code) == 6 and code.startswith("fn_") for code in codes.values())
    swapped = Arrangement(names="swapped").shown_names(DOCUMENTS, NEED, "entry")
    moved = {name for name, shown in swapped.items() if name != shown}
    assert moved.isdisjoint(NEED)
    assert len(moved) >= len(NAMES) - len(NEED) - 1
    assert all(swapped[swapped[name]] == name for name in NAMES)


def test_the_first_sentence_ends_at_its_point():
    assert first_sentence("Adds 1.5 to it. And more.") == "Adds 1.5 to it."
    assert first_sentence("No end") == "No end"
    (found,) = Arrangement(words="first").arranged(own_documents(["TicketAPI"])[:1], (), "e")
    assert not described(found["parameters"]["properties"]["title"])
    assert found["description"]


@pytest.mark.parametrize("names", [[*BACKENDS], [*load_library()]], ids=["turns", "plain"])
def test_without_words_nothing_is_described_at_any_depth(names):
    for document in Arrangement(words="none").arranged(own_documents(names), (), "entry"):
        assert document["description"] == ""
        assert not described(document["parameters"])


def described(schema):
    """Tell whether anything of a schema is described; a parameter may be called so."""
    if "description" in schema:
        return True
    members = [*schema.get("properties", {}).values()]
    members += [schema[name] for name in ("items", "additionalProperties") if name in schema]
    members += schema.get("anyOf", [])
    return any(described(member) for member in members if isinstance(member, dict))


def test_a_parameter_that_is_called_description_stays():
    (found,) = (
        each
        for each in Arrangement(words="none").arranged(DOCUMENTS, (), "entry")
        if each["name"] == "create_ticket"
    )
    assert "description" in found["parameters"]["properties"]


def test_other_words_take_the_place_of_ours():
    words = {"mkdir": Paraphrase("Makes a room.", {"dir_name": "What it is called."})}
    found = {
        each["name"]: each
        for each in Arrangement(paraphrases=words).arranged(DOCUMENTS, (), "entry")
    }
    assert found["mkdir"]["description"] == "Makes a room."
    described = found["mkdir"]["parameters"]["properties"]["dir_name"]["description"]
    assert described == "What it is called."
    assert found["cd"] == next(each for each in DOCUMENTS if each["name"] == "cd")
