from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from extensions.authoring.overlap import collect_texts, overlap
from tests.conftest import user
from trajectories.schema import Turn

NINE = "the quick brown fox jumps over the lazy dog"


def shares(first, second, words=8):
    """Return what is shared, as tuples without the texts."""
    found = overlap(first, second, words)
    return [(each.id, each.shared, each.runs, each.other) for each in found.shared]


def test_case_and_punctuation_do_not_count():
    other = "THE QUICK, brown fox - jumps over: the lazy cat!"
    assert shares([("a", [NINE])], [("b", [other])]) == [("a", 1, 2, "b")]


def test_one_word_less_is_nothing_in_common():
    other = NINE.replace("fox", "ox")
    found = overlap([("a", [NINE])], [("b", [other])])
    assert (found.entries, found.others, found.shared) == (1, 1, [])


def test_no_run_reaches_from_one_text_into_the_next():
    first, second = NINE.split(" over ")
    assert shares([("a", [NINE])], [("b", [first, f"over {second}"])]) == []


def test_the_longest_stretch_is_shown_of_the_entry_with_most():
    [shared] = overlap(
        [("a", [NINE, "x"])], [("b", [NINE[:38]]), ("c", [f"see {NINE} run"])]
    ).shared
    assert (shared.other, shared.text, shared.share) == ("c", NINE, 1.0)


def test_the_worst_come_first():
    longer = f"{NINE} and sleeps until the morning comes"
    found = overlap([("little", [longer]), ("all", [NINE])], [("b", [NINE])])
    assert [each.id for each in found.shared] == ["all", "little"]


@given(st.lists(st.sampled_from("abc"), max_size=40), st.lists(st.sampled_from("abc"), max_size=40))
def test_it_agrees_with_looking_for_each_run(first, second):
    found = overlap([("a", [" ".join(first)])], [("b", [" ".join(second)])], 3)
    runs = {tuple(first[at : at + 3]) for at in range(len(first) - 2)}
    there = {tuple(second[at : at + 3]) for at in range(len(second) - 2)}
    assert sum(each.shared for each in found.shared) == len(runs & there)
    for each in found.shared:
        assert f" {each.text} " in f" {' '.join(first)} "


def test_variants_are_one_scenario_with_what_all_of_them_say(help_desk, dataset_of):
    variant = replace(
        help_desk,
        id="variant",
        turns=(*help_desk.turns, Turn(user("Another wish."), ())),
        provenance={"base": help_desk.id},
    )
    dataset = dataset_of(help_desk)
    dataset.trajectories = {**dataset.trajectories, "variant": variant}
    [(id, texts)] = collect_texts(dataset)
    assert id == help_desk.id
    assert {"My screen is dark.", "Another wish.", "Printer on fire"} <= {*texts}
