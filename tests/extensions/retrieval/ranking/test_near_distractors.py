"""Distractors that the retriever ranks nearest to what is needed."""

from __future__ import annotations

from extensions.experiments.axes import Levels, vary_dataset
from extensions.experiments.function_counts import list_needed_functions
from runner.data.dataset_choice import load_dataset
from trajectories.replay_queries import list_own_functions


def names(data, level, distractors, id):
    levels = Levels({"tools": level, "distractors": distractors})
    return {*list_own_functions(vary_dataset(data, levels, [id]).dataset.trajectories[id])}


def test_near_ones_are_those_of_alike_functions_and_nested():
    data = load_dataset(categories="base,multiple,exec_multiple")
    for category in ("base", "multiple", "exec_multiple"):
        id = next(id for id, t in data.trajectories.items() if t.category == category)
        some, more = (names(data, level, "near", id) for level in ("15", "25"))
        assert {*list_needed_functions(data.trajectories[id])} < some < more
        assert some == names(data, "15", "near", id)


def test_what_is_near_says_the_same_words():
    data = load_dataset(categories="base")
    id = next(id for id, t in data.trajectories.items() if t.environments == ("TicketAPI",))
    need = list_needed_functions(data.trajectories[id])
    near = names(data, str(len(need) + 6), "near", id) - {*need}
    far = names(data, str(len(need) + 6), "far", id) - {*need}
    assert sum("ticket" in name for name in near) > sum("ticket" in name for name in far)
